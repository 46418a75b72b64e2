/**
 * All backward passes of a run in a few numbers each, recorded or not: what each started from, how long each leaf's
 * gradient was after it, and what was done to the leaves before it.
 */

import type { Call, Cell, PassStarted, Real, Span } from "../protocol/trace.gen";
import { isTensor, normOf } from "./gradients";
import { nodesById } from "./graph";
import { isHidden } from "./mask";
import { onceFor } from "./once";
import type { PassState, TraceState } from "./trace";
import { passesOf } from "./trace";

export type Mark = NonNullable<PassStarted["between"]>[number];

export interface CurvePoint {
  /** Of the pass, among all that ran, from 0. */
  readonly number: number;
  /** Null where it is not recorded. */
  readonly pass: PassState | null;
  readonly call: Call;
  readonly span: Span | null;
  /** What the program calls the number that it started from. */
  readonly output: string | null;
  /** Null where it started from no single real number. */
  readonly value: number | null;
  /** By leaf, the Euclidean norm of its `.grad` afterwards. */
  readonly norms: ReadonlyMap<string, number>;
  /** What was done to the leaves since the pass before. */
  readonly between: readonly Mark[];
}

/** In the order in which they ran, without those that ran inside another one. */
export const curveOf = onceFor(passesOf, (trace): readonly CurvePoint[] =>
  [
    ...trace.passes.filter(({ started }) => started.parent === undefined).map(recordedPoint),
    ...trace.unrecorded.flatMap((event) =>
      event.of.map((of, at): CurvePoint => {
        const number = event.first + at;
        const { call = "backward", span = null, output = null, leaves = [] } = event.calls[of] ?? {};
        return {
          number,
          pass: null,
          call,
          span,
          output,
          value: toNumberOrNull(event.outputs[at] ?? null),
          norms: new Map(
            leaves.flatMap((leaf, place): [string, number][] => {
              const norm = toNumberOrNull(event.norms[at]?.[place] ?? null);
              return norm === null ? [] : [[leaf, norm]];
            }),
          ),
          between: (["step", "zero_grad"] as const).filter((mark) => event.between[mark].includes(number)),
        };
      }),
    ),
  ].sort((one, other) => one.number - other.number),
);

/** All passes of a run, with those that another trace of it recorded in the place of those that it did not. */
export function mergedCurve(overview: TraceState, trace: TraceState): readonly CurvePoint[] {
  if (overview === trace) return curveOf(trace);
  const recorded = new Map(
    curveOf(trace).flatMap((point) => (point.pass === null ? [] : [[point.number, point]])),
  );
  return curveOf(overview).map((point) =>
    point.pass === null ? (recorded.get(point.number) ?? point) : point,
  );
}

/** The number of a recorded pass among all that ran. */
export function numberOf({ started }: PassState): number {
  return started.number ?? started.pass;
}

/** The leaves that the curve has norms of, in the order in which they are met first. */
export function leavesOf(points: readonly CurvePoint[]): readonly string[] {
  return [...new Set(points.flatMap(({ norms }) => [...norms.keys()]))];
}

/** The first pass after which a gradient is NaN or infinite; null where none is. */
export function firstNonFinite(points: readonly CurvePoint[]): CurvePoint | null {
  return points.find(({ norms }) => [...norms.values()].some((norm) => !Number.isFinite(norm))) ?? null;
}

function recordedPoint(pass: PassState): CurvePoint {
  const { started, finished } = pass;
  const [output, ...others] = started.outputs;
  const made = output && nodesById(started.graph).get(output.node)?.outputs[output.output_nr];
  const norms = (finished?.leaf_grads ?? []).flatMap(({ leaf, grad }): [string, number][] =>
    started.call !== "grad" && isTensor(grad) && !isHidden(grad) ? [[leaf, normOf(grad)]] : [],
  );
  return {
    number: numberOf(pass),
    pass,
    call: started.call,
    span: started.span,
    output: output?.name ?? null,
    value: others.length > 0 ? null : onlyNumberIn(made?.value?.data),
    norms: new Map(norms),
    between: started.between ?? [],
  };
}

function onlyNumberIn([only, ...more]: readonly Cell[] = []): number | null {
  return more.length === 0 && (typeof only === "number" || typeof only === "string") ? Number(only) : null;
}

function toNumberOrNull(real: Real | null): number | null {
  return real === null ? null : Number(real);
}
