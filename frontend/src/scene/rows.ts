/**
 * Products in which every tensor is rows: the full J with v as one row, several v's as rows above one another, and a
 * batch, where each row of v meets the J of its own row only.
 */
import { isTensor } from "../model/gradients";
import type { Matrix } from "../model/matrix";
import { cellAt, elementCount, jacobianMatrix } from "../model/matrix";
import { toNumber } from "../model/numbers";
import type { LocalJacobian, TensorValue } from "../protocol/trace.gen";
import { label } from "../words/say";
import type { Factor, OperandEquation } from "./equation";
import type { Factoring, Place, ProductForm } from "./form";
import {
  arrivedCount,
  derivative,
  flattened,
  MOST_SHOWN,
  reproduces,
  returnedFor,
  rowMeetsColumn,
  sizes,
  tableOf,
  V_CAPTION,
} from "./form";
import type { View } from "./views";

/** v as one row times the whole J. */
export function fullJacobian(operand: OperandEquation, returned: TensorValue): ProductForm | null {
  return timesJacobian(operand, arrivedParts(operand), returned, null);
}

/**
 * Several v's for one operand: m of them stacked (`is_grads_batched`), [m, out] × J = [m, in], and one from each output
 * of the node, side by side with their Jacobians one below the other.
 */
export function manyVs(operand: OperandEquation, returned: TensorValue): ProductForm | null {
  const parts = arrivedParts(operand);
  const isBatch = returned.shape.length === (parts[0]?.jacobian.input_shape.length ?? 0) + 1;
  if (!isBatch && parts.length < 2) return null;
  const form = timesJacobian(operand, parts, returned, isBatch ? (returned.shape[0] ?? 1) : null);
  return form?.isTrue ? form : null;
}

/** A v with the Jacobian of the output at which it arrived. */
interface Part {
  readonly v: TensorValue;
  readonly jacobian: LocalJacobian;
  readonly matrix: Matrix;
}

function arrivedParts({ factors }: OperandEquation): readonly Part[] {
  return factors.flatMap(({ v, jacobian }) => {
    const matrix = jacobian === null ? null : jacobianMatrix(jacobian);
    return isTensor(v) && v.data !== undefined && jacobian !== null && matrix !== null
      ? [{ v, jacobian, matrix }]
      : [];
  });
}

/** @param stacked how many v's each output has; null where they are not stacked */
function timesJacobian(
  operand: OperandEquation,
  parts: readonly Part[],
  returned: TensorValue,
  stacked: number | null,
): ProductForm | null {
  const [first] = parts;
  if (first === undefined || parts.length !== arrivedCount(operand)) return null;
  const m = stacked ?? 1;
  const vs = parts.map(({ v, matrix }) => rowsOf(v, m, matrix.rows));
  const jacobian = below(parts.map(({ matrix }) => matrix));
  const result = rowsOf(returned, m, jacobian.columns);
  if (!vs.every((each) => each !== null) || result === null) return null;
  if (Math.max(m, jacobian.rows, jacobian.columns) > MOST_SHOWN) return null;
  const isOne = parts.length === 1;
  const batch = sizes(stacked === null ? [] : [m]);
  const rows = sizes([jacobian.rows], true);
  const columns = sizes([jacobian.columns]);
  const left = tableOf("v", manyCaption(parts.length, stacked), beside(vs), [...batch, ...rows]);
  const partial = derivative(operand, isOne ? "player-partial" : "player-partial-outputs");
  const right = tableOf("jacobian", partial, jacobian, [...rows, ...columns]);
  const caption =
    stacked === null ? returnedFor(operand) : label("player-returned-rows", { name: operand.name });
  return rowsTimes(
    "jacobian",
    isOne ? flattened(left, first.v) : left,
    () => right,
    flattened(tableOf("result", caption, result, [...batch, ...columns]), returned),
  );
}

/** Rows, each times the J of its row. */
function rowsTimes(
  view: View,
  left: Factoring,
  jacobianOf: (row: number) => Factoring,
  result: Factoring,
): ProductForm {
  const termsAt = (place: Place) => rowMeetsColumn(left.matrix, jacobianOf(place.row).matrix, place);
  return {
    view,
    rule: "terms",
    operator: "×",
    isTrue: reproduces(result.matrix, termsAt),
    left,
    result,
    rightAt: ({ row }) => jacobianOf(row),
    termsAt,
  };
}

/** A tensor as so many rows; null where it has other numbers, or none that are written out. */
function rowsOf({ data }: TensorValue, rows: number, columns: number): Matrix | null {
  return data?.length === rows * columns ? { rows, columns, cells: data } : null;
}

/** @param rows how many v's each output has; null where they are not stacked */
function manyCaption(count: number, rows: number | null): string {
  if (count > 1 && rows !== null) return label("player-outputs-vs-rows", { count, rows: String(rows) });
  if (rows !== null) return label("player-row-vs", { count: rows });
  return count > 1 ? label("player-outputs-vs", { count }) : V_CAPTION;
}

/** Where each row of the output depends on the same row of the input only: the blocks of J on its diagonal. */
interface Blocks {
  /** The axes that count the rows. */
  readonly batch: readonly number[];
  readonly blocks: readonly Matrix[];
}

/** A batch: rows of v, each times the J of its row. */
export function stackOfRows(
  operand: OperandEquation,
  { jacobian }: Factor,
  v: TensorValue,
  returned: TensorValue,
): ProductForm | null {
  const { batch, blocks } = (jacobian && blocksOf(jacobian)) ?? { batch: [], blocks: [] };
  const [first] = blocks;
  if (first === undefined || Math.max(blocks.length, first.rows, first.columns) > MOST_SHOWN) return null;
  const left = rowsOf(v, blocks.length, first.rows);
  const result = rowsOf(returned, blocks.length, first.columns);
  if (left === null || result === null) return null;
  const isShared = blocks.every(({ cells }) => cells.every((cell, at) => cell === first.cells[at]));
  const [rows, columns] = [sizes([first.rows], true), sizes([first.columns])];
  const partial = derivative(operand);
  const jacobianOf = (row: number): Factoring => {
    const caption = isShared
      ? label("player-jacobian-each-row", { jacobian: partial })
      : label("player-jacobian-of-row", { jacobian: partial, row: String(row + 1) });
    return tableOf("jacobian", caption, blocks[row] ?? first, [...rows, ...columns]);
  };
  const form = rowsTimes(
    "matrices",
    flattened(tableOf("v", V_CAPTION, left, [...sizes(batch), ...rows]), v),
    jacobianOf,
    flattened(tableOf("result", returnedFor(operand), result, [...sizes(batch), ...columns]), returned),
  );
  return form.isTrue ? form : null;
}

function blocksOf(jacobian: LocalJacobian): Blocks | null {
  const full = jacobianMatrix(jacobian);
  if (full === null) return null;
  const { output_shape: out, input_shape: into } = jacobian;
  // The more axes count rows, the smaller the J of one of them.
  for (let axes = Math.min(out.length, into.length); axes > 0; axes -= 1) {
    const batch = out.slice(0, axes);
    if (String(batch) !== String(into.slice(0, axes))) continue;
    const count = elementCount(batch);
    if (count < 2 || full.cells.length === count * count) continue;
    const blocks = cutOnDiagonal(full, count);
    if (blocks !== null) return { batch, blocks };
  }
  return null;
}

/** Null where something beside the blocks is not zero. */
function cutOnDiagonal(full: Matrix, count: number): readonly Matrix[] | null {
  const [rows, columns] = [full.rows / count, full.columns / count];
  const isBeside = full.cells.some(
    (cell, index) =>
      toNumber(cell) !== 0 &&
      Math.floor(index / full.columns / rows) !== Math.floor((index % full.columns) / columns),
  );
  if (isBeside) return null;
  return Array.from({ length: count }, (_, block) => ({
    rows,
    columns,
    cells: Array.from({ length: rows * columns }, (_cell, at) =>
      cellAt(full, block * rows + Math.floor(at / columns), block * columns + (at % columns)),
    ),
  }));
}

function below(matrices: readonly Matrix[]): Matrix {
  return {
    rows: matrices.reduce((sum, { rows }) => sum + rows, 0),
    columns: matrices[0]?.columns ?? 0,
    cells: matrices.flatMap(({ cells }) => cells),
  };
}

function beside(matrices: readonly Matrix[]): Matrix {
  const rows = matrices[0]?.rows ?? 0;
  const cells = Array.from({ length: rows }, (_, row) =>
    matrices.flatMap((matrix) => matrix.cells.slice(row * matrix.columns, (row + 1) * matrix.columns)),
  ).flat();
  return { rows, columns: matrices.reduce((sum, { columns }) => sum + columns, 0), cells };
}
