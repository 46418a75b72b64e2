/**
 * Products of matrices: the gradient of the left operand of y = A B is v Bᵀ, that of the right one Aᵀ v. Which product
 * it is, is found by trying what the node had at hand; it must give what was returned and, where J is known, be J.
 */
import { cellAt, elementCount, jacobianMatrix, type Matrix, matrixOf } from "../model/matrix";
import { toNumber } from "../model/numbers";
import type { Node, TensorValue } from "../protocol/trace.gen";
import { transposedText } from "../words/names";
import { label } from "../words/say";
import type { Factor, OperandEquation, Saved } from "./equation";
import type { Factoring, Place, ProductForm, Size, Term } from "./form";
import { alongRowOrColumn, placeOf, reproduces, returnedFor, V_CAPTION } from "./form";

/** A tensor as matrices one below the other; all but a batch of matrices are one. */
interface Stack {
  readonly count: number;
  readonly rows: number;
  readonly columns: number;
  readonly matrix: Matrix;
}

/** What v can be multiplied with. */
interface Other {
  readonly name: string;
  readonly value: TensorValue;
}

/** Which is transposed and which stands left. */
interface Pattern {
  readonly isVLeft: boolean;
  readonly isVTurned: boolean;
  readonly isOtherTurned: boolean;
}

const V_BT: Pattern = { isVLeft: true, isVTurned: false, isOtherTurned: true };
const AT_V: Pattern = { isVLeft: false, isVTurned: false, isOtherTurned: true };
const V_W: Pattern = { isVLeft: true, isVTurned: false, isOtherTurned: false };
const VT_X: Pattern = { isVLeft: true, isVTurned: true, isOtherTurned: false };
const W_V: Pattern = { isVLeft: false, isVTurned: false, isOtherTurned: false };

/** `A B`, and batches of it. */
const PRODUCTS = /^(?:Add)?b?mmBackward|^BaddbmmBackward|^AddbmmBackward/i;
/** `x Wᵀ`, `A x`. */
const OTHERS = /^(?:Linear|Mv|Addmv)Backward/;

/** Larger matrices are not written out, and not multiplied to see whether they fit. */
const MOST_ALONG = 32;

export function matrixProduct(
  node: Node,
  operand: OperandEquation,
  { jacobian }: Factor,
  saved: readonly Saved[],
  v: TensorValue,
  returned: TensorValue,
): ProductForm | null {
  if (elementCount(v.shape) < 2) return null;
  const patterns = patternsOf(node);
  const full = jacobian === null ? null : jacobianMatrix(jacobian);
  for (const pattern of patterns) {
    for (const other of othersOf(node, operand, saved)) {
      const form = productWith(other, pattern, operand, v, returned);
      if (form !== null && (full === null || isTheSame(full, form, pattern))) return form;
    }
  }
  return null;
}

function patternsOf({ name, kind }: Node): readonly Pattern[] {
  if (PRODUCTS.test(name)) return [V_BT, AT_V];
  if (kind === "custom" || OTHERS.test(name)) return [V_W, VT_X, V_BT, AT_V, W_V];
  return [];
}

/** The other operands, then what was saved; a tensor that is both once. */
function othersOf(node: Node, operand: OperandEquation, saved: readonly Saved[]): readonly Other[] {
  const inputs = node.inputs.flatMap(({ argnum, value }) =>
    argnum === operand.argnum || value === null ? [] : [{ name: operand.names.get(argnum) ?? "", value }],
  );
  const kept = saved.flatMap(({ label, value }) => (value === null ? [] : [{ name: label, value }]));
  return [...inputs, ...kept];
}

function productWith(
  other: Other,
  pattern: Pattern,
  operand: OperandEquation,
  v: TensorValue,
  returned: TensorValue,
): ProductForm | null {
  const isBatch = v.shape.length > 2 && other.value.shape.length > 2 && returned.shape.length > 2;
  const given = stackOf(v, isBatch);
  const kept = stackOf(other.value, isBatch);
  const result = matrixOf(returned);
  if (given === null || kept === null || result === null || given.count !== kept.count) return null;
  const turnedV = pattern.isVTurned ? turned(given) : given;
  const turnedOther = pattern.isOtherTurned ? turned(kept) : kept;
  const [left, right] = pattern.isVLeft ? [turnedV, turnedOther] : [turnedOther, turnedV];
  if (left.columns !== right.rows) return null;
  if (result.rows !== left.count * left.rows || result.columns !== right.columns) return null;
  if (Math.max(result.rows, result.columns, left.columns) > MOST_ALONG) return null;
  const termsAt = (place: Place): readonly Term[] => meet(left, right, place);
  if (!reproduces(result, termsAt)) return null;
  const batch = isBatch ? v.shape.slice(0, -2).map((size) => ({ size, matching: false })) : [];
  const size = (count: number, matching: boolean): Size => ({ size: count, matching });
  const table = (stack: Stack, isV: boolean, shape: readonly Size[]): Factoring => ({
    role: isV ? "v" : "jacobian",
    caption: isV
      ? pattern.isVTurned
        ? label("player-v-transposed")
        : V_CAPTION
      : label("player-acts-as-j", {
          factor: pattern.isOtherTurned ? transposedText(other.name) : other.name,
        }),
    matrix: stack.matrix,
    shape: [...batch, ...shape],
    flattenedFrom: null,
  });
  const rightTable = table(right, !pattern.isVLeft, [size(right.rows, true), size(right.columns, false)]);
  return {
    view: "matrices",
    rule: "terms",
    operator: "×",
    isTrue: true,
    left: table(left, pattern.isVLeft, [size(left.rows, false), size(left.columns, true)]),
    result: {
      role: "result",
      caption: returnedFor(operand),
      matrix: result,
      shape: returned.shape.map((count) => size(count, false)),
      flattenedFrom: null,
    },
    rightAt: () => rightTable,
    termsAt,
    resultOf: (side, place, current) => {
      if (!isBatch) return alongRowOrColumn(side, place, current);
      if (side === "left") return { row: place.row, column: current.column };
      const row = Math.floor(place.row / right.rows) * left.rows + (current.row % left.rows);
      return { row, column: place.column };
    },
  };
}

/** A row of the left stack meets a column of the matrix of the same number in the right one. */
function meet(left: Stack, right: Stack, { row, column }: Place): readonly Term[] {
  const first = Math.floor(row / left.rows) * right.rows;
  return Array.from({ length: left.columns }, (_, k) => ({
    left: { row, column: k },
    right: { row: first + k, column },
    a: cellAt(left.matrix, row, k),
    b: cellAt(right.matrix, first + k, column),
  }));
}

function stackOf(value: TensorValue, isBatch: boolean): Stack | null {
  const matrix = matrixOf(value);
  if (matrix === null || matrix.rows === 0) return null;
  const count = isBatch ? elementCount(value.shape.slice(0, -2)) : 1;
  return { count, rows: matrix.rows / count, columns: matrix.columns, matrix };
}

function turned({ count, rows, columns, matrix }: Stack): Stack {
  const cells = Array.from({ length: matrix.cells.length }, (_, index) => {
    const { row, column } = placeOf({ rows: 0, columns: rows, cells: [] }, index);
    return cellAt(matrix, Math.floor(row / columns) * rows + column, row % columns);
  });
  return { count, rows: columns, columns: rows, matrix: { rows: count * columns, columns: rows, cells } };
}

/** Whether the product takes every v, not only this one, to what J takes it to. */
function isTheSame(full: Matrix, { left, result, rightAt, termsAt }: ProductForm, pattern: Pattern): boolean {
  const table = pattern.isVLeft ? left.matrix : rightAt({ row: 0, column: 0 })?.matrix;
  if (table === undefined || full.rows !== table.cells.length || full.columns !== result.matrix.cells.length)
    return false;
  return result.matrix.cells.every((_, input) => {
    const column = new Map<number, number>();
    for (const term of termsAt(placeOf(result.matrix, input))) {
      const place = pattern.isVLeft ? term.left : term.right;
      if (place === null) return false;
      const { row, column: at } = place;
      const output = pattern.isVTurned ? at * table.rows + row : row * table.columns + at;
      column.set(output, toNumber(pattern.isVLeft ? term.b : term.a));
    }
    return Array.from({ length: full.rows }, (_row, output) => output).every((output) => {
      const [is, said] = [column.get(output) ?? 0, toNumber(cellAt(full, output, input))];
      return Math.abs(is - said) <= SAME * Math.max(1, Math.abs(said));
    });
  });
}

const SAME = 1e-3;
