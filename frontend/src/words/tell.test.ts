import { expect, it } from "vitest";
import { judge } from "../model/answers";
import { questionsOfStep } from "../model/questions";
import { sampleTrace } from "../model/samples";
import { atHand, SAMPLES } from "../protocol/samples";
import { textOf } from "./say";
import { tell } from "./tell";

const questionsIn = (name: string) => {
  const trace = sampleTrace(name);
  return trace.steps.flatMap((_, index) => [...questionsOfStep(trace, index + 1)]);
};

it.each(SAMPLES)("every question of %s and every verdict on an answer is a sentence", (name) => {
  for (const question of questionsIn(name)) {
    expect(textOf(tell(question.prompt))).toMatch(/^[^{}]+\?$/);
    const answers = "mistakes" in question ? question.mistakes.map(({ values }) => values) : [];
    for (const answer of [question.answer, ...answers]) {
      const { isRight, said } = judge(question, answer);
      expect(textOf(tell(said))).toMatch(
        isRight ? /^Right, it [^{}]+\.$/ : /^You said [^{}]+, it is [^{}]+: [^{}]+\.$/,
      );
    }
  }
});

it.each(atHand("whole-jacobian"))(
  "numbers of a tensor in %s stand in brackets, and all summands are listed",
  (name) => {
    const sums = questionsIn(name).filter(({ kind }) => kind === "sum");
    expect(sums.map(({ prompt }) => textOf(tell(prompt)))).toContain(
      "x was used 3 times: [0, 3, 0], [2, 0, 0] and [2, 0, 0] arrive. What is v?",
    );
  },
);
