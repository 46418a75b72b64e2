/** What is said of phase 2: how a gradient of the results becomes one of the operands. */
import { isCopied, ruleByShape, ruleByStructure } from "./jacobian";
import { isOneValue, operandText, opOf, ownName, sourceText } from "./names";
import { derivativeText, equationText, isPlacing, ruleText, savedInRule } from "./rule";
import { code, inTurn, listed, type Said, say, textOf } from "./say";
import { firstFitting, jacobianAt, nameAt, OPERANDS_READ_ALOUD, operandAt, sentOn, type Told } from "./told";
import { scalarOf, spellNumber } from "./values";

/** Characters; of a longer one only the derivative is said. */
const LONGEST_EQUATION = 48;

export function rule(told: Told): Said {
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
  const isFlat = structure === "zero" && ruleText(told.node, argnum) === "0";
  if ((isMove || isFlat) && told.node.name !== "TBackward0") yield* ruleByStructure(told, argnum);
  const name = operandAt(told, argnum);
  if (name !== null && isPlacing(told.node, argnum))
    yield say("rule-selection", { op: opOf(told.node), name });
  yield* written(told);
  yield* ruleByStructure(told, argnum);
}

function* sameOperand(told: Told): Generator<Said> {
  const { node } = told;
  const [first, second, third] = node.inputs;
  if (first?.edge === undefined || second?.edge === undefined || third !== undefined) return;
  if (!isOneValue(told, first, second)) return;
  const name = operandText(told, node, first);
  const output = sourceText(node) ?? ownName(told, node);
  const derivative = derivativeText(node, 0);
  if (name === null || output === null) return;
  if (derivative === null || derivative !== derivativeText(node, 1)) return;
  const said = { output: code(output), name: code(name), derivative: code(derivative) };
  const value = savedValue(told, 0);
  if (value !== null && derivative === name) yield say("rule-same-operand-saved", { ...said, value });
  yield say("rule-same-operand", said);
}

/** `∂ sin(x*y)/∂(x*y) = cos(x*y); x*y was saved as 2`; through one of several uses, `the derivative is 1`. */
function* derivatives(told: Told): Generator<Said> {
  const argnums = sentOn(told).slice(0, OPERANDS_READ_ALOUD);
  const names = argnums.map((argnum) => nameAt(told, argnum));
  if (new Set(names).size < names.length) return;
  const equations = argnums.flatMap((argnum) => {
    const equation = equationText(told.node, argnum);
    return equation === null || equation.length > LONGEST_EQUATION ? byUse(told, argnum) : [code(equation)];
  });
  if (equations.length === 0) return;
  const saved = equations.length < argnums.length ? [] : savedWords(told, argnums);
  if (saved.length > 0)
    yield say("rule-derivative-saved", { equations: listed(equations), saved: listed(saved) });
  yield say("rule-derivative", { equations: listed(equations) });
  const [first] = equations;
  if (equations.length > 1 && first !== undefined) yield say("rule-derivative", { equations: first });
}

/** Where the operand stands elsewhere in the result's text as well, or the equation is long. */
function byUse(told: Told, argnum: number): Said[] {
  const name = nameAt(told, argnum);
  const derivative = derivativeText(told.node, argnum);
  if (derivative !== null && sentOn(told).length === 1 && equationText(told.node, argnum) !== null)
    return [say("derivative-alone", { derivative: code(derivative) })];
  if (name === null || derivative === null || countOf(name, sourceText(told.node) ?? "") < 2) return [];
  return [say("derivative-by-use", { name: code(name), derivative: code(derivative) })];
}

/** How often a text stands in another one: no `x` stands in `exp`. */
function countOf(part: string, whole: string): number {
  const literal = part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return whole.match(new RegExp(`(?<![\\p{L}\\p{N}_.])${literal}(?![\\p{L}\\p{N}_])`, "gu"))?.length ?? 0;
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
  const { value, was } = node.saved.find((each) => each.name === name) ?? {};
  if (was !== undefined || value === undefined || value === null) return null;
  const number = scalarOf(value);
  return number === null ? null : spellNumber(number, precision);
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

/** Where one of several operands was repeated: what became of the others follows. */
function* copied(told: Told): Generator<Said> {
  const argnums = sentOn(told);
  if (argnums.length > 1 && argnums.some((argnum) => isCopied(jacobianAt(told, argnum))))
    yield* written(told);
}
