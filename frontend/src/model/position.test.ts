import { describe, expect, it } from "vitest";
import { SAMPLES } from "../protocol/samples";
import type { Position } from "./position";
import {
  clampPosition,
  first,
  formatPosition,
  last,
  nextStep,
  parsePosition,
  previousPhase,
  previousStep,
  START,
  turned,
} from "./position";
import { sampleTrace, walkFrom } from "./samples";

const at = (text: string): Position => {
  const position = parsePosition(text);
  if (position === null) throw new Error(text);
  return position;
};

describe("addresses", () => {
  it.each(["", "x", "7.", "7.6", "7.0", "f1.4", "-1", "1.1.1", "7e3", "1234567890"])("refuses %j", (text) => {
    expect(parsePosition(text)).toBeNull();
  });

  it("takes a step without a phase as its first", () => {
    expect(parsePosition("7")).toEqual({ direction: "backward", step: 7, phase: "collect" });
  });
});

describe("walking", () => {
  it.each(SAMPLES)("forward and then back by phases returns through the same places: %s", (name) => {
    const trace = sampleTrace(name);
    for (const start of [START, at("f0")]) {
      const [there, end] = [walkFrom(trace, start), last(trace, start)];
      expect(there.at(-1)).toEqual(end);
      for (const [index, place] of there.slice(1).entries())
        expect(previousPhase(trace, place)).toEqual(there[index]);
    }
  });

  it("goes from the start to the first whole equation, then keeps the phase", () => {
    const trace = sampleTrace("why-grad-output");
    expect(formatPosition(nextStep(trace, START))).toBe("1.3");
    expect(formatPosition(nextStep(trace, at("2.4")))).toBe("3.5");
    expect(formatPosition(previousStep(trace, at("2.4")))).toBe("1.4");
    expect(formatPosition(previousStep(trace, at("1.4")))).toBe("0");
    expect(formatPosition(nextStep(trace, at("6.2")))).toBe("6.5");
    expect(formatPosition(first(trace, at("f3.1")))).toBe("f0");
    const [there, leaf] = [turned(trace, at("2.4")), turned(trace, at("6.5"))];
    expect([there, turned(trace, there), leaf].map(formatPosition)).toEqual(["f2.2", "2.2", "f0"]);
  });

  it("stays within what has arrived", () => {
    const trace = sampleTrace("why-grad-output");
    expect(formatPosition(clampPosition(trace, at("99.2")))).toBe("6.5");
    expect(formatPosition(clampPosition(trace, at("f99.1")))).toBe("f3.3");
  });
});
