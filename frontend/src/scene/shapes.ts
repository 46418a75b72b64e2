/** The display list: what a picture is made of. Whoever paints it walks the list; nothing in it knows a page or a file. */
import type { Box, Point } from "../layout/geometry";
import type { Camera } from "./camera";

/** A colour, by its name in `paint/theme.css`. */
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
  | "prediction"
  | "prediction-soft"
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

export interface Run extends Letters {
  readonly text: string;
  readonly ink: Ink;
  /** Kept free before it. */
  readonly gap?: number;
}

export interface TextShape extends Run {
  readonly kind: "text";
  /** On the line on which the letters stand. */
  readonly at: Point;
  readonly anchor?: "middle" | "end";
  /** What follows on the same line, wherever the letters before it end. */
  readonly then?: readonly Run[];
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

/** Runs on one line; none where there are none. */
export function runs(at: Point, [first, ...then]: readonly Run[], anchor?: "middle"): readonly TextShape[] {
  return first === undefined ? [] : [{ kind: "text", at, ...first, ...(anchor && { anchor }), then }];
}

/** Moved as a whole. */
export function moved(children: readonly Shape[], { x, y }: Point): GroupShape {
  return { kind: "group", children, at: { x, y, k: 1 } };
}
