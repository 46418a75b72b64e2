/** Graphviz for unit tests, in the process itself; on the page it runs in a worker. */
import { Graphviz } from "@hpcc-js/wasm-graphviz";
import type { Drawing, Layout } from "./place";
import { place } from "./place";

const engine = await Graphviz.load();

export function layOut(drawing: Drawing): Layout {
  return place(drawing, (dot) => engine.layout(dot, "json0" as "json", "dot"), new Map());
}
