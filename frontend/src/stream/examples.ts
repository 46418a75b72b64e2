/** The programs that ship with the server, each with the question it answers. */
import { DecodeError } from "../protocol/decode";
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
  /** Where to open it, as in a link's `s`. */
  start: string;
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
 * @throws {TypeError} when the server is out of reach
 * @throws {DecodeError} when the answer is no gallery
 */
export async function fetchExamples(signal: AbortSignal, base = ""): Promise<Example[]> {
  const response = await fetch(`${base}/api/examples`, { signal });
  if (!response.ok)
    throw new DecodeError(`the server answered ${response.status} when asked for its examples`);
  const answer: unknown = await response.json();
  const list = Array.isArray(answer) ? answer : ((answer ?? {}) as { examples?: unknown }).examples;
  if (!Array.isArray(list)) throw new DecodeError("the answer holds no examples");
  return list as Example[];
}
