/**
 * Numbers as people read them. The trace holds the shortest decimal that reads back exactly; the screen rounds
 * it to a number of significant digits and says so by the precision setting, never by a wrong digit.
 */
import type { Cell, Gradient, Real } from "../protocol/trace.gen";

/** Significant digits, 1 to 17. */
export type Precision = number;

export const DEFAULT_PRECISION: Precision = 4;
const MINUS = "\u2212";
const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** An entry that must not be seen: no number at all, so that nothing can be read off it. Written as `?`. */
export const HIDDEN: Cell = [];

/** A real, boolean or complex entry as text, with a true minus sign; of zero the sign tells nothing. Integers up to 7 digits stay whole. */
export function formatNumber(cell: Cell, precision: Precision = DEFAULT_PRECISION): string {
  if (typeof cell === "boolean") return cell ? "True" : "False";
  if (Array.isArray(cell)) return cell.length === 0 ? "?" : formatComplex(cell, precision);
  return formatReal(cell, precision);
}

/**
 * The number that a cell stands for: non-finite spellings decoded, booleans as 0 and 1, complex as its modulus,
 * a hidden one as NaN.
 */
export function toNumber(cell: Cell): number {
  if (typeof cell === "number") return cell;
  if (typeof cell === "boolean") return cell ? 1 : 0;
  if (Array.isArray(cell) && cell.length === 0) return Number.NaN;
  if (Array.isArray(cell)) return Math.hypot(toNumber(cell[0] ?? 0), toNumber(cell[1] ?? 0));
  return Number(cell);
}

/** Real entries, flat; null where there is no tensor, only a summary was recorded, or one is complex or hidden. */
export function numbersOf(value: Gradient | null | undefined): readonly number[] | null {
  const data = value != null && "data" in value ? value.data : undefined;
  return data === undefined || data.some(Array.isArray) ? null : data.map(toNumber);
}

/** Bytes in words: `24 B`, `400 kB`, `37 GiB`; decimal below a megabyte, binary above, as memory is sold. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${trimmed(bytes / 1000)} kB`;
  const units = ["MiB", "GiB", "TiB", "PiB", "EiB"];
  let value = bytes / 2 ** 20;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${trimmed(value)} ${units[unit]}`;
}

/** A count with thin spaces between thousands. */
export function formatCount(count: number | bigint): string {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

function formatReal(real: Real, precision: Precision): string {
  const value = Number(real);
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
  // The sign of a zero says how it was computed, nothing that the chain rule knows of.
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  const sign = value < 0 ? MINUS : "";
  if (Number.isInteger(value) && magnitude < 1e7) return sign + String(magnitude);
  return sign + formatMagnitude(magnitude, precision);
}

function formatMagnitude(magnitude: number, precision: Precision): string {
  const digits = Math.min(Math.max(1, Math.round(precision)), 17);
  const [mantissa = "0", exponentText = "0"] = magnitude.toExponential(digits - 1).split("e");
  const exponent = Number(exponentText);
  if (exponent >= Math.max(6, digits) || exponent < -4) {
    return `${withoutTrailingZeros(mantissa)}·10${superscript(exponent)}`;
  }
  return withoutTrailingZeros(magnitude.toFixed(Math.max(0, digits - 1 - exponent)));
}

function formatComplex(parts: readonly Real[], precision: Precision): string {
  const re = parts[0] ?? 0;
  const im = parts[1] ?? 0;
  const imaginary = formatReal(im, precision);
  const joined = imaginary.startsWith(MINUS) ? imaginary : `+${imaginary}`;
  return `${formatReal(re, precision)}${joined}i`;
}

function withoutTrailingZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export function superscript(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPT[Number(digit)]).join("");
  return (exponent < 0 ? "⁻" : "") + digits;
}

function trimmed(value: number): string {
  return value >= 100 ? String(Math.round(value)) : withoutTrailingZeros(value.toFixed(value >= 10 ? 1 : 2));
}
