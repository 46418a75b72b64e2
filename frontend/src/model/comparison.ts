/** What changed since another run of the same graph: outputs and `.grad`, with what they were. */

import type { Gradient, TensorValue } from "../protocol/trace.gen";
import { spelled } from "../protocol/values";
import { isTensor } from "./gradients";
import { nodesById } from "./graph";
import { numbersOf } from "./numbers";
import { onceFor } from "./once";
import type { PassState, TraceState } from "./trace";
import { passesOf } from "./trace";

export interface Change {
  /** `x.grad`, `loss`. */
  readonly name: string;
  readonly kind: "output" | "grad";
  readonly was: TensorValue;
  readonly is: TensorValue;
  /** `is - was`, entry by entry. */
  readonly difference: TensorValue;
}

/** Null where the two are not runs of one graph; empty where every number is as it was. */
export function compareRuns(before: TraceState, after: TraceState): readonly Change[] | null {
  if (!areOfOneGraph(before, after)) return null;
  const changes: Change[] = [];
  const add = (name: string, kind: Change["kind"], was: Gradient | null, is: Gradient | null) => {
    if (!isTensor(was) || !isTensor(is)) return;
    const difference = differenceOf(was, is);
    if (difference !== null) changes.push({ name, kind, was, is, difference });
  };
  after.passes.forEach((pass, index) => {
    const other = before.passes[index];
    if (other === undefined) return;
    pass.started.outputs.forEach((output, place) => {
      const twin = other.started.outputs[place];
      if (twin === undefined) return;
      const value = nodesById(pass.started.graph).get(output.node)?.outputs[output.output_nr];
      const was = nodesById(other.started.graph).get(twin.node)?.outputs[twin.output_nr];
      add(output.name ?? "output", "output", was?.value ?? null, value?.value ?? null);
    });
    pass.finished?.leaf_grads.forEach(({ leaf, grad }) => {
      const was = other.finished?.leaf_grads.find((each) => each.leaf === leaf);
      add(`${leaf}.grad`, "grad", was?.grad ?? null, grad);
    });
  });
  return changes;
}

/** A trace of one of its passes alone, to compare it with another one. */
export function passAlone(trace: TraceState, pass: PassState): TraceState {
  return { ...trace, passes: [pass], steps: pass.steps };
}

/** Whether two runs can be compared; false while the later one is still arriving. */
export function areOfOneGraph(before: TraceState, after: TraceState): boolean {
  return after.finished !== null && topologyOf(before) === topologyOf(after);
}

/** `is - was`, entry by entry; null where nothing changed, or where entries cannot be told apart. */
export function differenceOf(was: TensorValue, is: TensorValue): TensorValue | null {
  const [before, after] = [numbersOf(was), numbersOf(is)];
  if (before === null || after?.length !== before.length) return null;
  const data = after.map((entry, at) => spelled(entry - (before[at] ?? 0)));
  const { shape, dtype } = is;
  return data.every((cell) => cell === 0) ? null : { shape, dtype, data };
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
