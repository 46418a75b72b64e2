/** What is said of phase 3: what became of v. */
import { isTensor } from "../model/gradients";
import { bytesPerElement, elementCount, isComplex } from "../model/matrix";
import { formatBytes } from "../model/numbers";
import type { Gradient } from "../protocol/trace.gen";
import { changes } from "./asides";
import { diagonalOf, factorOf } from "./jacobian";
import { opOf, resultName } from "./names";
import { derivativeText, isPlacing, ruleText, sideOfV } from "./rule";
import { code, inTurn, listed, type Said, say, text, textOf } from "./say";
import { equation } from "./sums";
import {
  byOperand,
  firstFitting,
  jacobianAt,
  OPERANDS_READ_ALOUD,
  operandAt,
  spelled,
  type Told,
  thereOf,
  vIs,
} from "./told";
import { isShort, isThere, scalarOf, spellNumber, spellShape } from "./values";

export function multiply(told: Told): Said {
  const { step, node } = told;
  const op = opOf(node);
  const there = thereOf(step.grad_inputs).map(({ index }) => index);
  if (there.length > 0) return firstFitting(told, multiplications(told, there));
  if (!step.grad_outputs.some(isThere)) return say("multiply-nothing-arrived", { op });
  const reasons = step.grad_inputs.map((value) => (isTensor(value) ? null : value.missing));
  if (reasons.includes("returned_none")) return say("multiply-returned-none", { op });
  if (reasons.includes("undefined")) return say("multiply-returned-undefined", { op });
  return say("multiply-not-wanted", { op });
}

/** Ways to say what became of v, the most telling one first. */
function* multiplications(told: Told, there: readonly number[]): Generator<Said> {
  const { step, node } = told;
  const op = opOf(node);
  const results = listed(resultsFor(told, there.slice(0, OPERANDS_READ_ALOUD)));
  const isAll = there.length <= OPERANDS_READ_ALOUD;
  // What the rule gave is known; whether it, a hook or a cast explains the numbers is not.
  // That the engine sums what was broadcast is part of the rule.
  const isChanged = (step.changes ?? []).some(({ kind }) => kind !== "sum_to_size");
  // Nor is it known where hooks unpack what was saved, perhaps to other values.
  const isPacked = node.saved.some(({ note }) => note?.kind === "note-packed");
  const isRefuted = isChanged || isPacked || step.local_jacobians.some(({ checked }) => checked === false);
  if (isChanged) {
    const all = changes(told);
    for (let count = all.length; count > 0; count -= 1)
      yield say("multiply-products", { products: inTurn(all.slice(0, count)) });
  }
  if (!isRefuted && isAll) {
    const products = there.map((argnum) => product(told, argnum));
    if (!products.includes(null))
      yield say("multiply-products", { products: inTurn(named(told, there, products)) });
  }
  const present = thereOf(step.grad_outputs);
  const [first] = present;
  if (isRefuted && isAll)
    yield say(node.kind === "custom" ? "multiply-custom-returned" : "multiply-returned", { op, results });
  else if (present.length === 1 && first !== undefined && isAll) {
    const v = vIs(told, first.value);
    if (node.kind === "custom") yield say("multiply-custom", { op, results, v });
    else {
      yield* matrixProducts(told, there);
      yield* byRule(told, there, v);
      const full = there.length === 1 ? sizeOfLarge(told, there[0] ?? 0) : null;
      if (full !== null) yield say("multiply-unbuilt", { v, results, full });
      yield say("multiply-jacobian", { v, results });
      const shapes = there.flatMap((argnum) => {
        const value = step.grad_inputs[argnum];
        return isTensor(value) ? [spellShape(value.shape)] : [];
      });
      const [shape, another] = shapes;
      if (shape !== undefined && another === undefined) yield say("multiply-shape", { v, shape });
      else if (shapes.length === there.length) yield say("multiply-shapes", { v, shapes: listed(shapes) });
    }
  } else if (isAll && present.length > 1) {
    const vs = listed(present.map(({ value, index }) => vOf(told, value, index)));
    if (node.kind === "custom") yield say("multiply-custom", { op, results, v: vs });
    else yield say("multiply-jacobians", { vs, results });
  }
  yield say("multiply-count", { count: there.length });
}

const LARGE_JACOBIAN_BYTES = 2 ** 20;

/** What the Jacobian would take, where that is much. */
function sizeOfLarge({ step }: Told, argnum: number): Said | null {
  const [from, to] = [step.grad_outputs.find(isTensor), step.grad_inputs[argnum]];
  if (from === undefined || !isTensor(to)) return null;
  const bytes = elementCount(from.shape) * elementCount(to.shape) * bytesPerElement(to.dtype);
  return bytes < LARGE_JACOBIAN_BYTES ? null : text(formatBytes(bytes));
}

/** `v @ values.T is [3, 2] @ [2, 3] = [3, 3] for weights`: where numbers would be too many. */
function* matrixProducts(told: Told, there: readonly number[]): Generator<Said> {
  const products = there.flatMap((argnum) => {
    const rule = ruleText(told.node, argnum);
    const name = operandAt(told, argnum);
    const { output_shape: v = [], input_shape: given = [] } = jacobianAt(told, argnum) ?? {};
    const side = sideOfV(told.node, argnum);
    if (rule === null || name === null || side === null || v.length !== 2 || given.length !== 2) return [];
    const isLeft = side === "left";
    const other = isLeft ? [v[1] ?? 0, given[1] ?? 0] : [given[0] ?? 0, v[0] ?? 0];
    const [left, right] = isLeft ? [v, other] : [other, v];
    return [
      { rule: code(rule), name, left: spellShape(left), right: spellShape(right), shape: spellShape(given) },
    ];
  });
  const isLarge = told.step.grad_outputs.some((value) => !isShort(value));
  for (let count = isLarge || there.length > 1 ? products.length : 0; count > 0; count -= 1) {
    const said = products.slice(0, count).map((each) => say("matrix-product", each));
    yield say("multiply-matrices", { products: inTurn(said) });
  }
}

/** With the formula, where it was checked here. */
function* byRule(told: Told, there: readonly number[], v: Said): Generator<Said> {
  const [argnum, second] = there;
  if (argnum === undefined || second !== undefined || told.step.formula_checked !== true) return;
  const rule = ruleText(told.node, argnum);
  const result = resultsFor(told, [argnum])[0] ?? [];
  const structure = jacobianAt(told, argnum)?.structure;
  if (
    rule === null ||
    rule === "v" ||
    rule === "0" ||
    structure === "broadcast_sum" ||
    structure === "copy_to_summands"
  )
    return;
  if (structure === "selection" || structure === "permutation" || isPlacing(told.node, argnum)) {
    yield say("multiply-placed", { v, result });
    return;
  }
  // A formula with nothing but shapes beside it was told a stop ago.
  if (![...told.step.grad_outputs, ...told.step.grad_inputs].some((each) => isThere(each) && isShort(each)))
    return;
  const derivative = derivativeText(told.node, argnum);
  if (derivative !== null) yield say("multiply-entries", { v, derivative: code(derivative), result });
  else yield say("multiply-rule", { v, rule: code(rule), result });
}

/** `14 × 2 = 28`, `[1, 2] ⊙ [3, 4] = [3, 8]`: where it was checked and both sides are written out. */
function product(told: Told, argnum: number): Said | null {
  const { step, precision } = told;
  const result = step.grad_inputs[argnum];
  const jacobian = jacobianAt(told, argnum);
  if (result === undefined || jacobian?.checked !== true || !isShort(result)) return null;
  if (step.local_jacobians.filter((each) => each.argnum === argnum).length > 1) return null;
  const v = step.grad_outputs[jacobian.output_nr];
  // Of complex numbers J is one of their real and imaginary parts: no factor of a number.
  if (v === undefined || !isShort(v) || isComplex(v) || isComplex(result)) return null;
  const factor = factorOf(jacobian);
  const factors = factor === null && jacobian.structure === "diagonal" ? diagonalOf(jacobian) : null;
  const spelledFactor: Said | null =
    factor !== null && scalarOf(v) !== null && String(jacobian.output_shape) === String(jacobian.input_shape)
      ? spellNumber(factor, precision)
      : factors !== null && jacobian.output_shape.length === 1 && jacobian.input_shape.length === 1
        ? spelled(told, { shape: [factors.length], dtype: "", data: [...factors] })
        : null;
  if (spelledFactor === null) return null;
  const vSaid = spelled(told, v);
  return equation([vSaid, spelledFactor], scalarOf(v) === null ? "⊙" : "×", spelled(told, result));
}

/** Each product with the operand it is for, where there are several. */
function named(told: Told, argnums: readonly number[], products: readonly (Said | null)[]): Said[] {
  const names = argnums.map((argnum) => operandAt(told, argnum));
  const texts = new Set(products.map((each) => textOf(each ?? [])));
  const [name, product] = [names[0] ?? null, products[0] ?? null];
  const isOneName = new Set(names.map((each) => textOf(each ?? []))).size === 1;
  if (name !== null && product !== null && argnums.length > 1 && texts.size === 1 && isOneName)
    return [say("product-each", { product, name })];
  return products.map((each, at) => {
    const called = names[at] ?? null;
    if (each === null) return [];
    return argnums.length === 1 || called === null
      ? each
      : say("product-for", { name: called, product: each });
  });
}

/** What was returned, by what it is for: `2 for w`, `3 and 3 for x`. */
function resultsFor(told: Told, argnums: readonly number[]): Said[] {
  return byOperand(told, argnums).map(({ name, values }) =>
    say("result-for", { value: listed(values), name }),
  );
}

function vOf(told: Told, value: Gradient, index: number): Said {
  const output = resultName(told.node, index);
  if (isTensor(value) && !isShort(value))
    return say("v-of-output-shape", { output, shape: spellShape(value.shape) });
  return say("v-of-output", { output, value: spelled(told, value) });
}
