/** How a program comes to the page: from a room's address, a link, an example, or the first example of all. */
import { mayRunUnasked } from "../embed/run";
import { type Position, parsePosition } from "../model/position";
import { type Example, fetchExamples } from "../stream/examples";
import { fetchSnippet, snippetOf } from "../stream/snippet";
import { label } from "../words/say";
import { type Address, EMPTY_ADDRESS, languageIn, readAddress, settingsIn } from "./address";
import { type LiveRoom, placeOf } from "./room.svelte";
import type { Session } from "./session.svelte";

const FETCH_MS = 20_000;

export class Opening {
  examples = $state.raw<readonly Example[]>([]);
  examplesFailed = $state(false);
  linkTrouble = $state<string | null>(null);
  /** True while a program from elsewhere waits for somebody to press Run. */
  waiting = $state(false);
  /** True once there is a program. */
  opened = $state(false);
  /** What stood in the address bar when the page read or wrote it last: anything else is a link that is still to be read. */
  hash = location.hash;
  /** Addresses may change faster than one is read: only the last that came is opened. */
  private latest = 0;

  constructor(
    private readonly session: Session,
    private readonly room: LiveRoom,
  ) {
    // Before anything is said: the rest of the address takes a while to read.
    const language = languageIn(location.hash);
    if (language !== null) session.view.language = language;
  }

  async loadExamples(): Promise<void> {
    try {
      this.examples = await fetchExamples(AbortSignal.timeout(FETCH_MS));
      this.examplesFailed = false;
    } catch {
      this.examplesFailed = true;
    }
  }

  /** Takes over what the address bar says; without anything there, the first example is already running. */
  async openAddress(): Promise<void> {
    this.hash = location.hash;
    const place = placeOf(location);
    if (place !== null) {
      if (this.room.key === null) this.enterRoom(place.code);
      return;
    }
    if (this.room.key === null) this.room.resumePresenting();
    this.latest += 1;
    const turn = this.latest;
    const { address: written, trouble } = await readAddress(location.hash);
    if (turn !== this.latest) return;
    this.linkTrouble = trouble;
    const address = await this.withSnippet(written);
    if (address.source === null && this.examples.length === 0) await this.loadExamples();
    if (turn !== this.latest) return;
    // Who has begun to write meanwhile goes on writing.
    if (!this.opened && this.session.source !== "") this.opened = true;
    else if (address.source === null) this.openExample(address);
    else await this.openProgram(address, address.source);
  }

  private enterRoom(code: string): void {
    this.room.join(code);
    this.opened = true;
    void this.loadExamples();
  }

  private async openProgram(address: Address, source: string): Promise<void> {
    this.session.open(address);
    this.opened = true;
    this.waiting = !mayRunUnasked();
    if (!this.waiting) this.session.runOpened();
    if (this.examples.length === 0) await this.loadExamples();
    if (this.session.source !== source) return;
    this.session.example = this.examples.find((example) => example.source === source) ?? null;
    // A shipped program is as good as our own.
    if (this.waiting && this.session.example !== null) this.run();
  }

  private openExample(address: Address): void {
    const asked = this.examples.find(({ slug }) => slug === address.example);
    const example = asked ?? this.examples[0];
    if (example === undefined) return;
    const name = asked === undefined ? address.example : null;
    const trouble = name === null ? this.linkTrouble : label("page-example-unknown", { name });
    this.pick(example, address.position, address.chain);
    this.linkTrouble = trouble;
    this.session.nudge = address.nudge;
    this.session.view = { ...this.session.view, ...address.view };
  }

  /** The program of a permalink `/t/...`, where the hash brings none. */
  private async withSnippet(address: Address): Promise<Address> {
    const snippet = snippetOf(location.pathname);
    if (snippet === null || address.source !== null) return address;
    const request = await fetchSnippet(snippet, AbortSignal.timeout(FETCH_MS)).catch(() => null);
    if (request === null) {
      this.linkTrouble = label("page-link-unknown");
      return address;
    }
    // A short link names its step in the query, which the server needs for the link's preview.
    const position = address.position ?? parsePosition(new URLSearchParams(location.search).get("s") ?? "");
    return { ...address, ...settingsIn(request.options), position, source: request.source };
  }

  /** Opens and runs a shipped program, before its first step or at `at`, with a chain or without. */
  pick(example: Example, at: Position | null = null, chain: string | null = null): void {
    this.session.open({
      ...EMPTY_ADDRESS,
      ...settingsIn(example.options),
      source: example.source,
      position: at,
      chain,
    });
    this.session.example = example;
    this.opened = true;
    this.waiting = false;
    this.linkTrouble = null;
    this.session.runOpened();
  }

  /** Run was pressed. */
  run(): void {
    if (this.waiting) {
      this.waiting = false;
      this.session.runOpened();
    } else {
      this.session.run();
    }
  }
}
