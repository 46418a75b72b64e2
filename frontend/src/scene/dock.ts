/** Where the equation stands: a place of its own beside or below the graph, of one size for all steps of a program. */
import type { Size } from "../layout/geometry";

export interface Dock {
  readonly side: "below" | "beside";
  /** Of the stage, from 0 to 1, until a person draws the border elsewhere. */
  readonly share: number;
}

/** Narrower than this, what stands above the graph makes itself small. */
export const NARROW_PX = 620;
const LOW_PX = 380;
/** So much wider than high, a box has no room for two things below each other, however narrow it is. */
const FLAT = 2;
/** Here a product of three numbers just stands in one line. */
const TIGHT_PX = 760;
/** Sentence, title, rule, product and its sum. */
const EQUATION_PX = 400;

/** @param scale of all type, 1 but in a lecture hall */
export function dockOf({ width, height }: Size, scale = 1): Dock {
  if (height < LOW_PX && (width >= NARROW_PX || width > FLAT * height))
    return { side: "beside", share: width >= NARROW_PX && width < TIGHT_PX ? 0.69 : 0.64 };
  if (width < NARROW_PX) return { side: "below", share: 0.66 };
  if (width > FLAT * height) return { side: "beside", share: 0.46 };
  return { side: "below", share: Math.min(0.58, Math.max(0.44, (EQUATION_PX * scale) / height)) };
}
