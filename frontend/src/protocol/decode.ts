/**
 * The one door from text to types.
 *
 * The server validates every event against the same models that `trace.gen.ts` is generated from, so what is
 * checked here is what can differ between two programs that both keep the format: its version, the set of
 * event types, the order of `seq`. Nothing is dropped in silence: what cannot be read throws a `DecodeError`
 * with a sentence for the page.
 */
import type { Event, TraceDocument } from "./trace.gen";

export const FORMAT = 2;
/** Formats whose events hold all that those of the newest one do: 1 had sentences and DOT besides. */
const READABLE: readonly unknown[] = [1, FORMAT];

/** Keyed by type so that a new event without an entry does not compile. */
const EVENT_TYPES: Record<Event["type"], true> = {
  started: true,
  stdout: true,
  warning: true,
  pass_started: true,
  step: true,
  pass_finished: true,
  problem: true,
  finished: true,
};

export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** The events of one SSE batch, in the order of `seq`. */
export function decodeBatch(text: string): Event[] {
  const batch = parse(text);
  if (!Array.isArray(batch)) throw new DecodeError("a batch of events should be a list");
  return decodeEvents(batch);
}

/** A whole saved trace. */
export function decodeDocument(text: string): TraceDocument {
  const document = parse(text);
  if (!isRecord(document) || !("format" in document)) {
    throw new DecodeError("this is not a gradwalk trace: it has no format version");
  }
  checkFormat(document.format);
  const { id, source, options, versions, events } = document;
  if (typeof id !== "string" || typeof source !== "string" || !isRecord(options) || !isRecord(versions)) {
    throw new DecodeError("this is not a gradwalk trace: its header is incomplete");
  }
  if (!Array.isArray(events)) throw new DecodeError("this is not a gradwalk trace: it has no events");
  return { ...(document as unknown as TraceDocument), events: decodeEvents(events) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DecodeError("the answer was cut short or is not JSON", { cause });
  }
}

function decodeEvents(items: unknown[]): Event[] {
  let previous: number | null = null;
  return items.map((item) => {
    if (!isRecord(item)) throw new DecodeError("an event should be an object");
    const { seq, type } = item;
    if (typeof type !== "string" || !Object.hasOwn(EVENT_TYPES, type)) {
      throw new DecodeError(
        `this page does not know the event "${String(type)}": reload it to get the newest one`,
      );
    }
    if (typeof seq !== "number" || (previous !== null && seq !== previous + 1)) {
      throw new DecodeError(
        `event ${String(seq)} follows event ${String(previous)}: one is lost or out of order`,
      );
    }
    previous = seq;
    if (type === "started") checkFormat(item.format);
    return item as unknown as Event;
  });
}

function checkFormat(format: unknown): void {
  if (READABLE.includes(format)) return;
  throw new DecodeError(`this trace has format ${String(format)}; this page reads format ${FORMAT}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
