/** What changed since another run of the same graph: outputs and `.grad`, with what they were. */

import type { Gradient, PassStarted, TensorValue } from "../protocol/trace.gen";
import { isTensor } from "./gradients";
import { nodesById } from "./graph";
import { numbersOf } from "./numbers";
import { onceFor } from "./once";
import type { PassState, TraceState } from "./trace";
import { passesOf } from "./trace";

type Numbers = readonly number[];
type Value = Gradient | null | undefined;

export interface Change {
  /** `x.grad`, `loss`. */
  readonly name: string;
  readonly kind: "output" | "grad";
  readonly was: Numbers;
  readonly is: Numbers;
  readonly change: Numbers;
  readonly shape: readonly number[];
}

/** Null where the two are not runs of one graph; empty where every number is as it was. */
export function compareRuns(before: TraceState, after: TraceState): readonly Change[] | null {
  if (!areOfOneGraph(before, after)) return null;
  return after.passes.flatMap(({ started, finished }, index): Change[] => {
    const other = before.passes[index];
    const grads = finished?.leaf_grads.map(({ leaf, grad }) => {
      const was = other?.finished?.leaf_grads.find((each) => each.leaf === leaf)?.grad;
      return changes(`${leaf}.grad`, "grad", was, grad);
    });
    const outputs = started.outputs.map((output, place) => {
      const was = other && outputValue(other.started, other.started.outputs[place]);
      return changes(output.name ?? "output", "output", was, outputValue(started, output));
    });
    return [...outputs, ...(grads ?? [])].flat();
  });
}

function changes(name: string, kind: Change["kind"], was: Value, is: Value): readonly Change[] {
  const change = changeOf(was, is);
  if (!isTensor(is) || !change?.some((entry) => entry !== 0)) return [];
  return [{ name, kind, was: numbersOf(was) ?? [], is: numbersOf(is) ?? [], change, shape: is.shape }];
}

/** What a pass starts from. */
export function outputValue(
  { graph }: PassStarted,
  output?: PassStarted["outputs"][number],
): TensorValue | null {
  return nodesById(graph).get(output?.node ?? "")?.outputs[output?.output_nr ?? 0]?.value ?? null;
}

/** A trace of one of its passes alone, to compare it with another one. */
export function passAlone(trace: TraceState, pass: PassState): TraceState {
  return { ...trace, passes: [pass], steps: pass.steps };
}

/** Whether two runs can be compared; false while the later one is still arriving. */
export function areOfOneGraph(before: TraceState, after: TraceState): boolean {
  return after.finished !== null && topologyOf(before) === topologyOf(after);
}

/** `is - was`, entry by entry; null where entries cannot be told apart. */
export function changeOf(was: Value, is: Value): Numbers | null {
  const [before, after] = [numbersOf(was), numbersOf(is)];
  if (before === null || after?.length !== before.length) return null;
  return after.map((entry, at) => (Object.is(entry, before[at]) ? 0 : entry - (before[at] ?? 0)));
}

/** Passes, nodes and edges without any number. */
const topologyOf = onceFor(passesOf, ({ passes }) =>
  JSON.stringify(
    passes.map(({ started: { graph } }) => {
      // Two passes of one loop have nodes of their own: what counts is where each stands.
      const places = new Map(graph.nodes.map(({ id }, place) => [id, place]));
      return [
        graph.nodes.map(({ name, leaf, outputs }) => [name, leaf, outputs.map(({ value }) => value?.shape)]),
        graph.edges.map(({ from, to }) => [
          places.get(from.node),
          from.output_nr,
          places.get(to.node),
          to.argnum,
        ]),
      ];
    }),
  ),
);
