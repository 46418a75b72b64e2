/**
 * Where one stands in a trace. The backward walk has a step per executed node and five phases per step; the
 * forward walk has a step per differentiable operation and three phases. Step 0 is the moment before.
 */
import type { Node } from "../protocol/trace.gen";
import type { TraceState } from "./trace";

export type Direction = "forward" | "backward";

export interface Position {
  readonly direction: Direction;
  /** 1-based; 0 = before the first step. */
  readonly step: number;
  /** 1-based; always 1 at step 0. */
  readonly phase: number;
}

const PHASE_COUNT: Readonly<Record<Direction, number>> = { backward: 5, forward: 3 };

/** The phase in which v, J and v times J are all on show. */
export const MULTIPLY = 3;

export const START: Position = { direction: "backward", step: 0, phase: 1 };

const ADDRESS = /^(f?)(\d{1,9})(?:\.(\d))?$/;

/** Reads `7.3`, `7` (its first phase), `f3.2` or `0`; null for anything else. It need not exist in a trace yet. */
export function parsePosition(text: string): Position | null {
  const match = ADDRESS.exec(text.trim());
  if (match === null) return null;
  const direction: Direction = match[1] === "f" ? "forward" : "backward";
  const step = Number(match[2]);
  const phase = match[3] === undefined ? 1 : Number(match[3]);
  if (phase < 1 || phase > phaseCount(direction)) return null;
  return { direction, step, phase: step === 0 ? 1 : phase };
}

export function formatPosition(position: Position): string {
  const prefix = position.direction === "forward" ? "f" : "";
  return position.step === 0 ? `${prefix}0` : `${prefix}${position.step}.${position.phase}`;
}

export function samePosition(a: Position, b: Position): boolean {
  return a.direction === b.direction && a.step === b.step && a.phase === b.phase;
}

export function phaseCount(direction: Direction): number {
  return PHASE_COUNT[direction];
}

/**
 * The operations in the order in which the program ran them, over all passes. Leaves are not steps of the
 * forward walk. A node that several passes walk appears once; nodes of a later pass never move earlier ones.
 */
export function forwardOrder(trace: TraceState): readonly Node[] {
  const known = forwardOrders.get(trace.passes);
  if (known !== undefined) return known;
  const order: Node[] = [];
  const seen = new Set<string>();
  for (const pass of trace.passes) {
    const fresh = pass.started.graph.nodes.filter(
      (node) => node.kind !== "accumulate_grad" && !seen.has(node.id),
    );
    fresh.sort((a, b) => (a.sequence_nr ?? 0) - (b.sequence_nr ?? 0));
    for (const node of fresh) seen.add(node.id);
    order.push(...fresh);
  }
  forwardOrders.set(trace.passes, order);
  return order;
}

const forwardOrders = new WeakMap<TraceState["passes"], readonly Node[]>();

export function stepCount(trace: TraceState, direction: Direction): number {
  return direction === "forward" ? forwardOrder(trace).length : trace.steps.length;
}

/** The nearest position that exists in the trace. */
export function clampPosition(trace: TraceState, position: Position): Position {
  const count = stepCount(trace, position.direction);
  const step = Math.min(Math.max(0, position.step), count);
  if (step === 0) return { direction: position.direction, step: 0, phase: 1 };
  const phases = phaseCount(position.direction);
  if (position.step > count) return { direction: position.direction, step, phase: phases };
  return { direction: position.direction, step, phase: Math.min(Math.max(1, position.phase), phases) };
}

/** The position before the first step of the same walk. */
export function first(_trace: TraceState, position: Position): Position {
  return { direction: position.direction, step: 0, phase: 1 };
}

/** The last phase of the last step that has arrived. */
export function last(trace: TraceState, position: Position): Position {
  const { direction } = position;
  return clampPosition(trace, { direction, step: stepCount(trace, direction), phase: phaseCount(direction) });
}

/** One phase on; the end stays where it is. */
export function nextPhase(trace: TraceState, position: Position): Position {
  const { direction, step, phase } = position;
  if (step > 0 && phase < phaseCount(direction)) return { direction, step, phase: phase + 1 };
  return step < stepCount(trace, direction) ? { direction, step: step + 1, phase: 1 } : position;
}

/** One phase back: the inverse of `nextPhase`. */
export function previousPhase(_trace: TraceState, position: Position): Position {
  const { direction, step, phase } = position;
  if (step === 0) return position;
  if (phase > 1) return { direction, step, phase: phase - 1 };
  return step === 1
    ? { direction, step: 0, phase: 1 }
    : { direction, step: step - 1, phase: phaseCount(direction) };
}

/** The same phase one step on; from the start, the phase in which the whole equation is on show. */
export function nextStep(trace: TraceState, position: Position): Position {
  const { direction, step, phase } = position;
  if (step >= stepCount(trace, direction)) return last(trace, position);
  return { direction, step: step + 1, phase: step === 0 ? equationPhase(direction) : phase };
}

/** The same phase one step back. */
export function previousStep(_trace: TraceState, position: Position): Position {
  const { direction, step, phase } = position;
  return step <= 1 ? { direction, step: 0, phase: 1 } : { direction, step: step - 1, phase };
}

/** Phases between two positions of one walk, signed; null across walks. */
export function phasesBetween(from: Position, to: Position): number | null {
  if (from.direction !== to.direction) return null;
  return ordinal(to) - ordinal(from);
}

function ordinal(position: Position): number {
  return position.step === 0 ? 0 : (position.step - 1) * phaseCount(position.direction) + position.phase;
}

function equationPhase(direction: Direction): number {
  return direction === "backward" ? MULTIPLY : 2;
}
