/** What a person may set about the picture; part of the permalink where it differs from the default. */
import type { Precision } from "../model/numbers";
import { DEFAULT_PRECISION } from "../model/numbers";
import type { View } from "../scene/views";

export type Theme = "auto" | "light" | "dark" | "contrast";

export interface PlayerOptions {
  readonly theme: Theme;
  readonly precision: Precision;
  /** How products are written; absent: as is most readable at each step. */
  readonly view?: View | null;
  /** 0.25 to 4; the transport changes it from here. */
  readonly speed?: number;
  /** Cards large enough for the last row. */
  readonly projector?: boolean;
}

export const DEFAULT_OPTIONS: PlayerOptions = { theme: "auto", precision: DEFAULT_PRECISION, speed: 1 };
