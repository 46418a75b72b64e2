/**
 * Sentences from the catalogue. A sentence is a list of parts, text and what was put into it, so that nobody has to
 * find a name or a number in it again: the page sets names as code and numbers in figures of one width.
 */
import { FluentBundle, FluentResource } from "@fluent/bundle";
import english from "../../../server/gradwalk/words/en.ftl?raw";
import type { Catalogue } from "../protocol/catalogue.gen";
import type { Plain } from "../protocol/facts";

export type Part =
  | { readonly kind: "text"; readonly text: string }
  /** As it stands in the program or in mathematics. */
  | { readonly kind: "code"; readonly text: string }
  /** Numbers of the trace. */
  | { readonly kind: "value"; readonly text: string };

export type Said = readonly Part[];

export type Key = keyof Catalogue;
/** A message without operands. */
export type PlainKey = Plain;
/** A number chooses the plural and is written with it. */
export type Operand = Said | number;
type Operands<K extends Key> = { readonly [name in Catalogue[K]]: Operand };

/** Private-use characters stand for the operands while Fluent works, and are replaced by their parts afterwards. */
const FIRST_PLACE = 0xe000;
const PLACE = /([\ue000-\uf8ff])/;
/** A word that stands for itself. */
const WORD = /^[a-z][a-z-]*$/;

/** The message `key` with its operands filled in. */
export function say<K extends Key>(
  key: K,
  ...[operands]: [Catalogue[K]] extends [never] ? [] : [Operands<K>]
): Said {
  return fill(key, null, operands ?? {});
}

/** The message as a string: a label, a title, what a screen reader says. */
export function label<K extends Key>(
  key: K,
  ...[operands]: [Catalogue[K]] extends [never] ? [] : [{ readonly [name in Catalogue[K]]: string | number }]
): string {
  return textOf(fill(key, null, asOperands(operands ?? {})));
}

function asOperands(operands: Readonly<Record<string, string | number>>): Record<string, Operand> {
  return Object.fromEntries(
    Object.entries(operands).map(([name, operand]) => [
      name,
      typeof operand === "number" ? operand : text(operand),
    ]),
  );
}

/**
 * A message, or an attribute of it, in parts.
 * @throws {Error} there is no such message, or an operand is missing
 */
export function fill(
  key: string,
  attribute: string | null,
  operands: Readonly<Record<string, Operand>>,
): Said {
  const filled: Said[] = [];
  const places: Record<string, string | number> = {};
  for (const [name, operand] of Object.entries<Operand>(operands)) {
    const [first, ...others] = typeof operand === "number" ? [] : operand;
    if (typeof operand === "number") places[name] = operand;
    // A message may choose by a word.
    else if (first?.kind === "text" && others.length === 0 && WORD.test(first.text))
      places[name] = first.text;
    else places[name] = String.fromCharCode(FIRST_PLACE + filled.push(operand) - 1);
  }
  const parts: Part[] = [];
  format(key, attribute, places)
    .split("`")
    .forEach((stretch, index) => {
      for (const piece of stretch.split(PLACE)) {
        const isCode = index % 2 === 1;
        const operand = PLACE.test(piece) ? filled[piece.charCodeAt(0) - FIRST_PLACE] : undefined;
        if (operand !== undefined) parts.push(...(isCode ? asCode(operand) : operand));
        else if (piece !== "") parts.push({ kind: isCode ? "code" : "text", text: piece });
      }
    });
  return parts;
}

/** Whether the catalogue has this message: what a newer server says may be new. */
export function hasMessage(key: string): boolean {
  return spoken.bundle.hasMessage(key);
}

/** Whether the catalogue's message has this attribute: not every problem has a hint. */
export function hasAttribute(key: string, attribute: string): boolean {
  notice();
  return spoken.bundle.getMessage(key)?.attributes[attribute] !== undefined;
}

/**
 * The message as Python's `say` gives it, with backticks round code.
 * @throws {Error} there is no such message, or an operand is missing
 */
export function format(
  key: string,
  attribute: string | null,
  operands: Readonly<Record<string, string | number>>,
): string {
  notice();
  const message = spoken.bundle.getMessage(key);
  const pattern = attribute === null ? message?.value : message?.attributes[attribute];
  if (pattern == null) throw new Error(`the catalogue has no message ${key}${attribute ?? ""}`);
  return spoken.bundle.formatPattern(pattern, operands);
}

const asCode = (said: Said): Said =>
  said.map((part) => (part.kind === "text" ? { ...part, kind: "code" } : part));

const ENGLISH = { language: "en", bundle: makeBundle("en", english) };
let spoken = ENGLISH;
let notice = (): void => {};

/** From now on sentences are made of this catalogue: the text of a file in Fluent's syntax; null for English. */
export function speak(language: string, catalogue: string | null): void {
  spoken = catalogue === null ? ENGLISH : { language, bundle: makeBundle(language, catalogue) };
}

/** The language of the sentences, as a BCP 47 tag. */
export function languageSpoken(): string {
  return spoken.language;
}

/** `noticed` is called whenever a sentence is made, so that what shows it can be made again in another language. */
export function onSay(noticed: () => void): void {
  notice = noticed;
}

function makeBundle(language: string, catalogue: string): FluentBundle {
  // Isolation marks are for texts that mix directions of writing; in a program's name they would be copied along.
  const made = new FluentBundle(language, { useIsolating: false });
  // What a language lacks is said in English.
  for (const each of language === "en" ? [catalogue] : [english, catalogue]) {
    const [error] = made.addResource(new FluentResource(each), { allowOverrides: true });
    if (error !== undefined) throw error;
  }
  return made;
}

export const text = (content: string): Said => [{ kind: "text", text: visible(content) }];
export const code = (content: string): Said => [{ kind: "code", text: visible(content) }];

const UNSEEN = /(?![\t\n\r])\p{Cc}|\p{Bidi_Control}/gu;

/** A program's text with what would turn or control the text around it written out, as `\u202e`. */
export function visible(content: string): string {
  return content.replace(UNSEEN, (one) => spellCharacter(one.charCodeAt(0)));
}

/** As Python writes it in a string. */
export function spellCharacter(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/** A text that a person wrote, with backticks round code. */
export function written(markedUp: string): Said {
  return markedUp
    .split("`")
    .map((piece, index) => ({ kind: index % 2 === 1 ? "code" : "text", text: piece }) as const)
    .filter(({ text }) => text !== "");
}

/** As plain text. */
export function textOf(said: Said): string {
  return said.map((part) => part.text).join("");
}

/** As text with backticks round code. */
export function markedUp(said: Said): string {
  return said
    .map((part) => (part.kind === "code" ? `\`${part.text}\`` : part.text))
    .join("")
    .replaceAll("``", "");
}

/** With a capital at the beginning, where that is a word. */
export function sentence(said: Said): Said {
  const [first, ...rest] = said;
  if (first === undefined || first.kind === "code") return said;
  return [
    { ...first, text: first.text.charAt(0).toLocaleUpperCase(spoken.language) + first.text.slice(1) },
    ...rest,
  ];
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(parts: readonly Said[]): Said {
  const [first = [], ...rest] = parts;
  if (rest.length === 0) return first;
  if (rest.length === 1) return say("and", { first, last: rest[0] ?? [] });
  return say("comma", { first, rest: listed(rest) });
}

/** `a, b, c`. */
export function enumerated(parts: readonly Said[]): Said {
  return parts.reduce((first, rest) => say("comma", { first, rest }));
}

/** Whole sentences, one after the other. */
export function inSentences(parts: readonly (Said | null)[]): Said {
  return parts.filter((part) => part !== null).reduce((first, rest) => say("then", { first, rest }));
}

/** `a; b; c`: parts of a sentence that could each be one. */
export function inTurn(parts: readonly Said[]): Said {
  return parts.reduce((first, rest) => say("semicolon", { first, rest }));
}
