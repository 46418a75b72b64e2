/** What a card held at the same stop of another run: its ghost, where that differs. */
import { changeOf } from "../model/comparison";
import { formatNumber, numbersOf } from "../model/numbers";
import { listed, signed } from "../words/changes";
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
    if (is.role === "leaf" && kind === "gradient") continue;
    const change = changeOf(before, after);
    if (change?.some((entry) => entry !== 0))
      return { kind, text: ghostText(numbersOf(before) ?? [], change) };
  }
  return null;
};

function ghostText(was: readonly number[], change: readonly number[]): string {
  if (change.length > MOST_WRITTEN) {
    const largest = Math.max(...change.map(Math.abs));
    return label("player-changed-by", { number: formatNumber(largest, PRECISION) });
  }
  const value = listed(was, [], (entry) => formatNumber(entry, PRECISION));
  return label("player-was", { value, change: listed(change, [], (entry) => signed(entry, PRECISION)) });
}
