/**
 * What a learner can be asked before a phase is shown. Questions come from the trace alone, the same one at the same
 * place every time; the answers are what the engine computed.
 */
import { code, fact, numbers } from "../protocol/facts";
import type { Fact, Filling, Graph, Node, Step, TensorValue } from "../protocol/trace.gen";
import { isTensor, returnedFor } from "./gradients";
import { producerOf } from "./graph";
import { elementCount, indicesOf, sameShape } from "./matrix";
import {
  agree,
  calledIn,
  cellsInReach,
  isCellByCell,
  isMultiplied,
  joined,
  linesOf,
  type Mistake,
  MOST_TERMS,
  mistakesInSum,
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

/** To be typed: a number for each asked entry, or of a shape the sizes. */
export interface Typed {
  readonly kind: "sum" | "value" | "grad" | "shape";
  readonly prompt: Fact;
  readonly answer: readonly number[];
  /** Wrong answers that have a reason, the most telling first. */
  readonly mistakes: readonly Mistake[];
}

/** To be chosen: any number of nodes, or one sign. */
export interface Chosen {
  readonly kind: "sign" | "nodes";
  readonly prompt: Fact;
  readonly choices: readonly Choice[];
  readonly answer: readonly string[];
  /** Why a wrong one is wrong, by its id. */
  readonly reasons: ReadonlyMap<string, Fact>;
}

export type Exercise = Typed | Chosen;

/** An exercise at its place. */
export type Question = Exercise & {
  /** `4.3`: the phase that answers it. */
  readonly id: string;
  readonly position: Position;
  /** What the lecturer wrote before it. */
  readonly lead?: string;
};

const SIGNS = ["ask-positive", "ask-negative", "ask-zero"] as const;
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
  const ask = ASK[position.phase ?? ""];
  const exercise = ask?.({ step, node, graph }) ?? null;
  return exercise && { ...exercise, id: formatPosition(position), position };
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
  readonly step: Step;
  readonly node: Node;
  readonly graph: Graph;
}

const ASK: Readonly<Record<string, (context: Context) => Exercise | null>> = {
  collect: askForSum,
  multiply: askForProduct,
  send: askForNodes,
  land: askForGrad,
};

function askForSum({ step, node, graph }: Context): Typed | null {
  const outputNr = step.contributions.find(
    ({ output_nr }) => step.contributions.filter((each) => each.output_nr === output_nr).length > 1,
  )?.output_nr;
  if (outputNr === undefined || step.hooks?.some(({ output_nr }) => output_nr === outputNr)) return null;
  const summands = step.contributions.filter(
    ({ output_nr, value }) => output_nr === outputNr && isTensor(value),
  );
  const sum = step.grad_outputs[outputNr];
  if (summands.length < 2 || summands.length > MOST_TERMS || !isTensor(sum)) return null;
  const answer = numbersOf(sum);
  const parts = summands.flatMap(({ value }) => [numbersOf(value) ?? []]);
  if (answer === null || parts.some(({ length }) => length !== answer.length)) return null;
  const asked = entriesWorthAsking(answer);
  const name = node.leaf ?? node.outputs[outputNr]?.name;
  return {
    kind: "sum",
    prompt: fact("ask-sum", {
      name: name == null ? fact("result-of", { op: code(node.label) }) : code(name),
      count: parts.length,
      values: parts.map((part) => numbers(pick(part, asked))),
      asked: entryOf("v", asked, sum),
    }),
    ...answersTo(answer, asked, mistakesInSum(graph, summands)),
  };
}

function askForProduct({ step, node, graph }: Context): Exercise | null {
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
  const outputShape = v?.shape ?? [];
  const { shape } = returned;
  const shapes: Typed = {
    kind: "shape",
    prompt: fact("ask-shape", { shape: { shape: [...outputShape] }, name }),
    answer: shape,
    mistakes: toldApart(shape, sameShape, [
      { values: outputShape, because: fact("ask-shape-of-v") },
      { values: shape.toReversed(), because: fact("ask-shape-transposed") },
      { values: [...outputShape, ...shape], because: fact("ask-shape-jacobian") },
    ]),
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
    const sign = signOf(answer[entry] ?? 0);
    const isOther = (each: string): boolean => each !== sign && ![each, sign].includes("ask-zero");
    return {
      kind: "sign",
      prompt: fact("ask-sign", { asked: entryOf(name, [entry], returned) }),
      choices: SIGNS.map((id) => ({ id, name: fact(id) })),
      answer: [sign],
      reasons: new Map(SIGNS.filter(isOther).map((id) => [id, fact("ask-sign-of-product")])),
    };
  }
  return {
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
    return size > 0 ? [{ entry, size, count: answersTo(answer, [entry], mistakes).mistakes.length }] : [];
  });
  return told
    .toSorted((a, b) => b.count - a.count || b.size - a.size)
    .slice(0, 1)
    .map(({ entry }) => entry);
}

function askForNodes({ step, node, graph }: Context): Chosen | null {
  // Along a chain there is nothing to choose.
  if (step.accumulate !== null || node.inputs.filter(({ edge }) => edge !== undefined).length < 2)
    return null;
  const receivers = new Set<string>();
  const reasons = new Map<string, Fact>();
  for (const operand of node.inputs) {
    const producer = producerOf(graph, operand)?.node;
    if (producer === undefined) continue;
    if (isTensor(step.grad_inputs[operand.argnum])) receivers.add(producer);
    else if (!reasons.has(producer))
      reasons.set(producer, fact("ask-no-gradient", { name: calledIn(graph, operand) }));
  }
  for (const edge of graph.edges) {
    if (edge.from.node === node.id) reasons.set(edge.to.node, fact("ask-other-way"));
  }
  // Those with a reason first: they are the likely mistakes.
  const others = graph.nodes
    .flatMap(({ id }) => (id === node.id || receivers.has(id) ? [] : [id]))
    .sort((a, b) => Number(reasons.has(b)) - Number(reasons.has(a)))
    .slice(0, Math.max(0, MOST_CHOICES - receivers.size));
  if (receivers.size === 0 || others.length === 0) return null;
  const offered = new Set([...receivers, ...others]);
  return {
    kind: "nodes",
    prompt: fact("ask-nodes", { node: node.name }),
    choices: graph.nodes.filter(({ id }) => offered.has(id)).map(choiceOf),
    answer: [...receivers],
    reasons,
  };
}

function askForGrad({ step }: Context): Typed | null {
  const { accumulate } = step;
  if (accumulate === null || !isTensor(accumulate.after)) return null;
  const [before, summand, after] = [accumulate.before, step.grad_outputs[0], accumulate.after].map(numbersOf);
  if (before == null || summand == null || after == null) return null;
  const asked = entriesWorthAsking(after);
  const grad = code(`${accumulate.leaf}.grad`);
  return {
    kind: "grad",
    prompt: fact("ask-grad", {
      grad,
      before: numbers(pick(before, asked)),
      arrived: numbers(pick(summand, asked)),
      asked: entryOf(grad, asked, accumulate.after),
    }),
    ...answersTo(after, asked, [
      { values: summand, because: fact("ask-grad-replaced") },
      { values: before, because: fact("ask-grad-kept") },
      { values: joined([before, summand], (a, b) => a - b), because: fact("ask-grad-subtracted") },
      { values: joined([before, summand], (a, b) => (a + b) / 2), because: fact("ask-grad-mean") },
    ]),
  };
}

/** The right answer and the wrong ones, of the entries that are asked for. */
function answersTo(answer: readonly number[], asked: Entries, mistakes: readonly Mistake[]) {
  const right = pick(answer, asked);
  const wrong = mistakes.map(({ values, because }) => ({ values: pick(values, asked), because }));
  return { answer: right, mistakes: toldApart(right, agree, wrong) };
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

function choiceOf(each: Node): Choice {
  const { id, leaf, outputs, span } = each;
  const node = nodeTitle(each);
  const note = leaf === undefined ? (outputs[0]?.name ?? null) : fact("player-leaf");
  const line = span === null ? null : String(span.line);
  if (note !== null && line !== null)
    return { id, name: fact("ask-node-noted-in-line", { node, note, line }) };
  if (note !== null) return { id, name: fact("ask-node", { node, note }) };
  return {
    id,
    name: line === null ? fact("told", { text: node }) : fact("ask-node-in-line", { node, line }),
  };
}

function signOf(value: number): (typeof SIGNS)[number] {
  return value > 0 ? "ask-positive" : value < 0 ? "ask-negative" : "ask-zero";
}
