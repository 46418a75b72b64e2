/** What the comments `#@ note | break | hide | focus | predict` of a program say about its steps. */

import type { DirectingComment, Node } from "../protocol/trace.gen";
import { onceFor } from "./once";
import type { Position } from "./position";
import { clampPosition, compare, isFirstStop, startOf, stepCount, stopsOfStep } from "./position";
import { nodeAt, passAt } from "./selectors";
import type { TraceState } from "./trace";
import { passesOf } from "./trace";

export type DirectionKind = DirectingComment["kind"];

/** The comments of one kind that speak of the step at a position. */
export function directionsAt(
  trace: TraceState,
  position: Position,
  kind: DirectionKind,
): readonly DirectingComment[] {
  const directions = trace.started?.directions?.filter((direction) => direction.kind === kind) ?? [];
  if (directions.length === 0) return [];
  const lines = linesAt(trace, position, kind);
  return directions.filter((direction) => lines.includes(spokenLine(trace, direction.line)));
}

export function isHidden(trace: TraceState, position: Position): boolean {
  return directionsAt(trace, position, "hide").length > 0;
}

/** Where playing stops: at the first phase of a step with `#@ break`. */
export function isBreak(trace: TraceState, position: Position): boolean {
  return (
    position.step > 0 && isFirstStop(trace, position) && directionsAt(trace, position, "break").length > 0
  );
}

/** Where `#@ focus` opens a trace; null without one, or where its step has not arrived yet. */
export function focusPosition(trace: TraceState): Position | null {
  if (!trace.started?.directions?.some(({ kind }) => kind === "focus")) return null;
  for (let step = 1; step <= stepCount(trace, "backward"); step += 1) {
    const position = { direction: "backward", step, phase: "collect" } as const;
    if (directionsAt(trace, position, "focus").length > 0) return position;
  }
  return null;
}

/** `to`, or past its step where that is hidden, on in the direction of the walk; `from` where nothing else is left. */
export function passHidden(trace: TraceState, from: Position, to: Position): Position {
  if (!isHidden(trace, to)) return to;
  const { direction } = to;
  const isForward = (compare(to, from) ?? 0) > 0;
  const stays = to.step === from.step;
  const count = stepCount(trace, direction);
  for (let step = to.step; step >= 0 && step <= count; step += isForward ? 1 : -1) {
    const phase = stays ? stopsOfStep(trace, direction, step).at(isForward ? 0 : -1) : to.phase;
    const position =
      step === 0 || phase === undefined
        ? startOf(direction)
        : clampPosition(trace, { direction, step, phase });
    if (!isHidden(trace, position)) return position;
  }
  return from;
}

/** The lines that a step stands for: its node's; the first step of a pass also stands for the call, unless to be hidden. */
function linesAt(trace: TraceState, position: Position, kind: DirectionKind): readonly number[] {
  const node = nodeAt(trace, position);
  const pass = passAt(trace, position);
  const lines = node?.span == null ? [] : [node.span.line];
  if (kind !== "hide" && position.direction === "backward" && pass?.started.span != null) {
    const first = trace.steps.findIndex((step) => step.pass === pass.index) + 1;
    if (position.step === first || (position.step === 0 && first === 1)) lines.push(pass.started.span.line);
  }
  return lines;
}

/** The line that a comment speaks of: its own, or the next one on which something happened. */
function spokenLine(trace: TraceState, line: number): number {
  return busyLines(trace).find((busy) => busy >= line) ?? -1;
}

const busyLines = onceFor(passesOf, ({ passes }): readonly number[] => {
  const lines = new Set<number>();
  for (const { started } of passes) {
    if (started.span !== null) lines.add(started.span.line);
    for (const node of started.graph.nodes as readonly Node[])
      if (node.span !== null) lines.add(node.span.line);
  }
  return [...lines].sort((a, b) => a - b);
});
