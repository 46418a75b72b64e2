/**
 * The engine's ready queue: which nodes have everything they wait for, and how many gradients are still to come at the
 * others. Of what is ready the engine takes the node that was built last; a leaf's accumulation goes before all others
 * (torch/csrc/autograd/engine.cpp, `CompareNodeTaskTime`).
 */
import type { Node, Step } from "../protocol/trace.gen";
import { landedAt, landingsOf } from "./gradients";
import { nodesById } from "./graph";
import type { Position } from "./position";
import { executions } from "./selectors";
import type { PassState, TraceState } from "./trace";

export interface Queued {
  readonly node: Node;
  /** Gradients that have come, of those that ever will. */
  readonly arrived: number;
  readonly expected: number;
}

/** Why a node runs now: nothing else was ready, it is a leaf, or it was built last. */
export type Because = "only" | "leaf" | "last";

export interface Queue {
  readonly now: (Queued & { readonly because: Because }) | null;
  /** In the order in which they will run. */
  readonly ready: readonly Queued[];
  readonly waiting: readonly Queued[];
}

/** After what has landed at `position`; the node at work is in neither list. */
export function queueAt(trace: TraceState, pass: PassState, position: Position): Queue {
  const executed = executions(trace, pass);
  const nodes = nodesById(pass.started.graph);
  const landings = landingsOf(trace, pass);
  const numberOf = ({ node }: Queued): number => executed.get(node.id)?.number ?? 0;
  /** What has got something by the end of a step and runs after it. */
  const after = (landed: number, walked: number): readonly Queued[] =>
    [...landings]
      .flatMap(([id, all]): Queued[] => {
        const [node, number] = [nodes.get(id), executed.get(id)?.number];
        const arrived = all.filter((landing) => landing.number <= landed).length;
        return node === undefined || number === undefined || number <= walked || arrived === 0
          ? []
          : [{ node, arrived, expected: all.length }];
      })
      .sort((a, b) => numberOf(a) - numberOf(b));
  const isReady = ({ arrived, expected }: Queued): boolean => arrived === expected;
  const [now, ...others] = after(position.step - 1, position.step - 1).filter(isReady);
  const because = others.length === 0 ? "only" : now?.node.kind === "accumulate_grad" ? "leaf" : "last";
  const pending = after(landedAt(position), position.step);
  return {
    now: now === undefined || numberOf(now) !== position.step ? null : { ...now, because },
    ready: pending.filter(isReady),
    waiting: pending.filter((each) => !isReady(each)),
  };
}

/** A step of a pass to come, with how many gradients its node waits for. */
export interface Coming {
  readonly number: number;
  readonly step: Step;
  readonly node: Node;
  readonly waitsFor: number;
}

/** All steps of a pass, in the order in which the engine runs them. */
export function comingIn(trace: TraceState, pass: PassState): readonly Coming[] {
  const landings = landingsOf(trace, pass);
  const nodes = nodesById(pass.started.graph);
  return [...executions(trace, pass).values()]
    .sort((a, b) => a.number - b.number)
    .flatMap(({ number, step }) => {
      const node = nodes.get(step.node);
      return node === undefined ? [] : [{ number, step, node, waitsFor: landings.get(node.id)?.length ?? 0 }];
    });
}
