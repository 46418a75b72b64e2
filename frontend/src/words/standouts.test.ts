import { expect, it } from "vitest";
import { sampleTrace } from "../model/samples";
import type { Finding } from "../protocol/trace.gen";
import { standouts } from "./findings";

it("counts the steps of what stands out over all passes, as the transport does", () => {
  const trace = sampleTrace("gradient-accumulation");
  const step = trace.passes[1]?.steps[1];
  if (step === undefined) throw new Error("the sample has two passes");
  const operands = { reaches: "It vanishes.", node: "MulBackward0", shape: { shape: [3] } };
  const about = { node: null, step: null, span: null, group: null };
  const findings: Finding[] = [
    { ...about, kind: "vanishing", fact: { kind: "finding-vanishing-alone", operands }, step: step.index },
    { ...about, kind: "dead_relu", fact: { kind: "finding-dead-relu", operands }, node: step.node },
    { ...about, kind: "overflow", fact: { kind: "told", operands: { text: "about no step" } } },
    { ...about, kind: "exploding", fact: { kind: "finding-exploding-alone", operands }, step: 1_000_000 },
  ];
  const passes = trace.passes.map(({ finished, ...pass }) => ({
    ...pass,
    finished: finished && { ...finished, findings: pass.index === 1 ? findings : [] },
  }));
  const found = standouts({ ...trace, passes });
  const number = trace.steps.indexOf(step) + 1;
  expect(found.map((each) => each.step)).toEqual([number, number, null, null]);
});
