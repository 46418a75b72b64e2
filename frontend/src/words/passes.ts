/** What is worth knowing of whole passes: what was noted, m examples at once, zeros in the place of nothing. */
import { firstStepOfPass } from "../model/selectors";
import type { PassState, TraceState } from "../model/trace";
import { code, listed, type Said, say, text } from "./say";
import { tellSentence } from "./tell";

export interface WorthKnowing {
  readonly id: string;
  readonly said: Said;
  /** The first step of the pass, 1-based over all passes; null where it has none. */
  readonly step: number | null;
}

/** What was noted, then what the passes' own numbers say, each in the order of the passes; what ran after them between. */
export function worthKnowing(trace: TraceState): readonly WorthKnowing[] {
  const ofPasses = (kind: string, saidOf: (pass: PassState) => readonly Said[]) =>
    trace.passes.flatMap((pass) =>
      saidOf(pass).map((said, index) => {
        const step = firstStepOfPass(trace, pass.index) || null;
        return { id: `${pass.index}.${kind}.${index}`, said, step };
      }),
    );
  const after = (trace.finished?.notes ?? []).map((fact) => tellSentence(fact));
  return [
    ...ofPasses("note", ({ started }) => (started.notes ?? []).map((fact) => tellSentence(fact))),
    ...after.map((said, index) => ({ id: `end.${index}`, said, step: null })),
    ...ofPasses("fact", (pass) => [...examples(pass), ...materialized(pass)]),
  ];
}

function examples({ started }: PassState): Said[] {
  if (started.examples === undefined) return [];
  return [say("pass-examples", { count: text(started.examples.join(" × ")) })];
}

function materialized({ started, finished }: PassState): Said[] {
  const names = (finished?.materialized ?? []).map((index) => {
    const name = started.inputs[index]?.name;
    return name == null ? say("input-number", { number: text(String(index + 1)) }) : code(name);
  });
  return names.length === 0 ? [] : [say("pass-materialized", { names: listed(names) })];
}
