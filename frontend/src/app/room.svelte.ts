/**
 * One's place in a live room: presenting it, following it, or away with something of one's own.
 *
 * The room knows states only. A presenter's page tells the newest one at most ten times a second; a follower's page
 * takes over each state while it follows, and keeps what was tried meanwhile for the next time.
 */
import { formatPosition, parsePosition } from "../model/position";
import type { Question } from "../model/questions";
import { keep, recall } from "../render/kept";
import { fetchDocument } from "../stream/document";
import {
  closeRoom,
  followRoom,
  openRoom,
  presentState,
  type RoomKey,
  type RoomQuestion,
  type RoomView,
  readCode,
  type Shown,
  sendAnswer,
  sendPresence,
} from "../stream/room";
import { label, markedUp } from "../words/say";
import { tell } from "../words/tell";
import type { Address } from "./address";
import type { Session } from "./session.svelte";

export type Role = "presenter" | "follower";

/** What the page shows besides its session. */
export interface Showing {
  readonly question: Question | null;
  /** The question was answered on the presenter's page: the hall may see. */
  readonly revealed: boolean;
  readonly speed: number;
}

/** What a room's address says: the room, and for the second screen its secret. */
export function placeOf({
  pathname,
  hash,
}: Pick<Location, "pathname" | "hash">): { code: string; screen: string | null } | null {
  const code = readCode(/^\/room\/([^/]+)\/?$/.exec(pathname)?.[1] ?? "");
  return code === null ? null : { code, screen: new URLSearchParams(hash.slice(1)).get("screen") };
}

const TELL_EVERY_MS = 100;
const FETCH_MS = 30_000;
const PROMPT_CHARACTERS = 500;
/** The room's code and who one is in it: the same over reloads of one tab, so that nobody is counted twice. */
const SEAT = "gradwalk.seat";
/** The presenter's key, so that a reload does not end the lecture. */
const PRESENTS = "gradwalk.presents";

export class LiveRoom {
  view = $state.raw<RoomView | null>(null);
  connected = $state(true);
  /** A follower that tries something of its own. */
  detached = $state(false);
  /** What a follower tried, to come back to. */
  variant = $state.raw<Address | null>(null);
  /** Something to tell: a sentence. */
  trouble = $state<string | null>(null);
  key = $state.raw<RoomKey | null>(null);
  readonly role = $derived.by((): Role | null => {
    if (this.key === null) return null;
    return this.key.secret === null ? "follower" : "presenter";
  });

  private listening: AbortController | null = null;
  private told = "";
  private pending: Shown | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** The last state on its way. */
  private telling: Promise<void> = Promise.resolve();

  constructor(private readonly session: Session) {}

  readonly isFollowing = $derived.by(() => this.role === "follower" && !this.detached);
  /** The hall is asked, and its answers are not on show yet. */
  readonly openQuestion = $derived.by((): RoomQuestion | null => {
    const shown = this.view?.shown;
    return shown === undefined || shown.revealed ? null : shown.question;
  });

  private readonly fail = (error: unknown): void => {
    this.trouble = error instanceof Error ? error.message : label("page-went-wrong");
  };

  async open(showing: Showing): Promise<void> {
    const shown = this.shownNow(showing);
    const key = await openRoom(shown).catch(this.fail);
    if (key === undefined) return;
    this.key = key;
    this.told = JSON.stringify(shown);
    keep("sessionStorage", PRESENTS, JSON.stringify([key.code, key.secret]));
    this.listen(key);
  }

  /** Comes in with a code, or comes back as the presenter with the secret too. */
  join(code: string, secret: string | null = null): void {
    const [room, participant] = (recall("sessionStorage", SEAT) ?? "").split(" ");
    this.key = { code, secret, participant: secret === null && room === code ? (participant ?? null) : null };
    this.listen(this.key);
  }

  /** Comes back as the presenter of the room that this tab opened, after a reload. */
  resumePresenting(): void {
    const [code, secret]: unknown[] = JSON.parse(recall("sessionStorage", PRESENTS) ?? "[]");
    if (typeof code === "string" && typeof secret === "string") this.join(code, secret);
  }

  leave(): void {
    if (this.role === "presenter") keep("sessionStorage", PRESENTS, null);
    this.listening?.abort();
    this.listening = null;
    this.view = null;
    this.key = null;
    this.detached = false;
    this.connected = true;
  }

  async close(): Promise<void> {
    const { key, telling } = this;
    this.leave();
    // What is still on its way must not find the room gone.
    await telling;
    if (key !== null) await closeRoom(key).catch(() => {});
  }

  /** Tells the hall what the presenter's page shows now; the newest wins. */
  tell(showing: Showing): void {
    if (this.role !== "presenter" || this.key === null || this.view === null) return;
    this.pending = this.shownNow(showing);
    if (this.timer === null) this.tellPending();
  }

  /** Goes off to try something; what the presenter does is not taken over until one comes back. */
  detach(): void {
    if (!this.isFollowing) return;
    this.detached = true;
    this.sayPresence();
  }

  /** Back to where the presenter is, keeping what was tried. */
  reattach(): void {
    if (!this.detached) return;
    this.variant = { ...this.session.address };
    this.detached = false;
    this.sayPresence();
    if (this.view !== null) void this.takeOver(this.view);
  }

  /** What was tried before. */
  resume(): void {
    const { variant } = this;
    if (variant === null) return;
    this.detach();
    this.session.open(variant);
    this.session.runOpened();
  }

  /** Sends a prediction to the hall. */
  answer(question: string, text: string): void {
    if (this.key !== null) sendAnswer(this.key, question, text).catch(this.fail);
  }

  private shownNow({ question, revealed, speed }: Showing): Shown {
    const { session } = this;
    return {
      trace: session.trace.started?.id ?? null,
      position: formatPosition(session.position),
      speed,
      question: question && { id: question.id, prompt: promptOf(question).slice(0, PROMPT_CHARACTERS) },
      revealed,
    };
  }

  private tellPending(): void {
    const { key, pending } = this;
    this.pending = null;
    this.timer = null;
    const text = JSON.stringify(pending);
    if (key === null || pending === null || text === this.told) return;
    this.told = text;
    this.timer = setTimeout(() => this.tellPending(), TELL_EVERY_MS);
    this.telling = presentState(key, pending).then(
      () => {},
      (error) => {
        this.told = "";
        this.fail(error);
      },
    );
  }

  private listen(key: RoomKey): void {
    this.trouble = null;
    const listening = new AbortController();
    this.listening = listening;
    void followRoom(key, {
      signal: listening.signal,
      onconnected: (connected) => {
        this.connected = connected;
        if (connected && this.detached) this.sayPresence();
      },
      onseated: (participant) => {
        this.key = { ...key, participant };
        keep("sessionStorage", SEAT, `${key.code} ${participant}`);
      },
      onview: (view) => {
        const before = this.view;
        this.view = view;
        if (this.isFollowing && before?.revision !== view.revision) void this.takeOver(view);
      },
    }).then((end) => {
      if (end === null) return;
      this.leave();
      this.trouble = end;
    });
  }

  /** Stands where the presenter stands: the same trace, the same place. */
  private async takeOver(view: RoomView): Promise<void> {
    const { session } = this;
    const { trace, question } = view.shown;
    session.view = { ...session.view, predict: question !== null };
    if (trace !== null && trace !== session.trace.started?.id) {
      const found = await fetchDocument(trace, AbortSignal.timeout(FETCH_MS)).catch(() => null);
      // Meanwhile one may have gone off, and the presenter on to another program.
      if (!this.isFollowing || this.view?.shown.trace !== trace) return;
      if (found === null) {
        this.trouble = label("page-room-no-program");
        return;
      }
      session.adopt(found);
    }
    const position = parsePosition(this.view?.shown.position ?? "");
    if (position !== null) session.goTo(position);
  }

  private sayPresence(): void {
    if (this.key !== null) sendPresence(this.key, !this.detached).catch(() => {});
  }
}

function promptOf({ lead, prompt }: Question): string {
  return `${lead ?? ""} ${markedUp(tell(prompt))}`.trim();
}
