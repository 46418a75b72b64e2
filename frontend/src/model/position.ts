/**
 * Where one stands in a trace. The backward walk has a step per executed node, the forward walk one per differentiable
 * operation; a step stops at those of its phases that say something. Step 0 is the moment before.
 */

import type { Node, Step } from "../protocol/trace.gen";
import { nodesById } from "./graph";
import { onceFor } from "./once";
import {
  type Direction,
  firstPhase,
  hasCome,
  isOfBackward,
  lastPhase,
  PHASES,
  type Phase,
  PLACES,
} from "./phases";
import { backwardStops, forwardStops } from "./stops";
import type { TraceState } from "./trace";
import { passesOf } from "./trace";

export interface Position {
  readonly direction: Direction;
  /** 1-based; 0 = before the first step. */
  readonly step: number;
  /** One of its walk's; always the first at step 0. */
  readonly phase: Phase;
}

export const START: Position = { direction: "backward", step: 0, phase: "collect" };

const ADDRESS = /^(f?)(\d{1,9})(?:\.(\d))?$/;

/** Reads `7.3`, `7` (its first phase), `f3.2` or `0`; null for anything else. It need not exist in a trace yet. */
export function parsePosition(text: string): Position | null {
  const match = ADDRESS.exec(text.trim());
  if (match === null) return null;
  const direction: Direction = match[1] === "f" ? "forward" : "backward";
  const step = Number(match[2]);
  const phase = PHASES[direction][Number(match[3] ?? 1) - 1];
  if (phase === undefined) return null;
  return step === 0 ? startOf(direction) : { direction, step, phase };
}

export function formatPosition(position: Position): string {
  const prefix = position.direction === "forward" ? "f" : "";
  return position.step === 0 ? `${prefix}0` : `${prefix}${position.step}.${PLACES[position.phase]}`;
}

export function samePosition(a: Position, b: Position): boolean {
  return a.direction === b.direction && a.step === b.step && a.phase === b.phase;
}

/** Before the first step of a walk. */
export function startOf(direction: Direction): Position {
  return { direction, step: 0, phase: firstPhase(direction) };
}

/** Whether `phase` of the step on show has come. Never at step 0, and never in the other walk. */
export function isReached(position: Position, phase: Phase): boolean {
  if (position.step === 0 || isOfBackward(position.phase) !== isOfBackward(phase)) return false;
  return hasCome(phase, position.phase);
}

/** Negative where `a` comes before `b`; null across walks. */
export function compare(a: Position, b: Position): number | null {
  if (a.direction !== b.direction) return null;
  return a.step - b.step || (a.step === 0 ? 0 : PLACES[a.phase] - PLACES[b.phase]);
}

/**
 * The operations in the order in which the program ran them, over all passes. Leaves are not steps of the
 * forward walk. A node that several passes walk appears once; nodes of a later pass never move earlier ones.
 */
export const forwardOrder = onceFor(passesOf, ({ passes }): readonly Node[] => {
  const order: Node[] = [];
  const seen = new Set<string>();
  for (const pass of passes) {
    const fresh = pass.started.graph.nodes.filter(
      (node) => node.kind !== "accumulate_grad" && !seen.has(node.id),
    );
    fresh.sort((a, b) => (a.sequence_nr ?? 0) - (b.sequence_nr ?? 0));
    for (const node of fresh) seen.add(node.id);
    order.push(...fresh);
  }
  return order;
});

export function stepCount(trace: TraceState, direction: Direction): number {
  return direction === "forward" ? forwardOrder(trace).length : trace.steps.length;
}

/** The phases at which a step stops, in order; those of a step that has not arrived are all that its walk has. */
export function stopsOfStep(trace: TraceState, direction: Direction, number: number): readonly Phase[] {
  if (direction === "forward") {
    const node = forwardOrder(trace)[number - 1];
    return node === undefined ? [] : forwardStops(node);
  }
  const step = trace.steps[number - 1];
  return step === undefined ? [] : backwardStops(step, nodeOf(trace, step));
}

function nodeOf(trace: TraceState, { pass, node }: Step): Node | null {
  const graph = trace.passes[pass]?.started.graph;
  return graph === undefined ? null : (nodesById(graph).get(node) ?? null);
}

/** Whether nothing of this step was on show before. */
export function isFirstStop(trace: TraceState, { direction, step, phase }: Position): boolean {
  return step > 0 && stopsOfStep(trace, direction, step)[0] === phase;
}

/** The nearest position that exists in the trace: of a phase at which its step does not stop, the stop before it. */
export function clampPosition(trace: TraceState, position: Position): Position {
  const { direction } = position;
  const count = stepCount(trace, direction);
  const step = Math.min(Math.max(0, position.step), count);
  if (step === 0)
    return position.step === 0 && samePosition(position, startOf(direction)) ? position : startOf(direction);
  const wanted = position.step > count ? lastPhase(direction) : position.phase;
  const stops = stopsOfStep(trace, direction, step);
  const phase = stops.findLast((stop) => PLACES[stop] <= PLACES[wanted]) ?? stops[0] ?? wanted;
  return { direction, step, phase };
}

/** The position before the first step of the same walk. */
export function first(_trace: TraceState, position: Position): Position {
  return startOf(position.direction);
}

/** The last stop of the last step that has arrived. */
export function last(trace: TraceState, position: Position): Position {
  const { direction } = position;
  return clampPosition(trace, { direction, step: stepCount(trace, direction), phase: lastPhase(direction) });
}

/** One stop on; the end stays where it is. */
export function nextPhase(trace: TraceState, position: Position): Position {
  const { direction, step, phase } = position;
  const next =
    step === 0 ? undefined : stopsOfStep(trace, direction, step).find((stop) => PLACES[stop] > PLACES[phase]);
  if (next !== undefined) return { direction, step, phase: next };
  const [opening] = stopsOfStep(trace, direction, step + 1);
  return opening === undefined ? position : { direction, step: step + 1, phase: opening };
}

/** One stop back: the inverse of `nextPhase`. */
export function previousPhase(trace: TraceState, position: Position): Position {
  const { direction, step, phase } = position;
  if (step === 0) return position;
  const before = stopsOfStep(trace, direction, step).findLast((stop) => PLACES[stop] < PLACES[phase]);
  if (before !== undefined) return { direction, step, phase: before };
  if (step === 1) return startOf(direction);
  const closing = stopsOfStep(trace, direction, step - 1).at(-1) ?? lastPhase(direction);
  return { direction, step: step - 1, phase: closing };
}

/** The same phase one step on; from the start and from a step of one stop, the one with the whole equation. */
export function nextStep(trace: TraceState, position: Position): Position {
  const { direction, step } = position;
  if (step >= stepCount(trace, direction)) return last(trace, position);
  return clampPosition(trace, { direction, step: step + 1, phase: phaseElsewhere(trace, position) });
}

/** The same phase one step back. */
export function previousStep(trace: TraceState, position: Position): Position {
  const { direction, step } = position;
  if (step <= 1) return startOf(direction);
  return clampPosition(trace, { direction, step: step - 1, phase: phaseElsewhere(trace, position) });
}

/** By what a key or a message asks for. */
export const MOVES = { nextPhase, previousPhase, nextStep, previousStep, first, last } as const;
export type Move = keyof typeof MOVES;

/** Where one goes from step to step; from what has only one stop to the whole equation. */
function phaseElsewhere(trace: TraceState, { direction, step, phase }: Position): Phase {
  const isOnly = step === 0 || stopsOfStep(trace, direction, step).length === 1;
  return isOnly ? equationPhase(direction) : phase;
}

/** The same node in the other walk; where that does not come to it, the start. */
export function turned(trace: TraceState, { direction, step }: Position): Position {
  const operations = forwardOrder(trace).map(({ id }) => id);
  const steps = trace.steps.map(({ node }) => node);
  const other: Direction = direction === "forward" ? "backward" : "forward";
  const node = direction === "forward" ? operations[step - 1] : steps[step - 1];
  const place = (direction === "forward" ? steps : operations).indexOf(node ?? "") + 1;
  return clampPosition(trace, { direction: other, step: place, phase: equationPhase(other) });
}

/** The phase in which the whole equation is on show. */
export function equationPhase(direction: Direction): Phase {
  return direction === "backward" ? "multiply" : "compute";
}
