/**
 * What an element does that has a page to itself: it reads the page's address (and never writes it), listens to the
 * whole keyboard and, in a frame, speaks with the page round it.
 */

import { PLACES } from "../model/phases";
import type { TraceState } from "../model/trace";
import { commandOf, isClaimed } from "../player/keys";
import { fetchTypesetter } from "../render/typesetting.svelte";
import { label } from "../words/say";
import { type Inbound, type Kind, type Outbound, readMessage, SETTABLE, writeMessage } from "./messages";
import { type Runner, runnerOf, runnerOfRequest } from "./rerun";
import { mayRunUnasked, requestIn, run } from "./run";
import { applySetting, applySettings } from "./settings";
import type { Viewer } from "./viewer.svelte";

/** What of the element it takes to fill a page. */
interface PageElement extends HTMLElement {
  readonly viewer: Viewer;
  readonly isReady: boolean;
  readonly hasOwnData: boolean;
  goTo: (place: string) => boolean;
  showTrace: (trace: TraceState) => void;
  complain: (sentence: string) => void;
  takeRunner: (runner: Runner) => void;
}

const STAGE_PX = 380;
const NARROW_STAGE_PX = 520;
const NARROW_PX = 620;

/** Takes over the page; the returned function lets go of it. */
export function takePage(element: PageElement): () => void {
  const { viewer } = element;
  viewer.pageKeys = true;
  const end = new AbortController();
  const readHash = (): URLSearchParams => {
    const keys = new URLSearchParams(location.hash.slice(1));
    report(element, applySettings(viewer, keys));
    return keys;
  };
  report(element, applySettings(viewer, new URLSearchParams(location.search)));
  const keys = readHash();
  addEventListener("hashchange", readHash, { signal: end.signal });
  if (element.hasAttribute("frame")) {
    const runner = runnerOf(`${location.href.replace(/[?#].*$/, "").replace(/\/$/, "")}/trace.json`);
    if (!element.hasOwnData) void runHash(element, keys);
    else if (runner !== null) element.takeRunner(runner);
    if (window.parent !== window) speak(element, keys, end.signal);
  }
  return () => end.abort();
}

function report(element: PageElement, unreadable: readonly string[]): void {
  if (unreadable.length === 0) return;
  element.viewer.trouble = label("player-damaged", { names: unreadable.join(", ") });
}

async function runHash(element: PageElement, keys: URLSearchParams): Promise<void> {
  try {
    const request = await requestIn(keys);
    if (request === null) throw new Error(label("player-damaged-empty"));
    const go = async (): Promise<void> => {
      element.viewer.offer = null;
      try {
        await fetchTypesetter();
        await run(request, (trace) => element.showTrace(trace));
        element.takeRunner(runnerOfRequest(request));
      } catch (error) {
        element.complain(label("player-not-run", { reason: (error as Error).message }));
      }
    };
    if (mayRunUnasked()) await go();
    else element.viewer.offer = { source: request.source, accept: () => void go() };
  } catch (error) {
    element.complain(error instanceof SyntaxError ? label("player-damaged-value") : (error as Error).message);
  }
}

/** The conversation with the page round the frame; see `messages.ts`. */
function speak(element: PageElement, keys: URLSearchParams, signal: AbortSignal): void {
  const { viewer } = element;
  const host = window.parent;
  const deck = keys.get("deck") ?? new URLSearchParams(location.search).get("deck");
  /** A deck's plugin leads: its keys come back to it, and only it moves the walk. */
  let isLed = false;

  const tell = (message: Outbound): void => host.postMessage(writeMessage(message), "*");
  const tellReady = (): void => {
    const { stops, state } = viewer;
    tell({ type: "ready", steps: state.of, phases: stops.length, title: document.title, stops });
    if (state.place !== "0") tellStep();
  };
  const tellStep = (): void => {
    const { sentence, ...rest } = viewer.state;
    tell({ type: "step", ...rest, announce: sentence });
  };

  element.addEventListener("gradwalk-ready", tellReady, { signal });
  element.addEventListener("gradwalk-step", tellStep, { signal });
  element.addEventListener("gradwalk-problem", () => tell({ type: "error", code: "trace" }), { signal });
  element.addEventListener(
    "gradwalk-edge",
    (event) => {
      const { side } = (event as CustomEvent<{ side: "start" | "end" }>).detail;
      tell({ type: "edge", side });
      if (deck !== "reveal" || isLed) return;
      host.postMessage(JSON.stringify({ method: side === "end" ? "next" : "prev", args: [] }), "*");
      // The keys belong to the deck again; a frame of the next slide asks for them by itself.
      host.focus();
    },
    { signal },
  );

  const act = (message: Inbound): void => {
    switch (message.type) {
      case "hello":
        isLed = true;
        viewer.playing = false;
        if (element.isReady) tellReady();
        break;
      case "state?":
        if (element.isReady) tellReady();
        else tell({ type: "error", code: "not_ready" });
        break;
      case "goto":
        element.goTo(message.step === 0 ? "0" : `${message.step}.${message.phase}`);
        break;
      case "next":
        viewer.move("nextPhase");
        break;
      case "prev":
        viewer.move("previousPhase");
        break;
      case "play":
      case "pause":
        viewer.playing = message.type === "play";
        break;
      case "set": {
        const unreadable = SETTABLE.filter((name) => {
          const text = message.settings[name];
          return text !== undefined && !applySetting(viewer, name, text);
        });
        if (unreadable.length > 0) tell({ type: "error", code: `unreadable: ${unreadable.join(" ")}` });
        if (message.inputs !== null && !viewer.setInputs(message.inputs))
          tell({ type: "error", code: "replay_only" });
        break;
      }
      case "export":
        makeFile(element, message.kind).then(
          (file) => tell({ type: "export", ...file }),
          () => tell({ type: "error", code: `export: ${message.kind}` }),
        );
        break;
    }
  };

  addEventListener(
    "message",
    ({ data, source }) => {
      if (source !== host) return;
      // reveal.js says these to every frame of a slide.
      if (data === "slide:stop") viewer.playing = false;
      if (data === "slide:start" && deck === "reveal" && !isLed && viewer.keys) window.focus();
      const reading = readMessage(data);
      if (reading.kind === "message") act(reading.message);
      else if (reading.kind === "unreadable") tell({ type: "error", code: "unreadable" });
    },
    { signal },
  );
  addEventListener(
    "keydown",
    (event: KeyboardEvent) => {
      if (!isLed || isClaimed(event.composedPath()[0] ?? null, event.key)) return;
      const command = commandOf(event, false);
      if (command !== "nextPhase" && command !== "previousPhase") return;
      event.preventDefault();
      event.stopPropagation();
      tell({ type: "key", move: command === "nextPhase" ? "next" : "prev" });
    },
    { capture: true, signal },
  );
  // With the keys off a click must not take them from the deck.
  addEventListener("pointerup", () => viewer.keys || host.focus(), { signal });
  tellHeights(element, tell, host, signal);
}

/** A file of the trace from the server that it came from; a still is of the place on show. */
async function makeFile(element: PageElement, kind: Kind) {
  const { started } = element.viewer.trace;
  if (started === null) throw new Error("there is no trace yet");
  const { direction, step, phase } = element.viewer.position;
  const query = new URLSearchParams({ direction, step: String(step), phase: String(PLACES[phase]) });
  const answer = await fetch(new URL(`/api/traces/${started.id}/export/${kind}?${query}`, document.baseURI), {
    credentials: "omit",
  });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  const media_type = answer.headers.get("Content-Type") ?? "";
  return { kind, media_type, body: await answer.arrayBuffer() };
}

/** The height that everything would have room in; it depends on the width alone, so that no host can chase it. */
function tellHeights(
  element: PageElement,
  tell: (message: Outbound) => void,
  host: Window,
  signal: AbortSignal,
): void {
  let told = 0;
  let width = 0;
  let isAsked = false;
  const look = (): void => {
    isAsked = false;
    if (innerWidth !== width) told = 0;
    width = innerWidth;
    const parts = [...(element.shadowRoot?.querySelectorAll(".head, .narration, .transport") ?? [])];
    const chrome = parts.reduce((sum, part) => sum + part.getBoundingClientRect().height, 0);
    const height = Math.ceil(chrome + (width < NARROW_PX ? NARROW_STAGE_PX : STAGE_PX));
    // A sentence of two lines makes room once; the page round the frame does not hop with every step.
    if (height <= told) return;
    told = height;
    tell({ type: "resize", height });
    host.postMessage({ subject: "lti.frameResize", height }, "*");
  };
  const observer = new ResizeObserver(() => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(look);
  });
  const observe = (): void => {
    observer.observe(document.documentElement);
    for (const part of element.shadowRoot?.querySelectorAll(".head, .narration, .transport") ?? [])
      observer.observe(part);
  };
  element.addEventListener("gradwalk-ready", observe, { signal });
  observe();
  signal.addEventListener("abort", () => observer.disconnect());
}
