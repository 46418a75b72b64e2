/**
 * The ways to write v times J = returned in numbers, the most readable first. A form is offered only if its numbers
 * reproduce what the engine returned; the full J is shown in any case, and says where they do not (`isTrue`).
 */
import { isTensor } from "../model/gradients";
import type { Node } from "../protocol/trace.gen";
import { elementByElement } from "./elements";
import type { Factor, OperandEquation, Saved } from "./equation";
import { arrivedCount, type ProductForm } from "./form";
import { movedForm } from "./moves";
import { fullJacobian, manyVs, stackOfRows } from "./rows";

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
  const moved = movedForm(node, operand, saved, returned);
  const others = [
    elementByElement(operand, factor, v, returned),
    stackOfRows(operand, factor, v, returned),
    fullJacobian(operand, returned),
  ];
  // Of several lines only the one at work may have room: rows of v that meet a J are easier to see at once.
  const forms = (moved?.before ? [...others, moved] : [moved, ...others]).filter((form) => form !== null);
  return forms.filter(({ view }, at) => forms.findIndex((each) => each.view === view) === at);
}
