/**
 * v and inputs belong to the program that they were given for: when its code changes they go, when it comes back
 * (undo) so do they, and what is given after a change belongs to the changed program. Comments and spaces are not code.
 */

/** A value with the code that it was given for. */
export interface Given<Value> {
  readonly value: Value;
  readonly code: string;
}

export function give<Value>(value: Value, source: string): Given<Value> {
  return { value, code: codeOf(source) };
}

/** The value as far as it belongs to this program, else `none`. */
export function givenFor<Value>(given: Given<Value>, source: string, none: Value): Value {
  return given.code === codeOf(source) ? given.value : none;
}

const STRING = /("""|''')(?:\\[\s\S]|[^\\])*?\1|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/;
const EMPTY_LINE = /\n[ \t]*(?:#.*)?(?=\n|$)/;
const COMMENT = /[ \t]*#.*/;
const SPACE_IN_LINE = /(?<=\S)[ \t]+/;
const PARTS = new RegExp(
  [STRING, EMPTY_LINE, COMMENT, SPACE_IN_LINE].map(({ source }) => source).join("|"),
  "g",
);
const BETWEEN_WORDS = /^[\p{L}\p{N}_][ \t]+[\p{L}\p{N}_]/u;

/** What Python reads of a program: no comments, no empty lines, no spaces but indentation and those between two words. */
export function codeOf(source: string): string {
  const text = `\n${source.replaceAll("\r\n", "\n")}`;
  return text.replace(PARTS, (part: string, _quotes: string | undefined, at: number) => {
    if (/^["']/.test(part)) return part;
    const isBetweenWords = BETWEEN_WORDS.test(text.slice(at - 1, at + part.length + 1));
    return isBetweenWords ? " " : "";
  });
}
