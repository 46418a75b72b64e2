/**
 * Places for nodes and curves for edges. Every level is laid out by itself, bottom-up, and an open group is one larger
 * box in the level outside. So opening a group grows its box and moves nothing else across. Its border points are left
 * out of that: Graphviz would put what comes before and after at their heights, and so move it whenever a group opens;
 * edges are led to them afterwards. Pure: it is given a function that places one level; the results nest by translation.
 */
import { append } from "../model/lists";
import { once } from "../model/once";
import type { PlaceLevel, Places } from "./dot";
import type { Box, Curve, Point, Size } from "./geometry";
import { cutAt, joined, shifted } from "./geometry";
import { type Level, type Line, levelsOf, type Subject, TOP } from "./levels";
import { inRows, isWide, rowsOf } from "./rows";

export interface Drawing {
  readonly subject: Subject;
  readonly open: readonly string[];
}

export interface Layout extends Size {
  readonly nodes: ReadonlyMap<string, Box>;
  readonly groups: ReadonlyMap<string, Box & { readonly open: boolean }>;
  /** From the producer of the forward value to its consumer; edges inside closed groups have none. */
  readonly edges: ReadonlyMap<string, Curve>;
  /** Edges drawn straight across everything: worth seeing only where they take part. */
  readonly loose: ReadonlySet<string>;
}

/** What is drawn as one card each: nodes and closed groups. */
export function standing({ nodes, groups }: Layout): readonly Box[] {
  return [...nodes.values(), ...[...groups.values()].filter(({ open }) => !open)];
}

export const GROUP_HEADER_PX = 30;
const GROUP_PADDING_PX = 14;
/** Between two columns, where an edge may change its height; a little less than Graphviz is asked to leave. */
const GAP_PX = 58;

interface Placed extends Size {
  readonly boxes: ReadonlyMap<string, Box>;
  readonly curves: ReadonlyMap<string, Curve>;
  readonly inner: ReadonlyMap<string, Placed>;
}

export function place({ subject, open }: Drawing, placeLevel: PlaceLevel): Layout {
  const progress = progressOf(subject);
  const placed = placeGroup(TOP, { ...progress, open: new Set(open), placeLevel });
  const nodes = new Map<string, Box>();
  const groups = new Map<string, Box & { open: boolean }>();
  const nest = (level: Placed, origin: Point): void => {
    for (const [id, box] of level.boxes) {
      const absolute = { ...box, ...shifted(box, origin) };
      const inner = level.inner.get(id);
      if (!progress.levels.has(id)) nodes.set(id, absolute);
      else groups.set(id, { ...absolute, open: inner !== undefined });
      if (inner !== undefined) nest(inner, insideOf(absolute));
    }
  };
  nest(placed, { x: 0, y: 0 });
  const edges = new Map(placed.curves);
  const loose = new Set<string>();
  for (const { id, from, to, isLoose } of subject.edges) {
    const [start, end] = [nodes.get(from), nodes.get(to)];
    if (!isLoose || start === undefined || end === undefined) continue;
    edges.set(id, straight(start, end));
    loose.add(id);
  }
  const { width, height } = placed;
  return { width, height, nodes, groups, edges, loose };
}

/** Out of the right side, into the left side. */
function straight(from: Box, to: Box): Curve {
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const end = { x: to.x, y: to.y + to.height / 2 };
  const bend = Math.min(80, Math.abs(end.x - start.x) / 2);
  return [start, { x: start.x + bend, y: start.y }, { x: end.x - bend, y: end.y }, end];
}

/** What is worked out once for a subject, and the last place of each group: good while what is open in it stays. */
interface Progress {
  readonly levels: ReadonlyMap<string, Level>;
  readonly recent: Map<string, Placed>;
}

interface Job extends Progress {
  readonly open: ReadonlySet<string>;
  readonly placeLevel: PlaceLevel;
}

const progressOf = once(
  (subject: Subject): Progress => ({ levels: levelsOf(subject), recent: new Map<string, Placed>() }),
);

function placeGroup(id: string, job: Job): Placed {
  const level = job.levels.get(id);
  if (level === undefined) throw new Error(`${id} is no group`);
  const inner = new Map<string, Placed>();
  for (const item of level.items) if (job.open.has(item.id)) inner.set(item.id, placeGroup(item.id, job));
  const last = job.recent.get(id);
  if (
    last?.inner.size === inner.size &&
    [...inner].every(([child, placed]) => last.inner.get(child) === placed)
  )
    return last;
  const items = level.items.map((item) => {
    const placed = inner.get(item.id);
    return placed === undefined ? item : { ...item, ...outerSize(placed) };
  });
  const laidOut = nested(items, bundled({ ...level, items }, job, inner), inner);
  // As with all its groups closed, so that nothing changes its row when one opens.
  const allClosed = (): Placed =>
    inner.size === 0 ? laidOut : nested(level.items, bundled(level, job, NOTHING), NOTHING);
  const placed = isWide(laidOut) ? inRows(laidOut, rowsOf(allClosed())) : laidOut;
  job.recent.set(id, placed);
  return placed;
}

const NOTHING: ReadonlyMap<string, Placed> = new Map();

/** What leads from one place to another, of which one is a closed group, is drawn as one line, and so is what is loose. */
function bundled(level: Level, { levels, placeLevel }: Job, inner: ReadonlyMap<string, Placed>): Places {
  const isClosed = (item: string): boolean => levels.has(item) && !inner.has(item);
  const drawn = new Map<string, Line>();
  const standsFor = new Map<string, Line[]>();
  const lines = level.lines.filter((line) => {
    if (!line.isLoose && !isClosed(line.tail) && !isClosed(line.head)) return true;
    const key = `${line.tail} ${line.head}`;
    const first = drawn.get(key);
    if (first === undefined) {
      drawn.set(key, line);
      return true;
    }
    append(standsFor, first.id, line);
    return false;
  });
  if (standsFor.size === 0) return placeLevel(level);
  const places = placeLevel({ ...level, lines });
  const curves = places.curves.flatMap((each) => [
    each,
    ...(standsFor.get(each.id) ?? []).map((line) => ({ ...line, curve: each.curve })),
  ]);
  return { ...places, curves };
}

function outerSize(inner: Size): Size {
  return {
    width: inner.width + 2 * GROUP_PADDING_PX,
    height: inner.height + GROUP_HEADER_PX + GROUP_PADDING_PX,
  };
}

function insideOf(box: Point): Point {
  return shifted(box, { x: GROUP_PADDING_PX, y: GROUP_HEADER_PX });
}

/** A level's places with those of the open groups in it. */
function nested(items: Level["items"], places: Places, inner: ReadonlyMap<string, Placed>): Placed {
  const boxes = new Map<string, Box>();
  for (const { id, width, height } of items) {
    const { x, y } = places.middles.get(id) ?? { x: 0, y: 0 };
    boxes.set(id, { x: x - width / 2, y: y - height / 2, width, height });
  }
  const curves = new Map<string, Curve>();
  for (const line of places.curves) {
    const tail = innerCurve(line.tail, line.id, inner, boxes);
    const head = innerCurve(line.head, line.id, inner, boxes);
    const led = ledTo(line.curve, tail?.at(-1)?.y, head?.[0]?.y);
    curves.set(line.id, joined(joined(tail ?? [], led), head ?? []));
  }
  for (const [id, placed] of inner) {
    for (const edge of placed.curves.keys()) {
      const own = curves.has(edge) ? null : innerCurve(id, edge, inner, boxes);
      if (own !== null) curves.set(edge, own);
    }
  }
  return { width: places.width, height: places.height, boxes, curves, inner };
}

function innerCurve(
  group: string,
  edge: string,
  inner: ReadonlyMap<string, Placed>,
  boxes: ReadonlyMap<string, Box>,
): Curve | null {
  const curve = inner.get(group)?.curves.get(edge);
  const box = boxes.get(group);
  if (curve === undefined || box === undefined) return null;
  const origin = insideOf(box);
  return curve.map((point) => shifted(point, origin));
}

/** The curve with its ends at other heights: it bends in the gaps beside them and stays as it is in between. */
function ledTo(curve: Curve, startY: number | undefined, endY: number | undefined): Curve {
  const [start, end] = [curve[0], curve.at(-1)];
  if (start === undefined || end === undefined || (startY === undefined && endY === undefined)) return curve;
  const [from, to] = [
    { x: start.x, y: startY ?? start.y },
    { x: end.x, y: endY ?? end.y },
  ];
  if (end.x - start.x < 2 * GAP_PX) return levelPiece(from, to);
  let led = curve;
  if (startY !== undefined) {
    const [bent, rest] = cutAt(led, start.x + GAP_PX);
    led = joined(levelPiece(from, bent.at(-1) ?? from), rest);
  }
  if (endY !== undefined) {
    const [rest, bent] = cutAt(led, end.x - GAP_PX);
    led = joined(rest, levelPiece(bent[0] ?? to, to));
  }
  return led;
}

/** One piece that leaves and arrives without slope. */
function levelPiece(from: Point, to: Point): Curve {
  const middle = (from.x + to.x) / 2;
  return [from, { x: middle, y: from.y }, { x: middle, y: to.y }, to];
}
