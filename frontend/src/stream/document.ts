/** A finished trace by its id. */
import { decodeDocument } from "../protocol/decode";
import type { TraceDocument } from "../protocol/trace.gen";
import { pause } from "./client";

const STILL_RUNNING_MS = 300;

/**
 * Waits while it runs; null when it is not kept here.
 *
 * @throws {TypeError} when the server is out of reach
 */
export async function fetchDocument(trace: string, signal: AbortSignal): Promise<TraceDocument | null> {
  for (;;) {
    const response = await fetch(`/api/traces/${trace}`, { signal });
    if (response.status === 200) return decodeDocument(await response.text());
    if (response.status !== 202) return null;
    await pause(STILL_RUNNING_MS, signal);
    signal.throwIfAborted();
  }
}
