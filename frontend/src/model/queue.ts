/**
 * The engine's ready queue: which nodes have everything they wait for, and how many gradients are still to come at the
 * others. Of what is ready the engine takes the node that was built last; a leaf's accumulation goes before all others
 * (torch/csrc/autograd/engine.cpp, `CompareNodeTaskTime`). A closed group is named once, as in the picture.
 */
import type { Group, Node } from "../protocol/trace.gen";
import { hasRaised } from "./failed";
import { landedAt, landingsOf } from "./gradients";
import { nodesById } from "./graph";
import { append } from "./lists";
import { onceFor } from "./once";
import type { Position } from "./position";
import { executions, nodeTitle } from "./selectors";
import type { PassState, TraceState } from "./trace";
import { stepsOf } from "./trace";

export interface Queued {
  readonly node: Node;
  /** As its card has it, or the closed group that it is in. */
  readonly title: string;
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

/** By node, the closed group that it is in. */
type Closed = ReadonlyMap<string, Group>;

/** After what has landed at `position`; the node at work and what is in its group are in neither list. */
export function queueAt(
  trace: TraceState,
  pass: PassState,
  position: Position,
  closed: Closed = new Map(),
): Queue {
  const all = receivers(trace, pass);
  /** What has got something by the end of a step and runs after it. */
  const after = (landed: number, walked: number): readonly Receiving[] =>
    all.flatMap(({ node, number, landings }): Receiving[] => {
      if (number <= walked) return [];
      const arrived = landings.filter((landing) => landing.number <= landed).length;
      return arrived === 0
        ? []
        : [{ node, number, title: titleIn(closed, node), arrived, expected: landings.length }];
    });
  const isReady = ({ arrived, expected }: Queued): boolean => arrived === expected;
  const [now, rival] = byCard(after(position.step - 1, position.step - 1).filter(isReady), closed);
  const because = rival === undefined ? "only" : now?.[0].node.kind === "accumulate_grad" ? "leaf" : "last";
  const working = now !== undefined && now[0].number === position.step ? now[0] : null;
  const pending = after(landedAt(position), position.step);
  const inTurn = [...pending.filter(isReady), ...pending.filter((each) => !isReady(each))];
  const others = byCard(working === null ? inTurn : [working, ...inTurn], closed)
    .map(([first]) => first)
    .filter((each) => each !== working);
  return {
    now: working && { ...working, because },
    ready: others.filter(isReady),
    waiting: others.filter((each) => !isReady(each)),
  };
}

interface Receiving extends Queued {
  /** Of its step, 1-based. */
  readonly number: number;
}

/** Every node that a gradient reaches and that runs, in the order of the steps, with what ever arrives there. */
const receivers = onceFor(stepsOf, (trace, pass) => {
  const [nodes, landings] = [nodesById(pass.started.graph), landingsOf(trace, pass)];
  return [...executions(trace, pass)].flatMap(([id, { number }]) => {
    const [node, arrivals] = [nodes.get(id), landings.get(id)];
    return node === undefined || arrivals === undefined ? [] : [{ node, number, landings: arrivals }];
  });
});

function titleIn(closed: Closed, node: Node): string {
  return closed.get(node.id)?.label ?? nodeTitle(node);
}

/** What belongs to one card, together; in the order of the first of each. */
function byCard<T extends { readonly node: Node }>(
  all: readonly T[],
  closed: Closed,
): readonly [T, ...T[]][] {
  const cards = new Map<string, T[]>();
  for (const each of all) append(cards, closed.get(each.node.id)?.id ?? each.node.id, each);
  return [...cards.values()] as [T, ...T[]][];
}

/** A step of a pass to come, or the first one of a closed group. */
export interface Coming {
  readonly number: number;
  readonly node: Node;
  readonly title: string;
  readonly group: Group | undefined;
  /** Of the group; 1 where it is none. */
  readonly nodeCount: number;
  /** So many gradients. */
  readonly waitsFor: number;
  /** It, or a node of the group, raises. */
  readonly raises: boolean;
}

/** All steps of a pass, in the order in which the engine runs them; those of a closed group as one. */
export function comingIn(trace: TraceState, pass: PassState, closed: Closed = new Map()): readonly Coming[] {
  const landings = landingsOf(trace, pass);
  const nodes = nodesById(pass.started.graph);
  const all = [...executions(trace, pass).values()]
    .sort((a, b) => a.number - b.number)
    .flatMap(({ number, step }) => {
      const node = nodes.get(step.node);
      return node === undefined ? [] : [{ number, node, raises: hasRaised(step) }];
    });
  return byCard(all, closed).map((steps) => {
    const [{ number, node }] = steps;
    return {
      number,
      node,
      title: titleIn(closed, node),
      group: closed.get(node.id),
      nodeCount: steps.length,
      waitsFor: landings.get(node.id)?.length ?? 0,
      raises: steps.some(({ raises }) => raises),
    };
  });
}
