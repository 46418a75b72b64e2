/** What is worth knowing of the passes of a trace. */
import type { Fact } from "../protocol/trace.gen";
import { firstStepOfPass } from "./selectors";
import type { TraceState } from "./trace";

/** About what ran before a pass and is worth knowing, though nothing is wrong. */
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
