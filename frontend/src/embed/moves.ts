/** The moves that a key or a message asks for, and where the walk has an edge. */
import { PLACES } from "../model/phases";
import {
  clampPosition,
  compare,
  MOVES,
  type Move,
  type Position,
  parsePosition,
  START,
  samePosition,
} from "../model/position";
import type { TraceState } from "../model/trace";

export type Side = "start" | "end";

const SIDES: Partial<Record<Move, Side>> = {
  nextPhase: "end",
  nextStep: "end",
  previousPhase: "start",
  previousStep: "start",
};

/** Part of the backward walk, both ends included. */
export interface Range {
  readonly from: Position;
  readonly to: Position;
}

/** Where a move leads; within a range where there is one. */
export function moved(trace: TraceState, position: Position, move: Move, range: Range | null): Position {
  return clampPosition(trace, within(MOVES[move](trace, position), range));
}

/** The position itself, or the end of the range that it lies beyond. The forward walk has no range. */
export function within(position: Position, range: Range | null): Position {
  if (range === null || position.direction === "forward") return position;
  if (isBefore(position, range.from)) return range.from;
  return isBefore(range.to, position) ? range.to : position;
}

/** The side at which a move finds nothing more; null where it leads on, and while steps are still arriving. */
export function edgeOf(trace: TraceState, position: Position, move: Move, range: Range | null): Side | null {
  const side = SIDES[move];
  if (side === undefined || !samePosition(moved(trace, position, move, range), position)) return null;
  return side === "end" && trace.finished === null ? null : side;
}

/** All stops of the backward walk in order. */
export function stopsOf(trace: TraceState, range: Range | null): readonly Position[] {
  const stops: Position[] = [];
  let at = clampPosition(trace, within(START, range));
  for (;;) {
    stops.push(at);
    const next = moved(trace, at, "nextPhase", range);
    if (samePosition(next, at)) return stops;
    at = next;
  }
}

/** Reads `3-9` or `3.2-9.4`: whole steps unless phases are named; null for anything else. */
export function parseRange(text: string): Range | null {
  const [start, end, ...more] = text.split("-");
  if (start === undefined || end === undefined || more.length > 0) return null;
  const from = parsePosition(start);
  const to = parsePosition(end.includes(".") ? end : `${end}.${PLACES.land}`);
  if (from?.direction !== "backward" || to?.direction !== "backward" || isBefore(to, from)) return null;
  return { from, to };
}

function isBefore(a: Position, b: Position): boolean {
  return (compare(a, b) ?? 0) < 0;
}
