/** Changes of tensors, written with their signs. */
import { formatNumber, type Precision } from "../model/numbers";
import { label } from "./say";

/** Of more entries only the largest is written. */
const MOST_WRITTEN = 4;

/** `+0.3`, `[+0.1, 0]`, `up to +12`. */
export function changeText(
  change: readonly number[],
  shape: readonly number[],
  precision: Precision,
  mostWritten = MOST_WRITTEN,
): string {
  if (change.length > mostWritten) {
    const largest = change.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
    return label("player-nudge-many", { number: signed(largest, precision) });
  }
  return listed(change, shape, (entry) => signed(entry, precision));
}

/** `1`, `[1, 2, …]`. */
export function listed(
  entries: readonly number[],
  shape: readonly number[],
  write: (entry: number) => string,
  most = entries.length,
): string {
  const written = [...entries.slice(0, most).map(write), ...(entries.length > most ? ["…"] : [])].join(", ");
  return shape.length === 0 ? written : `[${written}]`;
}

/** A plus sign where it goes up. */
export function signed(change: number, precision: Precision): string {
  // A difference of two numbers ends in the noise of their last digit.
  return `${change > 0 ? "+" : ""}${formatNumber(change === 0 ? 0 : change, precision)}`;
}
