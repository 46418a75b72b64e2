import { describe, expect, it } from "vitest";
import { emptyTrace, foldEvents } from "../model/trace";
import { readSample, TRACES } from "../protocol/samples";
import { textOf } from "../words/say";
import { drawCallout, type VjpCallout } from "./equation";

/** What the panel says at every step that is a product. */
function callouts(name: string, isWhole: boolean): VjpCallout[] {
  const { events } = readSample(name);
  const told = isWhole ? events : events.filter(({ type }) => type !== "explained" && type !== "finished");
  const trace = foldEvents(emptyTrace(), told);
  return trace.steps.flatMap((_, at) => {
    const position = { direction: "backward", step: at + 1, phase: "multiply" } as const;
    const callout = drawCallout(trace, position);
    return callout?.kind === "vjp" ? [callout] : [];
  });
}

describe.each(TRACES)("%s, before it is explained", (name) => {
  const early = callouts(name, false);

  it("says of a formula that is not there that it is being checked, and nothing of where it is written", () => {
    const reasons = early.flatMap(({ operands }) => operands.map(({ whyNoVjp }) => whyNoVjp));
    if (name === "mlp-step") expect(reasons).not.toContain(null);
    for (const { operands, origin, node } of early) {
      for (const { whyNoVjp, isExplained, isUnproven } of operands) {
        expect(isExplained).toBe(false);
        expect(isUnproven).toBe(node.kind === "custom");
        if (whyNoVjp !== null) expect(textOf(whyNoVjp)).toBe("The formula is still being checked.");
      }
      if (node.kind === "op") expect(origin.map(textOf).join()).not.toContain("derivatives.yaml");
    }
  });

  it("says so no more when it is", () => {
    const said = callouts(name, true).flatMap(({ operands }) =>
      operands.map(({ whyNoVjp }) => textOf(whyNoVjp ?? [])),
    );
    expect(said).not.toContain("The formula is still being checked.");
  });
});
