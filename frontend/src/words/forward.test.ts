import { expect, it } from "vitest";
import { PHASES } from "../model/phases";
import { sampleTrace } from "../model/samples";
import { atHand } from "../protocol/samples";
import { sentenceAt } from "./sentences";

const saidAt = (name: string, step: number): string[] =>
  PHASES.forward.map((phase) => sentenceAt(sampleTrace(name), { direction: "forward", step, phase }));

it("says what goes in, what comes out and what is kept", () => {
  expect(saidAt("why-grad-output", 2)).toEqual([
    "add gets w * x = 6 and b = 1.",
    "add computes f = 7.",
    "add saves no tensor for backward, only one plain value.",
  ]);
  expect(saidAt("attention", 7)).toEqual([
    "softmax gets scores of shape [3, 3].",
    "softmax computes weights of shape [3, 3].",
    "softmax saves weights for backward, and one plain value.",
  ]);
});

it("calls a constant by the other side of the operator", () => {
  expect(saidAt("attention", 1)[0]).toBe("mm gets tokens of shape [3, 4] and W_q of shape [4, 2].");
  for (const name of atHand("detach")) expect(saidAt(name, 1)[0]).toBe("mul gets x = 2 and 3.");
});
