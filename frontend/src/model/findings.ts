/** What stands out in the numbers of a trace: where the first NaN is, where gradients vanish, which relus are dead. */
import type { Fact, Finding } from "../protocol/trace.gen";
import { firstStepOfPass } from "./selectors";
import type { TraceState } from "./trace";

export interface Standout {
  readonly id: string;
  readonly message: string;
  /** What kind of thing it is, in words. */
  readonly kind: string;
  /** 1-based over all passes; null where it is about no single step. */
  readonly step: number | null;
}

const KINDS: Readonly<Record<Finding["kind"], string>> = {
  first_non_finite: "first NaN or infinity",
  vanishing: "vanishing gradient",
  exploding: "exploding gradient",
  dead_relu: "dead relu",
  overflow: "overflow",
  cut_derivative: "second derivative cut short",
  wrong_backward: "custom backward",
  behind_autograd: "changed behind autograd",
  no_zero_grad: "gradients not cleared",
  broadcast: "broadcast to a square",
  rebuilt: "cut by numbers",
};

/** Whole sentences about what ran before a pass and is worth knowing, though nothing is wrong. */
export interface PassNote {
  readonly id: string;
  readonly fact: Fact;
  /** The first step of the pass, 1-based over all passes; null where it has none. */
  readonly step: number | null;
}

/** In the order of the passes; what ran after the last one comes last. */
export function passNotes(trace: TraceState): readonly PassNote[] {
  const ofPasses = trace.passes.flatMap((pass) =>
    (pass.started.notes ?? []).map((fact, index) => ({
      id: `${pass.index}.${index}`,
      fact,
      step: firstStepOfPass(trace, pass.index) || null,
    })),
  );
  const after = (trace.finished?.notes ?? []).map((fact, index) => ({
    id: `end.${index}`,
    fact,
    step: null,
  }));
  return [...ofPasses, ...after];
}

/** In the order of the passes, and of the server within one. */
export function standouts(trace: TraceState): readonly Standout[] {
  return trace.passes.flatMap((pass) =>
    (pass.finished?.findings ?? []).map((finding, index) => ({
      id: `${pass.index}.${index}`,
      message: finding.message,
      kind: KINDS[finding.kind],
      step: stepOf(trace, pass.index, finding),
    })),
  );
}

function stepOf(trace: TraceState, pass: number, { step, node }: Finding): number | null {
  const index =
    step !== null
      ? trace.steps.findIndex((each) => each.index === step)
      : node === null
        ? -1
        : trace.steps.findIndex((each) => each.pass === pass && each.node === node);
  return index < 0 ? null : index + 1;
}
