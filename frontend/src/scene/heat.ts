/**
 * A whole pass at a glance: how large the gradient was at every node, on a logarithmic scale, and where something
 * stands out. It tells of the pass as it ended, whatever step is on show.
 */

import { isTensor, normOf } from "../model/gradients";
import { groupsRound } from "../model/graph";
import { append } from "../model/lists";
import { executions } from "../model/selectors";
import type { PassState, TraceState } from "../model/trace";
import type { Graph } from "../protocol/trace.gen";
import { standouts } from "../words/findings";
import type { Fill } from "./shapes";

/** What is known of one node, or of the largest gradient in a group. */
export interface HeatSpot {
  /** Euclidean norm of what arrived; null where nothing did. */
  readonly norm: number | null;
  /** Such as "first NaN or infinity". */
  readonly marks: readonly string[];
}

export interface Heat {
  /** By node and by group. */
  readonly spots: ReadonlyMap<string, HeatSpot>;
  /** The least and the greatest finite norm above zero. */
  readonly least: number;
  readonly greatest: number;
}

/** Steps of the colour scale; 0 is for a gradient of exactly zero. */
export const HEAT_LEVELS = 6;

export function drawHeat(trace: TraceState, pass: PassState, graph: Graph): Heat {
  const marks = new Map<string, string[]>();
  for (const { step, title } of standouts(trace)) {
    const at = step === null ? undefined : trace.steps[step - 1];
    if (at === undefined || at.pass !== pass.index) continue;
    for (const id of [at.node, ...groupsRound(graph, at.node)]) append(marks, id, title);
  }
  const norms = new Map<string, number>();
  for (const [node, { step }] of executions(trace, pass)) {
    const norm = Math.hypot(...step.grad_outputs.filter(isTensor).map(normOf));
    for (const id of [node, ...groupsRound(graph, node)]) norms.set(id, larger(norms.get(id), norm));
  }
  const finite = [...norms.values()].filter((norm) => norm > 0 && Number.isFinite(norm));
  const spots = new Map<string, HeatSpot>();
  for (const id of new Set([...norms.keys(), ...marks.keys()]))
    spots.set(id, { norm: norms.get(id) ?? null, marks: [...new Set(marks.get(id))] });
  return {
    spots,
    least: finite.reduce((a, b) => Math.min(a, b), Infinity),
    greatest: finite.reduce((a, b) => Math.max(a, b), 0),
  };
}

/** 0 for zero, else 1 to `HEAT_LEVELS`, evenly over the logarithms between least and greatest; null for no gradient. */
export function heatLevel(spot: HeatSpot | undefined, heat: Heat): number | null {
  const norm = spot?.norm ?? null;
  if (norm === null) return null;
  if (norm === 0) return 0;
  if (!Number.isFinite(norm) || heat.greatest <= heat.least) return HEAT_LEVELS;
  const share = Math.log(norm / heat.least) / Math.log(heat.greatest / heat.least);
  return 1 + Math.round(share * (HEAT_LEVELS - 1));
}

/** Not a number is worse than any number. */
function larger(a: number | undefined, b: number): number {
  return a === undefined || Number.isNaN(b) || b > a ? b : a;
}

/** How much of the gradient's colour each level has, in percent. */
const HEAT_PERCENT = [0, 6, 16, 28, 42, 56, 70] as const;

export function heatTint(level: number): Fill {
  return { ink: "gradient", percent: HEAT_PERCENT[level] ?? 0 };
}
