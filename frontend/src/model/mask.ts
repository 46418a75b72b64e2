/**
 * A trace as somebody knows it who has not seen what comes after a moment: what is later is gone from the data, so
 * that nothing drawn, told or read aloud from it can give it away. Shapes stay, so that nothing changes its size.
 */

import type { Cell, Fact, Gradient, Missing, PassFinished, Step, TensorValue } from "../protocol/trace.gen";
import { isTensor } from "./gradients";
import { HIDDEN } from "./numbers";
import { once } from "./once";
import { hasCome, type Phase } from "./phases";
import type { Position } from "./position";
import type { Exercise } from "./questions";
import { addsUp, stepAt } from "./selectors";
import { standsFor } from "./stops";
import type { PassState, TraceState } from "./trace";

const UNTIL_THEN: Fact = { kind: "missing-hidden" };
const UNKNOWN = "\\text{?}";
const UNSEEN: Missing = { missing: "not_computed", because: UNTIL_THEN };

/** Whether this stands for a gradient that must not be seen yet, though it may be there. */
export function isUnseen(gradient: Gradient): boolean {
  return gradient === UNSEEN;
}

/**
 * The trace as it is known at its last moment that may be seen; in the forward walk and at step 0 no gradient is.
 * @param asked what of that moment is asked for: the sum of the contributions, or the shape of what is returned
 */
export function maskTrace(
  trace: TraceState,
  position: Position,
  asked: Exercise["kind"] | null = null,
): TraceState {
  const known = position.direction === "backward" ? position.step : 0;
  const phase = asked === "sum" ? null : position.phase;
  const last = trace.steps[known - 1];
  const current = last?.pass ?? 0;
  if (known >= trace.steps.length && isShown("land", phase) && trace.finished !== null) return trace;
  const steps = trace.steps.map((step, index) => {
    if (index >= known) return step.pass === current ? hideFirst(step) : hideStep(step);
    return index === known - 1 ? hidePhases(step, phase, asked === "shape") : step;
  });
  const replaced = new Map(trace.steps.map((step, index) => [step, steps[index] ?? step]));
  const passes = trace.passes.map((pass): PassState => {
    const isLater = pass.index > current && pass.started.seq > (last?.seq ?? 0);
    const isOver = pass.finished !== null && pass.finished.seq < nextSeq(trace, known, phase);
    return {
      ...pass,
      started: isLater ? hideStart(pass.started) : pass.started,
      steps: pass.steps.map((step) => replaced.get(step) ?? step),
      finished: pass.finished === null || isOver ? pass.finished : hideFinish(pass.finished),
    };
  });
  const stdout = trace.stdout.filter((printed) => printed.seq < nextSeq(trace, known, phase));
  return { ...trace, passes, steps, stdout };
}

/** What is known while a motion leads into `position`: no sum before what is added has met. */
export function knownInMotion(trace: TraceState, position: Position): TraceState {
  const step = stepAt(trace, position);
  if (step === null) return trace;
  const isSumHidden = addsUp(step, position);
  const isAccumulating = position.phase === "land" && step.accumulate !== null;
  if (!isSumHidden && !isAccumulating) return trace;
  const seen: Position = isAccumulating ? { ...position, phase: "collect" } : position;
  return maskTrace(trace, seen, isSumHidden ? "sum" : null);
}

/** The `seq` of the first step that is not wholly known; what came before it may be seen. */
function nextSeq(trace: TraceState, known: number, phase: Phase | null): number {
  const first = known > 0 && !isShown("land", phase) ? trace.steps[known - 1] : trace.steps[known];
  return first?.seq ?? Number.POSITIVE_INFINITY;
}

function isShown(wanted: Phase, phase: Phase | null): boolean {
  return phase !== null && hasCome(wanted, phase);
}

/** A step of which only is known that it will be; of the second, also what `.grad` holds when its pass begins. */
const hideStep = once((step: Step) => hidden(step, UNSEEN));
const hideFirst = once((step: Step) => hidden(step, step.accumulate?.before ?? UNSEEN));

function hidden(step: Step, before: Gradient): Step {
  const { accumulate } = step;
  return standsFor(
    {
      ...without(step, TOLD_WITH_SUM, TOLD_WITH_PRODUCT, ["substitutions"]),
      grad_outputs: step.grad_outputs.map(unseen),
      contributions: step.contributions.map((contribution) => ({ ...contribution, value: UNSEEN })),
      grad_inputs: step.grad_inputs.map(unseen),
      local_jacobians: [],
      accumulate: accumulate && { leaf: accumulate.leaf, before, after: UNSEEN },
    },
    step,
  );
}

/** @param phase the last phase that may be seen; null: the contributions without their sum */
function hidePhases(step: Step, phase: Phase | null, isShapeHidden: boolean): Step {
  if (isShown("land", phase)) return step;
  const told = step.accumulate;
  const accumulate = told && { leaf: told.leaf, before: told.before, after: hideGradient(told.after) };
  if (isShown("multiply", phase)) return standsFor({ ...step, accumulate }, step);
  // As long as they were where they are too long to be shown, so that the panel keeps its lines.
  const substitutions = step.substitutions?.map(({ with_v, with_numbers, ...rest }) => ({
    ...rest,
    with_v: UNKNOWN.padEnd(with_v.length),
    with_numbers: UNKNOWN.padEnd(with_numbers.length),
  }));
  const hasSum = phase !== null;
  return standsFor(
    {
      ...without(step, hasSum ? [] : TOLD_WITH_SUM, TOLD_WITH_PRODUCT),
      ...(substitutions && { substitutions }),
      grad_outputs: hasSum ? step.grad_outputs : step.grad_outputs.map(hideGradient),
      grad_inputs: step.grad_inputs.map(isShapeHidden ? unseen : hideGradient),
      local_jacobians: step.local_jacobians.map(({ nan_products: _products, ...rest }) => rest),
      accumulate,
    },
    step,
  );
}

/** What a step tells of itself when its v is known, and when its product is; before, not even that there is some. */
const TOLD_WITH_SUM = ["hooks"] as const;
const TOLD_WITH_PRODUCT = ["inside", "moves", "changes"] as const;
type Told = (typeof TOLD_WITH_SUM | typeof TOLD_WITH_PRODUCT)[number] | "substitutions";

function without(step: Step, ...names: readonly (readonly Told[])[]): Step {
  const rest = { ...step };
  for (const name of names.flat()) delete rest[name];
  return rest;
}

function unseen(gradient: Gradient): Gradient {
  if (isTensor(gradient) || gradient.missing !== "not_required") return UNSEEN;
  const { dropped, ...rest } = gradient;
  return dropped === undefined ? gradient : rest;
}

/** A tensor keeps its shape and loses its numbers; whether another gradient will be missing is not told either. */
export function hideGradient(gradient: Gradient): Gradient {
  return isTensor(gradient) ? hideTensor(gradient) : unseen(gradient);
}

/** Whether the reader is still to find these numbers. */
export function isHidden({ data }: TensorValue): boolean {
  return data?.includes(HIDDEN) === true;
}

function hideTensor(value: TensorValue): TensorValue {
  const { shape, dtype } = value;
  if (value.data === undefined) return { shape, dtype, unavailable: UNTIL_THEN };
  return { shape, dtype, data: value.data.map((): Cell => HIDDEN) };
}

/** What a pass leaves behind: of `.grad` the shapes. A finding speaks of numbers that have not been seen. */
function hideFinish(finished: PassFinished): PassFinished {
  const { findings: _findings, materialized: _materialized, ...rest } = finished;
  return withoutNumbers(rest);
}

/** A later pass may compute with the gradients of this one: its graph keeps its shape and loses its numbers. */
const hideStart = once((started: PassState["started"]) => {
  const nodes = started.graph.nodes.map((node) => ({
    ...node,
    saved: node.saved.map(({ was: _was, ...saved }) => ({ ...saved, value: null, note: UNTIL_THEN })),
  }));
  const outputs = started.outputs.map(({ cast: _cast, ...output }) => output);
  return withoutNumbers({ ...started, outputs, graph: { ...started.graph, nodes } });
});

/** The same, all its tensors hidden. */
function withoutNumbers<Told>(told: Told): Told;
function withoutNumbers(told: unknown): unknown {
  if (typeof told !== "object" || told === null) return told;
  if (Array.isArray(told)) return told.map(withoutNumbers);
  if ("dtype" in told || ("missing" in told && typeof told.missing === "string"))
    return hideGradient(told as Gradient);
  // Why an operand has no edge is known from the start.
  const entries = Object.entries(told).map(([name, each]) => [
    name,
    name === "missing" ? each : withoutNumbers(each),
  ]);
  return Object.fromEntries(entries);
}
