/**
 * What can be worked out of a trace before anybody looks at it: the places of its graphs and its formulas as MathML.
 * With both on board a viewer needs neither Graphviz nor a typesetter.
 */
import type { Curve } from "../layout/geometry";
import type { Layout } from "../layout/place";
import { drawingOf } from "../layout/sizes";
import type { Direction } from "../model/phases";
import type { TraceDocument } from "../protocol/trace.gen";
import { groupsOpenAtFirst } from "../scene/opening";

/** Of the form below; a viewer passes over what it does not know. */
export const BAKED_VERSION = 1;

type Four = readonly [x: number, y: number, width: number, height: number];

/** A layout in plain JSON; coordinates in px with two decimals. */
export interface BakedLayout {
  readonly pass: number;
  /** The groups that are open in it. */
  readonly open: readonly string[];
  readonly size: readonly [width: number, height: number];
  readonly nodes: Readonly<Record<string, Four>>;
  readonly groups: Readonly<Record<string, readonly [...Four, open: 0 | 1]>>;
  /** x and y in turn. */
  readonly edges: Readonly<Record<string, readonly number[]>>;
  readonly loose: readonly string[];
}

/** What is said of both walks, for those who cannot run this code. */
export interface Walks {
  /** Before the first step. */
  readonly start: Readonly<Record<Direction, string>>;
  readonly backward: readonly StepWords[];
  readonly forward: readonly StepWords[];
}

export interface StepWords {
  readonly pass: number;
  readonly node: string;
  /** The leaf's, else the node's. */
  readonly name: string;
  /** Of the whole step. */
  readonly whole: string;
  /** Where the step stops; phases are counted from 1. */
  readonly stops: readonly { readonly phase: number; readonly said: string }[];
}

export interface Baked {
  readonly version: number;
  /** Whose sizes of cards were laid out; another release may draw other cards. */
  readonly made_by: string;
  readonly layouts: readonly BakedLayout[];
  /** MathML by LaTeX; null for what does not parse. */
  readonly math: Readonly<Record<string, string | null>>;
}

/** A trace, perhaps with what was worked out of it. */
export interface BakedDocument extends TraceDocument {
  readonly baked?: Baked;
}

export function packLayout(pass: number, open: readonly string[], layout: Layout): BakedLayout {
  return {
    pass,
    open,
    size: [rounded(layout.width), rounded(layout.height)],
    nodes: Object.fromEntries([...layout.nodes].map(([id, box]) => [id, four(box)])),
    groups: Object.fromEntries(
      [...layout.groups].map(([id, box]) => [id, [...four(box), box.open ? 1 : 0] as const]),
    ),
    edges: Object.fromEntries(
      [...layout.edges].map(([id, curve]) => [id, curve.flatMap(({ x, y }) => [rounded(x), rounded(y)])]),
    ),
    loose: [...layout.loose],
  };
}

export function unpackLayout(packed: BakedLayout): Layout {
  const [width, height] = packed.size.map(finite) as [number, number];
  return {
    width,
    height,
    nodes: new Map(Object.entries(packed.nodes).map(([id, four]) => [id, boxOf(four)])),
    groups: new Map(
      Object.entries(packed.groups).map(([id, [x, y, w, h, open]]) => [
        id,
        { ...boxOf([x, y, w, h]), open: open === 1 },
      ]),
    ),
    edges: new Map(Object.entries(packed.edges).map(([id, numbers]) => [id, curveOf(numbers)])),
    loose: new Set(packed.loose),
  };
}

const MOST_VARIANTS = 32;

/** The sets of open groups that one click from the first picture, or everything at once, leads to; the first comes first. */
export function openingsOf(graph: Parameters<typeof groupsOpenAtFirst>[0]): readonly (readonly string[])[] {
  const first = groupsOpenAtFirst(graph);
  const all = graph.groups.map((group) => group.id);
  const toggled = all.map((id) =>
    first.includes(id) ? first.filter((each) => each !== id) : [...first, id],
  );
  const seen = new Map<string, readonly string[]>();
  for (const open of [first, ...toggled, all, []]) {
    const sorted = drawingOf(graph, new Set(open)).open.toSorted();
    if (seen.size < MOST_VARIANTS) seen.set(sorted.join(" "), sorted);
  }
  return [...seen.values()];
}

function four(box: { x: number; y: number; width: number; height: number }): Four {
  return [rounded(box.x), rounded(box.y), rounded(box.width), rounded(box.height)];
}

const ELEMENTS = "math|m(?:row|i|o|n|text|space|style|padded|frac|sqrt|sub|sup|over|table|tr|td)";
const ATTRIBUTES =
  "form|fence|stretchy|separator|movablelimits|lspace|rspace|width|height|mathvariant|scriptlevel|displaystyle";
const LENGTHS = "(?:(?:padding-(?:left|right)|math-depth):[\\d.]+(?:em|pt)?;)+";
/** A tag as Temml writes it for our formulas. */
const TAG = new RegExp(
  `</?(?:${ELEMENTS})(?: (?:(?:${ATTRIBUTES})="[\\w.-]*"|class="(?:tml-left|chr-[a-z]+ wbk-[a-z]+-acc)"|style="${LENGTHS}"))*>`,
  "g",
);

/** Whether markup out of a file is MathML and nothing more, so that it can neither run, fetch nor cover anything. */
export function isBareMath(markup: unknown): markup is string {
  return typeof markup === "string" && !markup.replace(TAG, "").includes("<");
}

/** A file may hold anything in the place of a number. */
function finite(value: unknown): number {
  const number = Number(value);
  return Number.isFinite(number) ? number : 0;
}

function boxOf(four: Four) {
  const [x, y, width, height] = four.map(finite) as unknown as Four;
  return { x, y, width, height };
}

function curveOf(numbers: readonly number[]): Curve {
  return Array.from({ length: numbers.length / 2 }, (_, index) => ({
    x: finite(numbers[2 * index]),
    y: finite(numbers[2 * index + 1]),
  }));
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
