/**
 * From the wire to memory: values were written once and stand as numbers, fields that have their default were left out,
 * an edge is a row.
 */
import { bytesOf } from "./base64";
import { DEFAULTS, type Edge, type Node, type Real, type TensorValue, VALUE_PLACES } from "./trace.gen";

type Fields = Record<string, unknown>;

/** What stands in the place of a value: the values that came so far, by number. */
export type Values = readonly TensorValue[];

/** A value as it arrived; packed entries are unpacked when somebody looks at them. */
export function readValue(written: TensorValue): TensorValue {
  const { packed, ...value } = written;
  if (packed === undefined) return written;
  let entries: TensorValue["data"];
  return Object.defineProperty(value, "data", {
    enumerable: true,
    configurable: true,
    get: () => (entries ??= unpack(packed, value.dtype)),
  });
}

const numbers = new WeakMap<TensorValue, number>();

/** Its number in its trace, by which the server knows it; null for a value that came otherwise. */
export function numberOf(value: TensorValue): number | null {
  return numbers.get(value) ?? null;
}

/** The values that an event brings along; `before` came earlier. */
export function readValues(written: readonly TensorValue[], before: number): TensorValue[] {
  return written.map((each, place) => {
    const value = readValue(each);
    numbers.set(value, before + place);
    return value;
  });
}

/**
 * Puts values where their numbers stand, in an object of the type that `definition` names.
 *
 * @throws {RangeError} for the number of a value that did not come
 */
export function placeValues(object: Fields, definition: string, values: Values): void {
  for (const [field, value] of Object.entries(DEFAULTS[definition] ?? {})) {
    if (!(field in object)) object[field] = Array.isArray(value) ? [] : value;
  }
  if (definition === "Node") fillIn(object as unknown as Node);
  if (definition === "Graph") object.edges = (object.edges as (Edge | Row)[]).map(edgeOf);
  for (const [field, holder] of Object.entries(VALUE_PLACES[definition] ?? {})) {
    if (object[field] !== undefined) object[field] = placed(object[field], holder, values);
  }
}

/** What follows from the rest of a node. */
function fillIn(node: Node): void {
  node.label ??= node.leaf ?? (node.op.replace(/^_+/u, "") || node.op);
  for (const [position, operand] of node.inputs.entries()) operand.argnum ??= position;
}

/** An edge's id, producer, output_nr, consumer, argnum. */
type Row = [string, string, number, string, number];

function edgeOf(edge: Edge | Row): Edge {
  if (!Array.isArray(edge)) return edge;
  const [id, producer, output_nr, consumer, argnum] = edge;
  return {
    id,
    from: { node: producer, output_nr },
    to: { node: consumer, argnum },
  };
}

function placed(found: unknown, holder: string, values: Values): unknown {
  if (Array.isArray(found)) return found.map((each) => placed(each, holder, values));
  if (typeof found === "number") {
    const value = values[found];
    if (value === undefined) throw new RangeError(`value ${found} did not come`);
    return value;
  }
  // Where a value may stand, the only object is the reason for its absence.
  if (found !== null) placeValues(found as Fields, holder === "" ? "Missing" : holder, values);
  return found;
}

/** Row-major entries of little-endian bytes in base64. */
function unpack(packed: string, dtype: string): NonNullable<TensorValue["data"]> {
  const bytes = bytesOf(packed);
  const view = new DataView(bytes.buffer);
  const floats = (width: 4 | 8) =>
    Array.from({ length: bytes.length / width }, (_, at) =>
      spelled(width === 4 ? shortest(view.getFloat32(at * width, true)) : view.getFloat64(at * width, true)),
    );
  switch (dtype) {
    case "bool":
      return Array.from(bytes, Boolean);
    case "float32":
      return floats(4);
    case "float64":
      return floats(8);
    case "complex64":
      return pairs(floats(4));
    case "complex128":
      return pairs(floats(8));
    default:
      throw new RangeError(`${dtype} is never packed`);
  }
}

function pairs<Part>(parts: readonly Part[]): Part[][] {
  return Array.from({ length: parts.length / 2 }, (_, at) => parts.slice(2 * at, 2 * at + 2));
}

const FLOAT32_DIGITS = [6, 7, 8];

/** The shortest decimal that reads back to the same float32: 0.1, not 0.10000000149011612. */
function shortest(number: number): number {
  if (number === 0) return number;
  for (const digits of FLOAT32_DIGITS) {
    const decimal = Number(number.toPrecision(digits));
    if (Math.fround(decimal) === number) return decimal;
  }
  return Number.isFinite(number) ? Number(number.toPrecision(9)) : number;
}

/** A number as traces and options spell it. */
export function spelled(number: number): Real {
  return Number.isFinite(number) ? number : (String(number) as "NaN" | "Infinity" | "-Infinity");
}
