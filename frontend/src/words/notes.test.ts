import { expect, it } from "vitest";
import { maskTrace } from "../model/mask";
import { parsePosition } from "../model/position";
import { sampleTrace } from "../model/samples";
import type { TraceState } from "../model/trace";
import { notesTold } from "./notes";
import { textOf } from "./say";

const UNKNOWN = "{q} {x[2]} {x[0][0]} {} {2 * x}";
const NOTE = `\`v\` {v}, J {J}, {x} {x[0]} {y[-1]}, {x.grad}; ${UNKNOWN}`;

/** The example F2(F1(x)), with a note on the line of its second function. */
function noted(): TraceState {
  const trace = sampleTrace("chain-of-two");
  if (trace.started === null) throw new Error("an empty trace");
  const line = trace.started.source.split("\n").findIndex((text) => text.includes("y**2")) + 1;
  return { ...trace, started: { ...trace.started, directions: [{ kind: "note", text: NOTE, line }] } };
}

it.each([
  ["1.3", "v [1, 1], J [[6, 0], [0, 14]], [1, 1] 1 7, None"],
  ["f2.2", "v {v}, J {J}, [1, 1] 1 7, {x.grad}"],
])("a note at %s has the values of its step and of the program", (address, values) => {
  const position = parsePosition(address);
  if (position === null) throw new Error(address);
  expect(notesTold(noted(), position).map(textOf)).toEqual([`${values}; ${UNKNOWN}`]);
});

it("a note gives no answer away", () => {
  const position = { direction: "backward", step: 1, phase: "collect" } as const;
  const masked = maskTrace(noted(), position, "sum");
  const [told = []] = notesTold(masked, position);
  expect(textOf(told)).toMatch(/^v \[\?, \?\], J \[\[6,/);
});
