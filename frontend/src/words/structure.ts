/** What a local Jacobian looks like, in a few words. */
import { elementCount } from "../model/matrix";
import type { LocalJacobian, Structure } from "../protocol/trace.gen";
import { type Key, say, textOf } from "./say";

const KEYS = {
  scalar: "structure-scalar",
  diagonal: "structure-diagonal",
  permutation: "structure-permutation",
  selection: "structure-selection",
  broadcast_sum: "structure-copies",
  kronecker: "structure-kronecker",
  dense: "structure-dense",
  zero: "structure-zero",
  too_large: "structure-too-large",
} as const satisfies Record<Structure, Key>;

/** Of a broadcast the operand is the smaller side, of a sum or a mean the output. */
export function structureText({ structure, output_shape, input_shape }: LocalJacobian): string {
  if (structure === null) return "";
  const isReduction = structure === "broadcast_sum" && elementCount(output_shape) < elementCount(input_shape);
  return textOf(say(isReduction ? "structure-reduction" : KEYS[structure]));
}
