/**
 * One way to write v times J = returned: two tables and the result, the products that make up each entry, and how an
 * entry of the result comes about. v is a row, J is outputs by inputs, v J is a row; a batch is a stack of rows.
 */
import { cellAt, type Matrix } from "../model/matrix";
import { toNumber } from "../model/numbers";
import type { Cell } from "../protocol/trace.gen";
import { bracketedText } from "../words/names";
import { label } from "../words/say";
import type { OperandEquation } from "./equation";
import type { View } from "./views";

export type Role = "v" | "jacobian" | "result";
export type Side = "left" | "right";

export interface Place {
  readonly row: number;
  readonly column: number;
}

export interface Size {
  readonly size: number;
  /** It must agree with the size beside it. */
  readonly matching: boolean;
}

export interface Factoring {
  readonly role: Role;
  readonly caption: string;
  readonly matrix: Matrix;
  /** Below the table. */
  readonly shape: readonly Size[];
  /** The tensor's own shape, where the table shows it flattened. */
  readonly flattenedFrom: string | null;
  /** The line that makes it, where a product takes several. */
  readonly from?: number;
}

/**
 * One product in a sum: which cell of the left and which of the right table; without a right one `b` is 1, without a
 * left one -1: what is subtracted.
 */
export interface Term {
  readonly left: Place | null;
  readonly right: Place | null;
  readonly a: Cell;
  readonly b: Cell;
}

/**
 * `terms`: a row meets a column and their products fall into one entry; `entries`: each entry of v meets its own
 * factor; `dealt`: an entry of v goes to several of the result; `folded`: several go to one; `moved`: one to one.
 */
export type Rule = "terms" | "entries" | "dealt" | "folded" | "moved";

export type Operator = "×" | "⊙" | "·" | "→" | "∗" | "−";

export interface ProductForm {
  readonly view: View;
  readonly rule: Rule;
  readonly left: Factoring;
  /** An arrow where the entries of v go to their places as they are, an asterisk where a window slides. */
  readonly operator: Operator;
  readonly result: Factoring;
  /** The lines before it, on whose results it goes on. */
  readonly before?: readonly ProductForm[];
  /** False: what the node returned is not this product; a custom backward may return anything. */
  readonly isTrue: boolean;
  /** The table beside v while `current` is the entry at work; null where nothing is multiplied with v. */
  rightAt(current: Place): Factoring | null;
  /** The products whose sum is one cell of the result. */
  termsAt(place: Place): readonly Term[];
}

/** Tables of more rows or columns are not written out. */
export const MOST_SHOWN = 12;

const TOLERANCE = 2e-3;
const SINGLE_EPSILON = 2 ** -23;

/** Whether the sums of products are what the engine returned. */
export function reproduces(result: Matrix, termsAt: (place: Place) => readonly Term[]): boolean {
  return result.cells.every((_, index) => agreesAt(result, termsAt, placeOf(result, index)));
}

/** The same of one entry. */
export function agreesAt(result: Matrix, termsAt: (place: Place) => readonly Term[], place: Place): boolean {
  const said = toNumber(cellAt(result, place.row, place.column));
  const terms = termsAt(place).map(({ a, b }) => [toNumber(a), toNumber(b)] as const);
  const sum = terms.reduce((total, [a, b]) => total + a * b, 0);
  const scale = terms.reduce((total, [a, b]) => total + Math.abs(a * b), 1e-12);
  // Of a softmax near 0 and 1 both v and J are rounded at 1, where what they give is far smaller.
  const rounding = SINGLE_EPSILON * Math.max(0, ...terms.flat().map(Math.abs));
  return (
    !(Number.isFinite(said) && Number.isFinite(sum)) || Math.abs(sum - said) <= TOLERANCE * scale + rounding
  );
}

export function placeOf({ columns }: Matrix, index: number): Place {
  return { row: Math.floor(index / columns), column: index % columns };
}

export function samePlace(a: Place, b: Place): boolean {
  return a.row === b.row && a.column === b.column;
}

/** The cell of the result that a cell of a factor goes into; of several, the one nearest to `current`. */
export function resultOf(
  { result: { matrix }, termsAt }: ProductForm,
  side: Side,
  place: Place,
  current: Place,
): Place {
  const far = (one: Place): number => Math.abs(one.row - current.row) + Math.abs(one.column - current.column);
  const isOf = (each: Place): boolean =>
    termsAt(each).some((term) => term[side] !== null && samePlace(term[side], place));
  const found = matrix.cells.map((_, index) => placeOf(matrix, index)).filter(isOf);
  return found.toSorted((a, b) => far(a) - far(b))[0] ?? current;
}

export const V_CAPTION = "v = grad_output";

/** What J is: the derivative, or where that is not known, what a custom backward makes of one-hot v's. */
export function derivative(
  operand: OperandEquation,
  of: Parameters<typeof partial>[1] = "player-partial",
): string {
  return operand.isUnproven ? label("jacobian-own") : `J = ${partial(operand, of)}`;
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

export function sizes(shape: readonly number[], matching = false): readonly Size[] {
  return shape.map((size) => ({ size, matching }));
}

export function tableOf(
  role: Role,
  caption: string,
  matrix: Matrix,
  shape: readonly Size[],
  flattenedFrom: string | null = null,
): Factoring {
  return { role, caption, matrix, shape, flattenedFrom };
}
