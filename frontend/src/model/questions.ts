/**
 * What a learner can be asked before a phase is shown. Questions come from the trace alone, the same one at the same
 * place every time; the answers are what the engine computed.
 */
import { code, fact, numbers } from "../protocol/facts";
import type { Fact, Filling, Graph, Node, Step, TensorValue } from "../protocol/trace.gen";
import { isTensor, returnedFor } from "./gradients";
import { edgesById, nodesById, producerOf } from "./graph";
import { elementCount, indicesOf } from "./matrix";
import {
  calledIn,
  cellsInReach,
  isCellByCell,
  isMultiplied,
  linesOf,
  type Mistake,
  MOST_TERMS,
  mistakesOf,
  pick,
  toldApart,
} from "./mistakes";
import { numbersOf } from "./numbers";
import type { Position } from "./position";
import { formatPosition, previousPhase, stopsOfStep } from "./position";
import { nodeAt, nodeTitle, passAt, stepAt } from "./selectors";
import type { TraceState } from "./trace";

/** What can be ticked. */
export interface Choice {
  readonly id: string;
  readonly name: Fact;
}

interface Asked {
  /** `4.3`: the phase that answers it. */
  readonly id: string;
  readonly position: Position;
  /** What the lecturer wrote before it. */
  readonly lead?: string;
  readonly prompt: Fact;
}

/** `sum`, `value` and `grad`: one number per asked entry. */
export interface NumberQuestion extends Asked {
  readonly kind: "sum" | "value" | "grad";
  readonly answer: readonly number[];
  /** Wrong answers that have a reason, the most telling first. */
  readonly mistakes: readonly Mistake[];
}

export interface ShapeQuestion extends Asked {
  readonly kind: "shape";
  readonly answer: readonly number[];
  readonly outputShape: readonly number[];
}

export interface SignQuestion extends Asked {
  readonly kind: "sign";
  readonly answer: Sign;
}

export interface NodesQuestion extends Asked {
  readonly kind: "nodes";
  readonly choices: readonly Choice[];
  readonly answer: readonly string[];
  /** Why one that was ticked is wrong, by its id. */
  readonly reasons: ReadonlyMap<string, Fact>;
}

export type Question = NumberQuestion | ShapeQuestion | SignQuestion | NodesQuestion;
export type Sign = "positive" | "negative" | "zero";

/** More numbers than these nobody types. */
const MOST_TYPED = 3;
const MOST_CHOICES = 6;
/** Entries of the asked tensor that are worth a question, flat. */
type Entries = readonly number[];

/** The question that stands before a phase, null where there is nothing to predict. */
export function questionAt(trace: TraceState, position: Position): Question | null {
  const step = stepAt(trace, position);
  const node = nodeAt(trace, position);
  const graph = passAt(trace, position)?.started.graph;
  if (step === null || node === null || graph === undefined) return null;
  const context: Context = { trace, position, step, node, graph, id: formatPosition(position) };
  switch (position.phase) {
    case "collect":
      return askForSum(context);
    case "multiply":
      return askForProduct(context);
    case "send":
      return askForNodes(context);
    case "land":
      return askForGrad(context);
    default:
      return null;
  }
}

/** The phases of a step that have a question, in order. */
export function questionsOfStep(trace: TraceState, step: number): readonly Question[] {
  return stopsOfStep(trace, "backward", step).flatMap(
    (phase) => questionAt(trace, { direction: "backward", step, phase }) ?? [],
  );
}

/** What is on show while a question is open: the contributions of a sum, else the phase before. */
export function momentBefore(trace: TraceState, question: Question): Position {
  return question.kind === "sum" ? question.position : previousPhase(trace, question.position);
}

interface Context {
  readonly trace: TraceState;
  readonly position: Position;
  readonly step: Step;
  readonly node: Node;
  readonly graph: Graph;
  readonly id: string;
}

function askForSum({ step, node, graph, position, id }: Context): NumberQuestion | null {
  const outputNr = step.contributions.find(
    ({ output_nr }) => step.contributions.filter((each) => each.output_nr === output_nr).length > 1,
  )?.output_nr;
  if (outputNr === undefined) return null;
  const summands = step.contributions.filter(({ output_nr }) => output_nr === outputNr);
  const tensors = summands.map(({ value }) => value).filter(isTensor);
  const sum = step.grad_outputs[outputNr];
  if (
    tensors.length < 2 ||
    tensors.length > MOST_TERMS ||
    step.hooks?.some(({ output_nr }) => output_nr === outputNr)
  )
    return null;
  if (!isTensor(sum)) return null;
  const parts = tensors.map(numbersOf);
  const answer = numbersOf(sum);
  if (answer === null || parts.some((part) => part?.length !== answer.length)) return null;
  const known = parts.filter((part) => part !== null);
  const asked = entriesWorthAsking(answer);
  const senders = summands.map(({ edge }) => senderOf(graph, edge));
  const name = node.leaf ?? node.outputs[outputNr]?.name;
  return {
    kind: "sum",
    id,
    position,
    prompt: fact("ask-sum", {
      name: name == null ? fact("result-of", { op: code(node.label) }) : code(name),
      count: known.length,
      values: known.map((part) => numbers(pick(part, asked))),
      asked: entryOf("v", asked, sum),
    }),
    ...answersTo(answer, asked, [
      ...known.map((values, index) => ({
        values,
        because: fact("ask-only-one-use", { sender: senders[index] ?? fact("ask-one-use") }),
      })),
      { values: combine(known, (a, b) => a * b), because: fact("ask-sum-not-product") },
      { values: answer.map((value) => value / known.length), because: fact("ask-sum-not-mean") },
      { values: combine(known, (a, b) => a - b), because: fact("ask-sum-own-signs") },
    ]),
  };
}

function askForProduct(context: Context): Question | null {
  const { step, node, graph, position, id } = context;
  if (step.accumulate !== null) return null;
  const ways = node.inputs.flatMap((operand) => {
    const returned = returnedFor(step, operand.argnum);
    if (!isTensor(returned)) return [];
    const of = { graph, step, node, argnum: operand.argnum };
    return [{ of, operand, returned, lines: linesOf(of, returned) }];
  });
  // Of several operands the first that something is multiplied for.
  const way = ways.find(({ lines }) => lines !== null && isMultiplied(lines)) ?? ways[0];
  if (way === undefined) return null;
  const { of, operand, returned, lines } = way;
  const name = calledIn(graph, operand);
  const answer = numbersOf(returned);
  const v = step.grad_outputs.find(isTensor);
  const head = { id, position };
  const outputShape = v?.shape ?? [];
  const shapes: ShapeQuestion = {
    ...head,
    kind: "shape",
    prompt: fact("ask-shape", { shape: { shape: [...outputShape] }, name }),
    answer: returned.shape,
    outputShape,
  };
  if (answer === null || answer.length === 0) return shapes;
  const turn = step.index % 3;
  const mistakes = lines === null ? [] : mistakesOf(of, lines, answer);
  const asked = lines === null ? [] : entriesInReach(answer, cellsInReach(lines), mistakes);
  const isLong = answer.length > MOST_TYPED && lines !== null && isCellByCell(lines);
  if (asked.length === 0 || (isLong && (turn !== 0 || !isMultiplied(lines)))) {
    const hasShape = turn === 1 || lines === null || !isMultiplied(lines);
    if (returned.shape.length > 0 && hasShape) return shapes;
    const entry = largestEntry(answer);
    return {
      ...head,
      kind: "sign",
      prompt: fact("ask-sign", { asked: entryOf(name, [entry], returned) }),
      answer: signOf(answer[entry] ?? 0),
    };
  }
  return {
    ...head,
    kind: "value",
    prompt: fact("ask-product", { asked: entryOf(name, asked, returned) }),
    ...answersTo(answer, asked, mistakes),
  };
}

/** All where they are few, else the one that most mistakes can be made for, of several the largest. */
function entriesInReach(answer: readonly number[], inReach: Entries, mistakes: readonly Mistake[]): Entries {
  if (answer.length <= MOST_TYPED && inReach.length === answer.length) return inReach;
  const told = inReach.flatMap((entry) => {
    const size = Math.abs(answer[entry] ?? 0);
    return size > 0 ? [{ entry, size, count: toldApart(mistakes, [entry], answer).length }] : [];
  });
  return told
    .toSorted((a, b) => b.count - a.count || b.size - a.size)
    .slice(0, 1)
    .map(({ entry }) => entry);
}

function askForNodes({ step, node, graph, position, id }: Context): NodesQuestion | null {
  // Along a chain there is nothing to choose.
  if (step.accumulate !== null || node.inputs.filter(({ edge }) => edge !== undefined).length < 2)
    return null;
  const answer: string[] = [];
  const reasons = new Map<string, Fact>();
  for (const operand of node.inputs) {
    const producer = producerOf(graph, operand)?.node;
    if (producer === undefined) continue;
    if (isTensor(step.grad_inputs[operand.argnum])) answer.push(producer);
    else if (!reasons.has(producer))
      reasons.set(producer, fact("ask-no-gradient", { name: calledIn(graph, operand) }));
  }
  for (const edge of graph.edges) {
    if (edge.from.node === node.id) reasons.set(edge.to.node, fact("ask-other-way"));
  }
  const receivers = [...new Set(answer)];
  if (receivers.length === 0) return null;
  const others = graph.nodes
    .map((each) => each.id)
    .filter((each) => each !== node.id && !receivers.includes(each));
  // Those with a reason first: they are the likely mistakes.
  others.sort((a, b) => Number(reasons.has(b)) - Number(reasons.has(a)));
  const offered = new Set([...receivers, ...others.slice(0, Math.max(0, MOST_CHOICES - receivers.length))]);
  if (offered.size <= receivers.length) return null;
  return {
    kind: "nodes",
    id,
    position,
    prompt: fact("ask-nodes", { node: node.name }),
    choices: graph.nodes.filter(({ id: each }) => offered.has(each)).map((each) => choiceOf(each)),
    answer: receivers,
    reasons,
  };
}

function askForGrad({ step, position, id }: Context): NumberQuestion | null {
  const { accumulate } = step;
  if (accumulate === null || !isTensor(accumulate.after)) return null;
  const [before, summand, after] = [accumulate.before, step.grad_outputs[0], accumulate.after].map(numbersOf);
  if (before == null || summand == null || after == null) return null;
  const asked = entriesWorthAsking(after);
  const grad = code(`${accumulate.leaf}.grad`);
  return {
    kind: "grad",
    id,
    position,
    prompt: fact("ask-grad", {
      grad,
      before: numbers(pick(before, asked)),
      arrived: numbers(pick(summand, asked)),
      asked: entryOf(grad, asked, accumulate.after),
    }),
    ...answersTo(after, asked, [
      { values: summand, because: fact("ask-grad-replaced") },
      { values: before, because: fact("ask-grad-kept") },
      { values: combine([before, summand], (a, b) => a - b), because: fact("ask-grad-subtracted") },
      { values: combine([before, summand], (a, b) => (a + b) / 2), because: fact("ask-grad-mean") },
    ]),
  };
}

/** The right answer and the wrong ones, of the entries that are asked for. */
function answersTo(answer: readonly number[], asked: Entries, mistakes: readonly Mistake[]) {
  return { answer: pick(answer, asked), mistakes: toldApart(mistakes, asked, answer) };
}

function entriesWorthAsking(values: readonly number[]): Entries {
  return values.length <= MOST_TYPED ? values.map((_, entry) => entry) : [largestEntry(values)];
}

function largestEntry(values: readonly number[]): number {
  let best = 0;
  values.forEach((value, entry) => {
    if (Math.abs(value) > Math.abs(values[best] ?? 0)) best = entry;
  });
  return best;
}

/** `x at [1, 2]`, `x` where the whole tensor is asked for. */
function entryOf(name: string | Fact, asked: Entries, value: TensorValue): Filling {
  const only = asked[0];
  if (only === undefined || asked.length === elementCount(value.shape)) return name;
  return fact("entry-of", { name, entry: { shape: [...indicesOf(only, value.shape)] } });
}

function senderOf(graph: Graph, edge: string): Filling {
  if (edge === "seed") return fact("player-external-gradient");
  const consumer = edgesById(graph).get(edge)?.to.node;
  const node = consumer === undefined ? undefined : nodesById(graph).get(consumer);
  return node === undefined ? fact("ask-one-use") : nodeTitle(node);
}

function choiceOf(each: Node): Choice {
  const node = nodeTitle(each);
  const note = each.leaf === undefined ? (each.outputs[0]?.name ?? null) : fact("player-leaf");
  const line = each.span === null ? null : String(each.span.line);
  return { id: each.id, name: chosen(node, note, line) };
}

function chosen(node: string, note: Filling | null, line: string | null): Fact {
  if (note === null)
    return line === null ? fact("told", { text: node }) : fact("ask-node-in-line", { node, line });
  return line === null
    ? fact("ask-node", { node, note })
    : fact("ask-node-noted-in-line", { node, note, line });
}

function combine(
  parts: readonly (readonly number[])[],
  join: (a: number, b: number) => number,
): readonly number[] {
  const [first = [], ...rest] = parts;
  return first.map((value, entry) =>
    rest.reduce((joined, part) => join(joined, part[entry] ?? Number.NaN), value),
  );
}

function signOf(value: number): Sign {
  return value > 0 ? "positive" : value < 0 ? "negative" : "zero";
}
