import { describe, expect, it } from "vitest";
import { TRACES } from "../protocol/samples";
import type { Gradient } from "../protocol/trace.gen";
import { judge } from "./answers";
import { isTensor } from "./gradients";
import { toNumber } from "./numbers";
import { parsePosition } from "./position";
import { type NumberQuestion, type Question, questionAt, questionsOfStep } from "./questions";
import { sampleTrace } from "./samples";
import { nodeAt, stepAt } from "./selectors";

const hasNumbers = (question: Question): question is NumberQuestion => "mistakes" in question;

const dataOf = (value: Gradient | null | undefined): readonly number[] =>
  isTensor(value) ? (value.data ?? []).map(toNumber) : [];

/** The question at a place, what was taken for what there, and v and the operands in numbers. */
function asked(name: string, address: string) {
  const trace = sampleTrace(name);
  const position = parsePosition(address);
  const question = position && questionAt(trace, position);
  const step = position && stepAt(trace, position);
  const node = position && nodeAt(trace, position);
  if (!question || !step || !node || !hasNumbers(question))
    throw new Error(`${name} ${address} has no number to ask for`);
  return {
    answer: question.answer,
    v: dataOf(step.grad_outputs[0]),
    operands: node.inputs.map(({ value }) => dataOf(value)),
    mistaken: (kind: string) =>
      question.mistakes.flatMap(({ because, values }) => (because.kind === kind ? [values] : [])),
  };
}

const near = (...values: readonly number[]) => values.map((value) => expect.closeTo(value, 5));

describe.each(TRACES)("what is asked of %s", (name) => {
  const trace = sampleTrace(name);
  const questions = trace.steps.flatMap((_, at) => [...questionsOfStep(trace, at + 1)]).filter(hasNumbers);

  it("is the engine's, in few numbers", () => {
    for (const { kind, answer, position } of questions) {
      const step = stepAt(trace, position);
      const held = { sum: step?.grad_outputs, value: step?.grad_inputs, grad: [step?.accumulate?.after] }[
        kind
      ];
      expect(held?.flatMap(dataOf)).toEqual(expect.arrayContaining([...answer]));
      expect(answer.length).toBeLessThanOrEqual(3);
    }
  });

  it("has mistakes that can be told from the answer and from each other", () => {
    for (const question of questions) {
      const because = question.mistakes.map(({ values }) => judge(question, values).said.operands?.because);
      expect(because, question.id).toEqual(question.mistakes.map((each) => each.because));
    }
  });
});

it("knows what goes wrong where rows meet columns", () => {
  // scores = queries @ keys.T: of `queries` at [0, 1] a row of v meets a column of keys.
  const { answer, v, operands, mistaken } = asked("attention", "5.3");
  const turned = operands[1] ?? [];
  const [row, column] = [0, 1];
  const products = [0, 1, 2].map((k) => (v[3 * row + k] ?? 0) * (turned[3 * column + k] ?? 0));
  expect(answer).toEqual(near(products.reduce((sum, one) => sum + one)));
  expect(mistaken("ask-forgot-copies")).toEqual(products.map((one) => near(one)));
  expect(mistaken("ask-forgot-v")).toEqual([near([3, 4, 5].reduce((sum, at) => sum + (turned[at] ?? 0), 0))]);
  const [a = 0, b = 0, c = 0] = [0, 1, 2].map((k) => (v[3 * k + row] ?? 0) * (turned[3 * column + k] ?? 0));
  expect(mistaken("ask-row-for-column")).toEqual([near(a + b + c)]);
});

it("knows what goes wrong with a mean, a sum and a maximum", () => {
  // Of columns of two; v = [1, 2, 3], asked of the last.
  const mean = asked("structures", "52.3");
  expect([mean.answer, mean.mistaken("ask-forgot-factor")]).toEqual([[1.5], [[3]]]);
  // v = 1 for a sum of six.
  expect(asked("structures", "36.3").mistaken("ask-divided")).toEqual([near(1 / 6)]);
  // Of rows of three the largest; v = [1, 2].
  const max = asked("structures", "42.3");
  expect([max.answer, max.mistaken("ask-averaged")]).toEqual([[2], [near(2 / 3)]]);
});

it("knows what goes wrong where entries of v only move", () => {
  // Rows change places: [0, 2] is given what stands at [1, 2]; beside that and at [0, 2] itself stand others.
  const { answer, v, mistaken } = asked("structures", "48.3");
  expect(answer).toEqual([v[5]]);
  expect(mistaken("ask-forgot-v")).toEqual([[1]]);
  expect(mistaken("ask-other-cell")).toEqual([v[0], v[4], v[2]].flatMap((one) => (one === 1 ? [] : [[one]])));
});

it("knows what goes wrong where a number was spread over a tensor", () => {
  // w of shape [] times batch of two: what comes back is summed.
  const { answer, v, operands, mistaken } = asked("gradient-accumulation", "4.3");
  const batch = operands[1] ?? [];
  const products = batch.map((x, at) => x * (v[at] ?? 0));
  expect(answer).toEqual(near(products.reduce((sum, one) => sum + one)));
  expect(mistaken("ask-forgot-copies")).toEqual(products.map((one) => near(one)));
  expect(mistaken("ask-forgot-factor")).toEqual([near(v.reduce((sum, one) => sum + one))]);
  expect(mistaken("ask-forgot-v")).toEqual([near(batch.reduce((sum, one) => sum + one))]);
});
