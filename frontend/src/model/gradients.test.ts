import { describe, expect, it } from "vitest";
import { TRACES } from "../protocol/samples";
import { isTensor, ledgerAt } from "./gradients";
import type { Phase } from "./phases";
import { sampleTrace } from "./samples";

describe.each(TRACES)("the ledger of %s", (name) => {
  const trace = sampleTrace(name);

  it("holds at each node what the engine was seen to hand it, output by output", () => {
    trace.steps.forEach((step, index) => {
      const pass = trace.passes[step.pass];
      if (pass === undefined) throw new Error("a step without its pass");
      const ledger = ledgerAt(trace, pass, { direction: "backward", step: index + 1, phase: "collect" });
      const byOutput = ledger.arrivalsAt(step.node).toSorted((a, b) => a.outputNr - b.outputNr);
      const arrived = byOutput.map(({ edge, value }) => ({ edge, value }));
      const handed = step.contributions.filter(({ value }) => isTensor(value));
      expect(arrived).toEqual(handed.map(({ edge, value }) => ({ edge, value })));
      expect(ledger.stepOf(step.node)).toBe(step);
    });
  });

  it("holds `.grad` before and after each accumulation", () => {
    trace.steps.forEach((step, index) => {
      const pass = trace.passes[step.pass];
      if (pass === undefined || step.accumulate === null) return;
      const { leaf, before, after } = step.accumulate;
      const at = (phase: Phase) => ledgerAt(trace, pass, { direction: "backward", step: index + 1, phase });
      expect(at("send").gradOf(leaf)).toEqual(before);
      expect(at("land").gradOf(leaf)).toEqual(after);
    });
  });
});
