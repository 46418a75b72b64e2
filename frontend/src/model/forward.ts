/** What is said of the three phases of a forward step. */
import type { Node, SavedTensor, TensorValue } from "../protocol/trace.gen";
import type { Precision } from "./numbers";
import { formatNumber } from "./numbers";

/** As many numbers are read out; of more only the shape. */
const SPOKEN_NUMBERS = 4;

export type Operand = Node["inputs"][number];

/**
 * One sentence, with the traced numbers where they are few.
 * @param nameOf what an operand is called: the variable that holds it, else the name of the argument
 */
export function forwardSentence(
  node: Node,
  phase: number,
  precision: Precision,
  nameOf: (operand: Operand) => string,
): string {
  if (phase === 1) return arriving(node, precision, nameOf);
  if (phase === 2) return computed(node, precision);
  return kept(node);
}

function arriving(
  { label, inputs }: Node,
  precision: Precision,
  nameOf: (operand: Operand) => string,
): string {
  if (inputs.length === 0) return `${label} is called.`;
  const operands = inputs.map((operand) => `${nameOf(operand)}${spoken(operand.value, precision)}`);
  return `${label} gets ${listed(operands)}.`;
}

function computed({ label, outputs }: Node, precision: Precision): string {
  if (outputs.length === 0) return `${label} computes its result.`;
  const results = outputs.map(({ name, value }) => `${name ?? "its result"}${spoken(value, precision)}`);
  return `${label} computes ${listed(results)}.`;
}

function kept({ label, saved }: Node): string {
  const tensors = saved.filter(isTensor).map(({ name }) => name);
  const others = saved.length - tensors.length;
  if (saved.length === 0) return `${label} saves nothing for backward.`;
  if (tensors.length === 0) return `${label} saves no tensor for backward, only ${plain(others)}.`;
  const besides = others === 0 ? "" : `, and ${plain(others)}`;
  return `${label} saves ${listed(tensors)} for backward${besides}.`;
}

/** Sizes, strides, flags: PyTorch saves them under names of its own. */
function plain(count: number): string {
  return count === 1 ? "one plain value" : `${count} plain values`;
}

function isTensor({ value, version }: SavedTensor): boolean {
  return version !== null || (typeof value === "object" && value !== null && "shape" in value);
}

function spoken(value: TensorValue | null | undefined, precision: Precision): string {
  if (value === null || value === undefined) return "";
  const numbers = value.data?.map((cell) => formatNumber(cell, precision));
  if (numbers === undefined || numbers.length > SPOKEN_NUMBERS || value.shape.length > 1)
    return ` of shape [${value.shape.join(", ")}]`;
  return value.shape.length === 0 ? ` = ${numbers.join("")}` : ` = [${numbers.join(", ")}]`;
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
