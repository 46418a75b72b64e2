/** What the page has to know of the server it came from. */
import type { Fact } from "../protocol/trace.gen";

export interface Protection {
  readonly level: "full" | "partial" | "none";
  /** For whoever uses the server. */
  readonly said: Fact;
}

/** How well programs are locked in; null while the server is still finding out. */
export async function fetchProtection(signal: AbortSignal): Promise<Protection | null> {
  const response = await fetch("/api/server", { signal });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const { protection } = (await response.json()) as { protection: Protection | null };
  return protection;
}
