import { describe, expect, it } from "vitest";
import { curveOf, leavesOf, mergedCurve } from "../model/curve";
import { emptyTrace, foldEvents, type TraceState } from "../model/trace";
import { readSample } from "../protocol/samples";
import type { Event } from "../protocol/trace.gen";
import { linesOf, scaleOf, segmentsOf } from "./curve";

const span = { line: 3, column: 0, end_line: 3, end_column: 9 };

/** A recorded pass with the given one of all numbers, as the sample has it. */
function recorded(index: number, number: number, line = span.line): Event[] {
  return readSample("x-times-x").events.flatMap((event): Event[] => {
    if (event.type === "pass_started") return [{ ...event, pass: index, number, span: { ...span, line } }];
    return "pass" in event ? [{ ...event, pass: index }] : [];
  });
}

const gap: Event = {
  seq: 0,
  type: "unrecorded",
  first: 1,
  calls: [{ call: "backward", span, output: "loss", leaves: ["w", "b"] }],
  of: [0, 0, 0],
  outputs: [4, "NaN", null],
  norms: [
    [3, null],
    ["Infinity", 1],
    [2, 2],
  ],
  between: { step: [1, 2], zero_grad: [3] },
};

function trace(...events: Event[]): TraceState {
  const numbered = events.map((event, seq) => ({ ...event, seq }) as Event);
  return foldEvents(emptyTrace(), numbered);
}

describe("the curve of passes", () => {
  const loop = trace(...recorded(0, 0), gap, ...recorded(1, 4));
  const points = curveOf(loop);

  it("has all passes in order, recorded or not", () => {
    expect(points.map(({ number }) => number)).toEqual([0, 1, 2, 3, 4]);
    expect(points.map(({ pass }) => pass?.index ?? null)).toEqual([0, null, null, null, 1]);
    expect(points.map(({ value }) => value)).toEqual([9, 4, Number.NaN, null, 9]);
    expect(leavesOf(points)).toEqual(["x", "w", "b"]);
    expect(points[1]?.norms).toEqual(new Map([["w", 3]]));
    expect(points.map(({ between }) => between)).toEqual([[], ["step"], ["step"], ["zero_grad"], []]);
  });

  it("takes in what another trace of the program recorded", () => {
    const merged = mergedCurve(loop, trace(...recorded(0, 2)));
    expect(merged.map(({ pass }) => pass !== null)).toEqual([true, false, true, false, true]);
  });
});

describe("the drawing of the curve", () => {
  it("is logarithmic where the values are decades apart", () => {
    const far = scaleOf([1, 10, 100], 56);
    expect([far.y(100), far.y(10), far.y(1)]).toEqual([7, 28, 49]);
    const near = scaleOf([1, 2, 3], 56);
    expect(near.y(2)).toBeCloseTo(28);
    expect(scaleOf([null, Number.NaN], 56)).toMatchObject({ least: null, most: null });
  });

  it("breaks where there is no number, and keeps the least and the greatest of a column", () => {
    const { y } = scaleOf([1, 2], 56);
    const two = ["M5.0 49.0L15.0 7.0", "M35.0 7.0L45.0 49.0"];
    expect(linesOf([1, 2, Number.NaN, 2, 1], 10, 5, y)).toEqual(two);
    expect(linesOf([1, 1, 2, 1], 0.25, 0, y)).toEqual(["M0.0 49.0L0.0 7.0"]);
  });

  it("joins marks of passes that follow each other", () => {
    const points = curveOf(trace(...recorded(0, 0), gap));
    expect(segmentsOf(points, "step")).toEqual([[1, 2]]);
    expect(segmentsOf(points, "zero_grad")).toEqual([[3, 3]]);
  });
});
