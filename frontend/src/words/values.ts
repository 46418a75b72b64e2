/** Traced values in the middle of a sentence: numbers where they are few, else the shape; in the digits of the screen. */
import { isTensor } from "../model/gradients";
import { isUnseen } from "../model/mask";
import { formatNumber, HIDDEN, type Precision } from "../model/numbers";
import type { Cell, Gradient } from "../protocol/trace.gen";
import { label, type Said, say, text, textOf } from "./say";

/** As many entries are read aloud; of more only the shape. */
const ENTRIES_READ_ALOUD = 4;

export function spellShape(shape: readonly number[]): Said {
  return text(`[${shape.join(", ")}]`);
}

/** In a label: `[2 × 3]`. */
export function shapeText(shape: readonly number[]): string {
  return shape.length === 0 ? label("player-scalar") : `[${shape.join(" × ")}]`;
}

/** Whether `spellGradient` writes the entries out. */
export function isShort(gradient: Gradient): boolean {
  if (!isTensor(gradient)) return isUnseen(gradient);
  const count = gradient.data?.length ?? Number.POSITIVE_INFINITY;
  return count > 0 && count <= ENTRIES_READ_ALOUD;
}

/** A value that can be named: there is a tensor, or there may be one that must not be seen. */
export function isThere(gradient: Gradient | undefined): gradient is Gradient {
  return gradient !== undefined && (isTensor(gradient) || isUnseen(gradient));
}

/** `30`, `[1, 0, 2]`, `[[1, 2], [3, 4]]`, `a gradient of shape [2, 3]`, `nothing`. */
export function spellGradient(gradient: Gradient, precision: Precision): Said {
  return [{ kind: "value", text: gradientText(gradient, precision) }];
}

function gradientText(gradient: Gradient, precision: Precision): string {
  if (!isTensor(gradient)) return textOf(say(isUnseen(gradient) ? "value-unseen" : "nothing"));
  if (!isShort(gradient)) return textOf(say("value-gradient", { shape: spellShape(gradient.shape) }));
  return entriesText(gradient, precision);
}

/** One number of a value. */
export function spellNumber(cell: Cell, precision: Precision): Said {
  return [{ kind: "value", text: formatNumber(cell, precision) }];
}

/** The entries of a short value, nested as its shape is. */
export function entriesText(
  { data = [], shape }: { readonly data?: readonly Cell[]; readonly shape: readonly number[] },
  precision: Precision,
): string {
  let rows = data.map((cell) => formatNumber(cell, precision));
  for (const size of shape.toReversed()) {
    const grouped: string[] = [];
    for (let start = 0; start < rows.length; start += Math.max(size, 1))
      grouped.push(`[${rows.slice(start, start + size).join(", ")}]`);
    rows = grouped;
  }
  return rows.join(", ");
}

/** The one entry of a value that has one, and is written out. */
export function scalarOf(value: Gradient | null | undefined): Cell | null {
  if (value === null || value === undefined) return null;
  if (!isTensor(value)) return isUnseen(value) ? HIDDEN : null;
  return value.data?.length === 1 ? (value.data[0] ?? null) : null;
}

/** A negative or complex number as it stands after an operator sign. */
export function bracketed(said: Said): Said {
  const spelled = textOf(said);
  return /^[-\u2212]|[+\u2212].*i$/.test(spelled) ? [...text("("), ...said, ...text(")")] : said;
}
