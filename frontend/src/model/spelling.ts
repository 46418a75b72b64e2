/**
 * The numbers of a sentence in the digits that the screen shows. The server writes sentences with four significant
 * digits; each number in them is looked up among what the step traced and written again as in the tables. Where two
 * traced numbers could be meant that would now read differently, the four digits stay: they are true of both.
 */
import type { Cell, Gradient, Node, PhaseSentences, Step, TensorValue } from "../protocol/trace.gen";
import type { Precision } from "./numbers";
import { formatNumber } from "./numbers";

/** Of the server's sentences. */
const SPOKEN_DIGITS = 4;
/** Not part of a name (`model.0.bias`, `x2`) or of a formula's power (`x^2`). */
const NUMBER = /(?<![\w.^`])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w`]|\.\w)/g;
/** Before the rule of an operation as it is written for all numbers; those in it are no traced ones. */
const WRITTEN_RULE = "The rule of";

/** @param phase which sentence it is; null for that of the whole step */
export function respelled(
  sentence: string,
  phase: keyof PhaseSentences | null,
  step: Step,
  node: Node | null,
  precision: Precision,
): string {
  NUMBER.lastIndex = 0;
  if (sentence.startsWith(WRITTEN_RULE) || !NUMBER.test(sentence)) return sentence;
  const traced = tracedIn(step, node);
  const counts = new Set([step.contributions.length, step.grad_outputs.length, step.grad_inputs.length]);
  return sentence.replace(NUMBER, (text) => {
    const spoken = Number(text);
    const meant = [...traced].filter((each) => isSpelled(spoken, each));
    // A whole number may count something, and is exact if it was traced.
    if (Number.isInteger(spoken) && (phase === "local_rule" || counts.has(spoken) || traced.has(spoken)))
      return text;
    const [spelling, ...others] = new Set(meant.map((each) => formatNumber(each, precision)));
    return spelling === undefined || others.length > 0 ? text : spelling;
  });
}

/** Half of the last digit that is said, either way: halves are rounded up here and to even there. */
function isSpelled(spoken: number, traced: number): boolean {
  if (traced === 0) return spoken === 0;
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(traced))) + 1 - SPOKEN_DIGITS);
  return Math.abs(spoken - traced) <= 0.5 * unit * (1 + 1e-9);
}

const known = new WeakMap<Step, ReadonlySet<number>>();

/** Every real number that a step's events hold. */
function tracedIn(step: Step, node: Node | null): ReadonlySet<number> {
  const made = known.get(step);
  if (made !== undefined) return made;
  const found = new Set<number>();
  const take = (value: Gradient | TensorValue | null | undefined): void => {
    if (value === null || value === undefined || !("shape" in value)) return;
    for (const cell of (value.data ?? []) as readonly Cell[]) if (typeof cell === "number") found.add(cell);
  };
  for (const { value } of step.contributions) take(value);
  for (const value of [...step.grad_outputs, ...step.grad_inputs]) take(value);
  for (const { value } of step.local_jacobians) take(value as Gradient);
  for (const { before, after } of step.hooks ?? []) [before, after].forEach(take);
  if (step.accumulate !== null) [step.accumulate.before, step.accumulate.after].forEach(take);
  for (const { value } of node?.inputs ?? []) take(value);
  for (const { value } of node?.outputs ?? []) take(value);
  for (const { value } of node?.saved ?? []) {
    if (typeof value === "number") found.add(value);
    else if (typeof value === "object" && value !== null && !Array.isArray(value)) take(value as Gradient);
  }
  known.set(step, found);
  return found;
}
