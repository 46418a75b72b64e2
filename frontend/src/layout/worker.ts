/** The layout worker: Graphviz in WebAssembly, off the main thread. */
import { Graphviz } from "@hpcc-js/wasm-graphviz";
import { askGraphviz, type Places, remembered } from "./dot";
import type { Subject } from "./levels";
import { type Layout, place } from "./place";
import { layOutSimply } from "./spare";

export interface LayoutRequest {
  readonly id: number;
  /** Which of the subjects sent before; a large one is sent once. */
  readonly subjectId: number;
  readonly subject?: Subject;
  readonly open: readonly string[];
}

export type LayoutAnswer =
  | { readonly id: number; readonly layout: Layout }
  | { readonly id: number; readonly error: string };

const subjects = new Map<number, Subject>();
const known = new Map<string, Places>();
let graphviz = Graphviz.load();
// The first run costs up to 0.4 s while the engine compiles: have it over before the first graph comes.
graphviz.then((engine) => askGraphviz(engine, "digraph { a -> b [id=e] }")).catch(() => undefined);

self.onmessage = async (event: MessageEvent<LayoutRequest>): Promise<void> => {
  const { id, subjectId, open } = event.data;
  if (event.data.subject !== undefined) subjects.set(subjectId, event.data.subject);
  try {
    const subject = subjects.get(subjectId);
    if (subject === undefined) throw new Error("the graph to lay out was never sent");
    const engine = await graphviz;
    let gaveUp = false;
    const placeLevel = remembered(known, (dot, level) => {
      if (!gaveUp) {
        try {
          return askGraphviz(engine, dot);
        } catch {
          gaveUp = true;
        }
      }
      return layOutSimply(level);
    });
    const layout = place({ subject, open }, placeLevel);
    self.postMessage({ id, layout } satisfies LayoutAnswer);
    if (gaveUp) renew();
  } catch (error) {
    self.postMessage({ id, error: String(error) } satisfies LayoutAnswer);
  }
};

/** An engine that overflowed its stack or memory is not to be trusted with another graph. */
function renew(): void {
  Graphviz.unload();
  graphviz = Graphviz.load();
}
