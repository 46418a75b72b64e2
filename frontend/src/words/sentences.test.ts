import { describe, expect, it } from "vitest";
import { isTensor } from "../model/gradients";
import { maskTrace } from "../model/mask";
import { formatNumber } from "../model/numbers";
import { type Position, START, startOf, stopsOfStep } from "../model/position";
import { sampleTrace, walkFrom } from "../model/samples";
import { nodeAt } from "../model/selectors";
import type { TraceState } from "../model/trace";
import { TRACES } from "../protocol/samples";
import type { Gradient, Node, Step, TensorValue } from "../protocol/trace.gen";
import { LONGEST_SENTENCE } from "./backward";
import type { Part } from "./say";
import { saidAt, sentenceAt, stepSentence } from "./sentences";

const PRECISIONS = [1, 4, 9];

function* momentsOf(trace: TraceState): Generator<{ position: Position; step: Step; node: Node }> {
  for (const [index, step] of trace.steps.entries()) {
    for (const phase of stopsOfStep(trace, "backward", index + 1)) {
      const position: Position = { direction: "backward", step: index + 1, phase };
      const node = nodeAt(trace, position);
      if (node !== null) yield { position, step, node };
    }
  }
}

/** All that a sentence of a step may spell. */
function valuesOf(step: Step, node: Node): readonly TensorValue[] {
  const { accumulate, hooks = [], changes = [], contributions, grad_inputs, grad_outputs } = step;
  const told: unknown[] = [
    ...[...contributions, ...step.local_jacobians, ...node.inputs, ...node.outputs].map(({ value }) => value),
    ...[...grad_outputs, ...grad_inputs],
    ...node.saved.flatMap(({ value, was }) => [value, was]),
    ...[...hooks, ...changes, ...(accumulate?.changes ?? [])].flatMap(({ before, after }) => [before, after]),
    ...[accumulate?.before, accumulate?.after],
    ...grad_inputs.map((value) => (isTensor(value) ? value : value.dropped)),
  ];
  return told.filter((value): value is TensorValue => isTensor(value as Gradient));
}

const numbersIn = (text: string): string[] => text.match(/[-−]?(?:\d[\d.]*(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|∞)/g) ?? [];

/** Numbers of a part that no one value of the step has all of. */
function strangers({ text }: Part, step: Step, node: Node, precision: number): string[] {
  const numbers = numbersIn(text);
  const known = valuesOf(step, node).map(({ data = [], shape }) =>
    text.includes("shape")
      ? shape.map(String)
      : data.flatMap((cell) => numbersIn(formatNumber(cell, precision))),
  );
  return known.some((one) => numbers.every((number) => one.includes(number))) ? [] : numbers;
}

describe.each(TRACES)("%s", (name) => {
  const trace = sampleTrace(name);

  it("has the same stops for whoever must not see the numbers yet", () => {
    const masked = maskTrace(trace, START);
    expect(walkFrom(masked, START)).toEqual(walkFrom(trace, START));
  });

  it.each(PRECISIONS)("spells each value as it was traced, with %i digits", (precision) => {
    for (const { position, step, node } of momentsOf(trace)) {
      for (const part of saidAt(trace, position, precision)) {
        if (part.kind === "value")
          expect(strangers(part, step, node, precision), JSON.stringify(part)).toEqual([]);
        // What is computed is always a value: a text counts, and gives shapes and lines.
        if (part.kind === "text") expect(part.text).not.toMatch(/\d\.\d|·10/);
        // Never torch's name for an argument.
        if (part.kind === "code") expect(part.text).not.toMatch(/^(?:self|other|mat[12]|tensors\[\d\])$/);
      }
    }
  });

  it("says one short sentence everywhere, with a capital and a full stop", () => {
    for (const { position } of momentsOf(trace)) {
      const said = sentenceAt(trace, position);
      expect(said.length, said).toBeLessThanOrEqual(LONGEST_SENTENCE);
      expect(said).toMatch(/\.$/);
      const [first] = saidAt(trace, position);
      if (first?.kind === "text") expect(said).toMatch(/^[^a-z]/);
      expect(stepSentence(trace, position).length).toBeLessThanOrEqual(LONGEST_SENTENCE);
    }
  });
});

it("says on the way forward what an operation gets and saves, in the program's own names", () => {
  const trace = sampleTrace("why-grad-output");
  const said = walkFrom(trace, startOf("forward")).map((at) => sentenceAt(trace, at));
  expect(said).toContain("add gets w * x = 6 and b = 1.");
  expect(said).toContain("add saves no tensor for backward, only one plain value.");
});
