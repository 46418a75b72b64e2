/**
 * Request in, events out.
 *
 * The events of a run travel as SSE on the answer to the POST itself. When that answer is only an id (a proxy
 * that does not stream, a trace that is known already) they are fetched by id. When the line breaks, the same
 * stream is asked for again after the last event that arrived; an event that comes twice is left out, so the
 * reader sees every event exactly once and in order, whatever the network does.
 *
 * `fetch` reads both streams, not the browser's `EventSource`: that one cannot POST and cannot be told the
 * first `Last-Event-ID`.
 */
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { DecodeError, Decoder, decodeDocument } from "../protocol/decode";
import { fact } from "../protocol/facts";
import type { Event, Fact, Problem } from "../protocol/trace.gen";
import { hasMessage, textOf } from "../words/say";
import { tell } from "../words/tell";

/** A number or nested lists of numbers; non-finite ones spelled "NaN", "Infinity", "-Infinity". */
export type Nested = number | string | boolean | Nested[];

/** What sets an input: its value, or the value with more about it. */
export type InputValue = Nested | { value: Nested; requires_grad?: boolean; dtype?: string };

export interface TraceOptions {
  inputs?: Record<string, InputValue>;
  grad_output?: Nested;
  seed?: number;
  /** Backward passes to record, by number from 0; the server chooses where nothing is said. */
  passes?: number[];
  limits?: { steps?: number; elements?: number; jacobian_cells?: number };
}

export interface TraceRequest {
  source: string;
  options: TraceOptions;
}

/** What is going on while no event arrives. */
export type Status =
  | { kind: "connecting" }
  | { kind: "queued"; ahead: number | null }
  | { kind: "running" }
  | { kind: "busy"; retryInSeconds: number }
  | { kind: "offline"; retryInSeconds: number };

/** How a run ended. `refused` is the server's answer to a request that it will not run, told as a problem. */
export type Outcome =
  | { kind: "finished"; id: string | null }
  | { kind: "refused"; problem: Problem }
  | { kind: "aborted" };

export interface Listeners {
  onevents: (events: Event[]) => void;
  onstatus: (status: Status) => void;
  signal: AbortSignal;
  /** Where the API lives; the page's own origin when left out. */
  base?: string;
  /** Pauses between attempts after the network failed; the last one repeats. */
  backoffMs?: readonly number[];
}

const BACKOFF_MS = [250, 500, 1000, 2000, 5000];
const BUSY_SECONDS = 2;

/**
 * Runs one program and hands over its events as they arrive. Retries by itself while the server is busy or out
 * of reach; never rejects for anything the network or the server does.
 */
export async function runTrace(request: TraceRequest, listeners: Listeners): Promise<Outcome> {
  const run = new Run(listeners);
  for (let failures = 0; ; ) {
    const before = run.lastSeq;
    try {
      const outcome = await attempt(request, run, listeners);
      if (outcome === "broken") throw new TypeError("the stream ended early");
      if (outcome !== "again") return outcome;
    } catch (error) {
      if (listeners.signal.aborted) return { kind: "aborted" };
      if (error instanceof DecodeError)
        return {
          kind: "refused",
          problem: newProblem("protocol", fact("problem-unreadable", { reason: error.message })),
        };
      if (!(error instanceof TypeError)) throw error;
      failures = run.lastSeq > before ? 0 : failures + 1;
      const pauses = listeners.backoffMs ?? BACKOFF_MS;
      const pause = pauses[Math.min(failures, pauses.length) - 1] ?? pauses[0] ?? 0;
      listeners.onstatus({ kind: "offline", retryInSeconds: pause / 1000 });
      await waitForNetwork(pause, listeners.signal);
    }
    if (listeners.signal.aborted) return { kind: "aborted" };
  }
}

/** What is known of a run over all its connections. */
class Run {
  id: string | null = null;
  private readonly decoder = new Decoder();
  isFinished = false;

  constructor(private readonly listeners: Listeners) {}

  /** The `seq` of the last event, -1 before the first. */
  get lastSeq(): number {
    return this.decoder.count - 1;
  }

  /** How it ended, once nothing more will come. */
  outcome(): Outcome {
    if (this.isFinished) return { kind: "finished", id: this.id };
    // A new server began it anew, and there it ended before the point that had been read.
    return { kind: "refused", problem: newProblem("internal", fact("problem-lost")) };
  }

  acceptBatch(text: string): void {
    this.accept(this.decoder.readBatch(text));
  }

  acceptDocument(text: string): void {
    this.accept(decodeDocument(text).events.slice(this.decoder.count));
  }

  private accept(fresh: Event[]): void {
    if (fresh.length === 0) return;
    for (const event of fresh) {
      if (event.type === "started") this.id = event.id;
      if (event.type === "finished") this.isFinished = true;
    }
    this.listeners.onevents(fresh);
  }
}

async function attempt(
  request: TraceRequest,
  run: Run,
  listeners: Listeners,
): Promise<Outcome | "again" | "broken"> {
  if (run.lastSeq < 0) listeners.onstatus({ kind: "connecting" });
  const response = await ask(request, run, listeners);
  if (response.status === 429 || (response.status === 503 && response.headers.has("retry-after"))) {
    await waitWhileBusy(response, listeners);
    return "again";
  }
  if (response.status === 204) return run.outcome();
  // An id that has been evicted between two connections: the same request makes the same trace again.
  if (response.status === 404 && run.id !== null && run.lastSeq >= 0) {
    run.id = null;
    return "broken";
  }
  if (response.status >= 500 && response.status !== 500 && response.status !== 501) return "broken";
  if (!response.ok) return { kind: "refused", problem: await problemOf(response) };
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) return readStream(response, run, listeners);
  return readAnswer(response, run, listeners);
}

function ask(request: TraceRequest, run: Run, { signal, base = "" }: Listeners): Promise<Response> {
  if (run.id !== null) {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (run.lastSeq >= 0) headers["Last-Event-ID"] = String(run.lastSeq);
    return fetch(`${base}/api/traces/${run.id}/events`, { headers, signal });
  }
  return fetch(`${base}/api/traces`, {
    method: "POST",
    headers: { Accept: "text/event-stream", "Content-Type": "application/json" },
    body: JSON.stringify(request),
    signal,
  });
}

async function readStream(response: Response, run: Run, listeners: Listeners): Promise<Outcome | "broken"> {
  let done = false;
  await readEvents(response, ({ event, data }) => {
    if (event === "batch") run.acceptBatch(data);
    else if (event === "done") done = true;
    else if (event === "status") reportStatus(data, listeners);
  });
  return done || run.isFinished ? run.outcome() : "broken";
}

/** Hands over the server-sent events of an answer until it ends or the line breaks. */
export async function readEvents(
  { body }: Response,
  onEvent: (message: EventSourceMessage) => void,
): Promise<void> {
  const parser = createParser({ onEvent });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read())
    parser.feed(part.value);
}

/** The answer without a stream: 202 with the id of a run under way, 200 with the id of a known trace. */
async function readAnswer(response: Response, run: Run, listeners: Listeners): Promise<Outcome | "again"> {
  const answer: unknown = await response.json();
  const id = typeof answer === "object" && answer !== null && "id" in answer ? answer.id : null;
  if (typeof id !== "string") throw new DecodeError("the answer has no id");
  run.id = id;
  if (response.status === 202) return "again";
  const document = await fetch(`${listeners.base ?? ""}/api/traces/${id}`, { signal: listeners.signal });
  if (document.status !== 200) return "again";
  run.acceptDocument(await document.text());
  return { kind: "finished", id };
}

function reportStatus(data: string, { onstatus }: Listeners): void {
  const { state, ahead } = JSON.parse(data) as { state?: string; ahead?: number };
  if (state === "queued") onstatus({ kind: "queued", ahead: ahead ?? null });
  else if (state === "running") onstatus({ kind: "running" });
}

async function waitWhileBusy(response: Response, { onstatus, signal }: Listeners): Promise<void> {
  const asked = Number(response.headers.get("retry-after"));
  const seconds = Number.isFinite(asked) && asked > 0 ? asked : BUSY_SECONDS;
  for (let left = Math.ceil(seconds); left > 0 && !signal.aborted; left -= 1) {
    onstatus({ kind: "busy", retryInSeconds: left });
    await pause(Math.min(1, seconds) * 1000, signal);
  }
}

/** `application/problem+json` as a problem event, so that it ends as a card like any other. */
export async function problemOf(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null);
  const answer = (typeof body === "object" && body !== null ? body : {}) as Refusal;
  const { kind, words } = answer;
  const problem = newProblem(
    response.status === 413
      ? "too_big"
      : response.status >= 500
        ? "internal"
        : isText(kind)
          ? kind
          : "protocol",
    factOf(answer, response),
  );
  return isText(words) ? { ...problem, words } : problem;
}

/** In the language of the page, where that has words for it; else as the server told it. */
function factOf({ fact: given, title, detail, hint }: Refusal, response: Response): Fact {
  if (given !== undefined && hasMessage(given.kind)) return given;
  if (!isText(title) || !isText(detail)) return fact("problem-answered", { status: statusOf(response) });
  return isText(hint)
    ? fact("problem-told-hint", { title, text: detail, hint })
    : fact("problem-told", { title, text: detail });
}

/** What an error answer holds; its `fact` is what the other members say in the language that was asked for. */
export interface Refusal {
  readonly title?: unknown;
  readonly detail?: unknown;
  readonly kind?: unknown;
  readonly hint?: unknown;
  readonly fact?: Fact;
  readonly words?: unknown;
}

/** The sentence of an error answer, null where it has none. */
export function sentenceOf({ fact: given, detail }: Refusal): string | null {
  if (given !== undefined && hasMessage(given.kind)) return textOf(tell(given));
  return isText(detail) ? detail : null;
}

/** `404 Not Found`. */
export function statusOf({ status, statusText }: Response): string {
  return `${status} ${statusText}`.trimEnd();
}

export function newProblem(kind: string, given: Fact): Problem {
  return { seq: 0, type: "problem", kind: kind as Problem["kind"], fact: given, span: null };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Ends early when the run is called off. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/** A pause that also ends when the browser says it is online again. */
async function waitForNetwork(ms: number, signal: AbortSignal): Promise<void> {
  const online = new AbortController();
  const wake = () => online.abort();
  globalThis.addEventListener?.("online", wake);
  await pause(ms, AbortSignal.any([signal, online.signal]));
  globalThis.removeEventListener?.("online", wake);
}
