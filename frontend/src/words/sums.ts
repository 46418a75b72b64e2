/** Sums and products written out in a sentence. */
import { isTensor } from "../model/gradients";
import { toNumber } from "../model/numbers";
import type { Cell, Gradient, TensorValue } from "../protocol/trace.gen";
import { type Said, text } from "./say";
import { bracketed, isShort } from "./values";

/** Whether the numbers, all written out, add up; what must not be seen is believed. */
export function isSum(terms: readonly Gradient[], total: Gradient): boolean {
  if (![...terms, total].every(isShort)) return false;
  if (![...terms, total].every(isTensor)) return true;
  const [first, ...rest] = terms.filter(isTensor).map(({ data }) => data ?? []);
  const sum = (total as TensorValue).data ?? [];
  return sum.every((cell, at) => {
    const added = rest.reduce((before, data) => before + toNumber(data[at] ?? 0), toNumber(first?.[at] ?? 0));
    return isAbout(
      added,
      cell,
      Math.max(...terms.filter(isTensor).map(({ data }) => Math.abs(toNumber(data?.[at] ?? 0)))),
    );
  });
}

/** Equal up to the rounding of the shortest dtypes; complex and unseen numbers are not judged here. */
function isAbout(expected: number, cell: Cell, size: number): boolean {
  if (Array.isArray(cell)) return true;
  const found = toNumber(cell);
  return Object.is(expected, found) || expected === found || Math.abs(expected - found) <= 0.01 * size;
}

export function equation(terms: readonly Said[], sign: string, result: Said): Said {
  return [
    ...terms.flatMap((term, at) => (at === 0 ? [...term] : [...text(` ${sign} `), ...bracketed(term)])),
    ...text(" = "),
    ...result,
  ];
}
