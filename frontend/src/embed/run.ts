/** A program that came in a frame's own address: run on the server the frame came from, which keeps it from nobody else. */
import { inflate } from "../model/packed";
import { emptyTrace, foldEvents, type TraceState } from "../model/trace";
import type { TraceRequest } from "../stream/client";
import { label, textOf } from "../words/say";
import { tellProblem } from "../words/tell";

/** The program in `c` or `code`, with `i`, `g`, `seed` and `pass`; null where there is none. Throws for what cannot be read. */
export async function requestIn(keys: URLSearchParams): Promise<TraceRequest | null> {
  const packed = keys.get("c");
  const source = packed === null ? keys.get("code") : await inflate(packed);
  if (source === null) {
    if (packed !== null) throw new Error(label("player-damaged-program"));
    return null;
  }
  const seed = Number(keys.get("seed") ?? "0");
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error(label("player-damaged-seed"));
  const inputs = keys.has("i") ? JSON.parse(keys.get("i") ?? "") : {};
  const options: TraceRequest["options"] = { inputs, seed };
  if (keys.has("pass")) options.passes = [Number(keys.get("pass"))];
  if (keys.has("g")) options.grad_output = JSON.parse(keys.get("g") ?? "");
  return { source, options };
}

/** A program may come from anybody: it runs by itself only where the reader runs the server. */
export function mayRunUnasked(): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
}

/** Hands over the trace as it grows; throws, with the server's reason, where it may not run. */
export async function run(request: TraceRequest, ontrace: (trace: TraceState) => void): Promise<void> {
  // Most viewers show a trace that is there already.
  const { runTrace } = await import("../stream/client");
  let trace = emptyTrace();
  const outcome = await runTrace(request, {
    onevents: (events) => {
      trace = foldEvents(trace, events);
      ontrace(trace);
    },
    onstatus: () => undefined,
    signal: new AbortController().signal,
  });
  if (outcome.kind === "refused") throw new Error(textOf(tellProblem(outcome.problem)));
}
