/**
 * The state of every gradient at a position: what has landed where, what a node has summed, what `.grad` holds.
 * A gradient lands in the last phase of the step that returned it, so everything here is derived from steps that
 * have been walked already; a node that is not executed yet can still show what it has received.
 */

import type { Accumulate, Gradient, Missing, ReturnedChange, Step, TensorValue } from "../protocol/trace.gen";
import { nodesById, producerOf } from "./graph";
import { append } from "./lists";
import { toNumber } from "./numbers";
import { once, onceFor } from "./once";
import { isReached, type Position } from "./position";
import { executions } from "./selectors";
import type { PassState, TraceState } from "./trace";
import { stepsOf } from "./trace";

/** Each answer looks at one node or leaf: a graph of thousands has a few dozen of them in view. */
export interface GradientLedger {
  /** What has arrived at a node, in that order; kept after the node was executed. */
  readonly arrivalsAt: (node: string) => readonly Landing[];
  /** The node's step, where it has been walked to its end or is being walked. */
  readonly stepOf: (node: string) => Step | null;
  /** `.grad` of a leaf by its name; null where no step of the trace gives it one. */
  readonly gradOf: (leaf: string) => Gradient | null;
}

export const NOT_COMPUTED: Missing = { missing: "not_computed" };

/** What the engine left in `.grad`, before the hooks that run after it. */
export function accumulatedBy({ after, changes }: Accumulate): Gradient {
  return changes?.[0]?.before ?? after;
}

/** What the engine does to a gradient that a rule has returned: a part of the rule, unlike a hook. */
const OF_THE_ENGINE: ReadonlySet<string> = new Set([
  "sum_to_size",
  "cast",
] satisfies ReturnedChange["kind"][]);

/** v times J as the rule returned it, before hooks: `grad_inputs` is what was sent on. */
export function returnedFor(step: Step, argnum: number): Gradient | undefined {
  const hooked = step.changes?.find((one) => one.argnum === argnum && !OF_THE_ENGINE.has(one.kind));
  return hooked?.before ?? step.grad_inputs[argnum];
}

/** Euclidean, of the whole tensor: where only a part of it was sent, the server's own norm. */
export function normOf(gradient: TensorValue): number {
  if (gradient.summary !== undefined) return toNumber(gradient.summary.norm);
  const cells = gradient.data ?? [];
  return Math.sqrt(
    cells.reduce<number>((sum, cell) => {
      const parts = Array.isArray(cell) ? cell : [cell];
      return sum + parts.reduce<number>((part, each) => part + toNumber(each) ** 2, 0);
    }, 0),
  );
}

export function isTensor(gradient: Gradient | null | undefined): gradient is TensorValue {
  return gradient != null && "shape" in gradient;
}

/** The ledger of `pass` when `position` is a still of the backward walk. */
export function ledgerAt(trace: TraceState, pass: PassState, position: Position): GradientLedger {
  if (position.direction === "forward") return EMPTY_LEDGER;
  const executed = executions(trace, pass);
  const landings = landingsOf(trace, pass);
  const accumulations = accumulationsOf(trace.steps);
  const landed = landedAt(position);
  return {
    // v stands outside until the pass begins.
    arrivalsAt: (node) =>
      position.step === 0
        ? NOTHING_LANDED
        : (landings.get(node) ?? NOTHING_LANDED).filter(({ number }) => number <= landed),
    stepOf: (node) => {
      const execution = executed.get(node);
      return execution !== undefined && execution.number <= position.step ? execution.step : null;
    },
    gradOf: (leaf) => {
      const all = accumulations.get(leaf) ?? [];
      // A later pass may find `.grad` reset by the program: what its own first accumulation saw before counts.
      const ahead = all.find(({ number, step }) => number > landed && step.pass === pass.index);
      if (ahead !== undefined) return ahead.accumulate.before;
      return all.findLast(({ number }) => number <= landed)?.accumulate.after ?? null;
    },
  };
}

/** The last step whose gradients have landed; 0: only the seed. */
export function landedAt(position: Position): number {
  return Math.max(0, isReached(position, "land") ? position.step : position.step - 1);
}

const EMPTY_LEDGER: GradientLedger = { arrivalsAt: () => [], stepOf: () => null, gradOf: () => null };

/** One summand at a node's output, with the number (1-based) of the step that sent it; 0 for a seed. */
export interface Landing {
  readonly number: number;
  readonly value: Gradient;
}
const NOTHING_LANDED: readonly Landing[] = [];

/** By node, everything that ever arrives there in a pass, in order. */
export const landingsOf = onceFor(stepsOf, (trace, pass): ReadonlyMap<string, readonly Landing[]> => {
  const landings = new Map<string, Landing[]>();
  const land = (node: string, landing: Landing): void => append(landings, node, landing);
  for (const { node, seed } of pass.started.outputs) land(node, { number: 0, value: seed });
  const nodes = nodesById(pass.started.graph);
  trace.steps.forEach((step, index) => {
    if (step.pass !== pass.index) return;
    for (const operand of nodes.get(step.node)?.inputs ?? []) {
      const from = producerOf(pass.started.graph, operand);
      const value = step.grad_inputs[operand.argnum];
      if (from !== undefined && isTensor(value)) land(from.node, { number: index + 1, value });
    }
  });
  return landings;
});

interface Accumulation {
  readonly number: number;
  readonly step: Step;
  readonly accumulate: Accumulate;
}

/** By leaf, the steps of all passes that change its `.grad`, in order. */
const accumulationsOf = once((steps: TraceState["steps"]): ReadonlyMap<string, readonly Accumulation[]> => {
  const accumulations = new Map<string, Accumulation[]>();
  steps.forEach((step, index) => {
    const { accumulate } = step;
    if (accumulate !== null) append(accumulations, accumulate.leaf, { number: index + 1, step, accumulate });
  });
  return accumulations;
});
