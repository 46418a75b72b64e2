import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSample, SAMPLES } from "../protocol/samples";
import { forwardOrder } from "./position";
import { emptyTrace, foldEvents } from "./trace";

const PROBLEM = {
  type: "problem",
  kind: "error",
  fact: { kind: "problem-interrupted" },
  span: null,
} as const;

describe("folding events", () => {
  it.each(SAMPLES)("gives the same state in any batches: %s", (name) => {
    const { events } = readSample(name);
    const whole = foldEvents(emptyTrace(), events);
    fc.assert(
      fc.property(fc.array(fc.nat(events.length), { maxLength: 6 }), (cuts) => {
        const ends = [0, ...cuts, events.length].sort((a, b) => a - b);
        let state = emptyTrace();
        for (const [at, start] of ends.slice(0, -1).entries()) {
          const [before, steps] = [state, state.steps.length];
          state = foldEvents(state, events.slice(start, ends[at + 1]));
          expect(before.steps).toHaveLength(steps);
        }
        expect(state).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });

  it("passes over events that a resumed stream sends again", () => {
    const { events } = readSample("x-times-x");
    const once = foldEvents(emptyTrace(), events);
    expect(foldEvents(once, events)).toBe(once);
  });

  it("shows what a program that raised had built, as a pass without steps", () => {
    const { events } = readSample("x-times-x");
    const begun = events.find((event) => event.type === "pass_started");
    if (begun === undefined) throw new Error("no such sample");
    const state = foldEvents(emptyTrace(), [{ ...PROBLEM, seq: 0, graph: begun.graph }]);
    expect(state.passes.map((pass) => pass.started.graph)).toEqual([begun.graph]);
    expect(state.steps).toEqual([]);
    expect(forwardOrder(state).map((node) => node.op)).toEqual(["mul"]);
  });

  it("marks the problems that the program caught", () => {
    const { events } = readSample("x-times-x");
    const finished = events.at(-1);
    if (finished?.type !== "finished") throw new Error("the sample has an end");
    const [first, second] = [finished.seq, finished.seq + 1];
    const state = foldEvents(emptyTrace(), [
      ...events.slice(0, -1),
      { ...PROBLEM, seq: first },
      { ...PROBLEM, seq: second },
      { ...finished, seq: second + 1, caught: [first] },
    ]);
    expect(state.problems.map(({ isCaught }) => isCaught)).toEqual([true, undefined]);
  });
});
