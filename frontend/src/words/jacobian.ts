/** The rule as the shapes and the numbers of a local Jacobian show it. */
import { returnedFor } from "../model/gradients";
import { elementCount, isComplex, jacobianMatrix } from "../model/matrix";
import { formatNumber, toNumber } from "../model/numbers";
import type { Cell, LocalJacobian, Node } from "../protocol/trace.gen";
import { opOf, ownName, resultName } from "./names";
import { code, type Said, say, text } from "./say";
import { jacobianAt, operandAt, SUMMANDS_READ_ALOUD, sentOn, spelled, type Told } from "./told";
import { isShort, scalarOf, spellNumber } from "./values";

const SUMS = /^(?:Sum|Mean)Backward[01]$/;

/** Rules that the shapes explain better than a formula does. */
export function* ruleByShape(told: Told, argnum: number): Generator<Said> {
  const { step, node } = told;
  const jacobian = jacobianAt(told, argnum);
  const name = operandAt(told, argnum);
  if (jacobian === undefined || name === null) return;
  const [outputs, inputs] = [elementCount(jacobian.output_shape), elementCount(jacobian.input_shape)];
  const op = opOf(node);
  yield* ruleOfLookup(told, jacobian, name);
  if (SUMS.test(node.name) && inputs > 1) {
    const [seed] = step.grad_outputs;
    const isSpelled = seed !== undefined && isShort(seed);
    const v = isSpelled ? spelled(told, seed) : code("v");
    const count = text(String(inputs / Math.max(outputs, 1)));
    const isWhole = outputs === 1;
    if (node.name.startsWith("Sum"))
      yield isWhole ? say("rule-sum-all", { op, name, v }) : say("rule-sum-some", { op, name });
    else
      yield isWhole
        ? say("rule-mean-all", { op, count, name, v })
        : say("rule-mean-some", { op, count, name });
  }
  if (isCopied(jacobian) && !isRealOfComplex(told, argnum) && sentOn(told).length === 1) {
    const output = ownName(told, node);
    if (output !== null && isBroadcast(node, jacobian))
      yield say("rule-broadcast", { name, output: code(output) });
    yield say("rule-repeated", { name });
  }
}

/** What the numbers of the local Jacobian show. */
export function* ruleByStructure(told: Told, argnum: number): Generator<Said> {
  const { step, node, precision } = told;
  const jacobian = jacobianAt(told, argnum);
  const name = operandAt(told, argnum);
  if (jacobian === undefined || name === null) return;
  const op = opOf(node);
  const [outputs, inputs] = [elementCount(jacobian.output_shape), elementCount(jacobian.input_shape)];
  switch (jacobian.structure) {
    case "scalar": {
      const number = factorOf(jacobian);
      if (number !== null) yield say("rule-number", { op, value: spellNumber(number, precision) });
      return;
    }
    case "diagonal": {
      const factors = diagonalOf(jacobian);
      if (factors?.every((cell) => toNumber(cell) === 1) === true) yield say("rule-reshape", { op, name });
      if (factors !== null)
        yield say("rule-diagonal", {
          name,
          factors: [{ kind: "value", text: entriesOf(factors, precision) }],
        });
      yield say("rule-diagonal-many", { name });
      return;
    }
    case "permutation":
      yield say("rule-moves", { op, name });
      return;
    case "selection":
      if (step.grad_outputs.length > 1) yield say("rule-apart", { op, name });
      if (outputs > inputs && sentOn(told).length > 1) {
        const output = ownName(told, node);
        if (output !== null) yield say("rule-parts", { output: code(output) });
      }
      if (outputs > inputs) yield say("rule-part-of", { name, output: resultName(node, jacobian.output_nr) });
      else yield say("rule-selection", { op, name });
      return;
    case "sum_over_copies":
      if (!isRealOfComplex(told, argnum)) yield say("rule-repeated", { name });
      return;
    case "copy_to_summands":
      if (isOverwriting(node)) yield say("rule-overwritten", { name });
      else yield isUnweighted(jacobian) ? say("rule-added", { name }) : say("rule-reduction", { name });
      return;
    case "broadcast_sum":
      yield inputs > outputs ? say("rule-reduction", { name }) : say("rule-repeated", { name });
      return;
    case "zero":
      yield say("rule-zero", { name });
      return;
    case "dense":
    case "kronecker":
    case "too_large":
    case null:
      yield say("rule-jacobian", { op, rows: text(String(outputs)), columns: text(String(inputs)) });
  }
}

/** Whether the operand was repeated, so that the gradients of its copies are added up. */
export function isCopied(jacobian: LocalJacobian | undefined): boolean {
  if (jacobian === undefined) return false;
  const { structure, output_shape, input_shape } = jacobian;
  const isOlder = structure === "broadcast_sum" && elementCount(output_shape) > elementCount(input_shape);
  return structure === "sum_over_copies" || isOlder;
}

/** A real entry is in both parts of a complex result: that is no repetition. */
function isRealOfComplex({ step }: Told, argnum: number): boolean {
  return !isComplex(returnedFor(step, argnum)) && step.grad_outputs.some(isComplex);
}

/** Of entries written to one place the last one stays, but torch's backward gives its `v` to each. */
function isOverwriting(node: Node): boolean {
  const isWriting = /^(?:IndexCopy|IndexPut|Put|Scatter)Backward0$/.test(node.name);
  return isWriting && optionOf(node, "accumulate") !== true;
}

function isUnweighted(jacobian: LocalJacobian): boolean {
  return jacobianMatrix(jacobian)?.cells.every((cell) => cell === 0 || cell === 1) ?? false;
}

/** Uses of an embedding's row may be averaged, and those of the row that only fills up do not count at all. */
function* ruleOfLookup(told: Told, jacobian: LocalJacobian, name: Said): Generator<Said> {
  const { node } = told;
  const row = optionOf(node, "padding_idx");
  const isMean = optionOf(node, "scale_grad_by_freq") === true;
  if (node.name !== "EmbeddingBackward0" || typeof row !== "number") return;
  if (isMean) yield say("rule-lookup-mean", { name });
  else if (row >= 0 && row < (jacobian.input_shape[0] ?? 0))
    yield say("rule-lookup-padding", { name, row: text(String(row)) });
}

function optionOf({ saved }: Node, name: string): unknown {
  return saved.find((each) => each.name === name)?.option;
}

/** Not every copy is made by broadcasting: an embedding looks the same row up twice, cumprod uses an entry again. */
function isBroadcast(node: Node, { output_shape, input_shape }: LocalJacobian): boolean {
  if (!BROADCASTING.test(node.name) || elementCount(input_shape) >= elementCount(output_shape)) return false;
  return input_shape.every((size, axis) => {
    const there = output_shape[axis + output_shape.length - input_shape.length];
    return size === there || size === 1;
  });
}

/** Operations whose operands are repeated to one shape. */
const BROADCASTING =
  /^(?:Add|Addcdiv|Addcmul|Addmm|Atan2|BinaryCrossEntropy|Copysign|Div|Expand|Fmod|Huber|Hypot|Lerp|Logaddexp|Maximum|Minimum|MseLoss|Mul|Pow|Remainder|Rsub|SmoothL1Loss|Sub|Where|Xlogy)(?:2|WithLogits|Loss)?Backward/;

function entriesOf(cells: readonly Cell[], precision: number): string {
  return cells.map((cell) => formatNumber(cell, precision)).join(", ");
}

/** The diagonal of a Jacobian that is short enough to be read aloud. */
export function diagonalOf({ value, output_shape }: LocalJacobian): readonly Cell[] | null {
  const size = elementCount(output_shape);
  if (!("data" in value) || value.data === undefined || size > SUMMANDS_READ_ALOUD) return null;
  return Array.from({ length: size }, (_, at) => value.data?.[at * (size + 1)] ?? 0);
}

/** The Jacobian itself where it is one number. */
export function factorOf({ value }: LocalJacobian): Cell | null {
  return "shape" in value ? scalarOf(value) : null;
}
