/** What a local Jacobian looks like, in a few words. */
import { elementCount } from "../model/matrix";
import type { LocalJacobian, Structure } from "../protocol/trace.gen";
import { type Key, say, textOf } from "./say";

const KEYS = {
  scalar: "structure-scalar",
  diagonal: "structure-diagonal",
  permutation: "structure-permutation",
  selection: "structure-selection",
  sum_over_copies: "structure-copies",
  copy_to_summands: "structure-reduction",
  broadcast_sum: "structure-copies",
  kronecker: "structure-kronecker",
  dense: "structure-dense",
  zero: "structure-zero",
  too_large: "structure-too-large",
} as const satisfies Record<Structure, Key>;

/** Older traces have one name for a broadcast and for a sum: of the first the operand is the smaller side. */
export function structureText({ structure, output_shape, input_shape }: LocalJacobian): string {
  if (structure === null) return "";
  const isReduction = structure === "broadcast_sum" && elementCount(output_shape) < elementCount(input_shape);
  return textOf(say(isReduction ? "structure-reduction" : KEYS[structure]));
}
