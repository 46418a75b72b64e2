/** Points, boxes and cubic Bezier paths; y grows downwards. */
import { once } from "../model/once";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** `x`, `y` is the top left corner. */
export interface Box extends Point, Size {}

/** Cubic Bezier pieces, end to end: one start point, then two control points and an end point per piece. */
export type Curve = readonly Point[];

export function shifted(point: Point, by: Point): Point {
  return { x: point.x + by.x, y: point.y + by.y };
}

export function centre(box: Box): Point {
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

export function boxesOverlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** The smallest box round all of them. */
export function around(boxes: readonly Box[]): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const box of boxes) {
    left = Math.min(left, box.x);
    top = Math.min(top, box.y);
    right = Math.max(right, box.x + box.width);
    bottom = Math.max(bottom, box.y + box.height);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** One curve after another, joined by a straight piece where they do not touch. */
export function joined(a: Curve, b: Curve): Curve {
  const end = a.at(-1);
  const start = b[0];
  if (end === undefined || start === undefined) return [...a, ...b];
  if (end.x === start.x && end.y === start.y) return [...a, ...b.slice(1)];
  return [...a, end, start, ...b];
}

/** A curve that goes from left to right, in two at a place of its course. */
export function cutAt(curve: Curve, x: number): readonly [Curve, Curve] {
  let piece = 0;
  while (piece + 6 < curve.length && (curve[piece + 3] as Point).x < x) piece += 3;
  let [low, high] = [0, 1];
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    const middle = (low + high) / 2;
    if (bezier(curve, piece, middle).x < x) low = middle;
    else high = middle;
  }
  // By de Casteljau: each row of points lies between those of the row before.
  const [before, after]: [Point[], Point[]] = [[], []];
  let row = curve.slice(piece, piece + 4);
  while (row.length > 0) {
    before.push(row[0] as Point);
    after.unshift(row.at(-1) as Point);
    row = row.slice(1).map((point, index) => between(row[index] as Point, point, low));
  }
  return [
    [...curve.slice(0, piece), ...before],
    [...after, ...curve.slice(piece + 4)],
  ];
}

const HALVINGS = 20;

export function between(a: Point, b: Point, share: number): Point {
  return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share };
}

/** A box as an SVG path, in whole pixels. */
export function boxPath(box: Box): string {
  const [x, y, width, height] = [box.x, box.y, box.width, box.height].map(Math.round);
  return `M${x} ${y}h${width}v${height}h-${width}z`;
}

/** An SVG path. */
export const pathOf = once((curve: Curve): string => {
  const [start, ...rest] = curve;
  if (start === undefined) return "";
  let path = `M${rounded(start)}`;
  for (let i = 0; i + 2 < rest.length; i += 3) {
    path += `C${rest
      .slice(i, i + 3)
      .map(rounded)
      .join(" ")}`;
  }
  return path;
});

/** The box of a curve's points; the curve lies inside. */
export const curveBounds = once(
  (curve: Curve): Box => around(curve.map((point) => ({ ...point, width: 0, height: 0 }))),
);

const SAMPLES_PER_PIECE = 12;

/** The length of a curve in its own units. */
export function lengthOf(curve: Curve): number {
  return sample(curve).lengths.at(-1) ?? 0;
}

/** The point at a fraction (0 to 1) of a curve's length; null for an empty curve. */
export function pointAt(curve: Curve, fraction: number): Point | null {
  const { points, lengths } = sample(curve);
  const end = points.at(-1);
  if (points.length === 0 || end === undefined) return null;
  const target = Math.min(Math.max(0, fraction), 1) * (lengths.at(-1) ?? 0);
  const index = lengths.findIndex((length) => length >= target);
  const after = points[index] ?? end;
  const before = points[index - 1];
  if (before === undefined) return after;
  const from = lengths[index - 1] ?? 0;
  const span = (lengths[index] ?? 0) - from || 1;
  const share = (target - from) / span;
  return between(before, after, share);
}

const sample = once((curve: Curve) => {
  const points: Point[] = curve[0] === undefined ? [] : [curve[0]];
  const lengths: number[] = points.map(() => 0);
  let total = 0;
  for (let i = 0; i + 3 < curve.length; i += 3) {
    for (let k = 1; k <= SAMPLES_PER_PIECE; k += 1) {
      const point = bezier(curve, i, k / SAMPLES_PER_PIECE);
      const last = points.at(-1) ?? point;
      total += Math.hypot(point.x - last.x, point.y - last.y);
      points.push(point);
      lengths.push(total);
    }
  }
  return { points, lengths };
});

function bezier(curve: Curve, start: number, t: number): Point {
  const u = 1 - t;
  const weights = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
  let x = 0;
  let y = 0;
  weights.forEach((weight, offset) => {
    const point = curve[start + offset];
    x += weight * (point?.x ?? 0);
    y += weight * (point?.y ?? 0);
  });
  return { x, y };
}

function rounded(point: Point): string {
  return `${Math.round(point.x * 10) / 10} ${Math.round(point.y * 10) / 10}`;
}
