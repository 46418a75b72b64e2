import { expect, it } from "vitest";
import { fact } from "../protocol/facts";
import { TRACES } from "../protocol/samples";
import type { Gradient } from "../protocol/trace.gen";
import { judge, readAnswer } from "./answers";
import { isTensor } from "./gradients";
import { maskTrace } from "./mask";
import { toNumber } from "./numbers";
import { hasCome } from "./phases";
import { parsePosition } from "./position";
import { momentBefore, type Question, questionAt, questionsOfStep, type Typed } from "./questions";
import { sampleTrace } from "./samples";
import type { TraceState } from "./trace";

const numbersOf = (gradient: Gradient | undefined): number[] =>
  isTensor(gradient) ? (gradient.data ?? []).map(toNumber) : [];

const everyQuestion = (trace: TraceState): Question[] =>
  trace.steps.flatMap((_, index) => [...questionsOfStep(trace, index + 1)]);

function questionOf(name: string, address: string): Typed {
  const position = parsePosition(address);
  const question = position && questionAt(sampleTrace(name), position);
  if (question === null || "choices" in question) throw new Error(`${name} asks nothing at ${address}`);
  return question;
}

it.each(TRACES)("the answers for %s are what the engine returned, in few numbers", (name) => {
  const trace = sampleTrace(name);
  for (const question of everyQuestion(trace)) {
    const step = trace.steps[question.position.step - 1];
    if (step === undefined) throw new Error("a question without a step");
    const entries = {
      sum: step.grad_outputs.flatMap(numbersOf),
      value: step.grad_inputs.flatMap(numbersOf),
      grad: numbersOf(step.accumulate?.after),
    };
    if ("choices" in question) {
      expect(judge(question, question.answer).isRight).toBe(true);
      continue;
    }
    expect(judge(question, readAnswer(question, `[${question.answer.join(", ")}]`) ?? []).isRight).toBe(true);
    if (question.kind === "shape") {
      expect(step.grad_inputs.filter(isTensor).map(({ shape }) => shape)).toContainEqual(question.answer);
    } else {
      expect(entries[question.kind]).toEqual(expect.arrayContaining([...question.answer]));
      expect(question.answer.length).toBeLessThanOrEqual(3);
    }
  }
});

it.each(TRACES)("asks the same of %s every time, and tells each mistake from the others", (name) => {
  const questions = everyQuestion(sampleTrace(name));
  expect(questions).not.toHaveLength(0);
  expect(everyQuestion(sampleTrace(name))).toEqual(questions);
  for (const question of questions) {
    const mistakes = "mistakes" in question ? question.mistakes : [];
    const because = mistakes.map(({ values }) => judge(question, values).said.operands?.because);
    expect(because, question.id).toEqual(mistakes.map((each) => each.because));
  }
});

it.each(TRACES)("nothing of %s beyond the horizon is left in the masked trace", (name) => {
  const trace = sampleTrace(name);
  for (const question of everyQuestion(trace)) {
    const moment = momentBefore(trace, question);
    const masked = maskTrace(trace, moment, question.kind);
    const { step, phase } = question.position;
    const own = masked.steps[step - 1];
    if (own === undefined) throw new Error("masking lost a step");
    if (phase === "collect") expect(own.grad_outputs.flatMap(numbersOf).every(Number.isNaN)).toBe(true);
    if (!hasCome("send", phase)) expect(own.grad_inputs.flatMap(numbersOf).every(Number.isNaN)).toBe(true);
    expect(numbersOf(own.accumulate?.after).every(Number.isNaN)).toBe(true);
    for (const later of masked.steps.slice(step)) {
      const contributions = later.contributions.map(({ value }) => value);
      expect([later.grad_outputs, later.grad_inputs, contributions].flat().flatMap(numbersOf)).toEqual([]);
      expect(later.local_jacobians).toEqual([]);
    }
    const seq = trace.steps[step - 1]?.seq ?? 0;
    expect(masked.stdout.filter((printed) => printed.seq > seq)).toEqual([]);
    const open = masked.passes.slice(trace.steps[step - 1]?.pass);
    expect(open.flatMap(({ finished }) => finished?.findings ?? [])).toEqual([]);
    // What was known stays as it was.
    expect(masked.steps.slice(0, step - 1).slice(0, -1)).toEqual(trace.steps.slice(0, step - 1).slice(0, -1));
  }
});

/** Worked out by hand, of v and the operands of each step. */
it.each([
  // x is used twice, and 3 arrives each time.
  ["x-times-x", "2.1", "3", "ask-only-one-use"],
  // f = w x + b with x = 2 and v = 14.
  ["why-grad-output", "4.3", "2", "ask-forgot-v"],
  ["why-grad-output", "4.3", "-28", "ask-wrong-sign"],
  // `.grad` was 2.5 before.
  ["gradient-accumulation", "10.5", "12.5", "ask-grad-replaced"],
  // w of shape [] times [1, 2]; v = [0.5, 1].
  ["gradient-accumulation", "4.3", "0.5", "ask-forgot-copies"],
  ["gradient-accumulation", "4.3", "1.5", "ask-forgot-factor"],
  ["gradient-accumulation", "4.3", "3", "ask-forgot-v"],
  // A row of v, [-0.57397, 0.39837, 0.17560], times one of keys, [-1.18613, -2.81653, -2.25817]; a column of v instead.
  ["attention", "5.3", "0.68080", "ask-forgot-copies"],
  ["attention", "5.3", "-6.26082", "ask-forgot-v"],
  ["attention", "5.3", "2.49131", "ask-row-for-column"],
  // A mean of columns of two, with v = 3; a sum of six; the largest of three, with v = 2.
  ["structures", "52.3", "3", "ask-forgot-factor"],
  ["structures", "36.3", "1/6", "ask-divided"],
  ["structures", "42.3", "2/3", "ask-averaged"],
  // Rows of v, [1, 2, 0] and [0, 2, 4], change places: at [0, 2] the 4 is right, and a 2 is beside it.
  ["structures", "48.3", "2", "ask-other-cell"],
])("%s asks at %s: %s is explained by %s", (name, address, text, because) => {
  const question = questionOf(name, address);
  const { isRight, said } = judge(question, readAnswer(question, text) ?? []);
  expect([isRight, said]).toMatchObject([false, { operands: { because: { kind: because } } }]);
});

it("says what was said, what is right, and who sent the part that was taken for the sum", () => {
  expect(judge(questionOf("why-grad-output", "4.3"), [2]).said).toEqual(
    fact("ask-wrong-because", {
      said: { numbers: [2] },
      is: { numbers: [28] },
      because: fact("ask-forgot-v"),
    }),
  );
  const sum = judge(questionOf("x-times-x", "2.1"), [3]).said.operands?.because;
  expect(sum).toEqual(fact("ask-only-one-use", { sender: "mul" }));
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
  expect(readAnswer(questionOf("why-grad-output", "1.3"), text)).toEqual(expected);
});
