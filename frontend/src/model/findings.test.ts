import { describe, expect, it } from "vitest";
import type { Finding } from "../protocol/trace.gen";
import { passNotes, standouts } from "./findings";
import { sampleTrace } from "./samples";
import type { TraceState } from "./trace";

function withFindings(found: readonly Partial<Finding>[]): TraceState {
  const findings = found.map(
    (each): Finding => ({
      kind: "overflow",
      node: null,
      step: null,
      span: null,
      group: null,
      message: "",
      ...each,
    }),
  );
  const trace = sampleTrace("gradient-accumulation");
  const passes = trace.passes.map((pass) =>
    pass.index === 1 && pass.finished !== null ? { ...pass, finished: { ...pass.finished, findings } } : pass,
  );
  return { ...trace, passes };
}

describe("standouts", () => {
  it("is empty where the server found nothing", () => {
    expect(standouts(withFindings([]))).toEqual([]);
    expect(standouts(sampleTrace("x-times-x")).every(({ message }) => message !== "")).toBe(true);
  });

  it("counts steps over all passes, as the transport does", () => {
    const trace = withFindings([]);
    const step = trace.passes[1]?.steps[1];
    if (step === undefined) throw new Error("the sample has two passes");
    const number = trace.steps.indexOf(step) + 1;
    const found = standouts(
      withFindings([
        { kind: "vanishing", message: "by step", step: step.index },
        { kind: "dead_relu", message: "by node", node: step.node },
        { kind: "cut_derivative", message: "about no step", step: null },
        { kind: "overflow", message: "of a step that is not there", step: 1_000_000 },
      ]),
    );
    expect(found.map((each) => each.step)).toEqual([number, number, null, null]);
    expect(found.map((each) => each.kind)).toEqual([
      "vanishing gradient",
      "dead relu",
      "second derivative cut short",
      "overflow",
    ]);
  });
});

describe("passNotes", () => {
  it("is at the first step of its pass", () => {
    const trace = withFindings([]);
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
