/**
 * `<grad-walk>`: a backward pass on any page. Attributes for what is text, `.trace` for data; the children are seen
 * until the trace is there, and stay where no script runs.
 */
import { flushSync, mount, unmount } from "svelte";
import { clampPosition, formatPosition, parsePosition } from "../model/position";
import type { TraceState } from "../model/trace";
import theme from "../paint/theme.css?inline";
import { DecodeError } from "../protocol/decode";
import { useLanguage } from "../render/language.svelte";
import pieces from "../render/pieces.css?inline";
import { label } from "../words/say";
import { sentenceAt } from "../words/sentences";
import { takePage } from "./frame";
import { fetchText, openTrace, stayOffline } from "./load";
import { type Side, within } from "./moves";
import { Rerun, type Runner, readInputs, runnerOf } from "./rerun";
import { applySetting, SETTING_NAMES } from "./settings";
import ViewerBox from "./Viewer.svelte";
import { type StepDetail, Viewer } from "./viewer.svelte";

export const TAG = "grad-walk";

/** Where a page says `html { font-size: 62.5% }`, 1rem is 10px, too small to be read. */
const OWN_STYLE = `
:host{--rem:max(1rem,16px);all:initial;color-scheme:inherit;display:block;position:relative;width:100%;height:30rem;contain:layout style;break-inside:avoid}
:host([hidden]){display:none}
style+div{height:100%;direction:ltr}
`;
/** What an attribute says that is taken away; nothing where it is not here. */
const UNSET: Readonly<Record<string, string>> = {
  keys: "on",
  theme: "auto",
  projector: "off",
  inputs: "off",
};

export class GradWalkElement extends HTMLElement {
  static readonly observedAttributes = ["src", ...SETTING_NAMES];

  /** For the shells round the element, which say more about themselves than attributes can. */
  readonly viewer: Viewer;
  readonly #box: HTMLElement;
  /** What the author put inside, and why it is all there is. */
  readonly #fallback: HTMLElement;
  #mounted: Record<string, unknown> | null = null;
  #given: unknown = null;
  #asked = 0;
  #isReady = false;
  #letGo: (() => void) | null = null;

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.innerHTML = `<style>${theme}${pieces}${OWN_STYLE}</style><div></div><div><b></b><slot>`;
    [, this.#box, this.#fallback] = root.children as unknown as [Element, HTMLElement, HTMLElement];
    this.viewer = new Viewer({
      onstep: () => this.#tell("gradwalk-step", this.state),
      onedge: (side: Side) => this.#tell("gradwalk-edge", { side }),
    });
  }

  connectedCallback(): void {
    if (this.hasAttribute("offline")) stayOffline();
    if (!this.hasAttribute("lang")) this.#speakAsAround();
    this.#mounted ??= mount(ViewerBox, { target: this.#box, props: { viewer: this.viewer } });
    if (this.hasAttribute("page")) this.#letGo ??= takePage(this);
    this.#box.hidden = this.#hasFallback && !this.#isReady;
    if (!this.#isReady) void this.#load();
  }

  disconnectedCallback(): void {
    // An element that is only moved is connected again at once and keeps its place.
    queueMicrotask(() => {
      if (this.isConnected || this.#mounted === null) return;
      void unmount(this.#mounted);
      this.#mounted = null;
      this.#letGo?.();
      this.#letGo = null;
    });
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (name === "lang" && this.hasAttribute("offline")) stayOffline();
    if (name === "src") {
      if (this.isConnected && before !== after) {
        this.#forget();
        void this.#load();
      }
      return;
    }
    if (after === null && name === "lang") this.#speakAsAround();
    else applySetting(this.viewer, name, after ?? UNSET[name] ?? "");
  }

  /** The language of the text that it stands in. */
  #speakAsAround(): void {
    if (this.isConnected) void useLanguage(this.closest<HTMLElement>("[lang]")?.lang || "auto");
  }

  /** A trace document, as an object or as JSON text. */
  get trace(): unknown {
    return this.#given;
  }

  set trace(given: unknown) {
    this.#given = given;
    this.#forget();
    if (this.isConnected) void this.#load();
  }

  /** Another trace comes: what was set for the one before, and who could run it, are not its own. */
  #forget(): void {
    this.#isReady = false;
    this.viewer.trouble = null;
    this.viewer.inputs = {};
    this.viewer.rerun = null;
  }

  /** Where it stands. */
  get state(): StepDetail {
    return this.viewer.state;
  }

  /** Every place of the walk in order, `0`, `1.1`, `1.2`, ...; within `steps` where that is set. */
  get stops(): readonly string[] {
    return this.viewer.stops;
  }

  /** The stop that a place opens: itself, or the one before it; null for what is no place. */
  stopAt(place: string): string | null {
    const position = parsePosition(place);
    const { trace, range } = this.viewer;
    return position === null ? null : formatPosition(clampPosition(trace, within(position, range)));
  }

  /** What is said at a place, empty where there is none. */
  sentenceAt(place: string): string {
    const position = parsePosition(place);
    const { trace, options } = this.viewer;
    return position === null ? "" : sentenceAt(trace, clampPosition(trace, position), options.precision);
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Goes to a place such as `7.3`; false when the text names none. */
  goTo(place: string): boolean {
    const position = parsePosition(place);
    if (position === null) return false;
    this.viewer.playing = false;
    this.viewer.placeAt(position);
    return true;
  }

  next(): void {
    this.viewer.move("nextPhase");
  }

  previous(): void {
    this.viewer.move("previousPhase");
  }

  play(): void {
    this.viewer.playing = true;
  }

  pause(): void {
    this.viewer.playing = false;
  }

  /** Shows a trace that somebody else has folded, perhaps one that still grows. */
  showTrace(trace: TraceState): void {
    const { viewer } = this;
    if (!this.#isReady && !viewer.isPlaced) applySetting(viewer, "step", "0");
    viewer.trace = trace;
    this.#isReady = trace.finished !== null;
    this.#fallback.remove();
    this.#box.hidden = false;
    if (!this.#isReady) return;
    flushSync();
    const { stops, state } = this;
    this.#tell("gradwalk-ready", { ...state, steps: state.of, phases: stops.length, stops });
  }

  /** From now on the program can be run with other inputs, where the author allows it. */
  takeRunner(runner: Runner): void {
    const { viewer } = this;
    const rerun = new Rerun(
      runner,
      (trace) => {
        if (viewer.rerun !== rerun) return;
        viewer.trouble = null;
        this.showTrace(trace);
      },
      (sentence) => {
        if (viewer.rerun === rerun) this.complain(sentence);
      },
    );
    viewer.rerun = rerun;
  }

  /** Runs the program with these inputs beside those set before; false where that cannot be. */
  setInputs(inputs: unknown): boolean {
    const read = readInputs(inputs);
    return read !== null && this.viewer.setInputs(read);
  }

  /** Shows a trouble in words, in the place of a picture or above it: an empty player is worth less than a still. */
  complain(sentence: string): void {
    this.viewer.trouble = sentence;
    const reason = this.#fallback.firstChild as HTMLElement;
    if (this.#box.hidden) [reason.textContent, reason.role] = [sentence, "alert"];
    this.#tell("gradwalk-problem", { sentence });
  }

  get #hasFallback(): boolean {
    return this.querySelector(":scope > :not(script, noscript)") !== null;
  }

  /** False: the trace comes from elsewhere, such as a frame's address. */
  get hasOwnData(): boolean {
    return this.#given !== null || this.#jsonChild !== null || this.hasAttribute("src");
  }

  get #jsonChild(): Element | null {
    return this.querySelector('script[type="application/json"]');
  }

  async #load(): Promise<void> {
    this.#asked += 1;
    const asked = this.#asked;
    try {
      const text = await this.#findText();
      if (text === null || asked !== this.#asked) return;
      const trace = await openTrace(text, this.hasAttribute("offline"));
      if (asked !== this.#asked) return;
      this.showTrace(trace);
    } catch (error) {
      if (asked !== this.#asked) return;
      this.complain(
        error instanceof DecodeError
          ? label("player-not-shown", { reason: error.message })
          : label("player-unreachable"),
      );
    }
  }

  /** From the property, else a JSON child, else the address; null while there is none of them. */
  async #findText(): Promise<string | null> {
    if (typeof this.#given === "string") return this.#given;
    if (this.#given !== null && this.#given !== undefined) return JSON.stringify(this.#given);
    if (this.#jsonChild !== null) return this.#jsonChild.textContent;
    const address = this.getAttribute("src");
    if (address === null) return null;
    const { href } = new URL(address, document.baseURI);
    const runner = runnerOf(href);
    if (runner !== null) this.takeRunner(runner);
    return fetchText(href);
  }

  #tell(name: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}

/** Once per page, however many copies of this module it loads. */
export function defineElement(): void {
  if (customElements.get(TAG) === undefined) customElements.define(TAG, GradWalkElement);
}
