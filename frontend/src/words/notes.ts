/**
 * What the lecturer noted, with the values that a note names in braces: `{v}` and `{J}` of the step that it speaks of,
 * `{p}`, `{p[0]}` and `{p.grad}` of the program. They follow the sliders.
 */
import { directionsAt } from "../model/directions";
import { isTensor, ledgerAt } from "../model/gradients";
import { isUnseen } from "../model/mask";
import { elementCount } from "../model/matrix";
import { DEFAULT_PRECISION, type Precision } from "../model/numbers";
import { clampPosition, forwardOrder, type Position, parsePosition } from "../model/position";
import { passAt, stepAt } from "../model/selectors";
import type { TraceState } from "../model/trace";
import type { Fact, Gradient, LocalJacobian, TensorValue } from "../protocol/trace.gen";
import { type Said, say, textOf, written } from "./say";
import { tell } from "./tell";
import { entriesText, shapeText } from "./values";

const NAMED = /\{([\p{L}_][\p{L}\p{N}_]*)(\.grad)?((?:\[-?\d+\])*)\}/gu;
/** Of more entries a note has the shape. */
const MOST_ENTRIES = 16;

/** The notes of the step at a position; braces round anything else stay as they were written. */
export function notesTold(
  trace: TraceState,
  position: Position,
  precision: Precision = DEFAULT_PRECISION,
): readonly Said[] {
  return directionsAt(trace, position, "note").map(({ text }) =>
    written(filled(text, trace, position, precision)),
  );
}

/** What an example teaches, and where its numbers come from: by operand a stop and a name, `1.3 v`. */
interface Goal {
  readonly fact: Fact;
  readonly follows: Readonly<Record<string, string>>;
}

/** Its sentence with the numbers of this trace; null where it has others, or the trace does not have them all. */
export function goalTold(
  { fact, follows }: Goal,
  trace: TraceState,
  precision: Precision = DEFAULT_PRECISION,
): Said | null {
  const operands = Object.entries(follows).map(([operand, told]) => {
    const [stop = "", name = ""] = told.split(" ");
    const position = parsePosition(stop);
    const braces = `{${name}}`;
    const value =
      position === null ? braces : filled(braces, trace, clampPosition(trace, position), precision);
    return [operand, value === braces ? null : value] as const;
  });
  if (operands.length === 0 || operands.some(([, value]) => value === null)) return null;
  return tell({ ...fact, operands: Object.fromEntries(operands) as Record<string, string> });
}

function filled(text: string, trace: TraceState, position: Position, precision: Precision): string {
  return text.replace(NAMED, (braces, name: string, grad: string | undefined, places: string) => {
    const value = grad === undefined ? namedValue(trace, position, name) : gradOf(trace, position, name);
    const entry = value !== null && isTensor(value) ? entryOf(value, indicesIn(places)) : value;
    return entry === null ? braces : spell(entry, precision);
  });
}

function spell(value: Gradient, precision: Precision): string {
  if (!isTensor(value)) return isUnseen(value) ? textOf(say("value-unseen")) : "None";
  const isWritten = value.data !== undefined && value.data.length <= MOST_ENTRIES;
  return isWritten ? entriesText(value, precision) : shapeText(value.shape);
}

function namedValue(trace: TraceState, position: Position, name: string): Gradient | null {
  const step = position.direction === "backward" ? stepAt(trace, position) : null;
  if (name === "v" && step !== null) return step.grad_outputs[0] ?? null;
  if (name === "J" && step !== null)
    return step.local_jacobians.map(asMatrix).find((each) => each !== null) ?? null;
  const leaf = passAt(trace, position)?.started.graph.nodes.find((node) => node.leaf === name);
  if (leaf !== undefined) return leaf.outputs[0]?.value ?? null;
  const outputs = forwardOrder(trace).flatMap((node) => node.outputs);
  return outputs.findLast((output) => output.name === name)?.value ?? null;
}

/** One row per element of the output; a number where both sides are one. */
function asMatrix({ value, output_shape, input_shape }: LocalJacobian): TensorValue | null {
  if ("missing" in value) return null;
  const sides = [output_shape, input_shape].map(elementCount);
  return { ...value, shape: sides.every((side) => side === 1) ? [] : sides };
}

function gradOf(trace: TraceState, position: Position, leaf: string): Gradient | null {
  const pass = passAt(trace, position);
  return pass === null ? null : ledgerAt(trace, pass, position).gradOf(leaf);
}

const indicesIn = (places: string): number[] =>
  [...places.matchAll(/-?\d+/g)].map(([index]) => Number(index));

/** As Python indexes; null beyond the end. */
function entryOf(value: TensorValue, indices: readonly number[]): TensorValue | null {
  const [index, ...others] = indices;
  if (index === undefined) return value;
  const [size, ...shape] = value.shape;
  const at = index < 0 && size !== undefined ? index + size : index;
  if (size === undefined || at < 0 || at >= size || value.data === undefined) return null;
  const width = elementCount(shape);
  return entryOf({ ...value, shape, data: value.data.slice(at * width, (at + 1) * width) }, others);
}
