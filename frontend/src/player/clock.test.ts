import { describe, expect, it } from "vitest";
import { type Position, START } from "../model/position";
import { sampleTrace } from "../model/samples";
import { frameAt, MULTIPLY_MS, motionBetween, PHASE_MS } from "./clock";

const trace = sampleTrace("x-times-x");
const from: Position = { direction: "backward", step: 1, phase: "send" };
const before: Position = { ...from, phase: "multiply" };
const after: Position = { ...from, phase: "land" };
const stillAt = (position: Position) => ({ position, said: position, progress: 1, fade: 1, finished: true });

describe("motions", () => {
  it("runs into the next phase", () => {
    const motion = motionBetween(trace, from, after, 1, false);
    expect(motion).toMatchObject({ kind: "play", duration_ms: PHASE_MS });
    const expected = { position: after, said: from, progress: 0.25, fade: 1, finished: false };
    expect(frameAt(motion, PHASE_MS / 4)).toEqual(expected);
  });

  it("runs out of the phase it steps back from, faster", () => {
    const motion = motionBetween(trace, from, before, 1, false);
    expect(motion).toMatchObject({ kind: "rewind", duration_ms: PHASE_MS / 2 });
    const frames = [0, 0.25, 0.5, 0.75].map((share) => frameAt(motion, share * motion.duration_ms));
    expect(frames.map((frame) => frame.progress)).toEqual([1, 0.75, 0.5, 0.25]);
    expect(frames.every((frame) => frame.position === from)).toBe(true);
    expect(frameAt(motion, motion.duration_ms)).toEqual(stillAt(before));
  });

  it.each([
    ["a distance", from, START, 1, { kind: "jump" }],
    ["the other walk", from, { ...from, direction: "forward", phase: "save" }, 1, { kind: "jump" }],
    ["a product", { ...from, phase: "rule" }, before, 1, { duration_ms: MULTIPLY_MS }],
    ["a product backwards", before, { ...from, phase: "rule" }, 1, { duration_ms: MULTIPLY_MS / 2 }],
    ["a phase at four times the speed", from, after, 4, { duration_ms: PHASE_MS / 4 }],
  ] as const)("takes its kind and time over %s", (_, start, end, speed, expected) => {
    expect(motionBetween(trace, start, end, speed, false)).toMatchObject(expected);
  });

  it("is a cut for those who want no movement", () => {
    expect(frameAt(motionBetween(trace, from, after, 1, true), 0)).toEqual(stillAt(after));
  });

  it("shows no time before the beginning, and nothing of an equation while jumps follow each other", () => {
    expect(frameAt(motionBetween(trace, from, after, 1, false), -20).progress).toBe(0);
    expect(frameAt(motionBetween(trace, from, START, 4, false), 80).fade).toBe(0);
  });
});
