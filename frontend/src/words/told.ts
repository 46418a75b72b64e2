/** A step of which something is said: the names of its operands, its gradients spelled, how much fits. */
import { isTensor } from "../model/gradients";
import type { Gradient, LocalJacobian, Node, PassStarted, Step } from "../protocol/trace.gen";
import { operandName, operandText, opOf, type Scene } from "./names";
import { code, type Said, say, textOf } from "./say";
import { isShort, isThere, spellGradient, spellShape } from "./values";

export const SUMMANDS_READ_ALOUD = 4;
export const OPERANDS_READ_ALOUD = 3;

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

export function jacobianAt({ step }: Told, argnum: number): LocalJacobian | undefined {
  return step.local_jacobians.find((each) => each.argnum === argnum);
}

/** Of several gradients those that can be named, with their numbers. */
export function thereOf(gradients: readonly Gradient[]): readonly { value: Gradient; index: number }[] {
  return gradients.flatMap((value, index) => (isThere(value) ? [{ value, index }] : []));
}

/** Operands that a gradient is returned for; all where none has one. */
export function sentOn({ step, node }: Told): number[] {
  const there = thereOf(step.grad_inputs).map(({ index }) => index);
  return there.length > 0
    ? there
    : node.inputs.filter(({ edge }) => edge !== undefined).map(({ argnum }) => argnum);
}

/** Gradients with the same name together; those of nameless operands are left out. */
export function byOperand(told: Told, argnums: readonly number[]): { name: Said; values: Said[] }[] {
  const found = new Map<string, { name: Said; values: Said[] }>();
  for (const argnum of argnums) {
    const name = operandAt(told, argnum);
    if (name === null) continue;
    const known = found.get(textOf(name)) ?? { name, values: [] };
    known.values.push(spelled(told, told.step.grad_inputs[argnum]));
    found.set(textOf(name), known);
  }
  return [...found.values()];
}

export function vIs(told: Told, value: Gradient): Said {
  if (isTensor(value) && !isShort(value)) return say("v-of-shape", { shape: spellShape(value.shape) });
  return say("v-is", { value: spelled(told, value) });
}

export function spelled(told: Told, value: Gradient | undefined): Said {
  return value === undefined ? say("nothing") : spellGradient(value, told.precision);
}

/** The first sentence that is short enough; the last one where none is. */
export function firstFitting({ room }: Told, ways: Iterable<Said>): Said {
  let last: Said = [];
  for (const way of ways) {
    last = way;
    if (textOf(way).length <= room) break;
  }
  return last;
}
