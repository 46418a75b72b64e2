/**
 * The engine's ready queue: which nodes have everything they wait for, and how many gradients are still to come at the
 * others. Of what is ready the engine takes the node that was built last; a leaf's accumulation goes before all others
 * (torch/csrc/autograd/engine.cpp, `CompareNodeTaskTime`).
 */
import type { Node, Step } from "../protocol/trace.gen";
import { landedAt, landingsOf } from "./gradients";
import type { Position } from "./position";
import { executions, nodesById } from "./selectors";
import type { PassState, TraceState } from "./trace";

export interface Queued {
  readonly node: Node;
  /** Gradients that have not come yet. */
  readonly missing: number;
}

export interface Queue {
  /** In the order in which they will run. */
  readonly ready: readonly Queued[];
  readonly waiting: readonly Queued[];
}

/** After what has landed at `position`; the node at work is in neither list. */
export function queueAt(trace: TraceState, pass: PassState, position: Position): Queue {
  const landed = landedAt(position);
  const executed = executions(trace, pass);
  const nodes = nodesById(pass.started.graph);
  const [ready, waiting]: [Queued[], Queued[]] = [[], []];
  for (const [id, landings] of landingsOf(trace, pass)) {
    const [node, number] = [nodes.get(id), executed.get(id)?.number];
    if (node === undefined || number === undefined || number <= position.step) continue;
    const missing = landings.filter((landing) => landing.number > landed).length;
    if (missing === 0) ready.push({ node, missing });
    else if (missing < landings.length) waiting.push({ node, missing });
  }
  const numberOf = ({ node }: Queued): number => executed.get(node.id)?.number ?? 0;
  return {
    ready: ready.sort((a, b) => numberOf(a) - numberOf(b)),
    waiting: waiting.sort((a, b) => numberOf(a) - numberOf(b)),
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
