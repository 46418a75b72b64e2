/** What is worth knowing of whole passes: m examples at once, zeros in the place of nothing. */
import type { PassNote } from "../model/findings";
import { firstStepOfPass } from "../model/selectors";
import type { PassState, TraceState } from "../model/trace";
import { code, listed, markedUp, type Said, say, text } from "./say";

/** In the order of the passes. */
export function passFacts(trace: TraceState): readonly PassNote[] {
  return trace.passes.flatMap((pass) =>
    [...examples(pass), ...materialized(pass)].map((said, index) => ({
      id: `${pass.index}.fact.${index}`,
      message: markedUp(said),
      step: firstStepOfPass(trace, pass.index) || null,
    })),
  );
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
