/** What a person may set about the picture; part of the permalink where it differs from the default. */
import type { Precision } from "../model/numbers";
import { DEFAULT_PRECISION } from "../model/numbers";
import type { View } from "../scene/views";

export const THEMES = ["auto", "light", "dark", "contrast"] as const;
export type Theme = (typeof THEMES)[number];
/** Significant digits of every number on screen. */
export const DIGITS = { min: 2, max: 9 };

/** As an address or an attribute has it; null for what is none. */
export function readTheme(text: string): Theme | null {
  return THEMES.find((theme) => theme === text) ?? null;
}

export function readDigits(text: string): number | null {
  return integerBetween(text, DIGITS.min, DIGITS.max);
}

export function readSwitch(text: string): boolean | null {
  if (["on", "1", "true", ""].includes(text)) return true;
  return ["off", "0", "false"].includes(text) ? false : null;
}

export function integerBetween(text: string, low: number, high: number): number | null {
  const value = Number(text);
  return /^\d+$/.test(text) && value >= low && value <= high ? value : null;
}

export interface PlayerOptions {
  readonly theme: Theme;
  readonly precision: Precision;
  /** How products are written; null: as is most readable at each step. */
  readonly view: View | null;
  /** 0.25 to 4; the transport changes it from here. */
  readonly speed: number;
  /** Cards large enough for the last row. */
  readonly projector?: boolean;
}

export const DEFAULT_OPTIONS: PlayerOptions = {
  theme: "auto",
  precision: DEFAULT_PRECISION,
  view: null,
  speed: 1,
};
