/** What a learner committed, read and judged: right, or wrong with the likely reason. */
import { fact, numbers, type Plain } from "../protocol/facts";
import type { Fact, Filling } from "../protocol/trace.gen";
import { sameShape } from "./matrix";
import { agree } from "./mistakes";
import type { NodesQuestion, NumberQuestion, Question, ShapeQuestion, Sign } from "./questions";

export type Answer = readonly number[] | readonly string[] | Sign;

export interface Verdict {
  readonly isRight: boolean;
  /** `You said 6, it is 10: ...` */
  readonly said: Fact;
}

/**
 * Reads what was typed: numbers such as `6`, `-1.5, 2`, `[1, 2]`, `3/4`, `inf`; a shape `[3, 2]`, `3 x 2` or `scalar`.
 * Null where it cannot be read or the count is wrong.
 */
export function readAnswer(question: Question, text: string): readonly number[] | null {
  const bare = text.trim().replace(/^(?:torch\.)?(?:tensor|Size)\((.*)\)$/s, "$1");
  if (question.kind === "shape") {
    if (/^(?:scalar|\[\s*\]|\(\s*\))$/i.test(bare)) return [];
    const sizes = piecesOf(bare, /[\s,;x×*]+/);
    return sizes.length > 0 && sizes.every((size) => /^\d+$/.test(size)) ? sizes.map(Number) : null;
  }
  const spelled = bare.replaceAll("\u2212", "-").replaceAll("∞", "inf");
  const values = piecesOf(spelled, /[\s,;]+/).map(readNumber);
  const wanted = question.kind === "nodes" || question.kind === "sign" ? -1 : question.answer.length;
  return values.length === wanted && values.every((value) => value !== null) ? values : null;
}

/** Brackets of any kind say nothing. */
function piecesOf(text: string, separator: RegExp): readonly string[] {
  const pieces = text.replace(/[[\]()]/g, " ").split(separator);
  return pieces.filter((piece) => piece !== "");
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

/** What was answered, as it is put into a sentence. */
export function answered(question: Question, answer: Answer): Filling {
  switch (question.kind) {
    case "shape":
      return { shape: [...(answer as readonly number[])] };
    case "sign":
      return fact(SIGNS[answer as Sign]);
    case "nodes":
      return choicesOf(question, answer as readonly string[]);
    default:
      return numbers(answer as readonly number[]);
  }
}

/** What the signs are called. */
export const SIGNS = {
  positive: "ask-positive",
  negative: "ask-negative",
  zero: "ask-zero",
} as const satisfies Record<Sign, Plain>;

export function judge(question: Question, answer: Answer): Verdict {
  const is = answered(question, question.answer);
  const wrong = (because: Fact | null): Verdict => {
    const said = answered(question, answer);
    return {
      isRight: false,
      said:
        because === null ? fact("ask-wrong", { said, is }) : fact("ask-wrong-because", { said, is, because }),
    };
  };
  const right = (kind: "ask-right" | "ask-right-shape" | "ask-right-nodes" = "ask-right"): Verdict => ({
    isRight: true,
    said: fact(kind, { is }),
  });
  switch (question.kind) {
    case "shape":
      return sameShape(answer as readonly number[], question.answer)
        ? right("ask-right-shape")
        : wrong(whyShape(question, answer as readonly number[]));
    case "sign":
      if (answer === question.answer) return right();
      return wrong(answer === "zero" || question.answer === "zero" ? null : fact("ask-sign-of-product"));
    case "nodes":
      return sameNodes(question.answer, answer as readonly string[])
        ? right("ask-right-nodes")
        : wrong(whyNodes(question, answer as readonly string[]));
    default:
      return agree(answer as readonly number[], question.answer)
        ? right()
        : wrong(whyNumbers(question, answer as readonly number[]));
  }
}

function whyNumbers({ mistakes }: NumberQuestion, said: readonly number[]): Fact | null {
  return mistakes.find(({ values }) => agree(said, values))?.because ?? null;
}

function whyShape({ answer, outputShape }: ShapeQuestion, said: readonly number[]): Fact | null {
  const reasons: readonly (readonly [readonly number[], Plain])[] = [
    [outputShape, "ask-shape-of-v"],
    [[...answer].reverse(), "ask-shape-transposed"],
    [[...outputShape, ...answer], "ask-shape-jacobian"],
  ];
  const reason = reasons.find(([shape]) => sameShape(said, shape))?.[1];
  return reason === undefined ? null : fact(reason);
}

function whyNodes(question: NodesQuestion, said: readonly string[]): Fact | null {
  const extra = said.filter((id) => !question.answer.includes(id));
  const left = question.answer.filter((id) => !said.includes(id));
  const reason = extra.flatMap((id) => question.reasons.get(id) ?? [])[0];
  if (reason !== undefined || left.length === 0) return reason ?? null;
  return fact("ask-left-out", { nodes: choicesOf(question, left), count: left.length });
}

function choicesOf({ choices }: NodesQuestion, ids: readonly string[]): Filling {
  if (ids.length === 0) return fact("ask-none");
  return choices.flatMap(({ id, name }) => (ids.includes(id) ? [name] : []));
}

function sameNodes(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id) => b.includes(id));
}
