import { describe, expect, it } from "vitest";
import { chosenChain, firstChoice, formatChain, parseChain } from "../model/chainchoice";
import { maskTrace } from "../model/mask";

import { sampleTrace } from "../model/samples";
import type { TraceState } from "../model/trace";
import { atHand, TRACES } from "../protocol/samples";
import type { ChainScene } from "./chain";
import { drawChain } from "./chain";

const PRECISION = 4;

function drawn(trace: TraceState, text: string): ChainScene {
  const [pass] = trace.passes;
  const choice = parseChain(text);
  const chain = pass === undefined || choice === null ? null : chosenChain(pass.started.graph, choice);
  if (pass === undefined || chain === null) throw new Error("no chain");
  return drawChain(trace, pass, pass.started.graph, chain, PRECISION);
}

describe("a drawn chain", () => {
  it("lines up the shapes: columns of one factor are rows of the next", () => {
    for (const name of TRACES) {
      const trace = sampleTrace(name);
      for (const pass of trace.passes) {
        const choice = firstChoice(pass, pass.started.graph);
        const chain = choice === null ? null : chosenChain(pass.started.graph, choice);
        if (chain === null) continue;
        const { v, links, product, jacobian } = drawChain(trace, pass, pass.started.graph, chain, PRECISION);
        const inner = [v?.columns ?? links[0]?.rows, ...links.map(({ columns }) => columns)];
        expect(links.map(({ rows }) => rows)).toEqual(inner.slice(0, -1));
        expect([undefined, inner.at(-1)]).toContain(product?.matrix.columns);
        expect([undefined, inner.at(-1)]).toContain(jacobian?.columns);
      }
    }
  });

  it.each(atHand("doubling-loop"))("is a power of two along the %s", (name) => {
    const trace = sampleTrace(name);
    const [pass] = trace.passes;
    if (pass === undefined) throw new Error("no pass");
    const choice = firstChoice(pass, pass.started.graph);
    expect(choice?.repeats).toBe(true);
    const { links } = drawn(trace, choice === null ? "" : formatChain(choice));
    expect(links.map(({ title, power }) => [title, power])).toEqual([["mul × 10", "2¹⁰ = 1024"]]);
  });

  it("writes an operation's own derivative by the program's names", () => {
    const { links, partials } = drawn(sampleTrace("chain-of-two"), "n0..n2");
    expect(links.map(({ rule, vjp }) => rule ?? vjp)).toEqual(["diag(2 * y)", "A"]);
    expect(partials).toBe("∂z/∂y · ∂y/∂x");
  });

  it("does not answer an open question", () => {
    const trace = sampleTrace("chain-of-two");
    const position = { direction: "backward", step: 2, phase: "rule" } as const;
    const masked = maskTrace(trace, { position, isSumHidden: false, isShapeHidden: false });
    const { links, product, verdict } = drawn(masked, "n0..n2");
    expect(links.map(({ running }) => running?.matrix.cells ?? null)).toEqual([[6, 14], null]);
    expect([product, verdict]).toEqual([null, null]);
  });
});

describe("a choice", () => {
  it.each(["n0..n2", "n0.1..n2", "n0..n2.3-g1-r_0-*", "n10..n2-*"])(
    "is written as it was read: %s",
    (text) => {
      const choice = parseChain(text);
      expect(choice === null ? null : formatChain(choice)).toBe(text);
    },
  );

  it.each(["", "n0..", "..n2", "n0..n2..n3", "n0..n2-", "n0 .. n2", "n0..n2-<b>"])("is none: %s", (text) => {
    expect(parseChain(text)).toBeNull();
  });
});
