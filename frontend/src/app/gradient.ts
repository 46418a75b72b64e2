/** The external gradient v of the page's own pass: what is typed, and the ready-made choices beside it. */

import { flatten, nest } from "../embed/inputs";
import { curveOf, numberOf } from "../model/curve";
import { elementCount } from "../model/matrix";
import { toNumber } from "../model/numbers";
import type { PassState, TraceState } from "../model/trace";
import type { TensorValue } from "../protocol/trace.gen";
import { indexText } from "../scene/nudge";
import type { Nested } from "../stream/client";
import { label, listed, text, textOf } from "../words/say";
import { isNested } from "./address";

/** More entries than this have no one-hot buttons of their own. */
export const MAX_ONE_HOT = 6;

/** The pass whose v can be set here: the page's own, else the program's first, where that starts at one tensor of several numbers. */
export function passToSet(trace: TraceState): PassState | null {
  const implicit = trace.passes.find((pass) => pass?.started.call === "implicit");
  if (implicit !== undefined) return implicit;
  const [first] = trace.passes;
  return first !== undefined && whyKept(first) === null && seedSize(first) > 1 ? first : null;
}

/** True: what is set beside the program's own v is not used. */
export function keepsItsV(trace: TraceState): boolean {
  return trace.passes.some(hasBegun) && passToSet(trace) === null;
}

/** False for what stands for a pass where the program failed before its first one. */
function hasBegun({ started, steps }: PassState): boolean {
  return started.outputs.length > 0 || steps.length > 0;
}

/** Why the v of a pass that the program starts cannot be set here; null where it can, or where it is the 1 of a scalar. */
export function whyKept({ started, ...pass }: PassState): string | null {
  const [output, ...others] = started.outputs;
  if (output === undefined) return null;
  if (others.length > 0) return label("page-v-kept-several", { count: started.outputs.length });
  if (started.batch !== undefined || (started.examples ?? []).length > 0) return label("page-v-kept-stack");
  if (output.seed_requires_grad) return label("page-v-kept-graph");
  if (numberOf({ started, ...pass }) > 0) return label("page-v-kept-later");
  return "data" in output.seed && output.seed.data !== undefined ? null : label("page-v-kept-large");
}

function seedSize({ started }: PassState): number {
  const seed = started.outputs[0]?.seed;
  return seed !== undefined && "shape" in seed && seed.shape.length > 0 ? elementCount(seed.shape) : 1;
}

/** Where v comes from when the program starts its passes itself: a sentence. */
export function whereVComesFrom(trace: TraceState): string {
  const calls = curveOf(trace).filter(({ pass }) => pass === null || hasBegun(pass));
  const lines = [...new Set(calls.flatMap(({ span }) => span?.line ?? []))].sort((a, b) => a - b);
  const count = calls.length;
  const [line, ...rest] = lines.map(String);
  if (line === undefined) return label("page-v-from-program", { count });
  if (rest.length === 0) return label("page-v-from-line", { count, line });
  if (rest.length > 2) return label("page-v-from-first-line", { count, line });
  return label("page-v-from-lines", { count, lines: textOf(listed([line, ...rest].map(text))) });
}

/** The v in use, null when it is too large to be written out or not a tensor. */
export function seedValue(pass: PassState): TensorValue | null {
  const seed = pass.started.outputs[0]?.seed;
  return seed !== undefined && "data" in seed && seed.data !== undefined ? seed : null;
}

/** The shape of the output that v belongs to: v's own, without the leading m of m stacked v's. */
export function outputShape(pass: PassState, seed: TensorValue): number[] {
  return pass.started.batch === undefined ? seed.shape : seed.shape.slice(1);
}

export function writeGradient(value: TensorValue): string {
  return writeNested(nest(value.data as Nested[], value.shape));
}

export function writeNested(value: Nested): string {
  if (Array.isArray(value)) return `[${value.map(writeNested).join(", ")}]`;
  if (value === "NaN") return "nan";
  if (value === "Infinity") return "inf";
  return value === "-Infinity" ? "-inf" : String(value);
}

/** Reads `1`, `[0.2, 0.8]`, `0.2, 0.8`, `[[1, 0], [0, inf]]`, `tensor([1., 2.])`; null for anything else. */
export function readGradient(text: string): Nested | null {
  const json = text
    .trim()
    .replace(/^(?:torch\.)?tensor\((.*)\)$/s, "$1")
    .replace(/(^|[[\s,])-inf(?:inity)?(?=[\]\s,]|$)/gi, '$1"-Infinity"')
    .replace(/(^|[[\s,])\+?inf(?:inity)?(?=[\]\s,]|$)/gi, '$1"Infinity"')
    .replace(/(^|[[\s,])nan(?=[\]\s,]|$)/gi, '$1"NaN"')
    .replace(/(\d)\.(?=[\]\s,eE]|$)/g, "$1.0")
    .replace(/(^|[[\s,-])\.(?=\d)/g, "$10.")
    .replace(/,\s*\]/g, "]");
  return nestedIn(json) ?? nestedIn(`[${json}]`, 2);
}

function nestedIn(json: string, least = 0): Nested | null {
  try {
    const value: unknown = JSON.parse(json);
    return isNested(value) && (least === 0 || (Array.isArray(value) && value.length >= least)) ? value : null;
  } catch {
    return null;
  }
}

export function ones(shape: readonly number[]): Nested {
  return nest(new Array<number>(elementCount(shape)).fill(1), shape);
}

/** 1 at one flat place, 0 elsewhere: v J is then that row of J. */
export function oneHot(shape: readonly number[], place: number): Nested {
  return nest(
    Array.from({ length: elementCount(shape) }, (_, flat) => (flat === place ? 1 : 0)),
    shape,
  );
}

/** The identity as m stacked v's of this shape: v J is then the whole J, all rows in one pass. */
export function allRows(shape: readonly number[]): Nested {
  return Array.from({ length: elementCount(shape) }, (_, place) => oneHot(shape, place));
}

/** Two decimals between -2 and 2. */
export function randomGradient(shape: readonly number[], random: () => number = Math.random): Nested {
  return nest(
    Array.from({ length: elementCount(shape) }, () => Math.round((random() * 4 - 2) * 100) / 100),
    shape,
  );
}

/** The entries of one v for a result of two to `MAX_ONE_HOT` numbers; null for any other, and for a stack of v's. */
export function weightsOf(
  given: Nested | null,
  seed: TensorValue,
  shape: readonly number[],
): readonly number[] | null {
  const count = elementCount(shape);
  if (count < 2 || count > MAX_ONE_HOT) return null;
  const entries = given === null ? (seed.data ?? []).map(toNumber) : flatten(given);
  return entries.length === count && entries.every(Number.isFinite) ? entries : null;
}

export function withWeight(
  weights: readonly number[],
  place: number,
  weight: number,
  shape: readonly number[],
): Nested {
  return nest(
    weights.map((each, at) => (at === place ? weight : each)),
    shape,
  );
}

/** `v[1]`, `v[0][2]`. */
export function nameOfEntry(place: number, shape: readonly number[]): string {
  return `v${indexText(place, shape)}`;
}
