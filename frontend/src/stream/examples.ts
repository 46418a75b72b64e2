/** The programs that ship with the server, each with the question it answers. */
import type { Fact } from "../protocol/trace.gen";
import { textOf } from "../words/say";
import { tellAttribute } from "../words/tell";
import type { TraceOptions } from "./client";

export interface Example {
  slug: string;
  /** What one learns from it; its `title`, and its `question` in the words of those who ask it. */
  fact: Fact;
  source: string;
  options: TraceOptions;
  /** Where its answer is on the screen, as in a link's `s`. */
  stop: string;
  /** By the operands of `fact`: what of the trace they are, `1.3 v`; empty where the sentence follows no slider. */
  follows: Readonly<Record<string, string>>;
}

/** In the words of those who ask it. */
export function questionOf({ fact }: Example): string {
  return textOf(tellAttribute(fact, "question") ?? []);
}

/**
 * The gallery, in the order in which it is to be shown.
 *
 * @throws {Error} when the server is out of reach or has no gallery
 */
export async function fetchExamples(signal: AbortSignal): Promise<Example[]> {
  const response = await fetch("/api/examples", { signal });
  if (!response.ok) throw new Error(`the server answered ${response.status} when asked for its examples`);
  return (await response.json()) as Example[];
}
