import { describe, expect, it } from "vitest";
import { DEFAULT_PRECISION, formatNumber } from "./numbers";
import { forwardOrder } from "./position";
import { GOLDENS, sampleTrace } from "./samples";
import { sentenceAt } from "./selectors";

const NUMBER = /−?(?:\d+(?:\.\d+)?|∞)(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?/g;
const PHASES = [1, 2, 3];

const saidAt = (name: string, step: number): string[] =>
  PHASES.map((phase) => sentenceAt(sampleTrace(name), { direction: "forward", step, phase }));

it("says what goes in, what comes out and what is kept", () => {
  expect(saidAt("why-grad-output", 2)).toEqual([
    "add gets self = 6 and b = 1.",
    "add computes f = 7.",
    "add saves no tensor for backward, only one plain value.",
  ]);
  expect(saidAt("attention", 7)).toEqual([
    "softmax gets scores of shape [3, 3].",
    "softmax computes weights of shape [3, 3].",
    "softmax saves result for backward, and one plain value.",
  ]);
});

describe.each(GOLDENS)("%s", (name) => {
  it("says no number that was not traced", () => {
    for (const [index, node] of forwardOrder(sampleTrace(name)).entries()) {
      const values = [...node.inputs, ...node.outputs].flatMap(({ value }) => value ?? []);
      const traced = new Set(
        values.flatMap(({ data, shape }) => [
          ...(data ?? []).map((cell) => formatNumber(cell, DEFAULT_PRECISION)),
          ...shape.map(String),
        ]),
      );
      for (const sentence of saidAt(name, index + 1).slice(0, 2)) {
        const spoken = sentence.slice(node.label.length).replaceAll(/[A-Za-z_][\w.[\]]*/g, "");
        for (const [number] of spoken.matchAll(NUMBER)) expect(traced, sentence).toContain(number);
      }
    }
  });
});
