/** What a learner committed, read and judged: right, or wrong with the likely reason. */
import type { Catalogue } from "../protocol/catalogue.gen";
import { fact, numbers } from "../protocol/facts";
import type { Fact, Filling } from "../protocol/trace.gen";
import { sameShape } from "./matrix";
import { agree } from "./mistakes";
import type { Exercise, Typed } from "./questions";

/** Numbers that were typed, or the ids of what was chosen. */
export type Answer = readonly number[] | readonly string[];

export interface Verdict {
  readonly isRight: boolean;
  /** `You said 6, it is 10: ...` */
  readonly said: Fact;
}

/**
 * Reads what was typed: numbers such as `6`, `-1.5, 2`, `[1, 2]`, `3/4`, `inf`; a shape `[3, 2]`, `3 x 2` or `scalar`.
 * Null where it cannot be read or the count is wrong.
 */
export function readAnswer({ kind, answer }: Typed, text: string): readonly number[] | null {
  const bare = text.trim().replace(/^(?:torch\.)?(?:tensor|Size)\((.*)\)$/s, "$1");
  if (kind === "shape") {
    if (/^(?:scalar|\[\s*\]|\(\s*\))$/i.test(bare)) return [];
    const sizes = piecesOf(bare, /[\s,;x×*]+/);
    return sizes.length > 0 && sizes.every((size) => /^\d+$/.test(size)) ? sizes.map(Number) : null;
  }
  const values = piecesOf(bare, /[\s,;]+/).map(readNumber);
  return values.length === answer.length && values.every((value) => value !== null) ? values : null;
}

/** Brackets of any kind say nothing. */
function piecesOf(text: string, separator: RegExp): readonly string[] {
  const pieces = text.replace(/[[\]()]/g, " ").split(separator);
  return pieces.filter((piece) => piece !== "");
}

function readNumber(text: string): number | null {
  const spelled = text.replaceAll("\u2212", "-").replace(/inf(?:inity)?|∞/i, "Infinity");
  const [, top, bottom = "1"] = /^([^/]+)(?:\/([^/]+))?$/.exec(spelled) ?? [];
  const value = Number(top) / Number(bottom);
  return Number.isNaN(value) && !/^nan$/i.test(text) ? null : value;
}

/** What was answered, as it is put into a sentence. */
export function answered(question: Exercise, answer: Answer): Filling {
  if ("choices" in question) {
    const names = question.choices.flatMap(({ id, name }) =>
      (answer as string[]).includes(id) ? [name] : [],
    );
    return names.length === 0 ? fact("ask-none") : names;
  }
  return question.kind === "shape" ? { shape: [...(answer as number[])] } : numbers(answer as number[]);
}

/** Of a right answer more than its value can be said. */
const RIGHT = { shape: "ask-right-shape", nodes: "ask-right-nodes" } as const;

export function judge(question: Exercise, answer: Answer): Verdict {
  const is = answered(question, question.answer);
  if (isSame(question, answer, question.answer))
    return { isRight: true, said: fact(RIGHT[question.kind as keyof typeof RIGHT] ?? "ask-right", { is }) };
  return wrong("ask-wrong", { said: answered(question, answer), is }, whyWrong(question, answer));
}

const WITH_REASON = {
  "ask-wrong": "ask-wrong-because",
  "ask-written-wrong": "ask-written-wrong-because",
  "ask-written-shape": "ask-written-shape-because",
} as const;

/** With the reason where there is one. */
export function wrong<K extends keyof typeof WITH_REASON>(
  kind: K,
  operands: { readonly [name in Catalogue[K]]: Filling },
  because: Fact | null,
): Verdict {
  const said =
    because === null ? { kind, operands } : { kind: WITH_REASON[kind], operands: { ...operands, because } };
  return { isRight: false, said };
}

function isSame(question: Exercise, a: Answer, b: Answer): boolean {
  if ("choices" in question)
    return a.length === b.length && a.every((id) => (b as Answer[number][]).includes(id));
  return (question.kind === "shape" ? sameShape : agree)(a as number[], b as number[]);
}

function whyWrong(question: Exercise, said: Answer): Fact | null {
  if (!("choices" in question))
    return question.mistakes.find(({ values }) => isSame(question, said, values))?.because ?? null;
  const ids = said as readonly string[];
  const [reason] = ids.flatMap((id) => question.reasons.get(id) ?? []);
  const left = question.answer.filter((id) => !ids.includes(id));
  if (reason !== undefined || question.kind === "sign" || left.length === 0) return reason ?? null;
  return fact("ask-left-out", { nodes: answered(question, left), count: left.length });
}
