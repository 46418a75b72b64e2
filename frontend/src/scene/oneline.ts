/** A value on one line: numbers where they are few, else cells with a shape, or why there is none. */
import { isWrittenOut } from "../layout/sizes";
import { isTensor } from "../model/gradients";
import { formatNumber } from "../model/numbers";
import type { Gradient } from "../protocol/trace.gen";
import { missingMark } from "../words/missing";
import { textOf } from "../words/say";
import { tellAttribute } from "../words/tell";
import { shapeText } from "../words/values";

const MOST_DIGITS_OF_SEVERAL = 3;

export interface OneLine {
  /** `shape`: the entries themselves are told by a thumbnail beside it, where they are known. */
  readonly kind: "numbers" | "shape" | "missing";
  readonly text: string;
}

export function oneLine(value: Gradient, precision: number): OneLine {
  if (!isTensor(value)) return { kind: "missing", text: missingMark(value) };
  const { data, shape, unavailable } = value;
  if (data !== undefined && isWrittenOut(shape)) {
    const digits = data.length === 1 ? precision : Math.min(precision, MOST_DIGITS_OF_SEVERAL);
    const numbers = data.map((cell) => formatNumber(cell, digits)).join(", ");
    return { kind: "numbers", text: shape.length === 0 ? numbers : `[${numbers}]` };
  }
  const why = unavailable === undefined ? null : tellAttribute(unavailable, "title");
  return { kind: "shape", text: why === null ? shapeText(shape) : `${shapeText(shape)} ${textOf(why)}` };
}
