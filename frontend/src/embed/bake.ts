/**
 * Works out beforehand what a viewer would work out on sight. Built as one plain script without any of a browser's
 * objects, so that the server can run it: the places and the formulas of a file are those of the screen.
 */
import { Graphviz } from "@hpcc-js/wasm-graphviz";
import { place } from "../layout/place";
import { drawingOf } from "../layout/sizes";
import { layOutSimply } from "../layout/spare";
import { emptyTrace, foldEvents } from "../model/trace";
import { decodeDocument } from "../protocol/decode";
import type { Event } from "../protocol/trace.gen";
import { mathml, useTypesetter } from "../render/math";
import { typeset } from "../render/typesetter";
import { withRepeats } from "../scene/repeats";
import { BAKED_VERSION, type Baked, openingsOf, packLayout } from "./baked";

/** Graphs above this are laid out in their first state only. */
const MANY_NODES = 200;

/** JSON of `Baked` for the JSON of a trace document. */
export async function bake(text: string): Promise<string> {
  const document = decodeDocument(text);
  const trace = foldEvents(emptyTrace(), document.events);
  const engine = await Graphviz.load();
  const known: Parameters<typeof place>[2] = new Map();
  const runDot = (dot: string): string => {
    try {
      return engine.layout(dot, "json0" as "json", "dot");
    } catch {
      return layOutSimply(dot);
    }
  };
  const layouts = trace.passes.flatMap(({ index, started }) => {
    const graph = withRepeats(started.graph);
    const openings = openingsOf(graph).slice(0, graph.nodes.length > MANY_NODES ? 1 : undefined);
    return openings.map((open) =>
      packLayout(index, open, place(drawingOf(graph, new Set(open)), runDot, known)),
    );
  });
  useTypesetter(typeset);
  const math = Object.fromEntries(formulasOf(document.events).map((latex) => [latex, mathml(latex)]));
  const baked: Baked = { version: BAKED_VERSION, made_by: document.versions.gradwalk, layouts, math };
  return JSON.stringify(baked);
}

/** Every LaTeX text that a picture of this trace may show, once, in the order of its first use. */
function formulasOf(events: readonly Event[]): readonly string[] {
  const found = new Set<string>();
  for (const event of events) {
    if (event.type === "pass_started") {
      for (const { formula } of event.graph.nodes) {
        if (formula === null) continue;
        found.add(formula.forward);
        for (const line of formula.vjp) found.add(line.latex);
      }
    } else if (event.type === "step") {
      for (const { with_v, with_numbers } of event.substitutions ?? []) found.add(with_v).add(with_numbers);
    }
  }
  return [...found].filter((latex) => latex !== "" && latex.length <= LONGEST_LATEX);
}

/** Longer ones, numbers filled into a large matrix, are not shown as formulas. */
const LONGEST_LATEX = 400;
