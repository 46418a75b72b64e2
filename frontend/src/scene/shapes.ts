/** The display list: what a picture is made of. Whoever paints it walks the list; nothing in it knows a page or a file. */
import type { Box, Point } from "../layout/geometry";
import type { Camera } from "./camera";

/** A colour, by its name in `render/theme.css`. */
export type Ink =
  | "ink"
  | "ink-quiet"
  | "ground"
  | "surface"
  | "surface-sunk"
  | "line"
  | "line-strong"
  | "forward"
  | "forward-soft"
  | "gradient"
  | "gradient-soft"
  | "accumulated"
  | "problem";

/** So much of a colour over the surface. */
export interface Tint {
  readonly ink: Ink;
  readonly percent: number;
}

export type Fill = Ink | Tint;

export interface Stroke {
  readonly ink: Ink;
  readonly width: number;
  readonly dash?: string;
}

export interface Letters {
  readonly size: number;
  readonly face: "sans" | "mono";
  readonly bold?: boolean;
}

export interface TextShape extends Letters {
  readonly kind: "text";
  /** On the line on which the letters stand. */
  readonly at: Point;
  readonly text: string;
  readonly ink: Ink;
  readonly anchor?: "middle" | "end";
}

export interface RectShape {
  readonly kind: "rect";
  readonly box: Box;
  readonly radius?: number;
  readonly fill?: Fill;
  readonly stroke?: Stroke;
}

export interface PathShape {
  readonly kind: "path";
  readonly d: string;
  readonly fill?: Fill;
  readonly stroke?: Stroke;
}

export interface GroupShape {
  readonly kind: "group";
  readonly children: readonly Shape[];
  /** Where the group's own origin stands, and how large. */
  readonly at?: Camera;
  /** In the group's own coordinates. */
  readonly clip?: Box;
  readonly opacity?: number;
}

export type Shape = TextShape | RectShape | PathShape | GroupShape;

export function text(
  at: Point,
  written: string,
  letters: Letters,
  ink: Ink,
  anchor?: "middle" | "end",
): TextShape {
  return { kind: "text", at, text: written, ink, ...letters, ...(anchor && { anchor }) };
}

/** Moved as a whole. */
export function moved(children: readonly Shape[], { x, y }: Point): GroupShape {
  return { kind: "group", children, at: { x, y, k: 1 } };
}
