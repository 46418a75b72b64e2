/** What stands out in the numbers of a trace: where the first NaN is, where gradients vanish, which relus are dead. */
import type { PassFinished } from "../protocol/trace.gen";
import type { TraceState } from "./trace";

export interface Standout {
  readonly id: string;
  readonly message: string;
  /** What kind of thing it is, in words. */
  readonly kind: string;
  /** 1-based over all passes; null where it is about no single step. */
  readonly step: number | null;
}

/** As the server spells it, of which only the message is sure to be there. */
interface Finding {
  readonly kind: string;
  readonly message: string;
  /** Over the whole trace, from 0. */
  readonly step?: number | null;
  readonly node?: string | null;
}

const KINDS: Readonly<Record<string, string>> = {
  first_non_finite: "first NaN or infinity",
  vanishing: "vanishing gradient",
  exploding: "exploding gradient",
  dead_relu: "dead relu",
  overflow: "overflow",
};

/** In the order of the passes, and of the server within one. */
export function standouts(trace: TraceState): readonly Standout[] {
  return trace.passes.flatMap((pass) =>
    findingsOf(pass.finished).map((finding, index) => ({
      id: `${pass.index}.${index}`,
      message: finding.message,
      kind: KINDS[finding.kind] ?? finding.kind.replaceAll("_", " "),
      step: stepOf(trace, pass.index, finding),
    })),
  );
}

function findingsOf(finished: PassFinished | null): readonly Finding[] {
  return (finished as { findings?: readonly Finding[] } | null)?.findings ?? [];
}

function stepOf(trace: TraceState, pass: number, { step, node }: Finding): number | null {
  const index =
    step != null
      ? trace.steps.findIndex((each) => each.index === step)
      : node == null
        ? -1
        : trace.steps.findIndex((each) => each.pass === pass && each.node === node);
  return index < 0 ? null : index + 1;
}
