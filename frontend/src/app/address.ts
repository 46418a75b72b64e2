/**
 * The page's state in the address bar: everything after `#`, so that it stays between the two browsers that
 * share a link and needs no server.
 *
 * | key | holds |
 * | --- | --- |
 * | `v` | version of this table, 1 |
 * | `c` / `code` | the program, deflate-raw in base64url / as it is; whichever is shorter |
 * | `example` | slug of a shipped example; read when there is no program |
 * | `i` | `options.inputs` as JSON |
 * | `g` | `options.grad_output` as JSON |
 * | `seed` | manual seed |
 * | `pass` | a backward pass that is recorded for itself, by number from 0 |
 * | `s` | step and phase, `7.3`, `f3.2` in the forward walk |
 * | `chain` | the chain on show, `n9..n2` (see `model/chainchoice.ts`) |
 * | `nudge` | an entry of an input and by how much it is changed, `x[0]:0.1` |
 * | those of `VIEW` | how it is shown |
 *
 * Unknown keys are passed over, what cannot be read falls back to its default and is told in `trouble`.
 */
import { parseChain } from "../model/chainchoice";
import { DEFAULT_PRECISION } from "../model/numbers";
import { deflate, inflate } from "../model/packed";
import { formatPosition, type Position, parsePosition } from "../model/position";
import { integerBetween, readDigits, readSwitch, readTheme, type Theme } from "../render/options";
import { type View as ProductView, parseView } from "../scene/views";
import type { InputValue, Nested, TraceOptions } from "../stream/client";
import { LANGUAGES } from "../words/languages";
import { label, listed, type PlainKey, say, text, textOf } from "../words/say";

export const FONT_SCALES: readonly number[] = [0.85, 1, 1.15, 1.3, 1.5, 2];

/** A setting of the view: its key, what it is called where it cannot be read, what it is at first, and how it is read. */
function setting<T>(key: string, what: PlainKey, initial: T, parse: (text: string) => T | null) {
  return { key, what, initial, parse };
}

const VIEW = {
  /** How products are written; null: as is most readable at each step. */
  product: setting<ProductView | null>("view", "page-link-product-view", null, parseView),
  theme: setting<Theme>("theme", "page-link-theme", "auto", readTheme),
  /** BCP 47; `auto`: the reader's own. */
  language: setting("lang", "page-link-language", "auto", (text) => (LANGUAGES.includes(text) ? text : null)),
  /** Significant digits of every number on screen. */
  digits: setting("digits", "page-link-digits", DEFAULT_PRECISION, readDigits),
  /** Text size, 1 = the browser's own. */
  fontScale: setting(
    "font",
    "page-link-text-size",
    1,
    (text) => FONT_SCALES.find((scale) => scale === Number(text)) ?? null,
  ),
  /** Everything large enough for the last row. */
  projector: setting<boolean>("projector", "page-link-projector", false, readSwitch),
  /** A question before each phase that has one. */
  predict: setting<boolean>("predict", "page-link-predict", false, readSwitch),
  /** What changed since the run before. */
  compare: setting<boolean>("compare", "page-link-compare", true, readSwitch),
  /** The learner writes the backward pass; what is not found yet is not shown. */
  byhand: setting<boolean>("byhand", "page-link-by-hand", false, readSwitch),
};
export type View = { [Field in keyof typeof VIEW]: (typeof VIEW)[Field]["initial"] };
const FIELDS = Object.keys(VIEW) as (keyof View)[];
export const DEFAULT_VIEW = Object.fromEntries(FIELDS.map((field) => [field, VIEW[field].initial])) as View;

/** One entry of an input, and by how much the program is run again with it changed. */
export interface NudgeWish {
  /** `x[0]`. */
  readonly entry: string;
  readonly by: number;
}

export interface Address {
  source: string | null;
  example: string | null;
  inputs: Readonly<Record<string, InputValue>>;
  gradOutput: Nested | null;
  seed: number;
  /** A backward pass that is recorded for itself, by number from 0; null: those that the server chooses. */
  pass: number | null;
  position: Position | null;
  /** The chain on show, as `formatChain` writes it; null: none. */
  chain: string | null;
  nudge: NudgeWish | null;
  view: Partial<View>;
}

/** What an address holds of the options of a request. */
export function settingsIn({ inputs, grad_output, seed, passes }: TraceOptions) {
  return {
    inputs: inputs ?? {},
    gradOutput: grad_output ?? null,
    seed: seed ?? 0,
    pass: passes?.[0] ?? null,
  } satisfies Partial<Address>;
}

const VERSION = "1";
const LAST_PASS = 2 ** 31 - 1;
export const EMPTY_ADDRESS: Address = {
  source: null,
  example: null,
  inputs: {},
  gradOutput: null,
  seed: 0,
  pass: null,
  position: null,
  chain: null,
  nudge: null,
  view: {},
};

/** The hash for a state, without `#`. */
export async function writeAddress(address: Address): Promise<string> {
  const keys = new URLSearchParams({ v: VERSION });
  if (address.source !== null) {
    const plain = new URLSearchParams({ code: address.source }).toString();
    const packed = new URLSearchParams({ c: await deflate(address.source) }).toString();
    if (packed.length < plain.length) keys.set("c", packed.slice("c=".length));
    else keys.set("code", address.source);
  } else if (address.example !== null) {
    keys.set("example", address.example);
  }
  if (Object.keys(address.inputs).length > 0) keys.set("i", JSON.stringify(address.inputs));
  if (address.gradOutput !== null) keys.set("g", JSON.stringify(address.gradOutput));
  if (address.seed !== 0) keys.set("seed", String(address.seed));
  if (address.pass !== null) keys.set("pass", String(address.pass));
  if (address.position !== null) keys.set("s", formatPosition(address.position));
  if (address.nudge !== null) keys.set("nudge", `${address.nudge.entry}:${address.nudge.by}`);
  if (address.chain !== null) keys.set("chain", address.chain);
  for (const field of FIELDS) {
    const value = address.view[field] ?? DEFAULT_VIEW[field];
    if (value !== DEFAULT_VIEW[field])
      keys.set(VIEW[field].key, typeof value === "boolean" ? (value ? "1" : "0") : String(value));
  }
  return keys.toString();
}

/** The language that a hash asks for, null where it asks for none that there is: known before the rest is read. */
export function languageIn(hash: string): string | null {
  return VIEW.language.parse(new URLSearchParams(hash.replace(/^#/, "")).get("lang") ?? "");
}

/** The state that a hash (with or without `#`) describes, and a sentence about what in it could not be read. */
export async function readAddress(hash: string): Promise<{ address: Address; trouble: string | null }> {
  const keys = new URLSearchParams(hash.replace(/^#/, ""));
  const unreadable: string[] = [];
  const read = <T>(key: string, what: PlainKey, parse: (text: string) => T | null): T | null => {
    const text = keys.get(key);
    if (text === null) return null;
    const value = parse(text);
    if (value === null) unreadable.push(label(what));
    return value;
  };

  const version = keys.get("v");
  if (version !== null && version !== VERSION) unreadable.push(label("page-link-version", { version }));
  const packed = keys.get("c");
  let source = keys.get("code");
  if (packed !== null) {
    source = await inflate(packed);
    if (source === null) unreadable.push(label("page-link-code"));
  }
  const view: Partial<View> = {};
  for (const field of FIELDS) {
    const { key, what, parse } = VIEW[field];
    const value = read<View[keyof View]>(key, what, parse);
    if (value !== null) Object.assign(view, { [field]: value });
  }

  const address: Address = {
    source,
    example: keys.get("example"),
    inputs: read("i", "page-link-inputs", parseInputs) ?? {},
    gradOutput: read("g", "page-link-v", parseNestedJson),
    seed: read("seed", "page-link-seed", (text) => integerBetween(text, 0, Number.MAX_SAFE_INTEGER)) ?? 0,
    pass: read("pass", "page-link-pass", (text) => integerBetween(text, 0, LAST_PASS)),
    position: read("s", "page-link-step", parsePosition),
    chain: read("chain", "page-link-chain", (text) =>
      text === "" || parseChain(text) !== null ? text : null,
    ),
    nudge: read("nudge", "page-link-nudge", parseNudge),
    view,
  };
  const parts = listed(unreadable.map(text));
  const trouble = unreadable.length === 0 ? null : textOf(say("page-link-damaged", { parts }));
  return { address, trouble };
}

export function isNested(value: unknown): value is Nested {
  if (Array.isArray(value)) return value.every(isNested);
  return (
    (typeof value === "number" && Number.isFinite(value)) ||
    typeof value === "boolean" ||
    value === "NaN" ||
    value === "Infinity" ||
    value === "-Infinity"
  );
}

const NUDGE = /^(.{1,120}):([^:]+)$/su;

function parseNudge(text: string): NudgeWish | null {
  const [, entry, change] = NUDGE.exec(text) ?? [];
  const by = Number(change);
  return entry === undefined || change?.trim() === "" || !Number.isFinite(by) ? null : { entry, by: by + 0 };
}

function isInputValue(value: unknown): value is InputValue {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return isNested(value);
  const { value: nested, requires_grad, dtype, ...rest } = value as Record<string, unknown>;
  return (
    isNested(nested) &&
    ["boolean", "undefined"].includes(typeof requires_grad) &&
    ["string", "undefined"].includes(typeof dtype) &&
    Object.keys(rest).length === 0
  );
}

function parseInputs(text: string): Record<string, InputValue> | null {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return Object.values(value).every(isInputValue) ? (value as Record<string, InputValue>) : null;
}

function parseNestedJson(text: string): Nested | null {
  const value = parseJson(text);
  return isNested(value) ? value : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
