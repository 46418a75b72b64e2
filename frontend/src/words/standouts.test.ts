import { describe, expect, it } from "vitest";
import { sampleTrace } from "../model/samples";
import type { TraceState } from "../model/trace";
import type { Finding } from "../protocol/trace.gen";
import { markedUp } from "./say";
import { standouts } from "./standouts";

function withFindings(found: readonly Partial<Finding>[]): TraceState {
  const findings = found.map(
    (each): Finding => ({
      kind: "overflow",
      node: null,
      step: null,
      span: null,
      group: null,
      fact: { kind: "finding-changed" },
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
  it("counts steps over all passes, as the transport does", () => {
    const trace = withFindings([]);
    const step = trace.passes[1]?.steps[1];
    if (step === undefined) throw new Error("the sample has two passes");
    const number = trace.steps.indexOf(step) + 1;
    const operands = { reaches: "It vanishes.", node: "MulBackward0", shape: { shape: [3] } };
    const found = standouts(
      withFindings([
        { kind: "vanishing", fact: { kind: "finding-vanishing-alone", operands }, step: step.index },
        { kind: "dead_relu", fact: { kind: "finding-dead-relu", operands }, node: step.node },
        { kind: "overflow", fact: { kind: "told", operands: { text: "about no step" } } },
        { kind: "exploding", fact: { kind: "finding-exploding-alone", operands }, step: 1_000_000 },
      ]),
    );
    expect(found.map((each) => each.step)).toEqual([number, number, null, null]);
    expect(found.map((each) => each.title)).toEqual([
      "vanishing gradient",
      "dead relu",
      "",
      "exploding gradient",
    ]);
    expect(markedUp(found[0]?.said ?? [])).toBe(
      "It vanishes. MulBackward0 does it alone. Relu, residual connections, normalisation or a better initialisation " +
        "keep the slopes near 1.",
    );
  });
});
