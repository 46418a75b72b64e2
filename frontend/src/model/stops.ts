/**
 * At which of its phases a step stops: those that change the picture and say something. It follows from what is
 * connected to what and from which gradients there are, never from their numbers, so that a slider moves no stop.
 */

import type { Gradient, Node, Operand, Step } from "../protocol/trace.gen";
import { hasRaised } from "./failed";
import { elementCount } from "./matrix";
import { onceFor } from "./once";
import type { BackwardPhase, ForwardPhase } from "./phases";

const isThere = (gradient: Gradient | undefined): boolean => gradient !== undefined && "shape" in gradient;

/** Nodes that return v as it came, in another shape at most. */
const PASSES_ON = new Set(
  [
    ["Add", "Alias", "Clone", "Expand", "Permute", "ReshapeAlias", "Squeeze", "SwapDims", "T", "ToCopy"],
    ["Transpose", "UnsafeView", "Unsqueeze", "View", "Movedim", "Contiguous", "NumpyT", "MT", "Flatten"],
  ].flat(),
);

const originals = new WeakMap<Step, Step>();

/** A step whose numbers are hidden stops where the step itself does: the walk is the same for who is asked. */
export function standsFor(hidden: Step, step: Step): Step {
  originals.set(hidden, originals.get(step) ?? step);
  return hidden;
}

export const originalOf = (shown: Step): Step => originals.get(shown) ?? shown;

/** In order; the last is always `land`, at which everything the step does is done. */
export const backwardStops = onceFor(
  (shown: Step, _node: Node | null) => originalOf(shown),
  (shown, node): readonly BackwardPhase[] => {
    const step = originalOf(shown);
    return [
      ...(isCollecting(step) ? (["collect"] as const) : []),
      ...(step.accumulate === null && node?.arranges === undefined ? ruleStops(step, node) : []),
      "land",
    ];
  },
);

/** The stop whose motion brings what a step returns, if it has a rule: `land` where v is handed on as it came. */
export function resultStop(step: Step, node: Node | null): BackwardPhase | undefined {
  const stops = backwardStops(step, node);
  return stops.includes("rule") ? stops[stops.indexOf("rule") + 1] : undefined;
}

function ruleStops(step: Step, node: Node | null): readonly BackwardPhase[] {
  if (hasRaised(step)) return [];
  if (!step.grad_outputs.some(isThere) && !step.grad_inputs.some(isThere)) return [];
  if (!step.grad_inputs.some(isThere)) return ["rule"];
  return node !== null && passesOn(step, node) ? ["rule"] : ["rule", "multiply", "send"];
}

/** One gradient that another step sent has been seen to arrive; several make a sum, a seed enters, a hook changes. */
function isCollecting({ contributions, grad_outputs, hooks }: Step): boolean {
  const [only, ...others] = contributions;
  if (only === undefined || others.length > 0 || only.edge === "seed") return true;
  return !isThere(only.value) || !grad_outputs.every(isThere) || (hooks ?? []).length > 0;
}

/** Whether every operand is handed v itself: nothing is multiplied, added up or left out on the way. */
function passesOn(step: Step, node: Node): boolean {
  const name = /^(.*)Backward\d+$/.exec(node.name)?.[1] ?? "";
  if (node.kind === "custom" || !PASSES_ON.has(name) || (step.changes ?? []).length > 0) return false;
  if (
    node.output_count !== 1 ||
    node.saved.some(({ name: saved, option }) => saved === "alpha" && option !== 1)
  )
    return false;
  const size = sizeOf(node.outputs[0]);
  return node.inputs.every(
    (operand) => operand.edge === undefined || (size !== null && sizeOf(operand) === size),
  );
}

function sizeOf(held: Operand | Node["outputs"][number] | undefined): number | null {
  const shape = held?.value?.shape ?? (held !== undefined && "shape" in held ? held.shape : undefined);
  return shape === undefined ? null : elementCount(shape);
}

/** In order; `compute` is always one of them. */
export function forwardStops(node: Node): readonly ForwardPhase[] {
  if (node.arranges !== undefined) return ["compute"];
  const stops: ForwardPhase[] = node.inputs.length > 0 ? ["arrive", "compute"] : ["compute"];
  return node.saved.length > 0 ? [...stops, "save"] : stops;
}
