/** All numbers of a value that was only summarised: the server runs the program again to it. */
import type { Problem, TensorValue } from "../protocol/trace.gen";
import { readValue } from "../protocol/values";
import { problemOf } from "./client";

/**
 * The value with all its entries, or what stood in the way.
 *
 * @throws {TypeError} when the server is out of reach
 */
export async function fetchValue(
  trace: string,
  number: number,
  signal: AbortSignal,
): Promise<TensorValue | Problem> {
  const response = await fetch(`/api/traces/${trace}/values/${number}`, { signal });
  return response.ok ? readValue((await response.json()) as TensorValue) : problemOf(response);
}
