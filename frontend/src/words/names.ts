/**
 * What the values of a step are called: the program's variable, else the program's own text, else the operation that
 * made them. A name of torch's derivatives table (`self`, `other`) is never said.
 */

import { nodesById, producerOf as outputOf } from "../model/graph";
import { formatNumber, type Precision } from "../model/numbers";
import type { Operand } from "../model/selectors";
import type { Graph, Node, SavedTensor } from "../protocol/trace.gen";
import { code, type Said, say, text, textOf } from "./say";
import { scalarOf } from "./values";

/** The graph of a pass, and how many digits its numbers have. */
export interface Scene {
  readonly graph: Graph;
  readonly precision: Precision;
}

/** Longer texts are called by the operation that made them. */
const LONGEST_NAME = 40;

/** The op as it is said: `softmax` for torch's `_softmax`. */
export function opOf(node: Node): Said {
  const op = opText(node);
  return code(op.length > LONGEST_NAME ? `${op.slice(0, LONGEST_NAME - 1)}…` : op);
}

function opText({ op }: Node): string {
  return op.replace(/^_+|_+$|_forward$/g, "") || op;
}

/** A result of a node: its variable, its text in the program, `unbind(…)[0]`, or `the result of mul in line 3`. */
export function resultName(node: Node, outputNr: number): Said {
  const known = resultText(node, outputNr);
  if (known !== null) return code(known);
  if (node.output_count > 1) return code(`${sourceOf(node) ?? `${opText(node)}(…)`}[${outputNr}]`);
  const op = opOf(node);
  const line = node.span === null ? null : text(String(node.span.line));
  return line === null
    ? say("result-of", { op })
    : say(node.born === undefined ? "result-in-line" : "result-born", { op, line });
}

/** The program's text for the call that gives all results. */
function sourceOf(node: Node): string | null {
  const source = node.outputs[0]?.source ?? null;
  return source !== null && source.length <= LONGEST_NAME / 2 ? source : null;
}

/** The variable that holds a result, or the program's text that computes it; null where it has neither. */
export function resultText(node: Node, outputNr: number): string | null {
  const { name = null, source = null } = node.outputs[outputNr] ?? {};
  return node.leaf ?? [name, source].find((each) => each !== null && each.length <= LONGEST_NAME) ?? null;
}

/** The program's text for a node's only result. */
export function sourceText(node: Node): string | null {
  const source = node.outputs[0]?.source ?? null;
  return node.output_count === 1 && source !== null && source.length <= LONGEST_NAME ? source : null;
}

/** The node's result, by another name than its operands: in a loop both are the same variable. */
export function ownName(scene: Scene, node: Node): string | null {
  const own = resultText(node, 0);
  const isTaken = node.inputs.some((operand) => operandText(scene, node, operand) === own);
  return isTaken ? sourceText(node) : own;
}

/** What an operand is called; `the result of …` where the program has no text for it; null for a nameless constant. */
export function operandName(scene: Scene, node: Node, operand: Operand): Said | null {
  const known = operandText(scene, node, operand);
  if (known !== null) return code(known);
  const from = producerOf(scene.graph, operand);
  if (from === null) return null;
  if (hasTwin(scene, node, operand)) return say("operand-number", { number: numberOf(operand) });
  return resultName(from.node, from.outputNr);
}

/** Whether another operand, too, is the result of such an operation that the program has no text for. */
function hasTwin(scene: Scene, node: Node, operand: Operand): boolean {
  const from = producerOf(scene.graph, operand);
  return node.inputs.some((other) => {
    const made = other.argnum === operand.argnum ? null : producerOf(scene.graph, other);
    return made !== null && made.node.op === from?.node.op && operandText(scene, node, other) === null;
  });
}

const numberOf = ({ argnum }: Operand): Said => text(String(argnum + 1));

/** The same inside a formula, where a result that the program has no text for is `tanh(…)`. */
function operandSymbol(scene: Scene, node: Node, operand: Operand): string | null {
  const from = producerOf(scene.graph, operand);
  const known = operandText(scene, node, operand);
  if (known !== null || from === null || hasTwin(scene, node, operand)) return known;
  return `${opText(from.node)}(…)`;
}

/** The node's own result inside a formula. */
function ownSymbol(scene: Scene, node: Node): string {
  return ownName(scene, node) ?? `${opText(node)}(…)`;
}

/** What the program writes for an operand; a number for a constant of one entry. */
export function operandText(scene: Scene, node: Node, operand: Operand): string | null {
  const from = producerOf(scene.graph, operand);
  if (from !== null) return resultText(from.node, from.outputNr);
  if (operand.source !== undefined && operand.source.length <= LONGEST_NAME) return operand.source;
  if (node.kind === "custom") return operand.name;
  const number = scalarOf(operand.value);
  return number === null ? null : formatNumber(number, scene.precision);
}

function producerOf(graph: Graph, operand: Operand): { node: Node; outputNr: number } | null {
  const from = outputOf(graph, operand);
  const node = from && nodesById(graph).get(from.node);
  return from === undefined || node === undefined ? null : { node, outputNr: from.output_nr };
}

/** Whether both operands are the same value; inside a function and outside it two may have one name. */
export function isOneValue(scene: Scene, one: Operand, other: Operand): boolean {
  const [first, second] = [producerOf(scene.graph, one), producerOf(scene.graph, other)];
  return first !== null && first.node === second?.node && first.outputNr === second.outputNr;
}

/** A name with the sign of transposition, in brackets where it would belong to a part of the name only; without `.T` instead. */
export function transposedText(name: string): string {
  const bracketed = bracketedText(name);
  return bracketed.endsWith(".T") ? bracketed.slice(0, -".T".length) : `${bracketed}ᵀ`;
}

/** A name as a sign may stand before or behind it: `x`, `x[0]`, `f(g(x))`, `(x*y)`. */
export function bracketedText(name: string): string {
  const isOne = /^[\p{L}_][\p{L}\p{N}_.]*(?:\((?:[^()]|\([^()]*\))*\)|\[[^[\]]*\])?$/u.test(name);
  return isOne ? name : `(${name})`;
}

/** A saved tensor by what the program calls it. */
export function savedName(scene: Scene, node: Node, saved: SavedTensor): Said {
  const operand = node.inputs.find(({ name }) => name === saved.name);
  const known = operand === undefined ? null : operandText(scene, node, operand);
  if (known !== null) return code(known);
  if (operand !== undefined) return operandName(scene, node, operand) ?? say("constant");
  if (saved.name !== "result") return code(saved.name);
  const own = resultText(node, 0) ?? sourceText(node);
  return own === null ? say("forward-result") : code(own);
}

/** The same on a chip: `tanh(…)` for a result that the program has no text for. */
export function savedLabel(scene: Scene, node: Node, { name }: SavedTensor): string {
  const operand = node.inputs.find((each) => each.name === name);
  if (operand !== undefined) return calledShort(scene, node, operand);
  return name === "result" ? ownSymbol(scene, node) : name;
}

/** An operand on a tab or beside a table: as in a sentence, short, and told from the others. */
export function operandLabel(scene: Scene, node: Node, operand: Operand): string {
  const name = calledShort(scene, node, operand);
  const same = node.inputs.filter((each) => calledShort(scene, node, each) === name);
  if (same.length === 1) return name;
  const number = text(String(same.indexOf(operand) + 1));
  return textOf(say("operand-use", { name: code(name), number }));
}

/** The same without telling equal operands apart. */
export function calledShort(scene: Scene, node: Node, operand: Operand): string {
  const number = numberOf(operand);
  return (
    operandSymbol(scene, node, operand) ??
    schemaName(node, operand) ??
    textOf(say("operand-number", { number }))
  );
}

/** By torch's table, for what no program writes: a convolution's `bias` left out, the gradient that an earlier pass gave. */
function schemaName({ born }: Node, { name, missing }: Operand): string | null {
  const { kind, operands = {} } = missing?.because ?? { kind: "" };
  if (kind === "missing-not-given") return String(operands.name);
  if (born === undefined || !/^grad(_out(put)?)?$/.test(name)) return null;
  return textOf(say("operand-grad-output", { pass: text(String(born.pass_index + 1)) }));
}
