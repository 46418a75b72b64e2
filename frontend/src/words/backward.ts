/** What is said of a backward step, as a whole and at each of its five phases: one idea, in the program's names. */
import { accumulatedBy, isTensor } from "../model/gradients";
import { elementCount } from "../model/matrix";
import { formatNumber, toNumber } from "../model/numbers";
import type { Cell, Contribution, Gradient, LocalJacobian, Node, TensorValue } from "../protocol/trace.gen";
import { asidesOf, changes } from "./asides";
import { operandText, opOf, ownName, resultName, sourceText } from "./names";
import { derivativeText, equationText, ruleText, savedInRule } from "./rule";
import {
  code,
  enumerated,
  inTurn,
  listed,
  type Reference,
  type Said,
  say,
  sentence,
  text,
  textOf,
} from "./say";
import { nameAt, operandAt, ruleOf, type Told } from "./told";
import {
  bracketed,
  entriesText,
  isShort,
  isThere,
  scalarOf,
  spellGradient,
  spellNumber,
  spellShape,
} from "./values";

export const LONGEST_SENTENCE = 140;
const SUMMANDS_READ_ALOUD = 4;
const OPERANDS_READ_ALOUD = 3;

/**
 * The sentence of a phase, and as much as fits of what happened beside it.
 * @param phase 1 to 5
 */
export function backwardSentence(told: Told, phase: number): Said {
  const facts = asidesOf(told).filter((fact) => fact.phase === phase && !fact.isInSentence);
  for (let count = facts.length; count > 0; count -= 1) {
    const besides = facts.slice(0, count).flatMap(({ said }) => [...text(" "), ...said]);
    const said = phaseSentence({ ...told, room: told.room - textOf(besides).length }, phase);
    const whole = [...sentence(said), ...besides];
    if (textOf(whole).length <= told.room) return whole;
  }
  return sentence(phaseSentence(told, phase));
}

function phaseSentence(told: Told, phase: number): Said {
  const isLeaf = told.step.accumulate !== null;
  if (phase === 1) return collect(told);
  if (phase === 2)
    return isLeaf ? say("rule-leaf", { name: code(told.step.accumulate?.leaf ?? "") }) : rule(told);
  if (phase === 3) return isLeaf ? say("multiply-leaf") : multiply(told);
  if (phase === 4) return isLeaf ? say("send-leaf") : send(told);
  return isLeaf ? accumulated(told) : land(told);
}

/** The sentence that names the whole step. */
export function wholeSentence(told: Told): Said {
  const { step, node } = told;
  if (step.accumulate !== null) return sentence(accumulated(told));
  const there = step.grad_outputs.flatMap((value, index) => (isThere(value) ? [{ value, index }] : []));
  const then = send(told);
  if (there.length === 0) return say("whole-nothing", { op: opOf(node), then });
  const came = there.every(({ value }) => isShort(value))
    ? listed(
        there.map(({ value, index }) => spellGradient(value, { of: "grad_output", index }, told.precision)),
      )
    : there.length === 1
      ? spelled(told, there[0]?.value, "grad_output", there[0]?.index)
      : say("whole-gradients", { count: there.length });
  return sentence(firstFitting(told, [say("whole", { op: opOf(node), came, then }), then]));
}

// 1 collect

function collect(told: Told): Said {
  const { step, node } = told;
  if (step.grad_outputs.length > 1) return firstFitting(told, severalOutputs(told));
  const name = resultName(node, step.contributions[0]?.output_nr ?? 0);
  const there = step.contributions.flatMap((each, index) =>
    isThere(each.value) ? [{ ...each, index }] : [],
  );
  if (there.length === 0) return say("collect-none", { name });
  const ways =
    there.length === 1 && step.contributions.length === 1 ? one(told, name) : several(told, name, there);
  return firstFitting(told, [...ways, say("collect-short", { count: there.length })]);
}

function one(told: Told, name: Said): Said[] {
  const [contribution] = told.step.contributions;
  if (contribution === undefined) return [];
  const { value, edge } = contribution;
  if (edge !== "seed")
    return [say("collect-one", { v: vIs(told, value, { of: "contribution", index: 0 }), name })];
  if (isTensor(value) && !isShort(value))
    return [say("collect-seed-shape", { name, shape: spellShape(value.shape) })];
  return [
    say("collect-seed", { name, v: spellGradient(value, { of: "contribution", index: 0 }, told.precision) }),
  ];
}

type Numbered = Contribution & { readonly index: number };

function several(told: Told, name: Said, there: readonly Numbered[]): Said[] {
  const { contributions } = told.step;
  const seeds = contributions.filter(({ edge }) => edge === "seed").length;
  const count = contributions.length;
  return sums(told, there).map((sum) => {
    if (seeds === count) return say("collect-seeds", { name, count, sum });
    if (seeds > 0) return say("collect-seed-and-uses", { name, count: there.length, seeds, sum });
    if (there.length === count) return say("collect-used", { name, count, sum });
    return say("collect-used-some", { name, count, arrived: text(String(there.length)), sum });
  });
}

/** The sum written out where it can be, else what is added. */
function sums(told: Told, there: readonly Numbered[]): Said[] {
  const { step, precision } = told;
  const [change] = step.hooks ?? [];
  const total: Reference =
    change === undefined ? { of: "grad_output", index: 0 } : { of: "before_hook", index: 0 };
  const value = change?.before ?? step.grad_outputs[0];
  const found: Said[] = [];
  const values = there.map((each) => each.value);
  if (value !== undefined && there.length <= SUMMANDS_READ_ALOUD && isSum(values, value)) {
    const terms = there.map((each) =>
      spellGradient(each.value, { of: "contribution", index: each.index }, precision),
    );
    found.push(equation(terms, "+", spellGradient(value, total, precision)));
  }
  const shape = values.find(isTensor)?.shape ?? [];
  found.push(say("sum-of-shapes", { count: there.length, shape: spellShape(shape) }));
  return found;
}

/** Whether the numbers, all written out, add up; what must not be seen is believed. */
function isSum(terms: readonly Gradient[], total: Gradient): boolean {
  if (![...terms, total].every(isShort)) return false;
  if (![...terms, total].every(isTensor)) return true;
  const [first, ...rest] = terms.filter(isTensor).map(({ data }) => data ?? []);
  const sum = (total as TensorValue).data ?? [];
  return sum.every((cell, at) => {
    const added = rest.reduce((before, data) => before + toNumber(data[at] ?? 0), toNumber(first?.[at] ?? 0));
    return isAbout(
      added,
      cell,
      Math.max(...terms.filter(isTensor).map(({ data }) => Math.abs(toNumber(data?.[at] ?? 0)))),
    );
  });
}

/** Equal up to the rounding of the shortest dtypes; complex and unseen numbers are not judged here. */
function isAbout(expected: number, cell: Cell, size: number): boolean {
  if (Array.isArray(cell)) return true;
  const found = toNumber(cell);
  return Object.is(expected, found) || expected === found || Math.abs(expected - found) <= 0.01 * size;
}

function equation(terms: readonly Said[], sign: string, result: Said): Said {
  return [
    ...terms.flatMap((term, at) => (at === 0 ? [...term] : [...text(` ${sign} `), ...bracketed(term)])),
    ...text(" = "),
    ...result,
  ];
}

function severalOutputs(told: Told): Said[] {
  const { step, node, precision } = told;
  const there = step.grad_outputs.flatMap((value, index) => (isThere(value) ? [{ value, index }] : []));
  const counts = {
    count: text(String(step.grad_outputs.length)),
    op: opOf(node),
    arrived: text(String(there.length)),
  };
  if (there.length === 0) return [say("collect-none", { name: opOf(node) })];
  const list = there.map(({ value, index }) =>
    say("value-at", {
      value: spellGradient(value, { of: "grad_output", index }, precision),
      name: resultName(node, index),
    }),
  );
  const said = { ...counts, list: listed(list) };
  const isAll = there.length === step.grad_outputs.length;
  return [say(isAll ? "collect-outputs-all" : "collect-outputs", said), say("collect-outputs-count", counts)];
}

// 2 local rule

function rule(told: Told): Said {
  const { node } = told;
  if (node.kind === "custom") return say("rule-custom", { op: opOf(node) });
  if (node.kind === "view_write") return say("rule-view-write");
  return firstFitting(told, [...rules(told), say("rule-plain", { op: opOf(node) })]);
}

/** Ways to say the rule, the most telling one first. */
function* rules(told: Told): Generator<Said> {
  const [argnum] = sentOn(told);
  if (argnum === undefined) return;
  yield* sameOperand(told);
  yield* ruleByShape(told, argnum);
  yield* copied(told);
  yield* derivatives(told);
  const { structure } = jacobianAt(told, argnum) ?? {};
  // What only moves entries is clearer in words than as the calls that move them back; a transpose is not.
  const isMove = structure === "selection" || structure === "permutation";
  if (isMove && told.node.name !== "TBackward0") yield* ruleByStructure(told, argnum);
  yield* written(told);
  yield* ruleByStructure(told, argnum);
}

/** Operands that a gradient is returned for; all where none has one. */
function sentOn({ step, node }: Told): number[] {
  const there = step.grad_inputs.flatMap((value, argnum) => (isThere(value) ? [argnum] : []));
  return there.length > 0
    ? there
    : node.inputs.filter(({ edge }) => edge !== undefined).map(({ argnum }) => argnum);
}

function* sameOperand(told: Told): Generator<Said> {
  const { node } = told;
  const [first, second, third] = node.inputs;
  if (first?.edge === undefined || second?.edge === undefined || third !== undefined) return;
  const name = operandText(told, node, first);
  const output = sourceText(node) ?? ownName(told, node);
  const derivative = derivativeText(node, 0);
  if (name === null || output === null || name !== operandText(told, node, second)) return;
  if (derivative === null || derivative !== derivativeText(node, 1)) return;
  const said = { output: code(output), name: code(name), derivative: code(derivative) };
  const value = savedValue(told, 0);
  if (value !== null && derivative === name) yield say("rule-same-operand-saved", { ...said, value });
  yield say("rule-same-operand", said);
}

/** `d sin(x*y)/d(x*y) = cos(x*y); x*y was saved as 2`. */
function* derivatives(told: Told): Generator<Said> {
  const argnums = sentOn(told).slice(0, OPERANDS_READ_ALOUD);
  const names = argnums.map((argnum) => nameAt(told, argnum));
  if (new Set(names).size < names.length) return;
  const equations = argnums.flatMap((argnum) => {
    const equation = equationText(told.node, argnum);
    return equation === null ? [] : [code(equation)];
  });
  if (equations.length === 0) return;
  const saved = equations.length < argnums.length ? [] : savedWords(told, argnums);
  if (saved.length > 0)
    yield say("rule-derivative-saved", { equations: listed(equations), saved: listed(saved) });
  yield say("rule-derivative", { equations: listed(equations) });
  const [first] = equations;
  if (equations.length > 1 && first !== undefined) yield say("rule-derivative", { equations: first });
}

/** `x was saved as 2`, `w as 3`. */
function savedWords(told: Told, argnums: readonly number[]): Said[] {
  const needed = [...new Set(argnums.flatMap((argnum) => savedInRule(told.node, argnum)))];
  const found = needed.flatMap((operand) => {
    const name = operand === null ? ownName(told, told.node) : nameAt(told, operand);
    const value = savedValue(told, operand);
    return name === null || value === null || textOf(value) === name ? [] : [{ name: code(name), value }];
  });
  return found.map((each, at) => say(at === 0 ? "saved-as" : "saved-as-too", each));
}

/** The saved number of an operand, or of the result. */
function savedValue({ node, precision }: Told, operand: number | null): Said | null {
  const name = operand === null ? "result" : node.inputs.find(({ argnum }) => argnum === operand)?.name;
  const index = node.saved.findIndex((each) => each.name === name);
  const { value, was } = node.saved[index] ?? {};
  if (
    was !== undefined ||
    value === undefined ||
    typeof value !== "object" ||
    value === null ||
    Array.isArray(value)
  )
    return null;
  const number = scalarOf(value);
  return number === null ? null : spellNumber(number, { of: "saved", index }, precision);
}

/** `for weights the rule is v @ values.T; for values it is weights.T @ v`. */
function* written(told: Told): Generator<Said> {
  const found = sentOn(told).flatMap((argnum) => {
    const name = operandAt(told, argnum);
    const rule = ruleText(told.node, argnum);
    return name === null || rule === null ? [] : [{ name, rule: code(rule), argnum }];
  });
  // The rule of a bias alone says little of a layer.
  if (found[0]?.argnum !== sentOn(told)[0]) return;
  for (let count = Math.min(found.length, OPERANDS_READ_ALOUD); count > 0; count -= 1) {
    const products = found
      .slice(0, count)
      .map(({ name, rule }, at) => say(at === 0 ? "rule-vjp-for" : "rule-vjp-for-too", { name, rule }));
    yield say("rule-vjp", { products: inTurn(products) });
  }
}

/** Whether the operand was repeated, so that the gradients of its copies are added up. */
function isCopied(jacobian: LocalJacobian | undefined): boolean {
  if (jacobian === undefined) return false;
  const { structure, output_shape, input_shape } = jacobian;
  const isOlder = structure === "broadcast_sum" && elementCount(output_shape) > elementCount(input_shape);
  return structure === "sum_over_copies" || isOlder;
}

/** Not every copy is made by broadcasting: an embedding looks the same row up twice. */
function isBroadcast(node: Node, { output_shape, input_shape }: LocalJacobian): boolean {
  const fits = input_shape.every((size, axis) => {
    const there = output_shape[axis + output_shape.length - input_shape.length];
    return size === there || size === 1;
  });
  return fits && !LOOK_UPS.test(node.name);
}

const LOOK_UPS = /^(?:Embedding|Gather|Index|Take)/;

function jacobianAt({ step }: Told, argnum: number): LocalJacobian | undefined {
  return step.local_jacobians.find((each) => each.argnum === argnum);
}

/** Where one of several operands was repeated: what became of the others follows. */
function* copied(told: Told): Generator<Said> {
  const argnums = sentOn(told);
  if (argnums.length > 1 && argnums.some((argnum) => isCopied(jacobianAt(told, argnum))))
    yield* written(told);
}

const SUMS = /^(?:Sum|Mean)Backward[01]$/;

/** Rules that the shapes explain better than a formula does. */
function* ruleByShape(told: Told, argnum: number): Generator<Said> {
  const { step, node } = told;
  const jacobian = jacobianAt(told, argnum);
  const name = operandAt(told, argnum);
  if (jacobian === undefined || name === null) return;
  const [outputs, inputs] = [elementCount(jacobian.output_shape), elementCount(jacobian.input_shape)];
  const op = opOf(node);
  if (SUMS.test(node.name) && inputs > 1) {
    const [seed] = step.grad_outputs;
    const isSpelled = seed !== undefined && isShort(seed);
    const v = isSpelled ? spellGradient(seed, { of: "grad_output", index: 0 }, told.precision) : code("v");
    const count = text(String(inputs / Math.max(outputs, 1)));
    const isWhole = outputs === 1;
    if (node.name.startsWith("Sum"))
      yield isWhole ? say("rule-sum-all", { op, name, v }) : say("rule-sum-some", { op, name });
    else
      yield isWhole
        ? say("rule-mean-all", { op, count, name, v })
        : say("rule-mean-some", { op, count, name });
  }
  if (isCopied(jacobian) && sentOn(told).length === 1) {
    const output = ownName(told, node);
    if (output !== null && isBroadcast(node, jacobian))
      yield say("rule-broadcast", { name, output: code(output) });
    yield say("rule-repeated", { name });
  }
}

/** What the numbers of the local Jacobian show. */
function* ruleByStructure(told: Told, argnum: number): Generator<Said> {
  const { step, node, precision } = told;
  const at = step.local_jacobians.findIndex((each) => each.argnum === argnum);
  const jacobian = step.local_jacobians[at];
  const name = operandAt(told, argnum);
  if (jacobian === undefined || name === null) return;
  const op = opOf(node);
  const [outputs, inputs] = [elementCount(jacobian.output_shape), elementCount(jacobian.input_shape)];
  switch (jacobian.structure) {
    case "scalar": {
      const number = factorOf(jacobian);
      if (number !== null)
        yield say("rule-number", {
          op,
          value: spellNumber(number, { of: "local_jacobian", index: at }, precision),
        });
      return;
    }
    case "diagonal": {
      const factors = diagonalOf(jacobian);
      if (factors?.every((cell) => toNumber(cell) === 1) === true) yield say("rule-reshape", { op, name });
      if (factors !== null)
        yield say("rule-diagonal", {
          name,
          factors: [
            { kind: "value", text: entriesOf(factors, precision), at: { of: "local_jacobian", index: at } },
          ],
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
      yield say("rule-repeated", { name });
      return;
    case "copy_to_summands":
      yield say("rule-reduction", { name });
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

function entriesOf(cells: readonly Cell[], precision: number): string {
  return cells.map((cell) => formatNumber(cell, precision)).join(", ");
}

/** The diagonal of a Jacobian that is short enough to be read aloud. */
function diagonalOf({ value, output_shape }: LocalJacobian): readonly Cell[] | null {
  const size = elementCount(output_shape);
  if (!("data" in value) || value.data === undefined || size > SUMMANDS_READ_ALOUD) return null;
  return Array.from({ length: size }, (_, at) => value.data?.[at * (size + 1)] ?? 0);
}

/** The Jacobian itself where it is one number. */
function factorOf({ value }: LocalJacobian): Cell | null {
  return "shape" in value ? scalarOf(value) : null;
}

// 3 multiply

function multiply(told: Told): Said {
  const { step, node } = told;
  const op = opOf(node);
  const there = step.grad_inputs.flatMap((value, argnum) => (isThere(value) ? [argnum] : []));
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
  const isRefuted = isChanged || step.local_jacobians.some(({ checked }) => checked === false);
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
  const present = step.grad_outputs.flatMap((value, index) => (isThere(value) ? [{ value, index }] : []));
  const [first] = present;
  if (isRefuted && isAll)
    yield say(node.kind === "custom" ? "multiply-custom-returned" : "multiply-returned", { op, results });
  else if (present.length === 1 && first !== undefined && isAll) {
    const v = vIs(told, first.value, { of: "grad_output", index: first.index });
    if (node.kind === "custom") yield say("multiply-custom", { op, results, v });
    else {
      yield* matrixProducts(told, there);
      yield* byRule(told, there, v);
      yield say("multiply-jacobian", { v, results });
      const shapes = there.flatMap((argnum) => {
        const value = step.grad_inputs[argnum];
        return isTensor(value) ? [spellShape(value.shape)] : [];
      });
      if (shapes.length === there.length) yield say("multiply-shapes", { v, shapes: listed(shapes) });
    }
  } else if (isAll && present.length > 1) {
    yield say("multiply-jacobians", {
      vs: listed(present.map(({ value, index }) => vOf(told, value, index))),
      results,
    });
  }
  yield say("multiply-count", { count: there.length });
}

/** `v @ values.T is [3, 2] @ [2, 3] = [3, 3] for weights`: where numbers would be too many. */
function* matrixProducts(told: Told, there: readonly number[]): Generator<Said> {
  const products = there.flatMap((argnum) => {
    const rule = ruleText(told.node, argnum);
    const name = operandAt(told, argnum);
    const { output_shape: v = [], input_shape: given = [] } = jacobianAt(told, argnum) ?? {};
    const factors = /^(v|\S+) @ (v|\S+)$/.exec(rule ?? "");
    if (rule === null || name === null || factors === null || v.length !== 2 || given.length !== 2) return [];
    const isRight = factors[1] === "v";
    const other = isRight ? [v[1] ?? 0, given[1] ?? 0] : [given[0] ?? 0, v[0] ?? 0];
    const [left, right] = isRight ? [v, other] : [other, v];
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
  if (rule === null || rule === "v" || structure === "broadcast_sum" || structure === "copy_to_summands")
    return;
  const derivative = derivativeText(told.node, argnum);
  if (derivative !== null) yield say("multiply-entries", { v, derivative: code(derivative), result });
  else yield say("multiply-rule", { v, rule: code(rule), result });
}

/** `14 × 2 = 28`, `[1, 2] × [3, 4] = [3, 8]`: where it was checked and both sides are written out. */
function product(told: Told, argnum: number): Said | null {
  const { step, precision } = told;
  const result = step.grad_inputs[argnum];
  const at = step.local_jacobians.findIndex((each) => each.argnum === argnum);
  const jacobian = step.local_jacobians[at];
  if (result === undefined || jacobian?.checked !== true || !isShort(result)) return null;
  if (step.local_jacobians.filter((each) => each.argnum === argnum).length > 1) return null;
  const v = step.grad_outputs[jacobian.output_nr];
  if (v === undefined || !isShort(v) || isComplex(v) || isComplex(result)) return null;
  const factor = factorOf(jacobian);
  const where: Reference = { of: "local_jacobian", index: at };
  const factors = factor === null && jacobian.structure === "diagonal" ? diagonalOf(jacobian) : null;
  const spelledFactor: Said | null =
    factor !== null && scalarOf(v) !== null && String(jacobian.output_shape) === String(jacobian.input_shape)
      ? spellNumber(factor, where, precision)
      : factors !== null && jacobian.output_shape.length === 1 && jacobian.input_shape.length === 1
        ? [
            {
              kind: "value",
              text: entriesText({ shape: [factors.length], dtype: "", data: [...factors] }, precision),
              at: where,
            },
          ]
        : null;
  if (spelledFactor === null) return null;
  const vSaid = spellGradient(v, { of: "grad_output", index: jacobian.output_nr }, precision);
  return equation(
    [vSaid, spelledFactor],
    "×",
    spellGradient(result, { of: "grad_input", index: argnum }, precision),
  );
}

/** The Jacobian of complex numbers is one of their real and imaginary parts: no factor of a number. */
function isComplex(gradient: Gradient): boolean {
  return isTensor(gradient) && gradient.dtype.startsWith("complex");
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

/** Gradients with the same name together; those of nameless operands are left out. */
function byOperand(told: Told, argnums: readonly number[]): { name: Said; values: Said[] }[] {
  const found = new Map<string, { name: Said; values: Said[] }>();
  for (const argnum of argnums) {
    const name = operandAt(told, argnum);
    if (name === null) continue;
    const known = found.get(textOf(name)) ?? { name, values: [] };
    known.values.push(spelled(told, told.step.grad_inputs[argnum], "grad_input", argnum));
    found.set(textOf(name), known);
  }
  return [...found.values()];
}

function vIs(told: Told, value: Gradient | undefined, at: Reference): Said {
  if (value !== undefined && isTensor(value) && !isShort(value))
    return say("v-of-shape", { shape: spellShape(value.shape) });
  return say("v-is", {
    value: value === undefined ? say("nothing") : spellGradient(value, at, told.precision),
  });
}

function vOf(told: Told, value: Gradient, index: number): Said {
  const output = resultName(told.node, index);
  if (isTensor(value) && !isShort(value))
    return say("v-of-output-shape", { output, shape: spellShape(value.shape) });
  return say("v-of-output", {
    output,
    value: spellGradient(value, { of: "grad_output", index }, told.precision),
  });
}

// 4 send, 5 land

const MOVES = {
  send: { one: "goes-to", several: "go-to", whole: "send-list", none: "send-none", count: "send-count" },
  land: { one: "waits-at", several: "wait-at", whole: "land-list", none: "land-none", count: "land-count" },
} as const;

function send(told: Told): Said {
  return moves(told, "send", withheld(told));
}

/** Operands that get nothing, with the reason: what the program wrote down, not a number in it. */
function withheld(told: Told): Said[] {
  const { step, node } = told;
  const op = ruleOf(told);
  return node.inputs.flatMap((operand) => {
    const value = step.grad_inputs[operand.argnum];
    const name = value === undefined || isThere(value) ? null : operandText(told, node, operand);
    // Nobody expects a gradient of a plain number.
    const isNumber = operand.missing?.because?.kind === "missing-number" || /^[-\u2212\d]/.test(name ?? "");
    if (name === null || isTensor(value) || value === undefined || isNumber) return [];
    if (value.missing === "returned_none") return [say("send-returned-none", { op, name: code(name) })];
    return value.missing === "not_required" ? [say("send-not-required", { name: code(name) })] : [];
  });
}

function land(told: Told): Said {
  return moves(told, "land");
}

/** Where each gradient goes; operands that want none are passed over. */
function moves(told: Told, kind: keyof typeof MOVES, besides: readonly Said[] = []): Said {
  const words = MOVES[kind];
  const there = told.step.grad_inputs.flatMap((value, argnum) => (isThere(value) ? [argnum] : []));
  const parts = byOperand(told, there).map(({ name, values: [first = [], ...rest] }) =>
    rest.length === 0
      ? say(words.one, { value: first, name })
      : say(words.several, { values: listed([first, ...rest]), name }),
  );
  if (parts.length === 0)
    return besides.length === 0 ? say(words.none) : say(words.whole, { list: inTurn(besides) });
  const ways: Said[] =
    besides.length === 0 ? [] : [say(words.whole, { list: inTurn([enumerated(parts), ...besides]) })];
  for (let count = Math.min(parts.length, OPERANDS_READ_ALOUD + 1); count > 0; count -= 1) {
    const rest = parts.length - count;
    const list = enumerated(parts.slice(0, count));
    ways.push(say(words.whole, { list: rest === 0 ? list : say("and-more", { first: list, count: rest }) }));
  }
  return firstFitting(told, [...ways, say(words.count, { count: parts.length })]);
}

function accumulated(told: Told): Said {
  const { step, precision } = told;
  if (step.accumulate === null) return [];
  const { before, changes } = step.accumulate;
  const after = accumulatedBy(step.accumulate);
  const leaf = code(step.accumulate.leaf);
  const at: Reference = { of: changes === undefined ? "after" : "before_grad_hook", index: 0 };
  const now = spellGradient(after, at, precision);
  if (!isThere(after)) return say("leaf-none", { leaf });
  if (!isThere(before))
    return firstFitting(told, [say("leaf-first", { leaf, after: now }), say("leaf-first-short", { leaf })]);
  const arrived = step.grad_outputs[0];
  const was = spellGradient(before, { of: "before", index: 0 }, precision);
  const ways: Said[] = [];
  if (arrived !== undefined && isThere(arrived)) {
    const added = spellGradient(arrived, { of: "grad_output", index: 0 }, precision);
    if (isSum([before, arrived], after))
      ways.push(say("leaf-added", { leaf, sum: equation([was, added], "+", now) }));
    else if (!isShort(after)) ways.push(say("leaf-added-shape", { arrived: added, leaf }));
  }
  return firstFitting(told, [...ways, say("leaf-changed", { leaf, before: was, after: now })]);
}

// Lengths.

function spelled(told: Told, value: Gradient | undefined, of: Reference["of"], index = 0): Said {
  return value === undefined ? say("nothing") : spellGradient(value, { of, index }, told.precision);
}

/** The first sentence that is short enough; the last one where none is. */
function firstFitting({ room }: Told, ways: Iterable<Said>): Said {
  let last: Said = [];
  for (const way of ways) {
    last = way;
    if (textOf(way).length <= room) break;
  }
  return last;
}
