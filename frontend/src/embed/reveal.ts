/**
 * The reveal.js plugin, served as `/kit/reveal.js` (global `RevealGradwalk`) and `/kit/reveal.mjs`: every phase of a
 * `<grad-walk>` is a fragment of its slide. So the deck's own keys, its speaker view, its followers, its links and its
 * print view walk the backward pass, and nothing has to be kept in step by us.
 *
 * A frame of an embed page becomes an element: a frame cannot be printed and takes the deck's keys.
 */
import type { GradWalkElement } from "./element";

/** The part of reveal.js' API that is used, the same in 4, 5 and 6. */
interface Deck {
  getSlidesElement: () => HTMLElement;
  getConfig: () => { gradwalk?: Config; hashOneBasedIndex?: boolean };
  getIndices: (slide?: Element) => { h: number; v: number; f?: number };
  slide: (h: number, v: number, f?: number) => void;
  sync: () => void;
  on: (event: string, listener: (event: Event) => void) => void;
  off: (event: string, listener: (event: Event) => void) => void;
}

interface Config {
  /** Address of the player's module; beside this script by default. */
  module?: string;
  /** How long the deck waits for traces before it starts without them. */
  patience_ms?: number;
}

interface Plugin {
  readonly id: string;
  init: (deck: Deck) => Promise<void>;
  destroy: () => void;
}

const PATIENCE_MS = 6000;
const EMBED = /^(.*)\/embed\/([0-9a-f]{40})\/?$/;
const HIDDEN_IN_PRINT = "link,program,table,transport,zoom";
const OUT_OF_SIGHT =
  "position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%);white-space:nowrap";
/** The plugin may stand in the page itself. */
const HERE = (document.currentScript as HTMLScriptElement | null)?.src || import.meta.url || document.baseURI;

export default function RevealGradwalk(): Plugin {
  const embeds: GradWalkElement[] = [];
  const ends: (() => void)[] = [];
  return {
    id: "gradwalk",
    async init(deck) {
      const { module = new URL("gradwalk.js", HERE).href, patience_ms = PATIENCE_MS } =
        deck.getConfig().gradwalk ?? {};
      const slides = deck.getSlidesElement();
      for (const frame of slides.querySelectorAll("iframe")) replaceFrame(frame);
      const found = [...slides.querySelectorAll<GradWalkElement>("grad-walk")];
      if (found.length === 0) return;
      if (customElements.get("grad-walk") === undefined) await import(/* @vite-ignore */ module);
      const isPrinting = /print-pdf|view=print/i.test(location.search);
      found.forEach((element, index) => {
        element.dataset.gradwalk = String(index);
        element.setAttribute("keys", "off");
        if (isPrinting) element.setAttribute("hide", HIDDEN_IN_PRINT);
        ends.push(keepSliders(element));
      });
      // A trace that comes too late gets its fragments then; the lecture does not wait for it.
      let hasStarted = false;
      const goBack = keepAddress(deck);
      const arrive = async (element: GradWalkElement): Promise<void> => {
        await whenReady(element);
        if (!addStops(element) || !hasStarted) return;
        deck.sync();
        goBack();
      };
      await Promise.race([
        Promise.all(found.map(arrive)),
        new Promise((resolve) => setTimeout(resolve, patience_ms)),
      ]);
      hasStarted = true;
      embeds.push(...found);
      listen(deck, embeds, ends);
      if (isPrinting) hear(deck, ends, "pdf-ready", () => void print(embeds));
    },
    destroy() {
      for (const end of ends) end();
    },
  };
}

/** Once a late trace has its fragments: to the one that the deck's address named, unless somebody has moved since. */
function keepAddress(deck: Deck): () => void {
  const named = /^#\/(\d+)\/(\d+)\/(\d+)$/.exec(location.hash)?.slice(1).map(Number) ?? [];
  const base = deck.getConfig().hashOneBasedIndex ? 1 : 0;
  const [h = 0, v = 0, f] = named;
  return () => {
    const now = deck.getIndices();
    if (f === undefined || now.h !== h - base || now.v !== v - base || (now.f ?? -1) >= 0) return;
    deck.slide(now.h, now.v, f);
  };
}

/** `<iframe src=".../embed/ID?s=3.2">` as an element with the same settings. */
function replaceFrame(frame: HTMLIFrameElement): void {
  const address = frame.getAttribute("src") ?? frame.dataset.src;
  if (!address) return;
  const url = new URL(address, document.baseURI);
  const match = EMBED.exec(url.origin + url.pathname);
  if (match === null) return;
  const [, base, snippet] = match;
  const element = document.createElement("grad-walk");
  element.setAttribute("src", `${base}/embed/${snippet}/trace.json`);
  const keys = [...url.searchParams, ...new URLSearchParams(url.hash.slice(1))];
  for (const [name, text] of keys) {
    if (["deck", "keys"].includes(name)) continue;
    element.setAttribute(name === "s" ? "step" : name, text);
  }
  if (frame.title !== "") element.setAttribute("heading", frame.title);
  for (const side of ["width", "height"] as const) {
    const given = frame.style[side] || frame.getAttribute(side);
    if (given) element.style[side] = /^\d+$/.test(given) ? `${given}px` : given;
  }
  frame.replaceWith(element);
}

/** The deck turns the pages: an arrow on a focused slider must not turn one more. */
function keepSliders(element: GradWalkElement): () => void {
  const keep = (event: KeyboardEvent): void => {
    const target = event.composedPath()[0];
    if (target instanceof HTMLInputElement && target.type === "range" && event.key !== "Tab")
      event.preventDefault();
  };
  element.addEventListener("keydown", keep, { capture: true });
  return () => element.removeEventListener("keydown", keep, { capture: true });
}

function whenReady(element: GradWalkElement): Promise<void> {
  if (element.isReady) return Promise.resolve();
  return new Promise((resolve) =>
    element.addEventListener("gradwalk-ready", () => resolve(), { once: true }),
  );
}

/** The stops from the one it opens at: those before it belong to another slide. */
function stopsOf(element: GradWalkElement): readonly string[] {
  const { stops } = element;
  const from = element.hasAttribute("steps")
    ? 0
    : Math.max(0, stops.indexOf(element.stopAt(element.getAttribute("step") ?? "") ?? ""));
  return stops.slice(from);
}

/** A fragment per stop after the first, with the sentence that reveal.js reads out when it shows one. */
function addStops(element: GradWalkElement): boolean {
  const stops = stopsOf(element);
  const group = element.dataset.gradwalk ?? "";
  const parent = element.parentElement;
  if (parent === null || parent.querySelector(`[data-gradwalk-for="${group}"]`) !== null) return false;
  const fragments = stops.slice(1).map((place) => {
    const fragment = document.createElement("span");
    fragment.className = "fragment gradwalk-stop";
    fragment.style.cssText = OUT_OF_SIGHT;
    fragment.dataset.gradwalkFor = group;
    fragment.dataset.gradwalkPlace = place;
    fragment.textContent = element.sentenceAt(place);
    return fragment;
  });
  element.after(...fragments);
  return true;
}

function fragmentsOf(element: Element, root: ParentNode): HTMLElement[] {
  const group = (element as HTMLElement).dataset.gradwalk ?? "";
  return [...root.querySelectorAll<HTMLElement>(`[data-gradwalk-for="${group}"]`)];
}

/** Where the deck's fragments say that an element stands. */
function placeOf(element: GradWalkElement, root: ParentNode): string {
  const shown = fragmentsOf(element, root).filter((fragment) => fragment.classList.contains("visible"));
  return shown.at(-1)?.dataset.gradwalkPlace ?? firstStops.get(element) ?? "0";
}

/** The first stop, as it was before the element began to move. */
const firstStops = new WeakMap<Element, string>();

function hear(deck: Deck, ends: (() => void)[], name: string, listener: (event: Event) => void): void {
  deck.on(name, listener);
  ends.push(() => deck.off(name, listener));
}

function listen(deck: Deck, embeds: readonly GradWalkElement[], ends: (() => void)[]): void {
  for (const element of embeds) firstStops.set(element, stopsOf(element)[0] ?? "0");
  let isFollowing = false;
  const follow = (): void => {
    isFollowing = true;
    for (const element of embeds) {
      const section = element.closest("section");
      if (section !== null && element.isReady) element.goTo(placeOf(element, section));
    }
    isFollowing = false;
  };
  for (const name of ["ready", "slidechanged", "fragmentshown", "fragmenthidden", "resumed"]) {
    hear(deck, ends, name, follow);
  }
  for (const element of embeds) {
    element.addEventListener("gradwalk-ready", follow);
    // A click on the player's own buttons moves the deck, and with it every other window.
    element.addEventListener("gradwalk-step", (event) => {
      const { place } = (event as CustomEvent<{ place: string }>).detail;
      const section = element.closest("section");
      if (isFollowing || section === null || placeOf(element, section) === place) return;
      const fragments = fragmentsOf(element, section);
      const at = fragments.findIndex((fragment) => fragment.dataset.gradwalkPlace === place);
      const first = Number(fragments[0]?.dataset.fragmentIndex ?? "0");
      const index = at < 0 ? first - 1 : Number(fragments[at]?.dataset.fragmentIndex ?? "0");
      const { h, v } = deck.getIndices(section);
      deck.slide(h, v, index);
    });
  }
}

/** reveal.js has copied the slide for every fragment: each copy stands still at its own phase. */
async function print(embeds: readonly GradWalkElement[]): Promise<void> {
  const originals = new Map(embeds.map((element) => [element.dataset.gradwalk, element]));
  const pages = [...document.querySelectorAll(".pdf-page")];
  await Promise.all(
    pages.flatMap((page) =>
      [...page.querySelectorAll<GradWalkElement>("grad-walk")].map(async (element) => {
        const original = originals.get(element.dataset.gradwalk);
        if (original !== undefined) firstStops.set(element, firstStops.get(original) ?? "0");
        if (original?.trace && element !== original) element.trace = original.trace;
        element.setAttribute("step", placeOf(element, page));
        await whenReady(element);
      }),
    ),
  );
  document.documentElement.dataset.gradwalkPrint = "ready";
}
