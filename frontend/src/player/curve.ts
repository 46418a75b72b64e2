/** Lines and marks of the curve of passes: numbers to places on the screen. */
import type { CurvePoint, Mark } from "../model/curve";

/** From this ratio of the largest to the smallest on, each decade is as tall as the others. */
const LOGARITHMIC_FROM = 50;
const MARGIN = 7;

export interface CurveScale {
  /** From the top, in pixels; null for what is no finite number. */
  readonly y: (value: number | null) => number | null;
  /** Null where there is no finite number at all. */
  readonly least: number | null;
  readonly most: number | null;
}

export function scaleOf(values: readonly (number | null)[], height: number): CurveScale {
  const finite = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (finite.length === 0) return { y: () => null, least: null, most: null };
  const least = finite.reduce((one, other) => Math.min(one, other));
  const most = finite.reduce((one, other) => Math.max(one, other));
  const bend = least > 0 && most / least >= LOGARITHMIC_FROM ? Math.log : (value: number) => value;
  const span = bend(most) - bend(least);
  const room = height - 2 * MARGIN;
  const y = (value: number | null): number | null => {
    if (value === null || !Number.isFinite(value)) return null;
    return MARGIN + (span === 0 ? room / 2 : (room * (bend(most) - bend(value))) / span);
  };
  return { y, least, most };
}

/**
 * As SVG paths, one for each stretch without a gap. Where several passes share a column of pixels, its least and its
 * greatest are drawn.
 */
export function linesOf(
  values: readonly (number | null)[],
  across: number,
  left: number,
  y: CurveScale["y"],
): readonly string[] {
  const lines: string[] = [];
  let line = "";
  const perColumn = Math.max(1, Math.floor(1 / Math.max(across, 1e-9)));
  for (let start = 0; start < values.length; start += perColumn) {
    const places = values.slice(start, start + perColumn).map(y);
    const drawn = places.filter((place): place is number => place !== null);
    if (drawn.length === 0) {
      if (line !== "") lines.push(line);
      line = "";
      continue;
    }
    const x = (left + start * across).toFixed(1);
    const ends = [drawn[0] ?? 0, Math.min(...drawn), Math.max(...drawn)];
    for (const end of new Set(ends)) line += `${line === "" ? "M" : "L"}${x} ${end.toFixed(1)}`;
  }
  if (line !== "") lines.push(line);
  return lines;
}

/** The stretches of passes before each of which something was done: first and last place of each. */
export function segmentsOf(
  points: readonly CurvePoint[],
  mark: Mark,
): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  points.forEach(({ between }, place) => {
    if (!between.includes(mark)) return;
    const latest = found.at(-1);
    if (latest !== undefined && latest[1] === place - 1) latest[1] = place;
    else found.push([place, place]);
  });
  return found;
}
