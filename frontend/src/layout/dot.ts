/** What Graphviz is asked for a level, in its own language, and what it answers. */
import type { Graphviz } from "@hpcc-js/wasm-graphviz";
import type { Curve, Point, Size } from "./geometry";
import type { Level, Line } from "./levels";

/** Where a level's items and lines stand, from its own top left corner. */
export interface Places extends Size {
  /** The middles of items, by id. */
  readonly middles: ReadonlyMap<string, Point>;
  readonly curves: readonly (Line & { readonly curve: Curve })[];
}

/** Gives the items and lines of a level their places. */
export type PlaceLevel = (level: Level) => Places;

const POINTS_PER_INCH = 72;
const DEFAULTS = [
  "graph [rankdir=LR nodesep=0.3 ranksep=0.75 ordering=out]",
  'node [shape=box fixedsize=true label=""]',
  "edge [arrowhead=none]",
];
const POINT = "shape=point width=0.02 height=0.02 style=invis";
// The package's Format type lacks json0, which is json without drawing operations.
const JSON0 = "json0" as "json";

/** The level as Graphviz DOT; ids are those of the graph, which need no quotes. */
export function dotOf({ items, lines, arriving, leaving }: Level): string {
  const statements = [
    ...DEFAULTS,
    ...items.map(({ id, width, height }) => `${id} [width=${inches(width)} height=${inches(height)}]`),
    ...pointsIn("min", arriving),
    ...pointsIn("max", leaving),
    // After the points: what an edge mentions first is born as a box.
    ...lines.map(({ id, tail, head }) => `${tail} -> ${head} [id=${id}]`),
  ];
  return `digraph {\n${statements.join("\n")}\n}\n`;
}

function pointsIn(rank: "min" | "max", points: readonly string[]): readonly string[] {
  return points.length === 0 ? [] : [`{rank=${rank} node [${POINT}] ${points.join(" ")}}`];
}

function inches(px: number): string {
  return (px / POINTS_PER_INCH).toFixed(4);
}

/** Throws where Graphviz gives up. */
export function askGraphviz(engine: Pick<Graphviz, "layout">, dot: string): Places {
  return readPlaces(engine.layout(dot, JSON0, "dot"));
}

/** Asks once for each DOT, so that new values under the same graph move nothing. */
export function remembered(
  known: Map<string, Places>,
  ask: (dot: string, level: Level) => Places,
): PlaceLevel {
  return (level) => {
    const dot = dotOf(level);
    const before = known.get(dot);
    if (before !== undefined) return before;
    const places = ask(dot, level);
    known.set(dot, places);
    return places;
  };
}

/** The parts of Graphviz' json0 that are read; coordinates are in points with y upwards. */
interface DotResult {
  readonly bb: string;
  readonly objects?: readonly { readonly _gvid: number; readonly name: string; readonly pos?: string }[];
  readonly edges?: readonly {
    readonly id: string;
    readonly pos: string;
    readonly tail: number;
    readonly head: number;
  }[];
}

function readPlaces(json: string): Places {
  const result = JSON.parse(json) as DotResult;
  const [, , width = 0, height = 0] = result.bb.split(",").map(Number);
  const middles = new Map<string, Point>();
  const names = new Map<number, string>();
  for (const { _gvid, name, pos } of result.objects ?? []) {
    names.set(_gvid, name);
    if (pos !== undefined) middles.set(name, readPoint(pos, height));
  }
  const curves = (result.edges ?? []).map(({ id, pos, tail, head }) => ({
    id,
    tail: names.get(tail) ?? "",
    head: names.get(head) ?? "",
    curve: readCurve(pos, height),
  }));
  return { width, height, middles, curves };
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
