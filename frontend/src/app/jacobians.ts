/** Local Jacobians that arrive after their step. */
import type { TraceState } from "../model/trace";
import type { LocalJacobian, Step } from "../protocol/trace.gen";

/** The trace with one operand's local Jacobians of one step filled in; steps are found by their `index`. */
export function withJacobians(
  trace: TraceState,
  stepIndex: number,
  argnum: number,
  jacobians: readonly LocalJacobian[],
): TraceState {
  const fill = (step: Step): Step => {
    if (step.index !== stepIndex) return step;
    const others = step.local_jacobians.filter((known) => known.argnum !== argnum);
    return { ...step, local_jacobians: [...others, ...jacobians].sort((a, b) => a.argnum - b.argnum) };
  };
  return {
    ...trace,
    steps: trace.steps.map(fill),
    passes: trace.passes.map((pass) => ({ ...pass, steps: pass.steps.map(fill) })),
  };
}
