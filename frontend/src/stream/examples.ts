/** The programs that ship with the server, each with the question it answers. */
import { DecodeError } from "../protocol/decode";
import type { TraceOptions } from "./client";

export interface Example {
  slug: string;
  title: string;
  /** In the words of those who ask it. */
  question: string;
  learning_goal: string;
  source: string;
  options: TraceOptions;
  /** Where to open it, as in a link's `s`. */
  start: string;
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
