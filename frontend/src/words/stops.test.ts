import { describe, expect, it } from "vitest";
import { maskTrace } from "../model/mask";
import { clampPosition, formatPosition, parsePosition, START, stopsOfStep } from "../model/position";
import { sampleTrace, walkFrom } from "../model/samples";
import { TRACES } from "../protocol/samples";
import { sentenceAt } from "./sentences";

describe.each(TRACES)("the stops of %s", (name) => {
  const trace = sampleTrace(name);
  const places = walkFrom(trace, START);

  it("each say something else than the one before", () => {
    const said = places.map((place) => sentenceAt(trace, place));
    said.forEach((sentence, at) => {
      const isSameStep = places[at]?.step === places[at - 1]?.step;
      if (isSameStep) expect(sentence, formatPosition(places[at] ?? START)).not.toBe(said[at - 1]);
    });
  });

  it("are one at a leaf that one gradient reaches, and end with landing everywhere", () => {
    trace.steps.forEach((step, at) => {
      const stops = stopsOfStep(trace, "backward", at + 1);
      expect(stops.at(-1)).toBe("land");
      const [only, ...others] = step.contributions;
      if (
        step.accumulate !== null &&
        others.length === 0 &&
        only?.edge !== "seed" &&
        "shape" in (only?.value ?? {})
      )
        expect(stops.length - Number((step.hooks ?? []).length > 0)).toBe(1);
    });
  });

  it("are the same for whoever must not see the numbers yet", () => {
    const masked = maskTrace(trace, { position: START, isSumHidden: false, isShapeHidden: false });
    expect(walkFrom(masked, START)).toEqual(places);
  });

  it("open the nearest one before for an older link to a phase that is left out", () => {
    for (let step = 1; step <= trace.steps.length; step += 1) {
      const stops = stopsOfStep(trace, "backward", step);
      for (let place = 1; place <= 5; place += 1) {
        const asked = parsePosition(`${step}.${place}`) ?? START;
        const opened = clampPosition(trace, asked);
        expect(stops).toContain(opened.phase);
        if (stops.some((stop) => stop === asked.phase)) expect(opened).toEqual(asked);
      }
    }
  });
});
