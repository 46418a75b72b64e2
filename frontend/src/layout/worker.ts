/** The layout worker: Graphviz in WebAssembly, off the main thread. */
import { Graphviz } from "@hpcc-js/wasm-graphviz";
import type { Drawing, Layout } from "./place";
import { place } from "./place";

export interface LayoutRequest {
  readonly id: number;
  readonly drawing: Drawing;
}

export type LayoutAnswer =
  | { readonly id: number; readonly layout: Layout }
  | { readonly id: number; readonly error: string };

// The package's Format type lacks json0, which is json without drawing operations.
const JSON0 = "json0" as "json";
const known: Parameters<typeof place>[2] = new Map();
const graphviz = Graphviz.load();
// The first run costs up to 0.4 s while the engine compiles: have it over before the first graph comes.
graphviz.then((engine) => engine.layout("digraph { a -> b }", JSON0, "dot")).catch(() => undefined);

self.onmessage = async (event: MessageEvent<LayoutRequest>): Promise<void> => {
  const { id, drawing } = event.data;
  try {
    const engine = await graphviz;
    const layout = place(drawing, (dot) => engine.layout(dot, JSON0, "dot"), known);
    self.postMessage({ id, layout } satisfies LayoutAnswer);
  } catch (error) {
    self.postMessage({ id, error: String(error) } satisfies LayoutAnswer);
  }
};
