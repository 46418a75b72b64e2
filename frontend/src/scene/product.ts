/**
 * The ways to write v times J = returned in numbers, the most readable first. A form is offered only if its numbers
 * reproduce what the engine returned; the full J is shown in any case, and says where they do not (`isTrue`).
 */
import { isTensor } from "../model/gradients";
import type { Node } from "../protocol/trace.gen";
import { classMinusShares } from "./crossentropy";
import { elementByElement } from "./elements";
import type { Factor, OperandEquation, Saved } from "./equation";
import { arrivedCount, type ProductForm } from "./form";
import { matrixProduct } from "./matrices";
import { fullJacobian, manyVs, stackOfRows } from "./rows";
import { slidingWindow } from "./windows";

/** What can be shown of one operand's product, one form per view; empty where numbers are missing. */
export function productForms(
  node: Node,
  operand: OperandEquation,
  factor: Factor,
  saved: readonly Saved[],
): readonly ProductForm[] {
  const { v } = factor;
  const { returned } = operand;
  if (!isTensor(v) || !isTensor(returned)) return [];
  const many = manyVs(operand, returned);
  if (many !== null) return [many];
  if (arrivedCount(operand) > 1) return [];
  const matrices =
    matrixProduct(node, operand, factor, saved, v, returned) ?? slidingWindow(node, operand, v, returned);
  const forms = [
    matrices,
    classMinusShares(node, operand, v, returned) ?? elementByElement(operand, factor, v, returned),
    matrices === null ? stackOfRows(operand, factor, v, returned) : null,
    fullJacobian(operand, factor, v, returned),
  ];
  return forms.filter((form) => form !== null);
}
