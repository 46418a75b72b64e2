/** What a local Jacobian looks like, in a few words. */
import { elementCount } from "../model/matrix";
import { formatNumber } from "../model/numbers";
import type { Cell, LocalJacobian, Structure } from "../protocol/trace.gen";
import { type Key, type PlainKey, say, textOf } from "./say";

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
export function structureText(jacobian: LocalJacobian): string {
  const { structure, output_shape, input_shape } = jacobian;
  if (structure === null) return "";
  const isReduction = structure === "broadcast_sum" && elementCount(output_shape) < elementCount(input_shape);
  const isCopied = structure === "sum_over_copies" || structure === "broadcast_sum";
  if (isReduction || structure === "copy_to_summands") return textOf(say(reduction(jacobian)));
  return textOf(say(isCopied ? repetition(jacobian) : KEYS[structure]));
}

/** Whether each copy has a factor of its own, as in `x * y`. */
function repetition({ value }: LocalJacobian): PlainKey {
  const cells = "data" in value ? (value.data ?? []) : [];
  const isScaled = cells.some((cell) => spelled(cell) !== spelled(0) && spelled(cell) !== spelled(1));
  return isScaled ? "structure-scaled-copies" : "structure-copies";
}

/** Which weights the entries have in their results: 1 in a sum, one and the same in a mean. */
function reduction({ value, output_shape, input_shape }: LocalJacobian): PlainKey {
  const cells = "data" in value ? value.data : undefined;
  if (cells === undefined) return "structure-reduction";
  const entries = elementCount(input_shape);
  const rows = Array.from({ length: elementCount(output_shape) }, (_, row) => row * entries);
  const weights = Array.from({ length: entries }, (_, entry) => {
    const own = rows.map((row) => spelled(cells[row + entry] ?? 0));
    return own.find((weight) => weight !== spelled(0)) ?? spelled(0);
  });
  const [first, ...rest] = new Set(weights);
  if (rest.length > 0) return "structure-weighted";
  return first === spelled(1) ? "structure-sum" : "structure-share";
}

const spelled = (cell: Cell): string => formatNumber(cell, SAME_DIGITS);

/** More than rounding leaves alike in single precision. */
const SAME_DIGITS = 6;
