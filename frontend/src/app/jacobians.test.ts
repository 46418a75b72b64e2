import { expect, it } from "vitest";
import { emptyTrace, foldEvents } from "../model/trace";
import type { Event, LocalJacobian } from "../protocol/trace.gen";
import { withJacobians } from "./jacobians";

const jacobian = (argnum: number, value: LocalJacobian["value"]) =>
  ({ argnum, output_nr: 0, value }) as LocalJacobian;
const dense = { shape: [1, 1], dtype: "float32", data: [4] };

it("fills in one operand of one step, in the pass and in the whole walk", () => {
  const steps = [0, 1].map((index) => ({
    seq: index + 1,
    type: "step",
    pass: 0,
    index,
    local_jacobians: [jacobian(0, { missing: "on_demand" }), jacobian(1, { missing: "on_demand" })],
  }));
  const events = [{ seq: 0, type: "pass_started", pass: 0 }, ...steps] as unknown as Event[];
  const trace = foldEvents(emptyTrace(), events);
  const filled = withJacobians(trace, 1, 0, [jacobian(0, dense)]);
  const expected = [jacobian(0, dense), jacobian(1, { missing: "on_demand" })];
  expect(filled.steps[1]?.local_jacobians).toEqual(expected);
  expect(filled.passes[0]?.steps[1]?.local_jacobians).toEqual(expected);
  expect(filled.steps[0]).toBe(trace.steps[0]);
});
