/**
 * Works out beforehand what a viewer would work out on sight. Built as one plain script without any of a browser's
 * objects, so that the server can run it after `kit/layout.js`: places and formulas of a file are those of the screen.
 */
import type { Graphviz } from "@hpcc-js/wasm-graphviz";
import { askGraphviz, type PlaceLevel, remembered } from "../layout/dot";
import type { Size } from "../layout/geometry";
import { type Layout, place } from "../layout/place";
import { drawingOf } from "../layout/sizes";
import { layOutSimply } from "../layout/spare";
import { type Direction, PLACES } from "../model/phases";
import {
  clampPosition,
  forwardOrder,
  type Position,
  parsePosition,
  START,
  startOf,
  stopsOfStep,
} from "../model/position";
import { nodeAt, passAt } from "../model/selectors";
import { emptyTrace, foldEvents, type TraceState } from "../model/trace";
import { paletteOf, type Theme } from "../paint/palette";
import { toSvg } from "../paint/svg";
import { decodeDocument } from "../protocol/decode";
import type { Fact, Graph } from "../protocol/trace.gen";
import { mathml, useTypesetter } from "../render/math";
import { typeset } from "../render/typesetter";
import { groupsOpenAtFirst, readAtFirst } from "../scene/opening";
import { drawPicture } from "../scene/picture";
import { withRepeats } from "../scene/repeats";
import { goalTold } from "../words/notes";
import { format, markedUp, type Said, speak as speakIn, textOf } from "../words/say";
import { saidAt, stepSentence } from "../words/sentences";
import { tell as tellInWords } from "../words/tell";
import {
  BAKED_VERSION,
  type Baked,
  type BakedLayout,
  openingsOf,
  packLayout,
  type StepWords,
  type Walks,
} from "./baked";

/** Graphs above this are laid out in their first state only, and may be too much for Graphviz. */
const MANY_NODES = 200;

// The XML reader inside Graphviz, for tables with ports, salts its hashes with this, and a bare engine has none. Zeros,
// because two exports of one trace are the same bytes.
globalThis.crypto ??= { getRandomValues: <T extends ArrayLike<number>>(cells: T) => cells } as Crypto;

/** JSON of `Baked` for the JSON of a trace document. */
export async function bake(text: string): Promise<string> {
  const document = decodeDocument(text);
  const trace = foldEvents(emptyTrace(), document.events);
  const engine = await gradwalkLayout.Graphviz.load();
  const layouts: BakedLayout[] = [];
  for (const { index, started } of trace.passes) {
    const graph = withRepeats(started.graph);
    const placeLevel = placerOf(engine, graph);
    const openings = openingsOf(graph).slice(0, isLarge(graph) ? 1 : undefined);
    const placed = openings.map((open) => place(drawingOf(graph, new Set(open)), placeLevel));
    layouts.push(...placed.map((layout, at) => packLayout(index, openings[at] ?? [], layout)));
  }
  useTypesetter(typeset);
  const math = Object.fromEntries(formulasOf(trace).map((latex) => [latex, mathml(latex)]));
  const baked: Baked = {
    version: BAKED_VERSION,
    made_by: document.versions.gradwalk,
    layouts,
    math,
  };
  return JSON.stringify(baked);
}

function isLarge({ nodes }: Graph): boolean {
  return nodes.length > MANY_NODES;
}

function placerOf(engine: Graphviz, graph: Graph): PlaceLevel {
  return remembered(new Map(), (dot, level) => {
    try {
      return askGraphviz(engine, dot);
    } catch (error) {
      // A long chain overflows its stack. A small graph that it refuses is a fault of ours, not to be papered over.
      if (!isLarge(graph)) throw error;
      return layOutSimply(level);
    }
  });
}

interface Opened {
  readonly trace: TraceState;
  /** By pass, as it is first seen. */
  readonly layouts: Map<number, Layout>;
}

const opened = new Map<string, Opened>();

/** The trace that later calls draw from, under a name; JSON of `Walks`. */
export function open(key: string, text: string): string {
  const trace = foldEvents(emptyTrace(), decodeDocument(text).events);
  opened.set(key, { trace, layouts: new Map() });
  return JSON.stringify(walksOf(readAtFirst(trace)));
}

/** How a picture is drawn, in JSON; sizes in px. */
interface Look extends Size {
  /** 0 to 1, of the motion that leads into the stop. */
  readonly progress: number;
  readonly theme: Theme;
  readonly transparent: boolean;
}

/** One stop of an opened trace as SVG; of a phase at which its step does not stop, the stop before it. */
export async function draw(key: string, address: string, lookJson: string): Promise<string> {
  const found = opened.get(key);
  if (found === undefined) throw new Error("this trace is not open");
  const { progress, theme, transparent, width, height } = JSON.parse(lookJson) as Look;
  const { trace } = found;
  const position = clampPosition(trace, parsePosition(address) ?? START);
  const layout = await layoutOf(found, position);
  const size = { width, height };
  const shapes = drawPicture({ trace, position, progress, layout, size, isTransparent: transparent });
  const title = textOf(saidAt(trace, position));
  return toSvg(shapes, { size, palette: paletteOf(theme), isTransparent: transparent, title });
}

async function layoutOf({ trace, layouts }: Opened, position: Position): Promise<Layout> {
  const pass = passAt(trace, position);
  if (pass === null) throw new Error("a trace without a pass has no picture");
  const known = layouts.get(pass.index);
  if (known !== undefined) return known;
  const graph = withRepeats(pass.started.graph);
  const drawing = drawingOf(graph, new Set(groupsOpenAtFirst(graph)));
  const made = place(drawing, placerOf(await gradwalkLayout.Graphviz.load(), graph));
  layouts.set(pass.index, made);
  return made;
}

export function close(key: string): void {
  opened.delete(key);
}

/** What is said of both walks, with backticks round code. */
export function tellMarkedUp(text: string): string {
  return JSON.stringify(
    walksOf(readAtFirst(foldEvents(emptyTrace(), decodeDocument(text).events)), markedUp),
  );
}

function walksOf(trace: TraceState, write: (said: Said) => string = textOf): Walks {
  const startAt = (direction: Direction): string => write(saidAt(trace, startOf(direction)));
  return {
    start: { backward: startAt("backward"), forward: startAt("forward") },
    backward: trace.steps.map((_, at) => stepWords(trace, "backward", at + 1, write)),
    forward: forwardOrder(trace).map((_, at) => stepWords(trace, "forward", at + 1, write)),
  };
}

function stepWords(
  trace: TraceState,
  direction: Direction,
  step: number,
  write: (said: Said) => string,
): StepWords {
  const stops = stopsOfStep(trace, direction, step).map((phase) => ({ direction, step, phase }));
  const [position = startOf(direction)] = stops;
  const node = nodeAt(trace, position);
  return {
    pass: passAt(trace, position)?.index ?? 0,
    node: node?.id ?? "",
    name: node?.leaf ?? node?.name ?? "",
    whole: stepSentence(trace, position),
    stops: stops.map((stop) => ({ phase: PLACES[stop.phase], said: write(saidAt(trace, stop)) })),
  };
}

/** A message of the catalogue as Python's own reader gives it, operands as JSON. */
export function say(key: string, operands: string): string {
  return format(key, null, JSON.parse(operands) as Record<string, string | number>);
}

/** From now on sentences are made of this catalogue; the language that is spoken then. */
export function speak(language: string, catalogue: string): string {
  speakIn(language, catalogue);
  return language;
}

/** A fact as Python's own reader tells it, as JSON. */
export function tellFact(fact: string): string {
  return markedUp(tellInWords(JSON.parse(fact) as Fact));
}

/** What an example teaches with the numbers of a trace, or null, as JSON. */
export function tellGoal(goal: string, document: string): string {
  const trace = foldEvents(emptyTrace(), decodeDocument(document).events);
  const said = goalTold(JSON.parse(goal) as Parameters<typeof goalTold>[0], trace);
  return JSON.stringify(said && markedUp(said));
}

/** Every LaTeX text that a picture of this trace may show, once, in the order of its first use. */
function formulasOf({ passes }: TraceState): readonly string[] {
  const found = new Set<string>();
  for (const { started, steps } of passes) {
    for (const { formula } of started.graph.nodes) {
      if (formula === null) continue;
      found.add(formula.forward);
      for (const line of formula.vjp) found.add(line.latex);
    }
    for (const { substitutions = [] } of steps) {
      for (const { with_v, with_numbers } of substitutions) found.add(with_v).add(with_numbers);
    }
  }
  return [...found].filter((latex) => latex !== "" && latex.length <= LONGEST_LATEX);
}

/** Longer ones, numbers filled into a large matrix, are not shown as formulas. */
const LONGEST_LATEX = 400;
