import { expect, it } from "vitest";
import { fact } from "../protocol/facts";
import { atHand, SAMPLES } from "../protocol/samples";
import type { Fact, Gradient } from "../protocol/trace.gen";
import { judge, readAnswer, type Verdict } from "./answers";
import { isTensor } from "./gradients";
import { maskTrace } from "./mask";
import { toNumber } from "./numbers";
import { hasCome } from "./phases";
import { parsePosition } from "./position";
import { momentBefore, type NumberQuestion, type Question, questionAt, questionsOfStep } from "./questions";
import { sampleTrace } from "./samples";
import type { TraceState } from "./trace";

const NAMES = [
  ...SAMPLES,
  ...atHand("map", "whole-jacobian", "vanishing", "in-place", "batch", "used-twice", "rows-of-j"),
];

const numbersOf = (gradient: Gradient | undefined): number[] =>
  isTensor(gradient) ? (gradient.data ?? []).map(toNumber) : [];

const everyQuestion = (trace: TraceState): Question[] =>
  trace.steps.flatMap((_, index) => [...questionsOfStep(trace, index + 1)]);

const said = (trace: TraceState, address: `${number}.${number}`, text: string) => {
  const position = parsePosition(address);
  const question = position === null ? null : questionAt(trace, position);
  const answer = question === null ? null : readAnswer(question, text);
  if (question === null || answer === null)
    throw new Error(`no question at ${address}, or no answer in ${text}`);
  return judge(question, answer);
};

const reason = ({ said }: Verdict) => said.operands?.because as Fact | undefined;

it.each(NAMES)("the answers for %s are what the engine returned", (name) => {
  const trace = sampleTrace(name);
  for (const question of everyQuestion(trace)) {
    const step = trace.steps[question.position.step - 1];
    if (step === undefined) throw new Error("a question without a step");
    const entries = {
      sum: step.grad_outputs.flatMap(numbersOf),
      value: step.grad_inputs.flatMap(numbersOf),
      grad: numbersOf(step.accumulate?.after),
    };
    if (question.kind === "sum" || question.kind === "value" || question.kind === "grad")
      expect(entries[question.kind]).toEqual(expect.arrayContaining([...question.answer]));
    if (question.kind === "shape") {
      expect(step.grad_inputs.filter(isTensor).map(({ shape }) => shape)).toContainEqual(question.answer);
    }
    if (question.kind === "sign" || question.kind === "nodes") {
      expect(judge(question, question.answer).isRight).toBe(true);
    } else {
      const text = question.kind === "shape" ? `[${question.answer.join(", ")}]` : question.answer.join(", ");
      expect(judge(question, readAnswer(question, text) ?? []).isRight).toBe(true);
    }
  }
});

it.each(NAMES)("asks the same of %s every time, and gives a reason for each mistake", (name) => {
  const questions = everyQuestion(sampleTrace(name));
  expect(questions).not.toHaveLength(0);
  expect(everyQuestion(sampleTrace(name))).toEqual(questions);
  for (const question of questions) {
    const mistakes = "mistakes" in question ? question.mistakes : [];
    for (const { isRight, said } of mistakes.map(({ values }) => judge(question, values)))
      if (!isRight) expect(said.kind).toBe("ask-wrong-because");
  }
});

it.each(NAMES)("nothing of %s beyond the horizon is left in the masked trace", (name) => {
  const trace = sampleTrace(name);
  for (const question of everyQuestion(trace)) {
    const moment = momentBefore(trace, question);
    const masked = maskTrace(trace, {
      position: moment,
      isSumHidden: question.kind === "sum",
      isShapeHidden: question.kind === "shape",
    });
    const { step, phase } = question.position;
    const own = masked.steps[step - 1];
    if (own === undefined) throw new Error("masking lost a step");
    if (phase === "collect") expect(own.grad_outputs.flatMap(numbersOf).every(Number.isNaN)).toBe(true);
    if (!hasCome("send", phase)) expect(own.grad_inputs.flatMap(numbersOf).every(Number.isNaN)).toBe(true);
    expect(numbersOf(own.accumulate?.after).every(Number.isNaN)).toBe(true);
    for (const later of masked.steps.slice(step)) {
      const values = [
        ...later.grad_outputs,
        ...later.grad_inputs,
        ...later.contributions.map(({ value }) => value),
      ];
      expect(values.flatMap(numbersOf)).toEqual([]);
      expect(later.local_jacobians).toEqual([]);
    }
    for (const printed of trace.stdout) {
      const isLater = printed.seq > (trace.steps[step - 1]?.seq ?? 0);
      if (isLater) expect(masked.stdout).not.toContain(printed);
    }
    const open = masked.passes.slice(trace.steps[step - 1]?.pass);
    expect(open.flatMap(({ finished }) => finished?.findings ?? [])).toEqual([]);
    // What was known stays as it was.
    expect(masked.steps.slice(0, step - 1).slice(0, -1)).toEqual(trace.steps.slice(0, step - 1).slice(0, -1));
  }
});

it("names the forgotten sum: x * x sends to x twice", () => {
  const verdict = said(sampleTrace("x-times-x"), "2.1", "3");
  expect(reason(verdict)).toEqual(fact("ask-only-one-use", { sender: "mul" }));
});

it("names the local derivative given without v", () => {
  // f = w x + b with x = 2 and v = 14: w gets 14 * 2.
  const trace = sampleTrace("why-grad-output");
  const question = everyQuestion(trace).find(
    (each): each is NumberQuestion => each.kind === "value" && each.answer[0] === 28,
  );
  if (question === undefined) throw new Error("28 is not asked for");
  expect(judge(question, [28]).isRight).toBe(true);
  expect(judge(question, [2])).toEqual({
    isRight: false,
    said: fact("ask-wrong-because", {
      said: { numbers: [2] },
      is: { numbers: [28] },
      because: fact("ask-forgot-v"),
    }),
  });
  expect(reason(judge(question, [-28]))).toEqual(fact("ask-wrong-sign"));
});

it("names the sum over copies, and a .grad that is not replaced", () => {
  const accumulation = sampleTrace("gradient-accumulation");
  const grad = everyQuestion(accumulation).find((each): each is NumberQuestion => each.kind === "grad");
  expect(grad?.answer).toEqual([15]);
  expect(grad && reason(judge(grad, [12.5]))).toEqual(fact("ask-grad-replaced"));
  // w of shape [] was spread over two numbers: 0.5 * 1 + 1 * 2.
  expect(reason(said(accumulation, "4.3", "2"))).toEqual(fact("ask-forgot-copies"));
});

it.each([
  ["6", [6]],
  [" \u22120.5 ", [-0.5]],
  ["3/4", [0.75]],
  ["tensor([2.])", [2]],
  ["-inf", [Number.NEGATIVE_INFINITY]],
  ["six", null],
  ["1, 2", null],
  ["", null],
])("%j is read as %j", (text, expected) => {
  const question = everyQuestion(sampleTrace("why-grad-output")).find(({ kind }) => kind === "value");
  if (question === undefined) throw new Error("nothing to ask");
  expect(readAnswer(question, text)).toEqual(expected);
});
