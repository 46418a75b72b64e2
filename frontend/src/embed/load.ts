/** From a trace, wherever it comes from, to what a viewer shows; Graphviz and the typesetter come only where needed. */

import { layOutOffline, rememberLayout } from "../layout/client";
import { drawingOf } from "../layout/sizes";
import { emptyTrace, foldEvents, type TraceState } from "../model/trace";
import { DecodeError, decodeDocument } from "../protocol/decode";
import { rememberMath } from "../render/math";
import { fetchTypesetter } from "../render/typesetting.svelte";
import { withRepeats } from "../scene/repeats";
import { speakOffline } from "../words/languages";
import { label } from "../words/say";
import { BAKED_VERSION, type BakedDocument, isBareMath, unpackLayout } from "./baked";

const fetched = new Map<string, Promise<string>>();

/** The text behind an address; every viewer on a page shares one answer. */
export function fetchText(address: string): Promise<string> {
  const before = fetched.get(address);
  if (before !== undefined) return before;
  const asked = fetchFresh(address);
  fetched.set(address, asked);
  asked.catch(() => fetched.delete(address));
  return asked;
}

/** From now on nothing is fetched: what a page without a network needs was made beforehand and stands in it. */
export function stayOffline(): void {
  layOutOffline();
  const scripts = document.querySelectorAll<HTMLScriptElement>("script[data-catalogue]");
  speakOffline(
    new Map(Array.from(scripts, (one) => [one.dataset.catalogue ?? "", async () => JSON.parse(one.text)])),
  );
}

/** The text behind an address, asked for anew. */
export async function fetchFresh(address: string): Promise<string> {
  const response = await fetch(address, { credentials: "omit", headers: { Accept: "application/json" } });
  if (response.status === 200) return response.text();
  throw new DecodeError(
    response.status === 202
      ? label("player-still-running")
      : label("player-server-answered", { status: String(response.status) }),
  );
}

/**
 * @throws {DecodeError} for what is not a trace
 */
export async function openTrace(text: string, isOffline: boolean): Promise<TraceState> {
  const document = decodeDocument(text) as BakedDocument;
  const trace = foldEvents(emptyTrace(), document.events);
  const { baked } = document;
  let isSet = false;
  if (baked?.version === BAKED_VERSION) {
    for (const packed of baked.layouts) {
      const graph = trace.passes[packed.pass]?.started.graph;
      if (graph !== undefined)
        rememberLayout(drawingOf(withRepeats(graph), new Set(packed.open)), unpackLayout(packed));
    }
    // The document may be a stranger's file, and formulas are set as markup.
    const math = Object.entries(baked.math).filter(([, made]) => made === null || isBareMath(made));
    rememberMath(Object.fromEntries(math));
    isSet = math.length === Object.keys(baked.math).length;
  }
  if (!isSet && !isOffline) await fetchTypesetter();
  return trace;
}
