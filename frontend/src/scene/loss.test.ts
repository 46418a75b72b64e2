import { describe, expect, it } from "vitest";
import { sampleTrace } from "../model/samples";
import type { TraceState } from "../model/trace";
import { atHand } from "../protocol/samples";
import { lossOnTop } from "./loss";

function lossOf(trace: TraceState) {
  const [pass] = trace.passes;
  return pass === undefined ? null : lossOnTop(trace, pass);
}

describe("an L on top of an output", () => {
  it("is not needed where the program has a loss of its own, or v is a stack", () => {
    expect(lossOf(sampleTrace("mlp-step"))).toBeNull();
    for (const name of atHand("whole-jacobian")) expect(lossOf(sampleTrace(name))).toBeNull();
  });

  it.each(atHand("map"))("shows no J whose product is not what the engine returned: %s", (name) => {
    const trace = sampleTrace(name);
    const steps = trace.steps.map((step) => ({
      ...step,
      local_jacobians: step.local_jacobians.map((jacobian) => ({
        ...jacobian,
        value: "data" in jacobian.value ? { ...jacobian.value, data: [4, 0, 3.1, 2, 0, 6] } : jacobian.value,
      })),
    }));
    const passes = trace.passes.map((pass) => ({ ...pass, steps }));
    expect(lossOf({ ...trace, steps, passes })?.leaves).toEqual([]);
  });
});
