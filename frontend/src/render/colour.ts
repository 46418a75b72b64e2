/** The diverging scale of heat cells: orange above zero, blue below. The sign is always in the number too. */
import { toNumber } from "../model/numbers";
import type { Cell } from "../protocol/trace.gen";

/** Strongest tint: numbers in the page's ink still read on it at 4.5:1, in light and dark. */
const STRONGEST_PERCENT = 46;

/** A CSS background for one cell; `largest` is the magnitude that gets the strongest tint. */
export function heat(cell: Cell, largest: number): string {
  const value = toNumber(cell);
  if (Number.isNaN(value)) return "var(--surface-sunk)";
  if (value === 0) return "transparent";
  const share = Number.isFinite(value) ? Math.min(1, Math.abs(value) / (largest || 1)) : 1;
  const percent = Math.round(6 + share ** 0.7 * (STRONGEST_PERCENT - 6));
  return `color-mix(in srgb, var(${value > 0 ? "--gradient" : "--forward"}) ${percent}%, var(--surface))`;
}

const LEVELS = 6;

/** A cell's value rounded to few steps between -1 and 1, for pictures that need few colours. */
export function heatLevel(cell: Cell, largest: number): number {
  const value = toNumber(cell);
  if (Number.isNaN(value) || value === 0) return value;
  const share = Number.isFinite(value) ? Math.min(1, Math.abs(value) / (largest || 1)) : 1;
  return (Math.sign(value) * Math.max(1, Math.round(share * LEVELS))) / LEVELS;
}
