/** A local Jacobian that was left out while tracing: the server runs the program again for this step alone. */
import type { LocalJacobian, Problem } from "../protocol/trace.gen";
import { problemOf } from "./client";

/**
 * The local Jacobians of one operand, one for each output of the node; or what stood in the way.
 *
 * @throws {TypeError} when the server is out of reach
 */
export async function fetchJacobians(
  trace: string,
  stepIndex: number,
  argnum: number,
  signal: AbortSignal,
  base = "",
): Promise<LocalJacobian[] | Problem> {
  const response = await fetch(`${base}/api/traces/${trace}/steps/${stepIndex}/jacobian?argnum=${argnum}`, {
    signal,
  });
  return response.ok ? ((await response.json()) as LocalJacobian[]) : problemOf(response);
}
