/**
 * Tensors as grids of cells. A vector-Jacobian product flattens every tensor row-major: v has one entry per element
 * of the output, the local Jacobian a row per element of the output and a column per element of the input.
 */
import { bytesOf } from "../protocol/base64";
import type { Cell, Gradient, LocalJacobian, TensorValue, Thumbnail } from "../protocol/trace.gen";
import { toNumber } from "./numbers";

export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  /** Row-major. */
  readonly cells: readonly Cell[];
}

/** The product of the sizes; 1 for a scalar. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Along each axis the index of a cell, counted row by row. */
export function indicesOf(cell: number, shape: readonly number[]): readonly number[] {
  let rest = cell;
  return shape
    .toReversed()
    .map((size) => {
      const index = rest % size;
      rest = Math.floor(rest / size);
      return index;
    })
    .toReversed();
}

/** A tensor as a grid of its last axis by all others; null where only a summary was recorded. */
export function matrixOf(value: TensorValue): Matrix | null {
  if (value.data === undefined) return null;
  const columns = value.shape.at(-1) ?? 1;
  return {
    rows: columns === 0 ? 0 : value.data.length / columns,
    columns,
    cells: value.data,
  };
}

/** A last axis of two for real and imaginary part, as a local Jacobian has it; real numbers as they are. */
export function inPairs(value: TensorValue): TensorValue {
  if (!isComplex(value) || value.data === undefined) return value;
  const data = value.data.flatMap((cell): readonly Cell[] => {
    if (!Array.isArray(cell)) return [cell, 0];
    return cell.length === 0 ? [cell, cell] : cell;
  });
  return { ...value, shape: [...value.shape, 2], data: [...data] };
}

export function isComplex(value: Gradient | undefined): boolean {
  return value !== undefined && "dtype" in value && value.dtype.startsWith("complex");
}

const LARGEST_CELL = 126;

/** What is drawn of a tensor of which only a summary was recorded: cells relative to the largest among them. */
export function pictureOf({ shape, cells }: Thumbnail): Matrix {
  const bytes = Array.from(new Int8Array(bytesOf(cells).buffer), cellOf);
  const columns = shape.at(-1) ?? 1;
  return { rows: bytes.length / columns, columns, cells: bytes };
}

function cellOf(byte: number): Cell {
  if (Math.abs(byte) <= LARGEST_CELL) return byte;
  return byte === -LARGEST_CELL - 2 ? "NaN" : byte > 0 ? "Infinity" : "-Infinity";
}

/** Output elements by input elements; null where the Jacobian is on demand or too large. */
export function jacobianMatrix(jacobian: LocalJacobian): Matrix | null {
  if (!("shape" in jacobian.value) || jacobian.value.data === undefined) return null;
  return {
    rows: elementCount(jacobian.output_shape),
    columns: elementCount(jacobian.input_shape),
    cells: jacobian.value.data,
  };
}

export function cellAt(matrix: Matrix, row: number, column: number): Cell {
  return matrix.cells[row * matrix.columns + column] ?? 0;
}

/** Both have as many entries. */
export function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, entry, at) => sum + entry * (b[at] ?? 0), 0);
}

export function added(a: readonly number[], b: readonly number[]): readonly number[] {
  return a.map((entry, at) => entry + (b[at] ?? Number.NaN));
}

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, axis) => size === b[axis]);
}

/** The largest finite magnitude, for a colour scale; 0 for none. */
export function largestMagnitude(cells: readonly Cell[]): number {
  let largest = 0;
  for (const cell of cells) {
    const magnitude = Math.abs(toNumber(cell));
    if (Number.isFinite(magnitude) && magnitude > largest) largest = magnitude;
  }
  return largest;
}

const BITS = /(\d+)/;

/** Bytes of one element of a torch dtype; complex64 is 8, bool is 1. */
export function bytesPerElement(dtype: string): number {
  if (dtype === "bool") return 1;
  const bits = BITS.exec(dtype)?.[1];
  return bits === undefined ? 4 : Math.max(1, Number(bits) / 8);
}
