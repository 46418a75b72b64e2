import { describe, expect, it } from "vitest";
import type { Gradient, LocalJacobian, Node, Step } from "../protocol/trace.gen";
import { formatNumber } from "./numbers";
import type { Position } from "./position";
import { GOLDENS, sampleTrace } from "./samples";
import { nodesById, passAt, sentenceAt, stepSentence } from "./selectors";
import type { TraceState } from "./trace";

/** Not part of a name (`model.0.bias`, `x2`) or of a formula's power (`x^2`). */
const NUMBER = /(?<![\w.^`])[-\u2212]?\d+(?:\.\d+)?(?:e[+-]?\d+|·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?(?![\w`]|\.\w)/g;
/** As written in the rules themselves: d(x + 1)/dx = 1, v * 2 * (x - t) / n, 0 elsewhere. */
const OF_RULES = [0, 1, 2];
/** Of the sentences as the server writes them. */
const SPOKEN_DIGITS = 4;
const PRECISIONS = [1, 2, SPOKEN_DIGITS, 6, 9];

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

const spoken = (traced: number): string => String(Number(traced.toPrecision(SPOKEN_DIGITS)));

/** Those that are neither a traced one in these digits nor stand, with the server's digits, for several that differ. */
function wrongNumbers(
  sentence: string,
  traced: readonly number[],
  counts: readonly number[],
  precision = SPOKEN_DIGITS,
): string[] {
  const shown = new Set(traced.map((each) => formatNumber(each, precision)));
  return (sentence.match(NUMBER) ?? []).filter((text) => {
    if (shown.has(text) || counts.includes(Number(text))) return false;
    const meant = traced.filter((each) => spoken(each) === String(Number(text)));
    return new Set(meant.map((each) => formatNumber(each, precision))).size < 2;
  });
}

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
      const traced = tracedIn(step, node);
      for (const precision of PRECISIONS) {
        for (const say of [sentenceAt, stepSentence]) {
          const sentence = say(trace, position, precision);
          expect(wrongNumbers(sentence, traced, counts, precision), `${precision}: ${sentence}`).toEqual([]);
        }
      }
    }
  });

  it("has as many digits as the tables", () => {
    const trace = sampleTrace("attention");
    const several = PRECISIONS.filter((precision) => precision > 1);
    const digits = new Map(
      several.map((precision) => {
        const said = [...stepsOf(trace)].map(([position]) => sentenceAt(trace, position, precision));
        const lengths = said
          .join(" ")
          .match(/\d\.\d+/g)
          ?.map((text) => text.replace(/^0\.0*|\./g, "").length);
        return [precision, Math.max(...(lengths ?? []))];
      }),
    );
    expect([...digits]).toEqual(several.map((precision) => [precision, precision]));
  });

  it("finds a number that is a little off", () => {
    const wrong = "v = [0.6667, 3] times the local Jacobian gives \u22122.";
    expect(wrongNumbers(wrong, [2 / 3, 3, -2], [])).toEqual([]);
    expect(wrongNumbers(wrong.replace("0.6667", "0.6666"), [2 / 3, 3, -2], [])).toEqual(["0.6666"]);
    expect(wrongNumbers("1.5 + (\u22120.8323) = 0.1677", [1.5, 0.8323, 0.1677], [])).toEqual([
      "\u22120.8323",
    ]);
    expect(wrongNumbers("0.667", [2 / 3], [], 6)).toEqual(["0.667"]);
  });
});
