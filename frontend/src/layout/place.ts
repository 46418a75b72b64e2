/**
 * Places for nodes and curves for edges. Every group has its own DOT (written by the server with opaque ids); it is
 * laid out by itself, bottom-up, and an open group is one larger box in its parent's DOT. So opening a group grows
 * its box and moves nothing else across. Its ports are left out: Graphviz would put what comes before and after at
 * their heights, and so move it whenever a group opens; edges are led to them afterwards. Nothing of the graph's
 * structure is built here: sizes are added to the DOT text, Graphviz places, and the results nest by translation.
 */
import type { Box, Curve, Point, Size } from "./geometry";
import { cutAt, joined, shifted } from "./geometry";

/** A group's DOT and its direct children; the top level has the id "". */
export interface GroupDrawing {
  readonly id: string;
  readonly parent: string | null;
  readonly dot: string;
  readonly nodes: readonly string[];
}

/** What is drawn, whichever groups are open. */
export interface Subject {
  readonly groups: readonly GroupDrawing[];
  /** By node id and, for closed groups, group id. */
  readonly sizes: Readonly<Record<string, Size>>;
  /**
   * Edges that Graphviz does not see and that are drawn straight afterwards. A value used hundreds of times along a
   * chain would give it millions of bends to place.
   */
  readonly loose: readonly { readonly id: string; readonly from: string; readonly to: string }[];
}

export interface Drawing extends Subject {
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

/** Runs Graphviz' `dot` on a DOT text and returns its `json0`. */
export type RunDot = (dot: string) => string;

export const TOP = "";
export const GROUP_HEADER_PX = 30;
const GROUP_PADDING_PX = 14;
const POINTS_PER_INCH = 72;
const DEFAULTS = 'edge [arrowhead=none arrowtail=none] node [label="" fixedsize=true shape=box]';
const SPACING = "rankdir=LR nodesep=0.3 ranksep=1.15";
/** Between two columns, where an edge may change its height; a little less than `ranksep`. */
const GAP_PX = 76;

interface Placed extends Size {
  readonly boxes: ReadonlyMap<string, Box>;
  readonly ports: ReadonlyMap<string, Port>;
  readonly curves: ReadonlyMap<string, Curve>;
  readonly inner: ReadonlyMap<string, Placed>;
}

interface Port extends Point {
  readonly side: "in" | "out";
}

/** Lays out a drawing; `known` keeps the places of groups whose DOT, sizes and ports have been seen before. */
export function place(drawing: Drawing, runDot: RunDot, known: Map<string, Placed>): Layout {
  const open = new Set(drawing.open);
  const children = childrenOf(drawing.groups);
  const recent = recentPlaces(drawing);
  const loose = new Set(drawing.loose.map((edge) => edge.id));
  const top = drawing.groups.find((group) => group.id === TOP);
  if (top === undefined) throw new Error("a drawing needs a top level");
  const placed = placeGroup(top, { drawing, open, children, runDot, known, recent, loose });
  const nodes = new Map<string, Box>();
  const groups = new Map<string, Box & { open: boolean }>();
  const groupIds = new Set(drawing.groups.map((group) => group.id));
  const nest = (level: Placed, origin: Point): void => {
    for (const [id, box] of level.boxes) {
      const absolute = { ...box, ...shifted(box, origin) };
      const inner = level.inner.get(id);
      if (!groupIds.has(id)) nodes.set(id, absolute);
      else groups.set(id, { ...absolute, open: inner !== undefined });
      if (inner !== undefined) nest(inner, insideOf(absolute));
    }
  };
  nest(placed, { x: 0, y: 0 });
  const edges = new Map(placed.curves);
  if (drawing.loose.length === 0)
    return { width: placed.width, height: placed.height, nodes, groups, edges, loose };
  const homes = new Map(
    drawing.groups.flatMap((group) => group.nodes.map((node) => [node, group.id] as const)),
  );
  const parents = new Map(drawing.groups.map((group) => [group.id, group.parent ?? TOP]));
  const standsFor = (node: string): Box | undefined => {
    let box: Box | undefined = nodes.get(node);
    for (
      let id = homes.get(node);
      box === undefined && id !== undefined && id !== TOP;
      id = parents.get(id)
    ) {
      box = groups.get(id);
    }
    return box;
  };
  for (const { id, from, to } of drawing.loose) {
    const start = standsFor(from);
    const end = standsFor(to);
    if (start !== undefined && end !== undefined && start !== end) edges.set(id, straight(start, end));
  }
  return { width: placed.width, height: placed.height, nodes, groups, edges, loose };
}

/** Out of the right side, into the left side. */
function straight(from: Box, to: Box): Curve {
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const end = { x: to.x, y: to.y + to.height / 2 };
  const bend = Math.min(80, Math.abs(end.x - start.x) / 2);
  return [start, { x: start.x + bend, y: start.y }, { x: end.x - bend, y: end.y }, end];
}

interface Job {
  readonly drawing: Drawing;
  readonly open: ReadonlySet<string>;
  readonly children: ReadonlyMap<string, readonly GroupDrawing[]>;
  readonly runDot: RunDot;
  readonly known: Map<string, Placed>;
  readonly recent: Map<string, Recent>;
  readonly loose: ReadonlySet<string>;
}

/** The last place of a group, good as long as what is open in it stays the same. */
interface Recent {
  readonly inner: ReadonlyMap<string, Placed>;
  readonly placed: Placed;
}

const recentByGroups = new WeakMap<Subject["groups"], Map<string, Recent>>();

function recentPlaces({ groups }: Subject): Map<string, Recent> {
  const known = recentByGroups.get(groups) ?? new Map<string, Recent>();
  recentByGroups.set(groups, known);
  return known;
}

function placeGroup(group: GroupDrawing, job: Job): Placed {
  const inner = new Map<string, Placed>();
  for (const child of job.children.get(group.id) ?? []) {
    if (job.open.has(child.id)) inner.set(child.id, placeGroup(child, job));
  }
  const last = job.recent.get(group.id);
  if (last?.inner.size === inner.size && [...inner].every(([id, placed]) => last.inner.get(id) === placed))
    return last.placed;
  const placed = placeAnew(group, inner, job);
  job.recent.set(group.id, { inner, placed });
  return placed;
}

function placeAnew(group: GroupDrawing, inner: ReadonlyMap<string, Placed>, job: Job): Placed {
  const sizes = new Map<string, Size>();
  for (const node of group.nodes) sizes.set(node, job.drawing.sizes[node] ?? FALLBACK_SIZE);
  for (const child of job.children.get(group.id) ?? []) {
    const placed = inner.get(child.id);
    sizes.set(
      child.id,
      placed === undefined ? (job.drawing.sizes[child.id] ?? FALLBACK_SIZE) : outerSize(placed),
    );
  }
  const dot = sizedDot(withoutEdges(group.dot, job.loose), sizes);
  // What is inside an open group shows in its parent's DOT only as a size, so its own key is added.
  const key = [
    dot,
    ...[...inner.keys()].map((id) => `${id}:${innerKeys.get(inner.get(id) as Placed) ?? ""}`),
  ].join("\n");
  const before = job.known.get(key);
  if (before !== undefined) return before;
  const placed = readPlaces(job.runDot(dot), sizes, inner);
  innerKeys.set(placed, key);
  job.known.set(key, placed);
  return placed;
}

const innerKeys = new WeakMap<Placed, string>();
const FALLBACK_SIZE: Size = { width: 140, height: 72 };

function childrenOf(groups: readonly GroupDrawing[]): ReadonlyMap<string, readonly GroupDrawing[]> {
  const children = new Map<string, GroupDrawing[]>();
  for (const group of groups) {
    if (group.id === TOP) continue;
    const parent = group.parent ?? TOP;
    const list = children.get(parent);
    if (list === undefined) children.set(parent, [group]);
    else list.push(group);
  }
  return children;
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

/** The DOT with sizes added: in Graphviz the last assignment wins, but defaults must come first. */
function sizedDot(dot: string, sizes: ReadonlyMap<string, Size>): string {
  const statements = [...sizes].map(([id, size]) => boxStatement(id, size));
  return dot
    .replaceAll(PORT, "")
    .replace("{", `{ ${DEFAULTS}\n`)
    .replace(/}\s*$/, `${SPACING}\n${statements.join("\n")}\n}\n`);
}

const PORT = / (head|tail)port="?\w+"?/g;

function boxStatement(id: string, { width, height }: Size): string {
  return `${id} [shape=box fixedsize=true label="" width=${inches(width)} height=${inches(height)}]`;
}

function inches(px: number): string {
  return (px / POINTS_PER_INCH).toFixed(4);
}

const EDGE_ID = /->.*\bid="?(\w+)"?/;

function withoutEdges(dot: string, edges: ReadonlySet<string>): string {
  if (edges.size === 0) return dot;
  return dot
    .split("\n")
    .filter((line) => !edges.has(EDGE_ID.exec(line)?.[1] ?? ""))
    .join("\n");
}

/** The parts of Graphviz' json0 that are read; coordinates are in points with y upwards. */
interface DotResult {
  readonly bb: string;
  readonly objects?: readonly { readonly _gvid: number; readonly name: string; readonly pos?: string }[];
  readonly edges?: readonly {
    readonly id?: string;
    readonly pos?: string;
    readonly tail: number;
    readonly head: number;
  }[];
}

const BORDER_POINT = /^(in|out)_(\w+)$/;

function readPlaces(
  json: string,
  sizes: ReadonlyMap<string, Size>,
  inner: ReadonlyMap<string, Placed>,
): Placed {
  const result = JSON.parse(json) as DotResult;
  const [, , width = 0, height = 0] = result.bb.split(",").map(Number);
  const boxes = new Map<string, Box>();
  const ports = new Map<string, Port>();
  const names = new Map<number, string>();
  for (const object of result.objects ?? []) {
    names.set(object._gvid, object.name);
    if (object.pos === undefined) continue;
    const at = readPoint(object.pos, height);
    const size = sizes.get(object.name);
    const border = BORDER_POINT.exec(object.name);
    if (size !== undefined) {
      boxes.set(object.name, { x: at.x - size.width / 2, y: at.y - size.height / 2, ...size });
    } else if (border !== null) {
      ports.set(border[2] ?? "", { ...at, side: border[1] === "in" ? "in" : "out" });
    }
  }
  const curves = new Map<string, Curve>();
  for (const edge of result.edges ?? []) {
    if (edge.id === undefined || edge.pos === undefined) continue;
    const between = readCurve(edge.pos, height);
    const tail = innerCurve(names.get(edge.tail), edge.id, inner, boxes);
    const head = innerCurve(names.get(edge.head), edge.id, inner, boxes);
    const led = ledTo(between, tail?.at(-1)?.y, head?.[0]?.y);
    curves.set(edge.id, joined(joined(tail ?? [], led), head ?? []));
  }
  for (const [id, placed] of inner) {
    for (const edge of placed.curves.keys()) {
      const own = curves.has(edge) ? null : innerCurve(id, edge, inner, boxes);
      if (own !== null) curves.set(edge, own);
    }
  }
  return { width, height, boxes, ports, curves, inner };
}

function innerCurve(
  group: string | undefined,
  edge: string,
  inner: ReadonlyMap<string, Placed>,
  boxes: ReadonlyMap<string, Box>,
): Curve | null {
  if (group === undefined) return null;
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

function readPoint(text: string, height: number): Point {
  const [x = 0, y = 0] = text.split(",").map(Number);
  return { x, y: height - y };
}

/** `pos` of an edge: optional arrow ends (`s,x,y` and `e,x,y`), then the Bezier points. */
function readCurve(pos: string, height: number): Curve {
  return pos
    .split(/[\s;]+/)
    .filter((part) => /^[\d.+-]/.test(part))
    .map((part) => readPoint(part, height));
}
