/** A piece of the program as it may stand in a sentence. */
import type { Span } from "../protocol/trace.gen";

/** Longer ones are called by the operation that made them. */
export const LONGEST_NAME = 40;

/** How tightly the parts of an expression hold together; a name, a call and a bracket most. */
export const ATOM = 13;
const POWER = 12;
const LEVELS: readonly (readonly [operator: RegExp, level: number])[] = [
  [/^(?:lambda|if|else)\b/, 0],
  [/^(?:or|and|not|in|is)\b/, 1],
  [/^(?:==|!=|<=|>=|<(?!<)|>(?!>))/, 4],
  [/^[|]/, 5],
  [/^\^/, 6],
  [/^&/, 7],
  [/^(?:<<|>>)/, 8],
  [/^\*\*/, POWER],
  [/^(?:\/\/|[*/@%])/, 10],
  [/^[+-]/, 9],
];
const UNARY = 11;

/** The text of a span on one line, or null where it is no expression of its own: a statement, several targets. */
export function cut(source: string, span: Span | null): string | null {
  if (span === null) return null;
  const lines = source.split("\n").slice(span.line - 1, span.end_line);
  const last = lines.length - 1;
  if (last < 0) return null;
  lines[last] = (lines[last] ?? "").slice(0, span.end_column);
  lines[0] = (lines[0] ?? "").slice(span.column);
  // A comment would swallow what follows it.
  if (lines.length > 1 && lines.some((line) => line.includes("#"))) return null;
  const text = lines
    .map((line) => line.trim())
    .join(lines.length > 1 ? " " : "")
    .replace(/([([{]) | (?=[)\]}])/g, "$1");
  return text !== "" && topLevel(text) !== null ? text : null;
}

/** The level of the loosest operator outside brackets and its place; null where the text is no expression. */
function topLevel(text: string): { level: number; at: number; length: number } | null {
  let found = { level: ATOM, at: -1, length: 0 };
  let depth = 0;
  let isAfterOperand = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charAt(at);
    const rest = text.slice(at);
    const quoted = /^(?:'[^'\\]*'|"[^"\\]*")/.exec(rest)?.[0];
    if (quoted !== undefined) {
      at += quoted.length - 1;
      isAfterOperand = true;
    } else if (letter === "'" || letter === '"') return null;
    else if ("([{".includes(letter)) depth += 1;
    else if (")]}".includes(letter)) {
      depth -= 1;
      isAfterOperand = true;
      if (depth < 0) return null;
    } else if (depth === 0) {
      const word = /^[\p{L}_][\p{L}\p{N}_]*|^[\d.][\w.]*(?:(?<=\de)[+-]\d+)?/u.exec(rest)?.[0];
      const [operator, level] = LEVELS.find(([each]) => each.test(rest)) ?? [];
      if (operator !== undefined && level !== undefined) {
        const length = operator.exec(rest)?.[0].length ?? 1;
        if (/^(?:[-+*/@%|&^]|\*\*|\/\/|<<|>>)=/.test(rest) && !/^[-+*/@%|&^]==/.test(rest)) return null;
        const actual = isAfterOperand || level < 9 ? level : UNARY;
        // Of equals the last one splits the text, since they group from the left.
        if (actual < found.level || (actual === found.level && actual !== POWER && isAfterOperand))
          found = { level: actual, at, length: actual === UNARY ? 0 : length };
        at += length - 1;
        isAfterOperand = false;
      } else if (word !== undefined) {
        if (/^(?:for|return|del|with|while|assert|import|yield|await|def|class|raise)$/.test(word))
          return null;
        at += word.length - 1;
        isAfterOperand = true;
      } else if (",=:;".includes(letter)) return null;
    }
  }
  return depth === 0 ? found : null;
}

/** How loosely the text holds together: below `ATOM` it needs brackets to be called, indexed or followed by `.T`. */
export function levelOf(text: string): number {
  return topLevel(text)?.level ?? 0;
}

/** The text in brackets where an operator of this level beside it would tear it apart. */
export function embedded(text: string, level = ATOM): string {
  return levelOf(text) < level ? `(${text})` : text;
}

/** Both sides of the operator that is applied last: `w * x` and `b` of `w * x + b`. */
export function sidesOf(text: string): readonly [left: string, right: string] | null {
  const top = topLevel(text);
  if (top === null || top.at <= 0 || top.length === 0 || top.level < 5) return null;
  return [bare(text.slice(0, top.at)), bare(text.slice(top.at + top.length))];
}

/** Without blanks and without brackets round the whole. */
export function bare(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith("(") || !trimmed.endsWith(")")) return trimmed;
  const inside = trimmed.slice(1, -1);
  return topLevel(inside) === null ? trimmed : bare(inside);
}
