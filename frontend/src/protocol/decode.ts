/**
 * The one door from text to types.
 *
 * The server validates every event against the same models that `trace.gen.ts` is generated from, so what is
 * checked here is what can differ between two programs that both keep the format: its version, the set of
 * event types, the order of `seq`, the numbers of values. Nothing is dropped in silence: what cannot be read
 * throws a `DecodeError` with a sentence for the page.
 */
import { EVENT_DEFINITIONS, type Event, type TensorValue, type TraceDocument } from "./trace.gen";
import { upgradeFirstFormat } from "./upgrade";
import { placeValues, readValues } from "./values";

export const FORMAT = 2;
const READABLE: readonly unknown[] = [1, FORMAT];

export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** Reads the events of one trace as they come; what comes twice is read once. */
export class Decoder {
  #values: TensorValue[] = [];
  #count = 0;

  /** How many events were read: the `seq` of the next one. */
  get count(): number {
    return this.#count;
  }

  /** The new events of one SSE batch, in the order of `seq`. */
  readBatch(text: string): Event[] {
    const batch = parse(text);
    if (!Array.isArray(batch)) throw new DecodeError("a batch of events should be a list");
    return this.read(batch);
  }

  /** The events that were not read before. */
  read(items: readonly unknown[]): Event[] {
    return items.flatMap((item) => {
      if (!isRecord(item)) throw new DecodeError("an event should be an object");
      if (typeof item.seq === "number" && item.seq < this.#count) return [];
      return [this.#readNext(item)];
    });
  }

  #readNext(item: Record<string, unknown>): Event {
    const { seq, type, values = [] } = item;
    if (typeof type !== "string" || !isEventType(type)) {
      throw new DecodeError(
        `this page does not know the event "${String(type)}": reload it to get the newest one`,
      );
    }
    if (seq !== this.#count) {
      throw new DecodeError(
        `event ${String(seq)} follows event ${this.#count - 1}: one is lost or out of order`,
      );
    }
    this.#count += 1;
    if (type === "started") checkFormat(item.format);
    if (!Array.isArray(values)) throw new DecodeError("the values of an event should be a list");
    this.#values.push(...readValues(values as TensorValue[], this.#values.length));
    delete item.values;
    try {
      placeValues(item, EVENT_DEFINITIONS[type], this.#values);
    } catch (cause) {
      throw new DecodeError(`event ${seq} refers to a value that is lost`, {
        cause,
      });
    }
    return item as unknown as Event;
  }
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
  const known = document.format === 1 ? upgradeFirstFormat(events) : events;
  return {
    ...(document as unknown as TraceDocument),
    events: new Decoder().read(known),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DecodeError("the answer was cut short or is not JSON", { cause });
  }
}

function checkFormat(format: unknown): void {
  if (READABLE.includes(format)) return;
  throw new DecodeError(`this trace has format ${String(format)}; this page reads format ${FORMAT}`);
}

function isEventType(type: string): type is Event["type"] {
  return Object.hasOwn(EVENT_DEFINITIONS, type);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
