/**
 * v times J as motion: at each progress which entry of the result is at work, which of its products have fallen in,
 * what is on its way, and what is written. Nothing of the result is there before its products are.
 */
import { toNumber } from "../model/numbers";
import type { Cell } from "../protocol/trace.gen";
import type { Place, ProductForm, Side, Term } from "./form";
import { placeOf } from "./form";
import { ease } from "./tokens";

export interface Spot {
  readonly table: Side | "result";
  readonly place: Place;
}

/** An entry on its way from a cell to another. */
export interface Flight {
  readonly from: Spot;
  readonly to: Spot;
  /** 0 at `from`, 1 at `to`. */
  readonly share: number;
  /** What travels: an entry of v, behind J its product. */
  readonly value: Cell;
}

export interface Multiplying {
  /** The entry of the result at work; the first one before it has begun. */
  readonly current: Place;
  /** How many of the products of `current` have fallen into it. */
  readonly landed: number;
  readonly flights: readonly Flight[];
  isWritten(place: Place): boolean;
}

/** v stands alone for this share of the motion. */
const LEAD = 0.12;
/** Entries of the result come one after another; of more than this, several at a time. */
const MOST_TURNS = 12;
/** Where entries travel together, the last one sets off at this share. */
const LAST_START = 0.4;
/** Of the time of an entry with several products, each is on its way for this share. */
const ON_THE_WAY = 0.5;

export function multiplyingAt(form: ProductForm, progress: number): Multiplying {
  const { matrix } = form.result;
  const count = matrix.cells.length;
  const time = (progress - LEAD) / (1 - LEAD);
  if (progress >= 1 || count === 0)
    return {
      current: { row: 0, column: 0 },
      landed: Number.POSITIVE_INFINITY,
      flights: [],
      isWritten: () => true,
    };
  const partOf = (index: number): number => partDone(form, index, count, time);
  const entries = Array.from({ length: count }, (_, index) => ({ index, part: partOf(index) }));
  const working = entries.filter(({ part }) => part > 0 && part < 1);
  const begun = entries.findLast(({ part }) => part > 0);
  const current = working[0] ?? begun ?? { index: 0, part: 0 };
  const place = placeOf(matrix, current.index);
  const telling = form.termsAt(place);
  return {
    current: place,
    landed: telling.filter((_, at) => journey(current.part, at, telling.length) >= 1).length,
    flights: working.flatMap(({ index, part }) => flightsInto(form, placeOf(matrix, index), part)),
    isWritten: ({ row, column }) => partOf(row * matrix.columns + column) >= 1,
  };
}

/** How far each of several lines is, which come about one after another. */
export function shareOf(line: number, lines: number, progress: number): number {
  return Math.min(1, Math.max(0, progress * lines - line));
}

/** As `multiplyingAt` for a sum of two tables of one size: by the place of an entry, how far it is on its way. */
export function addingAt(count: number, progress: number): (index: number) => number {
  if (progress >= 1) return () => 1;
  return (index) => inTurn(index, count, (progress - LEAD) / (1 - LEAD));
}

/** One after another; of many, several at a time. */
function inTurn(index: number, count: number, time: number): number {
  const together = Math.ceil(count / MOST_TURNS);
  return time * Math.ceil(count / together) - Math.floor(index / together);
}

/** How much of the time of one entry is over: below 0 before it begins, 1 and more when it is written. */
function partDone({ rule }: ProductForm, index: number, count: number, time: number): number {
  if (rule === "terms" || rule === "entries") return inTurn(index, count, time);
  const start = (LAST_START * index) / count;
  return (time - start) / (1 - LAST_START);
}

/** 0 to 1 while product `at` of `count` is on its way; below before, above after. */
function journey(part: number, at: number, count: number): number {
  return count === 1 ? part : (part - ((1 - ON_THE_WAY) * at) / count) / ON_THE_WAY;
}

function flightsInto(form: ProductForm, place: Place, part: number): readonly Flight[] {
  const terms = form.termsAt(place);
  return terms.flatMap((term, at) => {
    const way = journey(part, at, terms.length);
    return way <= 0 || way >= 1 || (term.right !== null && toNumber(term.b) === 0)
      ? []
      : (flightOf(term, place, way) ?? []);
  });
}

/** Past the factor that it meets, where there is one, into the result. */
function flightOf({ left, right, a, b }: Term, place: Place, way: number): Flight | null {
  const to = { table: "result", place } as const;
  const from = left && ({ table: "left", place: left } as const);
  const meeting = right && ({ table: "right", place: right } as const);
  const only = from ?? meeting;
  if (only === null) return null;
  if (from === null || meeting === null) return { from: only, to, share: ease(way), value: a };
  return way < 0.5
    ? { from, to: meeting, share: ease(2 * way), value: a }
    : { from: meeting, to, share: ease(2 * way - 1), value: productOf(a, b) };
}

function productOf(a: Cell, b: Cell): Cell {
  return Array.isArray(a) || Array.isArray(b) ? a : toNumber(a) * toNumber(b);
}
