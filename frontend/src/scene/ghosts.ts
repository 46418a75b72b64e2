/** What a card held at the same stop of another run: its ghost, where that differs. */
import { differenceOf } from "../model/comparison";
import { isTensor } from "../model/gradients";
import { formatNumber, toNumber } from "../model/numbers";
import type { TensorValue } from "../protocol/trace.gen";
import { label } from "../words/say";
import type { CardScene } from "./still";

export interface Ghost {
  /** Which of the card's numbers it belongs to. */
  readonly kind: "value" | "gradient" | "held";
  /** `was 12 (+6.75)`. */
  readonly text: string;
}

/** Null where nothing changed. */
export type GhostOf = (was: CardScene, is: CardScene) => Ghost | null;

const MOST_WRITTEN = 3;
const PRECISION = 3;

/** Of the gradient where there is one, else of the value; null where nothing changed. */
export const drawGhost: GhostOf = (was, is) => {
  const pairs = [
    ["held", was.leafGrad, is.leafGrad],
    ["gradient", was.gradient, is.gradient],
    ["value", was.value, is.value],
  ] as const;
  for (const [kind, before, after] of pairs) {
    if (!isTensor(before) || !isTensor(after)) continue;
    if (is.role === "leaf" && kind === "gradient") continue;
    const difference = differenceOf(before, after);
    if (difference !== null) return { kind, text: ghostText(before, difference) };
  }
  return null;
};

function ghostText(was: TensorValue, difference: TensorValue): string {
  const cells = difference.data ?? [];
  if (cells.length > MOST_WRITTEN) {
    const largest = Math.max(...cells.map((cell) => Math.abs(toNumber(cell))));
    return label("player-changed-by", { number: formatNumber(largest, PRECISION) });
  }
  const signed = cells.map((cell) => `${toNumber(cell) > 0 ? "+" : ""}${formatNumber(cell, PRECISION)}`);
  const before = (was.data ?? []).map((cell) => formatNumber(cell, PRECISION));
  return label("player-was", { value: before.join(", "), change: signed.join(", ") });
}
