/** What a learner committed, read and judged: right, or wrong with the likely reason. */
import { shapeText } from "./matrix";
import type { NodesQuestion, NumberQuestion, Question, ShapeQuestion, Sign } from "./questions";
import { spell } from "./questions";

export type Answer = readonly number[] | readonly string[] | Sign;

export interface Verdict {
  readonly isRight: boolean;
  /** A whole sentence: `You said 6, it is 10: ...` */
  readonly sentence: string;
}

/** Numbers are right to this share, so that what was rounded to be typed still counts. */
const TOLERANCE = 5e-3;

/**
 * Reads what was typed: numbers such as `6`, `-1.5, 2`, `[1, 2]`, `3/4`, `inf`; a shape `[3, 2]`, `3 x 2` or `scalar`.
 * Null where it cannot be read or the count is wrong.
 */
export function readAnswer(question: Question, text: string): readonly number[] | null {
  const bare = text.trim().replace(/^(?:torch\.)?(?:tensor|Size)\((.*)\)$/s, "$1");
  if (question.kind === "shape") {
    if (/^(?:scalar|\[\s*\]|\(\s*\))$/i.test(bare)) return [];
    const sizes = bare
      .replace(/[[\]()]/g, " ")
      .split(/[\s,;x×*]+/)
      .filter((size) => size !== "");
    return sizes.length > 0 && sizes.every((size) => /^\d+$/.test(size)) ? sizes.map(Number) : null;
  }
  const parts = bare
    .replace(/[[\]()]/g, " ")
    .replaceAll("\u2212", "-")
    .replaceAll("∞", "inf")
    .split(/[\s,;]+/)
    .filter((part) => part !== "");
  const values = parts.map(readNumber);
  const wanted = question.kind === "nodes" || question.kind === "sign" ? -1 : question.answer.length;
  return values.length === wanted && values.every((value) => value !== null) ? values : null;
}

function readNumber(text: string): number | null {
  const fraction = /^([-+]?[\d.]+)\/([\d.]+)$/.exec(text);
  if (fraction !== null) return Number(fraction[1]) / Number(fraction[2]);
  if (/^nan$/i.test(text)) return Number.NaN;
  const infinite = /^([-+]?)inf(?:inity)?$/i.exec(text);
  if (infinite !== null) return infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const value = Number(text);
  return Number.isNaN(value) ? null : value;
}

/** An answer as a hall tells it apart from others. */
export function spellAnswer(question: Question, answer: Answer): string {
  if (question.kind === "sign") return String(answer);
  if (question.kind === "shape") return shapeText(answer as readonly number[]);
  if (question.kind !== "nodes") return spell(answer as readonly number[]);
  const label = (id: string) => question.choices.find((choice) => choice.id === id)?.label ?? id;
  return question.choices
    .filter(({ id }) => (answer as readonly string[]).includes(id))
    .map(({ id }) => label(id))
    .join(" and ");
}

export function judge(question: Question, answer: Answer): Verdict {
  switch (question.kind) {
    case "shape":
      return judgeShape(question, answer as readonly number[]);
    case "sign":
      return answer === question.answer
        ? right(`it is ${question.answer}`)
        : wrong(
            String(answer),
            question.answer,
            answer !== "zero" && question.answer !== "zero"
              ? "the sign of a product is that of v times that of the local derivative"
              : null,
          );
    case "nodes":
      return judgeNodes(question, answer as readonly string[]);
    default:
      return judgeNumbers(question, answer as readonly number[]);
  }
}

function judgeNumbers(question: NumberQuestion, said: readonly number[]): Verdict {
  if (agree(said, question.answer)) return right(`it is ${spell(question.answer)}`);
  const mistake = question.mistakes.find(
    ({ values }) => agree(said, values) && !agree(values, question.answer),
  );
  return wrong(spell(said), spell(question.answer), mistake?.because ?? null);
}

function judgeShape(question: ShapeQuestion, said: readonly number[]): Verdict {
  const same = (a: readonly number[], b: readonly number[]) =>
    a.length === b.length && a.every((size, axis) => size === b[axis]);
  const { answer, outputShape } = question;
  if (same(said, answer)) return right(`it is ${shapeText(answer)}, the shape of the input`);
  const reasons: readonly (readonly [readonly number[], string])[] = [
    [
      outputShape,
      "that is the shape of v; what was broadcast or reduced must be undone, a gradient has its input's shape",
    ],
    [[...answer].reverse(), "you forgot the transpose: a gradient has its input's shape"],
    [[...outputShape, ...answer], "that is the whole Jacobian; backward returns v times it"],
  ];
  return wrong(shapeText(said), shapeText(answer), reasons.find(([shape]) => same(said, shape))?.[1] ?? null);
}

function judgeNodes(question: NodesQuestion, said: readonly string[]): Verdict {
  const name = (id: string) => question.choices.find((choice) => choice.id === id)?.label ?? id;
  const list = (ids: readonly string[]) => (ids.length === 0 ? "none" : ids.map(name).join(" and "));
  const extra = said.filter((id) => !question.answer.includes(id));
  const left = question.answer.filter((id) => !said.includes(id));
  if (extra.length === 0 && left.length === 0) return right(`it goes to ${list(question.answer)}`);
  const reason = extra.flatMap((id) => question.reasons.get(id) ?? [])[0];
  return wrong(
    list(said),
    list(question.answer),
    reason ?? (left.length > 0 ? `${list(left)} was left out` : null),
  );
}

function agree(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, entry) => isClose(value, b[entry] ?? Number.NaN));
}

function isClose(a: number, b: number): boolean {
  return Object.is(a, b) || a === b || Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

function right(what: string): Verdict {
  return { isRight: true, sentence: `Right, ${what}.` };
}

function wrong(said: string, is: string, because: string | null): Verdict {
  return {
    isRight: false,
    sentence: `You said ${said}, it is ${is}${because === null ? "." : `: ${because}.`}`,
  };
}
