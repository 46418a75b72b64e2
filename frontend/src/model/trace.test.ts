import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSample, SAMPLES } from "../protocol/samples";
import { emptyTrace, foldEvents } from "./trace";

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
});
