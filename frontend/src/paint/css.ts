/** The colours of the display list as the page needs them: the theme's own variables. */
import type { Fill } from "../scene/shapes";

export function colourOf(fill: Fill): string {
  if (typeof fill === "string") return `var(--${fill})`;
  return `color-mix(in srgb, var(--${fill.ink}) ${fill.percent}%, var(--surface))`;
}
