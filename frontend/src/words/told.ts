/** A step of which something is said, and the names of its operands. */
import type { Node, PassStarted, Step } from "../protocol/trace.gen";
import { operandName, operandText, opOf, type Scene } from "./names";
import { code, type Said, textOf } from "./say";

/** A step with its node, and the graph and the pass around it. */
export interface Told extends Scene {
  readonly step: Step;
  readonly node: Node;
  readonly pass: PassStarted;
  /** As many characters may be said. */
  readonly room: number;
}

export function operandAt(told: Told, argnum: number): Said | null {
  const operand = told.node.inputs.find((each) => each.argnum === argnum);
  return operand === undefined ? null : operandName(told, told.node, operand);
}

export function nameAt(told: Told, argnum: number): string | null {
  const operand = told.node.inputs.find((each) => each.argnum === argnum);
  return operand === undefined ? null : operandText(told, told.node, operand);
}

/** Who computes the gradients: the op, or a Function's own backward. */
export function ruleOf({ node }: Told): Said {
  return node.kind === "custom" ? code(`${textOf(opOf(node))}.backward`) : opOf(node);
}
