/**
 * What the values of a step are called: the program's variable, else the program's own text, else the operation that
 * made them. A name of torch's derivatives table (`self`, `other`) is never said.
 */

import { formatNumber, type Precision } from "../model/numbers";
import type { Operand } from "../model/selectors";
import { edgesById, nodesById } from "../model/selectors";
import type { Graph, Node, SavedTensor, Span } from "../protocol/trace.gen";
import { bare, cut, embedded, LONGEST_NAME, sidesOf } from "./python";
import { code, type Said, say, text, textOf } from "./say";
import { scalarOf } from "./values";

/** The graph of a pass and the program it came from. */
export interface Scene {
  readonly graph: Graph;
  readonly source: string;
  readonly precision: Precision;
}

/** The op as it is said: `softmax` for torch's `_softmax`. */
export function opOf(node: Node): Said {
  const op = opText(node);
  return code(op.length > LONGEST_NAME ? `${op.slice(0, LONGEST_NAME - 1)}…` : op);
}

function opText({ op }: Node): string {
  return op.replace(/^_+|_+$|_forward$/g, "") || op;
}

/** A result of a node: its variable, its text in the program, or `the result of mul in line 3`. */
export function resultName(scene: Scene, node: Node, outputNr: number): Said {
  const known = resultText(scene, node, outputNr);
  if (known !== null) return code(known);
  const op = opOf(node);
  const line = node.span === null ? null : text(String(node.span.line));
  const result =
    line === null
      ? say("result-of", { op })
      : say(node.born === undefined ? "result-in-line" : "result-born", { op, line });
  return node.output_count > 1 ? say("output-of", { number: text(String(outputNr)), op: result }) : result;
}

/** The variable that holds a result, or its text in the program; null where it has neither. */
export function resultText(scene: Scene, node: Node, outputNr: number): string | null {
  const variable = node.leaf ?? node.outputs[outputNr]?.name ?? null;
  return variable !== null && variable.length <= LONGEST_NAME ? variable : sourceText(scene, node);
}

/** The program's text for a node's only result. */
export function sourceText(scene: Scene, node: Node): string | null {
  const transposed = transposedText(scene, node);
  if (transposed !== null) return transposed;
  if (node.output_count !== 1 || node.kind === "view_write" || node.leaf !== undefined) return null;
  // A variable holds what its expression gave; a result without one may be an inner one of a call.
  if (node.outputs[0]?.name == null && isPassedOn(scene.graph, node)) return null;
  const found = cut(scene.source, node.span);
  return found !== null && found.length <= LONGEST_NAME ? bare(found) : null;
}

/** `weight.T` for the transpose that a call makes without having it written down. */
function transposedText(scene: Scene, node: Node): string | null {
  const [operand] = node.inputs;
  if (node.name !== "TBackward0" || operand === undefined || !isPassedOn(scene.graph, node)) return null;
  const name = operandText(scene, node, operand);
  return name === null || name.length + 2 > LONGEST_NAME ? null : `${embedded(name)}.T`;
}

/** Whether another node with the same text uses the result: then the text means that one's, or both of them. */
function isPassedOn(graph: Graph, node: Node): boolean {
  let known = passedOn.get(graph);
  if (known === undefined) {
    const nodes = nodesById(graph);
    known = new Set();
    for (const { from, to } of graph.edges) {
      const [made, used] = [nodes.get(from.node), nodes.get(to.node)];
      if (made !== undefined && used !== undefined && isSameSpan(made.span, used.span)) known.add(made.id);
    }
    passedOn.set(graph, known);
  }
  return known.has(node.id);
}

const passedOn = new WeakMap<Graph, Set<string>>();

function isSameSpan(a: Span | null, b: Span | null): boolean {
  return (
    a !== null &&
    b !== null &&
    a.line === b.line &&
    a.column === b.column &&
    a.end_line === b.end_line &&
    a.end_column === b.end_column
  );
}

/** The node's result, by another name than its operands: in a loop both are the same variable. */
export function ownName(scene: Scene, node: Node): string | null {
  const own = resultText(scene, node, 0);
  const isTaken = node.inputs.some((operand) => operandText(scene, node, operand) === own);
  return isTaken ? sourceText(scene, node) : own;
}

/** What an operand is called; `the result of …` where the program has no text for it; null for a nameless constant. */
export function operandName(scene: Scene, node: Node, operand: Operand): Said | null {
  const known = operandText(scene, node, operand);
  if (known !== null) return code(known);
  const from = producerOf(scene.graph, operand);
  return from === null ? null : resultName(scene, from.node, from.outputNr);
}

/** The same inside a formula, where a result that the program has no text for is `tanh(…)`. */
export function operandSymbol(scene: Scene, node: Node, operand: Operand): string | null {
  const from = producerOf(scene.graph, operand);
  return operandText(scene, node, operand) ?? (from === null ? null : `${opText(from.node)}(…)`);
}

/** The node's own result inside a formula. */
export function ownSymbol(scene: Scene, node: Node): string {
  return ownName(scene, node) ?? `${opText(node)}(…)`;
}

/** What the program writes for an operand; a number for a constant of one entry. */
export function operandText(scene: Scene, node: Node, operand: Operand): string | null {
  const from = producerOf(scene.graph, operand);
  if (from !== null) return resultText(scene, from.node, from.outputNr);
  const beside = textBeside(scene, node, operand);
  if (beside !== null) return beside;
  if (node.kind === "custom") return null;
  const number = scalarOf(operand.value);
  return number === null ? null : formatNumber(number, scene.precision);
}

/** The other side of the operator where one side is known: `batch` of `w * batch`. */
function textBeside(scene: Scene, node: Node, operand: Operand): string | null {
  const [other, third] = node.inputs.filter((each) => each !== operand);
  const from = other === undefined || third !== undefined ? null : producerOf(scene.graph, other);
  const whole = isPassedOn(scene.graph, node) ? null : cut(scene.source, node.span);
  const sides = whole === null ? null : sidesOf(whole);
  if (from === null || sides === null) return null;
  const known = [resultText(scene, from.node, from.outputNr), cut(scene.source, from.node.span)];
  const isSide = sides.map((side) => known.some((each) => each !== null && bare(each) === side));
  if (isSide[0] === isSide[1]) return null;
  const found = sides[isSide[0] ? 1 : 0];
  return found !== undefined && found.length <= LONGEST_NAME ? found : null;
}

function producerOf(graph: Graph, operand: Operand): { node: Node; outputNr: number } | null {
  const from = operand.edge === undefined ? undefined : edgesById(graph).get(operand.edge)?.from;
  const node = from === undefined ? undefined : nodesById(graph).get(from.node);
  return from === undefined || node === undefined ? null : { node, outputNr: from.output_nr };
}

/** A saved tensor by what the program calls it. */
export function savedName(scene: Scene, node: Node, saved: SavedTensor): Said {
  const operand = node.inputs.find(({ name }) => name === saved.name);
  const known = operand === undefined ? null : operandText(scene, node, operand);
  if (known !== null) return code(known);
  if (operand !== undefined) return operandName(scene, node, operand) ?? say("constant");
  if (saved.name !== "result") return code(saved.name);
  const own = resultText(scene, node, 0) ?? sourceText(scene, node);
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
  const number = text(String(operand.argnum + 1));
  return operandSymbol(scene, node, operand) ?? textOf(say("operand-number", { number }));
}
