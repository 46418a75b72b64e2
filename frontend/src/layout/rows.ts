/**
 * A long picture in rows, as a long sentence stands in lines: cut where few edges pass, each row from left to right under
 * the one before. What passes a cut leaves its row on the right, runs back between the rows and comes in on the left.
 */
import type { Box, Curve, Point, Size } from "./geometry";
import { around, curveBounds, cutAt, joined, shifted } from "./geometry";

/** Width to height of a picture that fills its place. */
const ASPECT = 3;
const LONGEST_ASPECT = 6;
/** Up to here a picture can be read in one row. */
const LEAST_WIDTH_PX = 1900;
/** Between two rows, where edges run back, and beside them, where they turn. */
const ROW_GAP_PX = 56;
const LANE_PX = 26;
const LANE_STEP_PX = 9;
const MOST_LANES = 4;
const CORNER_PX = 16;
/** One edge more that passes a cut weighs as much as moving the cut by this share of a row. */
const PASSING_COST = 0.12;

export interface Picture extends Size {
  readonly boxes: ReadonlyMap<string, Box>;
  /** From left to right. */
  readonly curves: ReadonlyMap<string, Curve>;
}

/** Whether a picture is so wide that, with some of its groups closed, it may be in rows. */
export function isWide({ width }: Size): boolean {
  return width >= LEAST_WIDTH_PX;
}

/** By box, its row, from 0: of a picture that is too long for one; none where one will do, or where it can nowhere be cut. */
export function rowsOf(picture: Picture): ReadonlyMap<string, number> {
  const cuts = cutsOf(picture);
  if (cuts.length === 0) return new Map();
  return new Map([...picture.boxes].map(([id, { x }]) => [id, cuts.findLastIndex((cut) => cut <= x) + 1]));
}

/** The picture with its boxes in the given rows; as it is where they do not stand one row beside the other. */
export function inRows<P extends Picture>(picture: P, rows: ReadonlyMap<string, number>): P {
  const cuts = cutsBetween(picture, rows);
  if (cuts.length === 0) return picture;
  const rowOf = (x: number): number => cuts.findLastIndex((cut) => cut <= x) + 1;
  const content: Box[][] = Array.from({ length: cuts.length + 1 }, () => []);
  for (const box of picture.boxes.values()) content[rowOf(box.x)]?.push(box);
  const ends = new Map([...picture.curves].map(([id, curve]) => [id, endsOf(curve, rowOf)] as const));
  for (const [id, { from, to }] of ends) {
    if (from === to) content[from]?.push(curveBounds(picture.curves.get(id) as Curve));
  }
  const bounds = content.map((each) => around(each));
  const width = Math.max(...bounds.map((row) => row.width)) + 2 * LANE_PX;
  const tops: number[] = [];
  let height = 0;
  for (const row of bounds) {
    tops.push(height);
    height += row.height + ROW_GAP_PX;
  }
  height -= ROW_GAP_PX;
  const by = bounds.map((row, index): Point => ({ x: LANE_PX - row.x, y: (tops[index] ?? 0) - row.y }));
  const moved = (box: Box): Box => ({ ...box, ...shifted(box, by[rowOf(box.x)] ?? box) });
  const lanes = new Map<number, number>();
  const led = (id: string, curve: Curve): Curve => {
    const { from, to } = ends.get(id) ?? { from: 0, to: 0 };
    const [here, there] = [by[from], by[to]];
    if (here === undefined || there === undefined) return curve;
    if (from === to) return curve.map((point) => shifted(point, here));
    const [out] = cutAt(curve, cuts[from] ?? 0);
    const [, into] = cutAt(curve, cuts[to - 1] ?? 0);
    const lane = lanes.get(from) ?? 0;
    lanes.set(from, lane + 1);
    const aside = (lane % MOST_LANES) * LANE_STEP_PX;
    const gap = (tops[from + 1] ?? 0) - ROW_GAP_PX / 2 + aside - ((MOST_LANES - 1) * LANE_STEP_PX) / 2;
    const [before, after] = [
      out.map((point) => shifted(point, here)),
      into.map((point) => shifted(point, there)),
    ];
    return joined(
      joined(before, way(before.at(-1), after[0], { right: width - 4 - aside, gap, left: 4 + aside })),
      after,
    );
  };
  return {
    ...picture,
    width,
    height,
    boxes: new Map([...picture.boxes].map(([id, box]) => [id, moved(box)])),
    curves: new Map([...picture.curves].map(([id, curve]) => [id, led(id, curve)])),
  };
}

function endsOf(curve: Curve, rowOf: (x: number) => number): { readonly from: number; readonly to: number } {
  return { from: rowOf(curve[0]?.x ?? 0), to: rowOf(curve.at(-1)?.x ?? 0) };
}

function cutsBetween({ boxes }: Picture, rows: ReadonlyMap<string, number>): readonly number[] {
  const spans: { left: number; right: number }[] = [];
  for (const [id, { x, width }] of boxes) {
    const row = rows.get(id);
    if (row === undefined) return [];
    spans[row] ??= { left: Number.POSITIVE_INFINITY, right: Number.NEGATIVE_INFINITY };
    const span = spans[row];
    span.left = Math.min(span.left, x);
    span.right = Math.max(span.right, x + width);
  }
  const cuts: number[] = [];
  for (const [row, { left }] of spans.entries()) {
    const before = spans[row - 1];
    if (before === undefined) continue;
    if (before.right >= left) return [];
    cuts.push((before.right + left) / 2);
  }
  return cuts;
}

/** Where to cut, from left to right: near even parts, through no box and through few edges. */
function cutsOf({ width, height, boxes, curves }: Picture): readonly number[] {
  if (!isWide({ width, height }) || width < LONGEST_ASPECT * height) return [];
  const count = Math.max(2, Math.round(Math.sqrt(width / (ASPECT * (height + ROW_GAP_PX)))));
  const gaps = gapsBetween([...boxes.values()]);
  const passing = countsOfPassing(gaps, [...curves.values()]);
  const row = width / count;
  const cuts: number[] = [];
  for (let index = 1; index < count; index += 1) {
    const ideal = index * row;
    let best: { readonly x: number; readonly cost: number } | null = null;
    for (const [place, x] of gaps.entries()) {
      const distance = Math.abs(x - ideal) / row;
      if (distance >= 0.5 || x <= (cuts.at(-1) ?? 0)) continue;
      const cost = distance + PASSING_COST * (passing[place] ?? 0);
      if (best === null || cost < best.cost) best = { x, cost };
    }
    if (best !== null) cuts.push(best.x);
  }
  return cuts;
}

/** The middles of the upright strips in which nothing stands. */
function gapsBetween(boxes: readonly Box[]): readonly number[] {
  const gaps: number[] = [];
  let right = Number.POSITIVE_INFINITY;
  for (const box of [...boxes].sort((a, b) => a.x - b.x)) {
    if (box.x > right) gaps.push((right + box.x) / 2);
    right = Math.max(Number.isFinite(right) ? right : box.x, box.x + box.width);
  }
  return gaps;
}

/** How many edges pass each place, worked out along the way. */
function countsOfPassing(places: readonly number[], curves: readonly Curve[]): readonly number[] {
  const starts = curves.map((curve) => curve[0]?.x ?? 0).sort((a, b) => a - b);
  const ends = curves.map((curve) => curve.at(-1)?.x ?? 0).sort((a, b) => a - b);
  let [begun, ended] = [0, 0];
  return places.map((x) => {
    while (begun < starts.length && (starts[begun] as number) < x) begun += 1;
    while (ended < ends.length && (ends[ended] as number) < x) ended += 1;
    return begun - ended;
  });
}

interface Lane {
  readonly right: number;
  readonly gap: number;
  readonly left: number;
}

/** Right, down, left between the rows, down, and in. */
function way(start: Point | undefined, end: Point | undefined, { right, gap, left }: Lane): Curve {
  if (start === undefined || end === undefined) return [];
  const corners = [
    { x: right, y: start.y },
    { x: right, y: gap },
    { x: left, y: gap },
    { x: left, y: end.y },
  ];
  let curve: Curve = [start];
  for (const [index, corner] of corners.entries()) {
    const [before, after] = [corners[index - 1] ?? start, corners[index + 1] ?? end];
    const [arrive, leave] = [towards(corner, before), towards(corner, after)];
    curve = joined(curve, [arrive, corner, corner, leave]);
  }
  return joined(curve, [end]);
}

/** From a corner a little way to its neighbour. */
function towards(corner: Point, other: Point): Point {
  const distance = Math.hypot(other.x - corner.x, other.y - corner.y);
  if (distance === 0) return corner;
  const share = Math.min(CORNER_PX, distance / 2) / distance;
  return { x: corner.x + (other.x - corner.x) * share, y: corner.y + (other.y - corner.y) * share };
}
