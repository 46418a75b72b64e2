/** Facts of a trace, said: a fact names a message of the catalogue and carries what fills it in. */
import { DEFAULT_PRECISION, type Precision } from "../model/numbers";
import type { Fact, Filling, Problem } from "../protocol/trace.gen";
import { fill, hasAttribute, listed, type Operand, type Said, say, sentence, text } from "./say";
import { entriesText, spellShape } from "./values";

/** What a message may say besides its sentence: a heading, what to do about it, what somebody asked. */
type Attribute = "title" | "hint" | "question";

/** What a problem says, with the words of PyTorch's or Python's own. */
export function tellProblem({ fact, words }: Pick<Problem, "fact" | "words">): Said {
  const sentence = tellSentence(fact);
  return words === undefined
    ? sentence
    : [...sentence, ...text(" "), ...say("problem-words", { words: text(words) })];
}

/** What it is called. */
export function titleOf({ fact }: Pick<Problem, "fact">): Said {
  return tellAttribute(fact, "title") ?? [];
}

/** The fact as a part of a sentence. */
export function tell(fact: Fact, precision: Precision = DEFAULT_PRECISION): Said {
  return told(fact, null, precision);
}

/** The fact as a sentence: with a capital. */
export function tellSentence(fact: Fact, precision?: Precision): Said {
  return sentence(tell(fact, precision));
}

/** Its heading, or what to do about it; null where the catalogue has none. */
export function tellAttribute(
  fact: Fact,
  attribute: Attribute,
  precision: Precision = DEFAULT_PRECISION,
): Said | null {
  return hasAttribute(fact.kind, attribute) ? told(fact, attribute, precision) : null;
}

function told(fact: Fact, attribute: Attribute | null, precision: Precision): Said {
  try {
    const operands = Object.entries(fact.operands ?? {}).map(([name, each]) => [
      name,
      operand(each, precision),
    ]);
    return fill(fact.kind, attribute, Object.fromEntries(operands));
  } catch {
    // A trace of a newer gradwalk may hold facts that this page has no words for.
    return say("fact-unknown", { kind: text(fact.kind) });
  }
}

function operand(given: Filling, precision: Precision): Operand {
  if (typeof given === "string") return text(given);
  if (typeof given === "number") return given;
  if (Array.isArray(given)) {
    const each = given.map((one) => operand(one, precision));
    return listed(each.map((one) => (typeof one === "number" ? text(String(one)) : one)));
  }
  if ("kind" in given) return tell(given, precision);
  if ("numbers" in given) {
    return text(entriesText({ data: given.numbers, shape: given.shape ?? [] }, precision));
  }
  return spellShape(given.shape);
}
