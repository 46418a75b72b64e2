/**
 * Works out beforehand what a viewer would work out on sight. Built as one plain script without any of a browser's
 * objects, so that the server can run it: the places and the formulas of a file are those of the screen.
 */
import { Graphviz } from "@hpcc-js/wasm-graphviz";
import { askGraphviz, remembered } from "../layout/dot";
import { type Layout, place } from "../layout/place";
import { drawingOf } from "../layout/sizes";
import { layOutSimply } from "../layout/spare";
import { DEFAULT_PRECISION } from "../model/numbers";
import { PHASES, PLACES } from "../model/phases";
import { clampPosition, forwardOrder, type Position, START, stopsOfStep } from "../model/position";
import { nodeAt, passAt } from "../model/selectors";
import { emptyTrace, foldEvents, type TraceState } from "../model/trace";
import { decodeDocument } from "../protocol/decode";
import type { Fact, Graph } from "../protocol/trace.gen";
import { mathml, useTypesetter } from "../render/math";
import { typeset } from "../render/typesetter";
import { repeatsOf, withRepeats } from "../scene/repeats";
import { calledShort, operandLabel, savedLabel } from "../words/names";
import { format, markedUp, type Said, speak as speakIn, textOf } from "../words/say";
import { saidAt, stepSentence } from "../words/sentences";
import { tell as tellInWords } from "../words/tell";
import {
  BAKED_VERSION,
  type Baked,
  type BakedBoxes,
  type BakedForward,
  type BakedLayout,
  type Labels,
  openingsOf,
  packLayout,
  type Told,
} from "./baked";

/** Graphs above this are laid out in their first state only, and may be too much for Graphviz. */
const MANY_NODES = 200;
/** Graphs above this have no picture with all groups open; no walk of them would have an end. */
const MOST_NODES_OPENED = 2000;

// The XML reader inside Graphviz, for tables with ports, salts its hashes with this, and a bare engine has none. Zeros,
// because two exports of one trace are the same bytes.
globalThis.crypto ??= { getRandomValues: <T extends ArrayLike<number>>(cells: T) => cells } as Crypto;

/** JSON of `Baked` for the JSON of a trace document. */
export async function bake(text: string): Promise<string> {
  const document = decodeDocument(text);
  const trace = foldEvents(emptyTrace(), document.events);
  const engine = await Graphviz.load();
  const layouts: BakedLayout[] = [];
  const boxes: BakedBoxes[] = [];
  for (const { index, started } of trace.passes) {
    const graph = withRepeats(started.graph);
    const isLarge = graph.nodes.length > MANY_NODES;
    const placeLevel = remembered(new Map(), (dot, level) => {
      try {
        return askGraphviz(engine, dot);
      } catch (error) {
        // A long chain overflows its stack. A small graph that it refuses is a fault of ours, not to be papered over.
        if (!isLarge) throw error;
        return layOutSimply(level);
      }
    });
    const openings = openingsOf(graph).slice(0, isLarge ? 1 : undefined);
    const placed = openings.map((open) => place(drawingOf(graph, new Set(open)), placeLevel));
    layouts.push(...placed.map((layout, at) => packLayout(index, openings[at] ?? [], layout)));
    const [first] = placed;
    if (first === undefined) continue;
    const isClosed = [...first.groups.values()].some(({ open }) => !open);
    const all = graph.groups.map(({ id }) => id);
    const opened =
      isClosed && graph.nodes.length <= MOST_NODES_OPENED
        ? packLayout(index, all, place(drawingOf(graph, new Set(all)), placeLevel))
        : null;
    boxes.push(boxesOf(index, graph, first, opened));
  }
  useTypesetter(typeset);
  const math = Object.fromEntries(formulasOf(trace).map((latex) => [latex, mathml(latex)]));
  const baked: Baked = {
    version: BAKED_VERSION,
    made_by: document.versions.gradwalk,
    layouts,
    math,
    stills: { boxes, forward: forwardOf(trace) },
  };
  return JSON.stringify(baked);
}

/** What a picture needs to know of the groups in it: stills are drawn from the first layout, or with all groups open. */
function boxesOf(pass: number, graph: Graph, layout: Layout, opened: BakedLayout | null): BakedBoxes {
  const parents = new Map(graph.groups.map((group) => [group.id, group.parent]));
  const counts = new Map<string, number>();
  const homes: Record<string, string> = {};
  for (const node of graph.nodes) {
    for (let id = node.group; id !== null; id = parents.get(id) ?? null) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
      if (layout.groups.get(id)?.open === false) homes[node.id] = id;
    }
  }
  const groups = graph.groups.map((group) => {
    const repeats = repeatsOf(group);
    const label = repeats === null ? group.label : `${group.label} × ${repeats}`;
    return [group.id, [label, counts.get(group.id) ?? 0]] as const;
  });
  return { pass, groups: Object.fromEntries(groups), homes, opened };
}

/** The forward walk in its order, with what is said at each of its phases. */
function forwardOf(trace: TraceState): readonly BakedForward[] {
  return forwardOrder(trace).map((node, at) => {
    const position: Position = { direction: "forward", step: at + 1, phase: "arrive" };
    return {
      pass: passAt(trace, position)?.index ?? 0,
      node: node.id,
      said: phasesAt(trace, position, textOf),
      stops: stopsAt(trace, position),
      ...labelsAt(trace, position),
    };
  });
}

function labelsAt(trace: TraceState, position: Position): Labels {
  const node = nodeAt(trace, position);
  const graph = passAt(trace, position)?.started.graph;
  if (node === null || graph === undefined) return { operands: [], saved: [] };
  const scene = { graph, precision: DEFAULT_PRECISION };
  // Tabs of a product must differ; what goes into a call may be the same twice.
  const call = position.direction === "forward" ? calledShort : operandLabel;
  return {
    operands: node.inputs.map((operand) => call(scene, node, operand)),
    saved: node.saved.map((saved) => savedLabel(scene, node, saved)),
  };
}

function phasesAt(trace: TraceState, position: Position, write: (said: Said) => string): readonly string[] {
  return PHASES[position.direction].map((phase) =>
    write(saidAt(trace, clampPosition(trace, { ...position, phase }))),
  );
}

/** The places of the phases at which a step stops. */
function stopsAt(trace: TraceState, { direction, step }: Position): readonly number[] {
  return stopsOfStep(trace, direction, step).map((phase) => PLACES[phase]);
}

/** JSON of `Told` for the JSON of a trace document. */
export function tell(text: string): string {
  return JSON.stringify(toldOf(text, textOf));
}

/** The same with backticks round code. */
export function tellMarkedUp(text: string): string {
  return JSON.stringify(toldOf(text, markedUp));
}

function toldOf(text: string, write: (said: Said) => string): Told {
  const trace = foldEvents(emptyTrace(), decodeDocument(text).events);
  const backward = trace.steps.map((_, at) => {
    const position: Position = { direction: "backward", step: at + 1, phase: "collect" };
    const phases = phasesAt(trace, position, write);
    return {
      whole: stepSentence(trace, position),
      phases,
      stops: stopsAt(trace, position),
      ...labelsAt(trace, position),
    };
  });
  return { start: write(saidAt(trace, START)), backward };
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
