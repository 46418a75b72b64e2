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
import type { Place, ProductForm } from "./form";
import {
  alongRowOrColumn,
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
  if (first === undefined || parts.length !== arrivedCount(operand) || returned.data === undefined)
    return null;
  const m = stacked ?? 1;
  const { columns } = first.matrix;
  if (parts.some(({ v, matrix }) => v.data?.length !== m * matrix.rows)) return null;
  if (returned.data.length !== m * columns) return null;
  const jacobian = below(parts.map(({ matrix }) => matrix));
  const left = beside(parts.map(({ v, matrix }) => ({ rows: m, columns: matrix.rows, cells: v.data ?? [] })));
  if (Math.max(m, jacobian.rows, jacobian.columns) > MOST_SHOWN) return null;
  const result: Matrix = { rows: m, columns, cells: returned.data };
  const termsAt = (place: Place) => rowMeetsColumn(left, jacobian, place);
  const isOne = parts.length === 1;
  const batch = stacked === null ? [] : [m];
  const rows = sizes([jacobian.rows], true);
  const vs = tableOf("v", manyCaption(parts.length, stacked), left, [...sizes(batch), ...rows]);
  const partial = derivative(operand, isOne ? "player-partial" : "player-partial-outputs");
  const right = tableOf("jacobian", partial, jacobian, [...rows, ...sizes([columns])]);
  const caption =
    stacked === null ? returnedFor(operand) : label("player-returned-rows", { name: operand.name });
  return {
    view: "jacobian",
    rule: "terms",
    operator: "×",
    isTrue: reproduces(result, termsAt),
    left: isOne ? flattened(vs, first.v, batch.length + 1) : vs,
    result: flattened(
      tableOf("result", caption, result, sizes([...batch, columns])),
      returned,
      batch.length + 1,
    ),
    rightAt: () => right,
    termsAt,
    resultOf: alongRowOrColumn,
  };
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
  const found = jacobian === null ? null : blocksOf(jacobian);
  const [first] = found?.blocks ?? [];
  if (jacobian === null || found === null || first === undefined) return null;
  if (v.data === undefined || returned.data === undefined) return null;
  const { batch, blocks } = found;
  const left: Matrix = { rows: blocks.length, columns: first.rows, cells: v.data };
  const result: Matrix = { rows: blocks.length, columns: first.columns, cells: returned.data };
  if (Math.max(blocks.length, first.rows, first.columns) > MOST_SHOWN) return null;
  if (left.cells.length !== left.rows * left.columns) return null;
  if (result.cells.length !== result.rows * result.columns) return null;
  const isShared = blocks.every(({ cells }) => cells.every((cell, at) => cell === first.cells[at]));
  const blockAt = (row: number): Matrix => blocks[row] ?? first;
  const termsAt = (place: Place) => rowMeetsColumn(left, blockAt(place.row), place);
  if (!reproduces(result, termsAt)) return null;
  const matching = sizes([first.rows], true);
  const axes = batch.length + 1;
  const partial = derivative(operand);
  return {
    view: "matrices",
    rule: "terms",
    operator: "×",
    isTrue: true,
    left: flattened(tableOf("v", V_CAPTION, left, [...sizes(batch), ...matching]), v, axes),
    result: flattened(
      tableOf("result", returnedFor(operand), result, sizes([...batch, first.columns])),
      returned,
      axes,
    ),
    rightAt: ({ row }) => {
      const caption = isShared
        ? label("player-jacobian-each-row", { jacobian: partial })
        : label("player-jacobian-of-row", { jacobian: partial, row: String(row + 1) });
      return tableOf("jacobian", caption, blockAt(row), [...matching, ...sizes([first.columns])]);
    },
    termsAt,
    resultOf: alongRowOrColumn,
  };
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
