import { expect, it } from "vitest";
import { TRACES } from "../protocol/samples";
import type { Step, TensorValue } from "../protocol/trace.gen";
import { ledgerAt, returnedFor } from "./gradients";
import type { Phase } from "./phases";
import { sampleTrace } from "./samples";

it.each(TRACES)("the ledger of %s holds `.grad` before and after each accumulation", (name) => {
  const trace = sampleTrace(name);
  for (const [index, step] of trace.steps.entries()) {
    const pass = trace.passes[step.pass];
    if (pass === undefined || step.accumulate === null) continue;
    const { leaf, before, after } = step.accumulate;
    const at = (phase: Phase) => ledgerAt(trace, pass, { direction: "backward", step: index + 1, phase });
    expect(at("send").gradOf(leaf)).toEqual(before);
    expect(at("land").gradOf(leaf)).toEqual(after);
  }
});

it("tells what a rule returned from what a hook made of it, and what the engine sums is the rule's", () => {
  const value = (data: number): TensorValue => ({ shape: [], dtype: "float32", data: [data] });
  const step = sampleTrace("x-times-x").steps[0] as Step;
  const changed: Step = {
    ...step,
    grad_inputs: [value(9)],
    changes: [
      { argnum: 0, kind: "sum_to_size", before: value(1), after: value(2), span: null },
      { argnum: 0, kind: "node_hook", before: value(2), after: value(9), span: null },
    ],
  };
  expect(returnedFor(changed, 0)).toEqual(value(2));
  expect(returnedFor({ ...changed, changes: changed.changes?.slice(0, 1) ?? [] }, 0)).toEqual(value(9));
});
