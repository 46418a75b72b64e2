import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSample, SAMPLES } from "./samples";
import { emptyTrace, foldEvents } from "./trace";

describe("folding events", () => {
  it.each(SAMPLES)("gives the same state in any batches: %s", (name) => {
    const { events } = readSample(name);
    const whole = foldEvents(emptyTrace(), events);
    fc.assert(
      fc.property(fc.array(fc.nat(events.length), { maxLength: 6 }), (cuts) => {
        const ends = [...cuts, events.length].sort((a, b) => a - b);
        let start = 0;
        let state = emptyTrace();
        for (const end of ends) {
          state = foldEvents(state, events.slice(start, end));
          start = end;
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

  it("leaves the state before as it was", () => {
    const { events } = readSample("x-times-x");
    const before = foldEvents(emptyTrace(), events.slice(0, 2));
    const steps = before.steps.length;
    foldEvents(before, events);
    expect(before.steps).toHaveLength(steps);
    expect(before.finished).toBeNull();
  });
});
