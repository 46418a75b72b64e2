/**
 * The ways that gradients go and the places where they rest: along an edge from the node that returned one to the node
 * that receives it, so that 0 is the sender and 1 the receiver.
 */

import type { Box, Curve, Point, Size } from "../layout/geometry";
import { boxesOverlap, curveBounds, pointAt } from "../layout/geometry";
import { type Layout, standing } from "../layout/place";
import { edgesById, nodesById } from "../model/graph";
import { once } from "../model/once";
import type { Graph } from "../protocol/trace.gen";
import { boxOf } from "./still";

/** Where a token stands between stops. */
export interface Rest {
  /** Of its curve. */
  readonly at: number;
  readonly lift: number;
}

/** Tried in this order: halfway first, or close to the receiver first. */
const HALFWAY = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82];
export const AT_RECEIVER = [0.74, 0.82, 0.66, 0.58, 0.5, 0.42, 0.34, 0.26, 0.18];
/** Tried where no place on the edge itself is free. */
const LIFTS_PX = [0, 34, -34, 46, -46, 60, -60, 86, -86, 112, -112, 138, -138, 166, -166];
const FARTHEST_LIFT_PX = Math.max(...LIFTS_PX);
const STUB_PX = 60;
export const SEED_REST = 0.62;
export const HOLLOW_PX = 24;
const SEED_GAP_PX = 6;

/** Out of the right border and up: where contributions meet. */
export function sumCurve(box: Box, outputNr: number, count: number): Curve {
  const x = box.x + box.width;
  const y = box.y + (box.height * (outputNr + 1)) / (count + 1);
  return [
    { x: x + STUB_PX, y: y + 2 * STUB_PX },
    { x: x + STUB_PX / 2, y: y + STUB_PX },
    { x: x + STUB_PX / 2, y: y - STUB_PX },
    { x: x + STUB_PX / 2, y: y - 2 * STUB_PX },
  ];
}

/** An edge in the direction of its gradient; the seed comes in from the right of the output, clear of its card. */
export function gradientCurve(
  graph: Graph,
  layout: Layout,
  edge: string,
  receiver: string,
  token: Size,
  scale: number,
): Curve | null {
  if (edge !== "seed") {
    const curve = edgesById(graph).has(edge) ? layout.edges.get(edge) : undefined;
    return curve === undefined ? null : reversed(curve);
  }
  const box = nodesById(graph).has(receiver) ? boxOf(graph, layout, receiver) : null;
  if (box === null) return null;
  const y = box.y + box.height / 2;
  const x = box.x + box.width;
  const length = Math.max(2 * STUB_PX, ((scale * token.width) / 2 + SEED_GAP_PX) / (1 - SEED_REST));
  return [
    { x: x + length, y },
    { x: x + length / 2, y },
    { x: x + length / 2, y },
    { x, y },
  ];
}

/** A short way out to the left for a gradient that has nowhere to go. */
function stubCurve(box: Box, share: number): Curve {
  const y = box.y + box.height * share;
  return [
    { x: box.x, y },
    { x: box.x - STUB_PX, y },
    { x: box.x - STUB_PX, y },
    { x: box.x - 2 * STUB_PX, y },
  ];
}

/** The way out nearest to an operand's own place that leads a hollow token past everything else. */
export function freeStub(box: Box, share: number, { settled, scale }: Room): Curve {
  const hollow: Size = { width: HOLLOW_PX * scale, height: HOLLOW_PX * scale };
  const shares = [0, 0.2, -0.2, 0.4, -0.4, 0.6, -0.6, 0.8, -0.8].map((by) => share + by);
  const free = shares
    .map((at) => stubCurve(box, at))
    .find((curve) =>
      HALFWAY.some((fraction) => {
        const place = boxAround(pointAt(curve, fraction), hollow);
        return !settled.some((other) => boxesOverlap(place, other));
      }),
    );
  return free ?? stubCurve(box, share);
}

const reversed = once((curve: Curve): Curve => [...curve].reverse());

export interface Room {
  /** Where nothing more has room, growing with each token that finds its place. */
  readonly settled: Box[];
  /** How much larger tokens are drawn. */
  readonly scale: number;
  /** What is in view; null where that is not known. */
  readonly ground: Box | null;
}

export function roomIn(layout: Layout, scale: number, ground: Box | null): Room {
  return { settled: [...standing(layout)], scale, ground };
}

/** The first candidate place in view that covers no card and no other token, which it then occupies. */
export function restOn(
  curve: Curve,
  size: Size,
  { settled, scale, ground }: Room,
  candidates: readonly number[] = HALFWAY,
): Rest {
  const drawn = { width: size.width * scale, height: size.height * scale };
  const reach = grown(curveBounds(curve), drawn.width / 2, drawn.height / 2 + FARTHEST_LIFT_PX * scale);
  const near = settled.filter((other) => boxesOverlap(reach, other));
  let best: Rest = { at: candidates[0] ?? 0.5, lift: 0 };
  let fewest = Number.POSITIVE_INFINITY;
  for (const lift of LIFTS_PX.map((px) => px * scale)) {
    for (const at of candidates) {
      const box = boxAround(placeOn(curve, { at, lift }), drawn);
      // Rather out of sight than over a card or another token.
      const faults =
        2 * near.filter((other) => boxesOverlap(box, other)).length +
        Number(ground !== null && !isWithin(box, ground));
      if (faults >= fewest) continue;
      fewest = faults;
      best = { at, lift };
      if (faults === 0) break;
    }
    if (fewest === 0) break;
  }
  settled.push(boxAround(placeOn(curve, best), drawn));
  return best;
}

function grown({ x, y, width, height }: Box, across: number, down: number): Box {
  return { x: x - across, y: y - down, width: width + 2 * across, height: height + 2 * down };
}

function isWithin(inner: Box, outer: Box): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}

export function placeOn(curve: Curve, { at, lift }: Rest): Point {
  const on = pointAt(curve, at);
  return { x: on?.x ?? 0, y: (on?.y ?? 0) - lift };
}

export function straight(from: Point, to: Point): Curve {
  return [from, from, to, to];
}

function boxAround(point: Point | null, size: Size): Box {
  return { x: (point?.x ?? 0) - size.width / 2, y: (point?.y ?? 0) - size.height / 2, ...size };
}
