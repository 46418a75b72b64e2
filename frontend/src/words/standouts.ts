/** What stands out in the numbers of a trace: where the first NaN is, where gradients vanish, which relus are dead. */
import type { TraceState } from "../model/trace";
import type { Finding } from "../protocol/trace.gen";
import { inSentences, type Said, textOf } from "./say";
import { tellAttribute, tellSentence } from "./tell";

export interface Standout {
  readonly id: string;
  /** The name of its kind. */
  readonly title: string;
  /** What it is, and what to write instead. */
  readonly said: Said;
  /** 1-based over all passes; null where it is about no single step. */
  readonly step: number | null;
}

/** In the order of the passes, and of the server within one. */
export function standouts(trace: TraceState): readonly Standout[] {
  return trace.passes.flatMap((pass) =>
    (pass.finished?.findings ?? []).map((finding, index) => ({
      id: `${pass.index}.${index}`,
      title: textOf(tellAttribute(finding.fact, "title") ?? []),
      said: inSentences([tellSentence(finding.fact), tellAttribute(finding.fact, "hint")]),
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
