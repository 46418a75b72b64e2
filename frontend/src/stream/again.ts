/** What the server runs a program again for. Each gives the answer, or what stood in the way. */
import type { GradcheckReport, LocalJacobian, Problem, TensorValue } from "../protocol/trace.gen";
import { readValue } from "../protocol/values";
import type { GradcheckQuestion } from "../scene/gradcheck";
import { newProblem, problemOf } from "./client";

/** Two replays, and perhaps a wait in the queue. */
const PATIENCE_MS = 60_000;

type Trace = string | undefined;

/** The local Jacobians of one operand that were left out while tracing, one for each output of the node. */
export function fetchJacobians(
  trace: Trace,
  stepIndex: number,
  argnum: number,
): Promise<LocalJacobian[] | Problem> {
  return ask(trace, `steps/${stepIndex}/jacobian?argnum=${argnum}`);
}

/** Finite differences: of an operand for each output that a gradient arrived at, of a pass for each leaf. */
export function fetchGradcheck(
  trace: Trace,
  question: GradcheckQuestion,
): Promise<GradcheckReport[] | Problem> {
  if ("pass" in question) return ask(trace, `gradcheck?pass=${question.pass}`);
  return ask(trace, `steps/${question.stepIndex}/gradcheck?argnum=${question.argnum}`);
}

/** All entries of a value that was only summarised. */
export async function fetchValue(trace: Trace, number: number | null): Promise<TensorValue | Problem> {
  const found = await ask<TensorValue>(number === null ? undefined : trace, `values/${number}`);
  return "shape" in found ? readValue(found) : found;
}

async function ask<Answer>(trace: Trace, path: string): Promise<Answer | Problem> {
  if (trace === undefined) return newProblem("protocol", { kind: "problem-no-trace" });
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`/api/traces/${trace}/${path}`, { method: "POST", headers, signal });
    return response.ok ? ((await response.json()) as Answer) : await problemOf(response);
  } catch {
    return newProblem("protocol", { kind: "problem-not-answered" });
  }
}
