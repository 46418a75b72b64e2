/**
 * The ways to write v times J = returned in numbers. The flattened grid is the definition; an element-by-element
 * operation and a matrix product are easier to read in the tensors' own shapes. A form is offered only if its numbers
 * reproduce what the engine returned; the grid is shown in any case, and says where they do not (`isTrue`).
 */

import { isTensor } from "../model/gradients";
import type { Matrix } from "../model/matrix";
import { cellAt, jacobianMatrix, matrixOf, rowOf } from "../model/matrix";
import { toNumber } from "../model/numbers";
import type { Cell, Node, TensorValue } from "../protocol/trace.gen";
import { ownJacobian } from "../words/advice";
import { bracketedText, transposedText } from "../words/names";
import { label } from "../words/say";
import { shapeText } from "../words/values";
import type { Factor, OperandEquation } from "./equation";

export type FormKind = "matrix_product" | "elementwise" | "grid" | "words";
export type Role = "v" | "jacobian" | "result";
export type Side = "left" | "right";

export interface Place {
  readonly row: number;
  readonly column: number;
}

export interface Factoring {
  readonly role: Role;
  readonly caption: string;
  readonly matrix: Matrix;
  /** The shape below the table; the sizes that must agree are marked by `matching`. */
  readonly shape: readonly { readonly size: number; readonly matching: boolean }[];
  /** The tensor's own shape, where the table shows it flattened. */
  readonly flattenedFrom: string | null;
}

/** One product in a sum: which cell of the left and which of the right table. */
export interface Term {
  readonly left: Place;
  readonly right: Place;
  readonly a: Cell;
  readonly b: Cell;
}

export interface ProductForm {
  readonly kind: Exclude<FormKind, "words">;
  readonly left: Factoring;
  readonly operator: "×" | "⊙";
  readonly right: Factoring;
  readonly result: Factoring;
  /** False: what the node returned is not this product; a custom backward may return anything. */
  readonly isTrue: boolean;
  /** Too wide for one line: v stands as a column beside the rows of J, the result below its columns. */
  readonly isStacked: boolean;
  /** The products whose sum is one cell of the result. */
  termsAt(place: Place): readonly Term[];
  /** The cell of the result that a cell of a factor goes into; of several, one near `current`. */
  resultOf(side: Side, place: Place, current: Place): Place;
}

const MOST_SHOWN = 12;
const MOST_COLUMNS_IN_A_LINE = 13;
const V_CAPTION = "v = grad_output";
/** A diagonal up to here is drawn as the band it is. */
const SMALL_DIAGONAL = 4;
const TOLERANCE = 2e-3;

/** What can be shown of one operand's product, the most readable first; empty where numbers are missing. */
export function productForms(node: Node, operand: OperandEquation, factor: Factor): readonly ProductForm[] {
  if (!isTensor(factor.v) || !isTensor(operand.returned)) return [];
  const many = manyVs(operand, operand.returned);
  if (many !== null) return [many];
  // One of several outputs alone does not make up what was returned.
  if (operand.factors.filter(({ v }) => isTensor(v)).length > 1) return [];
  const forms = [
    matrixProduct(node, operand, factor.v, operand.returned),
    elementwise(operand, factor, factor.v, operand.returned),
    grid(operand, factor, factor.v, operand.returned),
  ];
  return forms.filter((form) => form !== null);
}

function grid(
  operand: OperandEquation,
  factor: Factor,
  v: TensorValue,
  returned: TensorValue,
): ProductForm | null {
  const jacobian = factor.jacobian === null ? null : jacobianMatrix(factor.jacobian);
  const row = rowOf(v);
  const result = rowOf(returned);
  if (jacobian === null || row === null || result === null) return null;
  if (Math.max(jacobian.rows, jacobian.columns) > MOST_SHOWN) return null;
  if (row.columns !== jacobian.rows || result.columns !== jacobian.columns) return null;
  const isStacked = jacobian.rows + 2 * jacobian.columns > MOST_COLUMNS_IN_A_LINE;
  const left = isStacked ? { ...row, rows: row.columns, columns: 1 } : row;
  const rows = { size: jacobian.rows, matching: true };
  const columns = { size: jacobian.columns, matching: false };
  const termsAt = ({ column }: Place): readonly Term[] =>
    left.cells.map((a, k) => ({
      left: isStacked ? { row: k, column: 0 } : { row: 0, column: k },
      right: { row: k, column },
      a,
      b: cellAt(jacobian, k, column),
    }));
  return {
    kind: "grid",
    operator: "×",
    isTrue: reproduces(result, termsAt),
    isStacked,
    left: {
      role: "v",
      caption: isStacked ? "v" : V_CAPTION,
      matrix: left,
      shape: [rows],
      flattenedFrom: ownShape(v),
    },
    right: {
      role: "jacobian",
      caption: derivative(operand),
      matrix: jacobian,
      shape: [rows, columns],
      flattenedFrom: null,
    },
    result: {
      role: "result",
      caption: returnedFor(operand),
      matrix: result,
      shape: [columns],
      flattenedFrom: ownShape(returned),
    },
    termsAt,
    resultOf: (side, place, current) => (side === "right" ? { row: 0, column: place.column } : current),
  };
}

/**
 * Several v's for one operand: m of them stacked (`is_grads_batched`), [m, out] × J = [m, in], and one from each output
 * of the node, side by side with their Jacobians one below the other.
 */
function manyVs(operand: OperandEquation, returned: TensorValue): ProductForm | null {
  const parts = operand.factors.flatMap(({ v, jacobian }) => {
    const matrix = jacobian === null ? null : jacobianMatrix(jacobian);
    return isTensor(v) && v.data !== undefined && jacobian !== null && matrix !== null
      ? [{ v, jacobian, matrix }]
      : [];
  });
  const [first] = parts;
  const known = operand.factors.filter(({ v }) => isTensor(v)).length;
  if (first === undefined || parts.length !== known || returned.data === undefined) return null;
  const { columns } = first.matrix;
  const isBatch = returned.shape.length === first.jacobian.input_shape.length + 1;
  const m = isBatch ? (returned.shape[0] ?? 1) : 1;
  if (!isBatch && parts.length < 2) return null;
  if (parts.some(({ v, matrix }) => v.data?.length !== m * matrix.rows)) return null;
  if (returned.data.length !== m * columns) return null;
  const jacobian = below(parts.map(({ matrix }) => matrix));
  const left = beside(parts.map(({ v, matrix }) => ({ rows: m, columns: matrix.rows, cells: v.data ?? [] })));
  if (Math.max(m, jacobian.rows, jacobian.columns) > MOST_SHOWN) return null;
  const result: Matrix = { rows: m, columns, cells: returned.data };
  const termsAt = ({ row, column }: Place): readonly Term[] =>
    Array.from({ length: jacobian.rows }, (_, k) => ({
      left: { row, column: k },
      right: { row: k, column },
      a: cellAt(left, row, k),
      b: cellAt(jacobian, k, column),
    }));
  if (!reproduces(result, termsAt)) return null;
  const size = (count: number, matching: boolean) => ({ size: count, matching });
  return {
    kind: "grid",
    operator: "×",
    isTrue: true,
    isStacked: false,
    left: {
      role: "v",
      caption: manyCaption(parts.length, isBatch ? m : null),
      matrix: left,
      shape: [...(isBatch ? [size(m, false)] : []), size(jacobian.rows, true)],
      flattenedFrom: parts.length === 1 && first.v.shape.length > 2 ? shapeText(first.v.shape) : null,
    },
    right: {
      role: "jacobian",
      caption: parts.length > 1 ? derivative(operand, "player-partial-outputs") : derivative(operand),
      matrix: jacobian,
      shape: [size(jacobian.rows, true), size(columns, false)],
      flattenedFrom: null,
    },
    result: {
      role: "result",
      caption: isBatch ? label("player-returned-rows", { name: operand.name }) : returnedFor(operand),
      matrix: result,
      shape: [...(isBatch ? [size(m, false)] : []), size(columns, false)],
      flattenedFrom: returned.shape.length > (isBatch ? 2 : 1) ? shapeText(returned.shape) : null,
    },
    termsAt,
    resultOf: (side, place, current) =>
      side === "left"
        ? { row: place.row, column: current.column }
        : { row: current.row, column: place.column },
  };
}

/** @param rows how many v's each output has; null where they are not stacked */
function manyCaption(count: number, rows: number | null): string {
  if (count > 1 && rows !== null) return label("player-outputs-vs-rows", { count, rows: String(rows) });
  if (rows !== null) return label("player-row-vs", { count: rows });
  return count > 1 ? label("player-outputs-vs", { count }) : V_CAPTION;
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

function elementwise(
  operand: OperandEquation,
  factor: Factor,
  v: TensorValue,
  returned: TensorValue,
): ProductForm | null {
  const jacobian = factor.jacobian;
  const full = jacobian === null ? null : jacobianMatrix(jacobian);
  const left = matrixOf(v);
  const result = matrixOf(returned);
  if (jacobian?.structure !== "diagonal" || full === null || left === null || result === null) return null;
  if (full.rows !== full.columns || left.cells.length !== full.rows || full.rows <= SMALL_DIAGONAL)
    return null;
  if (Math.max(left.rows, left.columns) > MOST_SHOWN) return null;
  const cells = left.cells.map((_, index) => cellAt(full, index, index));
  const diagonal = { rows: left.rows, columns: left.columns, cells };
  const shared = { shape: v.shape.map((size) => ({ size, matching: true })), flattenedFrom: null };
  const termsAt = (place: Place): readonly Term[] => [
    {
      left: place,
      right: place,
      a: cellAt(left, place.row, place.column),
      b: cellAt(diagonal, place.row, place.column),
    },
  ];
  return {
    kind: "elementwise",
    operator: "⊙",
    isTrue: reproduces(result, termsAt),
    isStacked: false,
    left: { role: "v", caption: V_CAPTION, matrix: left, ...shared },
    right: {
      role: "jacobian",
      caption: label("player-diagonal-of", { jacobian: derivative(operand) }),
      matrix: diagonal,
      ...shared,
    },
    result: { role: "result", caption: returnedFor(operand), matrix: result, ...shared },
    termsAt,
    resultOf: (_, place) => place,
  };
}

/** Where each matrix operand stands among the inputs of a matrix product. */
const MATRIX_PRODUCTS: Readonly<Record<string, readonly [first: number, second: number]>> = {
  MmBackward0: [0, 1],
  AddmmBackward0: [1, 2],
};

/** For y = A B: the gradient of A is v Bᵀ, that of B is Aᵀ v. */
function matrixProduct(
  node: Node,
  operand: OperandEquation,
  v: TensorValue,
  returned: TensorValue,
): ProductForm | null {
  const places = MATRIX_PRODUCTS[node.name];
  if (places === undefined) return null;
  const isFirst = operand.argnum === places[0];
  if (!isFirst && operand.argnum !== places[1]) return null;
  const other = node.inputs[isFirst ? places[1] : places[0]];
  const factor = other?.value == null ? null : matrixOf(other.value);
  const gradient = matrixOf(v);
  const result = matrixOf(returned);
  if (other === undefined || factor === null || gradient === null || result === null) return null;
  const turned = transposed(factor);
  const [left, right] = isFirst ? [gradient, turned] : [turned, gradient];
  if (Math.max(left.rows, left.columns, right.columns) > MOST_SHOWN || left.columns !== right.rows)
    return null;
  const termsAt = ({ row, column }: Place): readonly Term[] =>
    Array.from({ length: left.columns }, (_, k) => ({
      left: { row, column: k },
      right: { row: k, column },
      a: cellAt(left, row, k),
      b: cellAt(right, k, column),
    }));
  if (!reproduces(result, termsAt)) return null;
  const tables = {
    v: { role: "v", caption: V_CAPTION, flattenedFrom: null },
    jacobian: {
      role: "jacobian",
      caption: label("player-acts-as-j", { factor: transposedText(operand.names.get(other.argnum) ?? "") }),
      flattenedFrom: null,
    },
  } as const;
  const size = (count: number, matching: boolean) => ({ size: count, matching });
  return {
    kind: "matrix_product",
    operator: "×",
    isTrue: true,
    isStacked: false,
    left: {
      ...(isFirst ? tables.v : tables.jacobian),
      matrix: left,
      shape: [size(left.rows, false), size(left.columns, true)],
    },
    right: {
      ...(isFirst ? tables.jacobian : tables.v),
      matrix: right,
      shape: [size(right.rows, true), size(right.columns, false)],
    },
    result: {
      role: "result",
      caption: returnedFor(operand),
      matrix: result,
      shape: returned.shape.map((count) => size(count, false)),
      flattenedFrom: null,
    },
    termsAt,
    resultOf: (side, place, current) =>
      side === "left"
        ? { row: place.row, column: current.column }
        : { row: current.row, column: place.column },
  };
}

function reproduces(result: Matrix, termsAt: (place: Place) => readonly Term[]): boolean {
  for (let row = 0; row < result.rows; row += 1) {
    for (let column = 0; column < result.columns; column += 1) {
      const terms = termsAt({ row, column }).map((term) => toNumber(term.a) * toNumber(term.b));
      const sum = terms.reduce((total, term) => total + term, 0);
      const scale = terms.reduce((total, term) => total + Math.abs(term), 1e-12);
      const said = toNumber(cellAt(result, row, column));
      if (Number.isFinite(said) && Number.isFinite(sum) && Math.abs(sum - said) > TOLERANCE * scale)
        return false;
    }
  }
  return true;
}

function transposed(matrix: Matrix): Matrix {
  const cells = Array.from({ length: matrix.cells.length }, (_, index) =>
    cellAt(matrix, index % matrix.rows, Math.floor(index / matrix.rows)),
  );
  return { rows: matrix.columns, columns: matrix.rows, cells };
}

/** What J is: the derivative, or where that is not known, what a custom backward makes of one-hot v's. */
export function derivative(
  operand: OperandEquation,
  of: Parameters<typeof partial>[1] = "player-partial",
): string {
  return operand.isUnproven ? ownJacobian() : `J = ${partial(operand, of)}`;
}

export function partial(
  operand: OperandEquation,
  of: "player-partial" | "player-partial-outputs" = "player-partial",
): string {
  return label(of, { name: bracketedText(operand.name) });
}

export function returnedFor(operand: OperandEquation): string {
  return label("player-returned-for", { name: operand.name });
}

function ownShape(value: TensorValue): string | null {
  return value.shape.length > 1 ? shapeText(value.shape) : null;
}
