/** A tensor as a small grid of cells in a few tints, without numbers. */
import { THUMBNAIL_CELL_PX, THUMBNAIL_ROWS } from "../layout/sizes";
import { largestMagnitude, matrixOf, pictureOf } from "../model/matrix";
import { toNumber } from "../model/numbers";
import type { Cell, TensorValue } from "../protocol/trace.gen";
import type { Fill, Shape } from "./shapes";

/** Strongest tint: numbers in the page's ink still read on it at 4.5:1, in light and dark. */
const STRONGEST_PERCENT = 46;
const WEAKEST_PERCENT = 6;
const LEVELS = 6;
const MOST_COLUMNS = 8;

/** The diverging scale of cells: orange above zero, blue below. `largest` is the magnitude that gets the strongest tint. */
export function tintOf(cell: Cell, largest: number): Fill | null {
  const value = toNumber(cell);
  if (Number.isNaN(value)) return "surface-sunk";
  if (value === 0) return null;
  const share = Number.isFinite(value) ? Math.min(1, Math.abs(value) / (largest || 1)) : 1;
  const percent = Math.round(WEAKEST_PERCENT + share ** 0.7 * (STRONGEST_PERCENT - WEAKEST_PERCENT));
  return { ink: value > 0 ? "gradient" : "forward", percent };
}

/** A cell's value rounded to few steps between -1 and 1, for pictures that need few colours. */
function levelOf(cell: Cell, largest: number): number {
  const value = toNumber(cell);
  if (Number.isNaN(value) || value === 0) return value;
  const share = Number.isFinite(value) ? Math.min(1, Math.abs(value) / (largest || 1)) : 1;
  return (Math.sign(value) * Math.max(1, Math.round(share * LEVELS))) / LEVELS;
}

export interface Thumbnail {
  readonly width: number;
  readonly height: number;
  /** One per tint: a table of steps holds thousands of thumbnails. */
  readonly shapes: readonly Shape[];
}

/** Null where nothing is known of the entries. */
export function thumbnailOf(
  value: TensorValue,
  rows = THUMBNAIL_ROWS,
  columns = MOST_COLUMNS,
  cell = THUMBNAIL_CELL_PX,
): Thumbnail | null {
  const pooled = value.summary?.thumbnail;
  const matrix = pooled === undefined ? matrixOf(value) : pictureOf(pooled);
  if (matrix === null) return null;
  const largest = largestMagnitude(matrix.cells);
  const [down, across] = [Math.min(matrix.rows, rows), Math.min(matrix.columns, columns)];
  const paths = new Map<number, string>();
  for (let row = 0; row < down; row += 1) {
    for (let column = 0; column < across; column += 1) {
      const level = levelOf(matrix.cells[row * matrix.columns + column] ?? 0, largest);
      const square = `M${column * cell} ${row * cell}h${cell - 1}v${cell - 1}h${1 - cell}z`;
      paths.set(level, (paths.get(level) ?? "") + square);
    }
  }
  const shapes = [...paths].map(([level, d]): Shape => {
    const fill = tintOf(Number.isNaN(level) ? "NaN" : level, 1);
    return { kind: "path", d, ...(fill && { fill }), stroke: { ink: "line-strong", width: 0.5 } };
  });
  return { width: across * cell, height: down * cell, shapes };
}
