import { expect, it } from "vitest";
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
    const callout = drawCallout(trace, { direction: "backward", step: at + 1, phase: "multiply" });
    return callout?.kind === "vjp" ? [callout] : [];
  });
}

it.each(TRACES)("says of a formula of %s that it is being checked, until it is explained", (name) => {
  const checking = "The formula is still being checked.";
  const early = callouts(name, false);
  const reasons = early.flatMap(({ operands }) => operands.map(({ whyNoVjp }) => whyNoVjp));
  if (name === "mlp-step") expect(reasons).not.toContain(null);
  for (const { operands, origin, node } of early) {
    for (const { whyNoVjp, isExplained, isUnproven } of operands) {
      expect([isExplained, isUnproven]).toEqual([false, node.kind === "custom"]);
      if (whyNoVjp !== null) expect(textOf(whyNoVjp)).toBe(checking);
    }
    if (node.kind === "op") expect(origin.map(textOf).join()).not.toContain("derivatives.yaml");
  }
  for (const { operands } of callouts(name, true))
    for (const { whyNoVjp } of operands) expect(textOf(whyNoVjp ?? [])).not.toBe(checking);
});
