/**
 * Graphviz in WebAssembly, most of the weight of everything, and what a worker does with it. Built as one plain script,
 * `static/kit/layout.js`, which the page, the player on any other page and the server's V8 all load.
 */
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

/** What the worker says first: the script is there. */
export type LayoutReady = "ready";

interface LayoutScript {
  readonly Graphviz: typeof Graphviz;
  /** Answers requests from now on; this scope is a worker's. */
  readonly serve: () => void;
}

declare global {
  var gradwalkLayout: LayoutScript;
}

globalThis.gradwalkLayout = { Graphviz, serve };

function serve(): void {
  // The first run costs up to 0.4 s while the engine compiles: have it over before the first graph comes.
  Graphviz.load()
    .then((engine) => askGraphviz(engine, "digraph { a -> b [id=e] }"))
    .catch(() => undefined);
  self.onmessage = (event: MessageEvent<LayoutRequest>) => answer(event.data);
  self.postMessage("ready" satisfies LayoutReady);
}

const subjects = new Map<number, Subject>();
const known = new Map<string, Places>();

async function answer({ id, subjectId, subject: sent, open }: LayoutRequest): Promise<void> {
  if (sent !== undefined) subjects.set(subjectId, sent);
  try {
    const subject = subjects.get(subjectId);
    if (subject === undefined) throw new Error("the graph to lay out was never sent");
    const engine = await Graphviz.load();
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
    // An engine that overflowed its stack or memory is not to be trusted with another graph.
    if (gaveUp) Graphviz.unload();
  } catch (error) {
    self.postMessage({ id, error: String(error) } satisfies LayoutAnswer);
  }
}
