/** One entry of v times J written out: the products in it, as far as they have fallen in, and what they add up to. */
import { cellAt } from "../model/matrix";
import { toNumber } from "../model/numbers";
import type { Cell } from "../protocol/trace.gen";
import type { Place, ProductForm, Term } from "./form";
import { placeOf } from "./form";
import type { Multiplying } from "./multiplying";

const MOST_TERMS = 6;

export interface WrittenSum {
  readonly terms: readonly Term[];
  /** How many products are not written, and whether all of those are zero. */
  readonly leftOut: number;
  readonly isRestZero: boolean;
  /** Whether all products have fallen in. */
  readonly isSummed: boolean;
  readonly total: Cell;
  /** What v times J is here; where backward returned something else, both are told. */
  readonly product: number;
  /** From 1, in reading order. */
  readonly entry: number;
  readonly entries: number;
}

/** The entry that is told where nobody points at another: the first that is not zero. */
export function firstEntry({ result: { matrix } }: ProductForm): Place {
  const at = matrix.cells.findIndex((cell) => toNumber(cell) !== 0);
  return placeOf(matrix, Math.max(0, at));
}

export function sumAt(form: ProductForm, place: Place, moving: Multiplying): WrittenSum {
  const { matrix } = form.result;
  const all = form.termsAt(place);
  const isZero = ({ a, b }: Term): boolean => a === 0 || b === 0;
  const told = all.length <= MOST_TERMS ? all : all.filter((term) => !isZero(term)).slice(0, MOST_TERMS);
  return {
    terms: told.filter((term) => all.indexOf(term) < moving.landed),
    leftOut: all.length - told.length,
    isRestZero: all.every((term) => told.includes(term) || isZero(term)),
    isSummed: moving.isWritten(place),
    total: cellAt(matrix, place.row, place.column),
    product: all.reduce((sum, { a, b }) => sum + toNumber(a) * toNumber(b), 0),
    entry: place.row * matrix.columns + place.column + 1,
    entries: matrix.cells.length,
  };
}
