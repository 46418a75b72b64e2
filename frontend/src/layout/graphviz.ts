/** Graphviz for unit tests, in the process itself; on the page it runs in a worker. */
import { Graphviz } from "@hpcc-js/wasm-graphviz";
import { askGraphviz, dotOf, type Places } from "./dot";
import type { Drawing, Layout } from "./place";
import { place } from "./place";

const engine = await Graphviz.load();

export function askEngine(dot: string): Places {
  return askGraphviz(engine, dot);
}

export function layOut(drawing: Drawing): Layout {
  return place(drawing, (level) => askEngine(dotOf(level)));
}
