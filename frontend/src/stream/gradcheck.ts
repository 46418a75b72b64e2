/** Finite differences beside a backward: the server runs the program again to compare. */
import type { GradcheckReport, Problem } from "../protocol/trace.gen";
import { problemOf } from "./client";

/** One operand of one step, or a whole pass. */
type Question = { readonly stepIndex: number; readonly argnum: number } | { readonly pass: number };

/**
 * Of an operand a report for each output of the node that a gradient arrived at, of a pass one for each leaf; or what
 * stood in the way.
 *
 * @throws {TypeError} when the server is out of reach
 */
export function fetchGradcheck(
  trace: string,
  question: Question,
  signal: AbortSignal,
  base = "",
): Promise<GradcheckReport[] | Problem> {
  const address = `${base}/api/traces/${trace}`;
  return "pass" in question
    ? ask(`${address}/gradcheck?pass=${question.pass}`, signal)
    : ask(`${address}/steps/${question.stepIndex}/gradcheck?argnum=${question.argnum}`, signal);
}

async function ask(address: string, signal: AbortSignal): Promise<GradcheckReport[] | Problem> {
  const response = await fetch(address, { signal });
  return response.ok ? ((await response.json()) as GradcheckReport[]) : problemOf(response);
}
