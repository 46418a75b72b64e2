/**
 * What can be set without touching the program: free variables of an expression and named leaves, each as a
 * nested value with one control per entry.
 */
import { numberOf } from "../model/curve";
import { elementCount } from "../model/matrix";
import { toNumber } from "../model/numbers";
import type { TraceState } from "../model/trace";
import type { TensorValue } from "../protocol/trace.gen";
import { spelled } from "../protocol/values";
import { indexText } from "../scene/nudge";
import type { InputValue, Nested } from "../stream/client";

/** More entries than this are set in the program. */
export const MAX_ENTRIES = 12;
/** Up to this many entries each get a slider, more get number fields. */
export const MAX_SLIDERS = 4;

export interface Entry {
  /** As one writes it in the program: `x`, `p[0]`, `W[1][2]`. */
  name: string;
  value: number;
}

export interface InputControl {
  /** Key of `options.inputs`. */
  key: string;
  shape: readonly number[];
  /** Empty when the value has more than `MAX_ENTRIES` entries. */
  entries: readonly Entry[];
  /** Every entry a whole number, because the dtype has no others. */
  integer: boolean;
}

/** The inputs of the run on screen, free variables first, then leaves in the order of the graph. */
export function inputControls(
  trace: TraceState,
  overrides: Readonly<Record<string, InputValue>>,
): InputControl[] {
  const controls = new Map<string, InputControl>();
  const add = (key: string, value: TensorValue | null | undefined) => {
    if (value && !controls.has(key)) controls.set(key, inputControl(key, value, overrides[key]));
  };
  for (const input of trace.started?.inputs ?? []) add(input.name, input.value);
  // Where the first pass was not recorded, the program may have changed its leaves since.
  const isFromStart = trace.passes[0] === undefined || numberOf(trace.passes[0]) === 0;
  for (const pass of isFromStart ? trace.passes : []) {
    for (const node of pass.started.graph.nodes) {
      if (node.input !== undefined) add(node.input, node.outputs[0]?.value);
    }
  }
  return [...controls.values()];
}

/** The entries that can be changed a little, each with its control: integers have no small changes. */
export function nudgeable(
  controls: readonly InputControl[],
): readonly { readonly control: InputControl; readonly entry: Entry }[] {
  return controls.flatMap((control) =>
    control.integer ? [] : control.entries.map((entry) => ({ control, entry })),
  );
}

/** Parameters of the program's modules (`model.0.weight`), as they were before any pass. */
export function parameterControls(
  trace: TraceState,
  overrides: Readonly<Record<string, InputValue>>,
): InputControl[] {
  const [pass] = trace.passes;
  if (pass === undefined || numberOf(pass) !== 0) return [];
  return pass.started.graph.nodes.flatMap(({ leaf, outputs }) => {
    const value = outputs[0]?.value;
    if (leaf === undefined || value == null || !PARAMETER.test(leaf)) return [];
    return [inputControl(leaf, value, overrides[leaf])];
  });
}

const PARAMETER = /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}\p{N}_]+)+$/u;

function inputControl(key: string, value: TensorValue, override: InputValue | undefined): InputControl {
  const { shape, dtype, data } = value;
  const count = elementCount(shape);
  const integer = /^u?int/.test(dtype);
  if (
    data === undefined ||
    count > MAX_ENTRIES ||
    count === 0 ||
    dtype.startsWith("complex") ||
    dtype === "bool"
  ) {
    return { key, shape, entries: [], integer };
  }
  const given = override === undefined ? null : flatten(bareValue(override));
  const entries = data.map((cell, flat): Entry => {
    const own = given?.length === count ? given[flat] : undefined;
    return { name: key + indexText(flat, shape), value: own ?? toNumber(cell) };
  });
  return { key, shape, entries, integer };
}

/** The whole nested value with one entry replaced, ready for `options.inputs`. */
export function withEntry(control: InputControl, changed: Entry, value: number): Nested {
  return nest(
    control.entries.map((entry) =>
      spelled(entry === changed || entry.name === changed.name ? value : entry.value),
    ),
    control.shape,
  );
}

/** The bare value of an input. */
export function bareValue(input: InputValue): Nested {
  return typeof input === "object" && !Array.isArray(input) ? input.value : input;
}

/** An input with another value; what else was said about it stays. */
export function withValue(input: InputValue | undefined, value: Nested): InputValue {
  return typeof input === "object" && !Array.isArray(input) ? { ...input, value } : value;
}

export interface Range {
  min: number;
  max: number;
  step: number;
}

/** A round, symmetric range with some room round `value`; a hundred stops or more, so that a drag looks smooth. */
export function sliderRange(value: number, integer: boolean): Range {
  const reach = Number.isFinite(value) ? Math.max(integer ? 10 : 5, Math.abs(value) * 2) : 5;
  const magnitude = 10 ** Math.floor(Math.log10(reach));
  const max = [1, 2, 5, 10].map((factor) => factor * magnitude).find((bound) => bound >= reach) ?? reach;
  return { min: -max, max, step: integer ? 1 : max / 100 };
}

/** Row-major flat entries as nested lists. */
export function nest(flat: readonly Nested[], shape: readonly number[]): Nested {
  const [size, ...rest] = shape;
  if (size === undefined) return flat[0] ?? 0;
  const stride = elementCount(rest);
  return Array.from({ length: size }, (_, row) => nest(flat.slice(row * stride, (row + 1) * stride), rest));
}

export function flatten(value: Nested): number[] {
  return Array.isArray(value) ? value.flatMap(flatten) : [Number(value)];
}
