import { describe, expect, it } from "vitest";
import type { Gradient, LocalJacobian, Node, Step } from "../protocol/trace.gen";
import type { Position } from "./position";
import { GOLDENS, sampleTrace } from "./samples";
import { nodesById, passAt, sentenceAt, stepSentence } from "./selectors";
import type { TraceState } from "./trace";

/** Not part of a name (`model.0.bias`, `x2`) or of a formula's power (`x^2`). */
const NUMBER = /(?<![\w.^`])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w`]|\.\w)/g;
/** As written in the rules themselves: d(x + 1)/dx = 1, v * 2 * (x - t) / n, 0 elsewhere. */
const OF_RULES = [0, 1, 2];
const SIGNIFICANT_DIGITS = 4;

const entriesOf = (value: Gradient | LocalJacobian["value"] | Node["saved"][number]["value"]): number[] => {
  if (Array.isArray(value)) return value.flat().map(Number);
  if (typeof value !== "object") return [Number(value)];
  if (value === null || "missing" in value) return [];
  return [...value.shape, ...(value.data ?? []).flat().map(Number)];
};

/** Every number that a step's events hold. */
function tracedIn(step: Step, node: Node | undefined): number[] {
  const { accumulate } = step;
  return [
    ...step.contributions.map(({ value }) => value),
    ...step.grad_outputs,
    ...step.grad_inputs,
    ...step.local_jacobians.map(({ value }) => value),
    ...(accumulate === null ? [] : [accumulate.before, accumulate.after]),
    ...(node?.inputs ?? []).map(({ value }) => value),
    ...(node?.saved ?? []).map(({ value }) => value),
  ].flatMap(entriesOf);
}

/** How many contributions, and which outputs got them. */
function countsOf(step: Step, node: Node | undefined): number[] {
  const outputs = node?.output_count ?? 1;
  return [step.contributions.length, outputs, step.grad_outputs.length, ...Array(outputs + 1).keys()];
}

const isSpelled = (written: number, traced: number): boolean =>
  written === Number(traced.toPrecision(SIGNIFICANT_DIGITS)) ||
  (written === traced && Number.isInteger(traced));

const wrongNumbers = (sentence: string, traced: readonly number[], counts: readonly number[]): string[] =>
  (sentence.match(NUMBER) ?? []).filter(
    (text) => !traced.some((each) => isSpelled(Number(text), each)) && !counts.includes(Number(text)),
  );

function* stepsOf(trace: TraceState): Generator<[Position, Step, Node | undefined]> {
  for (const [index, step] of trace.steps.entries()) {
    for (let phase = 1; phase <= 5; phase += 1) {
      const position: Position = { direction: "backward", step: index + 1, phase };
      const pass = passAt(trace, position);
      yield [position, step, pass === null ? undefined : nodesById(pass.started.graph).get(step.node)];
    }
  }
}

describe("every number in a sentence was traced in its step", () => {
  it.each(GOLDENS)("%s", (slug) => {
    const trace = sampleTrace(slug);
    for (const [position, step, node] of stepsOf(trace)) {
      const counts = [...countsOf(step, node), ...(position.phase === 2 ? OF_RULES : [])];
      for (const sentence of [sentenceAt(trace, position), stepSentence(trace, position)]) {
        expect(wrongNumbers(sentence, tracedIn(step, node), counts), sentence).toEqual([]);
      }
    }
  });

  it("finds a number that is a little off", () => {
    expect(wrongNumbers("v = [0.6667, 3] times the local Jacobian gives -2.", [2 / 3, 3, -2], [])).toEqual(
      [],
    );
    expect(wrongNumbers("v = [0.6666, 3] times the local Jacobian gives -2.", [2 / 3, 3, -2], [])).toEqual([
      "0.6666",
    ]);
    expect(wrongNumbers("1.5 + (-0.8323) = 0.1677", [1.5, 0.8323, 0.1677], [])).toEqual(["-0.8323"]);
  });
});
