import { describe, expect, it } from "vitest";
import { chosenChain, firstChoice, formatChain, parseChain } from "../model/chainchoice";
import { maskTrace } from "../model/mask";
import { sampleTrace } from "../model/samples";
import type { PassState, TraceState } from "../model/trace";
import { atHand, TRACES } from "../protocol/samples";
import { type ChainScene, drawChain } from "./chain";
import type { Run } from "./shapes";

const PRECISION = 4;

/** Of a pass, by what an address says, or from one farthest end to the other. */
function drawn(trace: TraceState, text?: string, at = 0): ChainScene | null {
  const pass = trace.passes[at] as PassState;
  const { graph } = pass.started;
  const choice = text === undefined ? firstChoice(pass, graph) : parseChain(text);
  const chain = choice && chosenChain(graph, choice);
  return chain && drawChain(trace, pass, graph, chain, PRECISION);
}

describe("a drawn chain", () => {
  it("lines up the shapes: columns of one factor are rows of the next", () => {
    for (const name of TRACES) {
      const trace = sampleTrace(name);
      for (const at of trace.passes.keys()) {
        const chain = drawn(trace, undefined, at);
        if (chain === null) continue;
        const factors = chain.product.filter(({ sign }) => sign === undefined);
        const [rows, columns] = [0, 2].map((at) => factors.map(({ shape }) => (shape[at] as Run).text));
        expect(rows?.slice(1)).toEqual(columns?.slice(0, -1));
        for (const { matrix } of chain.product.slice(factors.length))
          expect(String(matrix?.columns)).toBe(columns?.at(-1));
      }
    }
  });

  it.each(atHand("doubling-loop"))("is a power of two along the %s", (name) => {
    const link = drawn(sampleTrace(name))?.product[1];
    expect([link?.caption, link?.note]).toEqual(["J₁ = ∂y/∂x\nmul × 10", "2¹⁰ = 1024"]);
  });

  it("writes an operation's own derivative by the program's names", () => {
    const chain = drawn(sampleTrace("chain-of-two"), "n0..n2");
    const rules = chain?.product.slice(1, 3).map(({ caption }) => caption.split("\n")[1]);
    expect(rules).toEqual(["pow: diag(2 * y)", "mv: A"]);
    expect(chain?.partials).toBe("∂z/∂y · ∂y/∂x");
  });

  it("does not answer an open question", () => {
    const trace = sampleTrace("chain-of-two");
    const position = { direction: "backward", step: 2, phase: "rule" } as const;
    const masked = maskTrace(trace, position);
    const chain = drawn(masked, "n0..n2");
    const parts = chain?.product.map(({ sign, under }) => sign ?? under?.matrix?.cells ?? null);
    expect([parts, chain?.verdict]).toEqual([[null, [6, 14], null, "|"], null]);
  });
});

describe("a choice", () => {
  it.each(["n0..n2", "n0.1..n2", "n0..n2.3-g1-r_0-*", "n10..n2-*"])(
    "is written as it was read: %s",
    (text) => {
      const choice = parseChain(text);
      expect(choice && formatChain(choice)).toBe(text);
    },
  );

  it.each(["", "n0..", "..n2", "n0..n2..n3", "n0..n2-", "n0 .. n2", "n0..n2-<b>"])("is none: %s", (text) => {
    expect(parseChain(text)).toBeNull();
  });
});
