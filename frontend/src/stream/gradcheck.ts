/** Finite differences beside a backward: the server runs the program again to compare. */
import type { GradcheckReport } from "../protocol/answers";
import type { Problem } from "../protocol/trace.gen";
import { problemOf } from "./client";

/**
 * One operand of one step, a report for each output of the node that a gradient arrived at; or what stood in the way.
 *
 * @throws {TypeError} when the server is out of reach
 */
export function fetchGradcheck(
  trace: string,
  stepIndex: number,
  argnum: number,
  signal: AbortSignal,
  base = "",
): Promise<GradcheckReport[] | Problem> {
  return ask(`${base}/api/traces/${trace}/steps/${stepIndex}/gradcheck?argnum=${argnum}`, signal);
}

async function ask(address: string, signal: AbortSignal): Promise<GradcheckReport[] | Problem> {
  const response = await fetch(address, { signal });
  return response.ok ? ((await response.json()) as GradcheckReport[]) : problemOf(response);
}
