/** The colours of the themes as files need them: numbers instead of CSS, read from the one list of colours. */

import type { Fill, Ink } from "../scene/shapes";
import theme from "./theme.css?raw";

export const THEMES = ["light", "dark", "contrast"] as const;
export type Theme = (typeof THEMES)[number];

/** A colour of a theme as `#rrggbb`. */
export type Palette = (fill: Fill) => string;

const PAIR = /--([\w-]+): light-dark\((#\w+), (#\w+)\)/g;
const SINGLE = /--([\w-]+): (#\w+);/g;
const CONTRAST = theme.slice(theme.indexOf('[data-theme="contrast"]'));

export function paletteOf(name: Theme): Palette {
  const colours = new Map<string, string>();
  for (const [, ink = "", light = "", dark = ""] of theme.matchAll(PAIR))
    colours.set(ink, name === "dark" ? dark : light);
  if (name === "contrast")
    for (const [, ink = "", only = ""] of CONTRAST.matchAll(SINGLE)) colours.set(ink, only);
  const of = (ink: Ink): string => {
    const colour = colours.get(ink);
    if (colour === undefined) throw new Error(`the theme has no colour ${ink}`);
    return colour;
  };
  return (fill) =>
    typeof fill === "string" ? of(fill) : mixed(of(fill.ink), of("surface"), fill.percent / 100);
}

/** As `color-mix(in srgb, …)`. */
function mixed(colour: string, ground: string, share: number): string {
  const channels = [1, 3, 5].map((at) => {
    const [a, b] = [colour, ground].map((each) => Number.parseInt(each.slice(at, at + 2), 16));
    return Math.round((a ?? 0) * share + (b ?? 0) * (1 - share));
  });
  return `#${channels.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}
