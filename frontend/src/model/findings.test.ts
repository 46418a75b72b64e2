import { describe, expect, it } from "vitest";
import { passNotes } from "./findings";
import { sampleTrace } from "./samples";

describe("passNotes", () => {
  it("is at the first step of its pass", () => {
    const trace = sampleTrace("gradient-accumulation");
    const [first, second] = trace.passes;
    if (first === undefined || second === undefined) throw new Error("the sample has two passes");
    const noted = {
      ...second,
      started: { ...second.started, notes: [{ kind: "note-input", operands: { name: "a" } }] },
    };
    expect(passNotes({ ...trace, passes: [first, noted] })).toEqual([
      { id: "1.0", fact: { kind: "note-input", operands: { name: "a" } }, step: first.steps.length + 1 },
    ]);
  });
});
