/**
 * What a learner can be asked before a phase is shown. Questions come from the trace alone, the same one at the same
 * place every time; the answers are what the engine computed.
 */
import { code, fact, numbers, type Plain } from "../protocol/facts";
import type {
  Fact,
  Filling,
  Graph,
  LocalJacobian,
  Node,
  Operand,
  Step,
  TensorValue,
} from "../protocol/trace.gen";
import { isTensor, returnedFor } from "./gradients";
import { edgesById, nodesById } from "./graph";
import { elementCount, jacobianMatrix } from "./matrix";
import { toNumber } from "./numbers";
import type { Position } from "./position";
import { formatPosition, previousPhase, stopsOfStep } from "./position";
import { nodeAt, nodeTitle, passAt, stepAt, variableOf } from "./selectors";
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

export interface Mistake {
  readonly values: readonly number[];
  readonly because: Fact;
}

/** More numbers than these nobody types. */
const MOST_TYPED = 3;
const MOST_CHOICES = 6;
/** A sum of more products is no mental arithmetic. */
const MOST_TERMS = 6;

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
  if (tensors.length < 2 || step.hooks?.some(({ output_nr }) => output_nr === outputNr)) return null;
  if (!isTensor(sum)) return null;
  const parts = tensors.map(numbersOf);
  const answer = numbersOf(sum);
  if (answer === null || parts.some((part) => part?.length !== answer.length)) return null;
  const known = parts.filter((part) => part !== null);
  const asked = entriesWorthAsking(answer);
  const pick = (values: readonly number[]) => asked.map((entry) => values[entry] ?? Number.NaN);
  const senders = summands.map(({ edge }) => senderOf(graph, edge));
  const name = node.leaf ?? node.outputs[outputNr]?.name;
  return {
    kind: "sum",
    id,
    position,
    prompt: fact("ask-sum", {
      name: name == null ? fact("result-of", { op: code(node.label) }) : code(name),
      count: known.length,
      values: known.map((part) => numbers(pick(part))),
      asked: entryOf("v", asked, sum),
    }),
    answer: pick(answer),
    mistakes: [
      ...known.map((part, index) => ({
        values: pick(part),
        because: fact("ask-only-one-use", { sender: senders[index] ?? fact("ask-one-use") }),
      })),
      {
        values: combine(known.map(pick), (a, b) => a * b),
        because: fact("ask-sum-not-product"),
      },
      {
        values: pick(answer).map((value) => value / known.length),
        because: fact("ask-sum-not-mean"),
      },
      {
        values: combine(known.map(pick), (a, b) => a - b),
        because: fact("ask-sum-own-signs"),
      },
    ],
  };
}

function askForProduct(context: Context): Question | null {
  const { step, node, position, id } = context;
  if (step.accumulate !== null) return null;
  const operand = node.inputs.find(({ argnum }) => isTensor(returnedFor(step, argnum)));
  const returned = operand === undefined ? undefined : returnedFor(step, operand.argnum);
  if (operand === undefined || !isTensor(returned)) return null;
  const name = calledIn(context.graph, operand);
  const jacobian = step.local_jacobians.find(({ argnum }) => argnum === operand.argnum);
  const v = step.grad_outputs[jacobian?.output_nr ?? 0];
  const answer = numbersOf(returned);
  const head = { id, position };
  const outputShape = isTensor(v) ? v.shape : [];
  const shapes: ShapeQuestion = {
    ...head,
    kind: "shape",
    prompt: fact("ask-shape", { shape: { shape: [...outputShape] }, name }),
    answer: returned.shape,
    outputShape,
  };
  if (answer === null || answer.length === 0) return shapes;
  const matrix = jacobian === undefined ? null : jacobianMatrix(jacobian);
  const isProduct = matrixProductOf(step, node, operand.argnum) !== null;
  const isComputable = matrix !== null && (matrix.rows <= MOST_TERMS || isProduct);
  const turn = step.index % 3;
  if (!isComputable || (answer.length > MOST_TYPED && turn !== 0 && !isProduct)) {
    if (returned.shape.length > 0 && (turn === 1 || matrix === null)) return shapes;
    const entry = largestEntry(answer);
    return {
      ...head,
      kind: "sign",
      prompt: fact("ask-sign", { asked: entryOf(name, [entry], returned) }),
      answer: signOf(answer[entry] ?? 0),
    };
  }
  const asked = entriesWorthAsking(answer);
  return {
    ...head,
    kind: "value",
    prompt: fact("ask-product", { asked: entryOf(name, asked, returned) }),
    answer: asked.map((entry) => answer[entry] ?? Number.NaN),
    mistakes: jacobian === undefined ? [] : productMistakes(context, jacobian, asked, answer),
  };
}

function askForNodes({ step, node, graph, position, id }: Context): NodesQuestion | null {
  // Along a chain there is nothing to choose.
  if (step.accumulate !== null || node.inputs.filter(({ edge }) => edge !== undefined).length < 2)
    return null;
  const edges = edgesById(graph);
  const answer: string[] = [];
  const reasons = new Map<string, Fact>();
  for (const operand of node.inputs) {
    const { argnum, edge } = operand;
    const producer = edge === undefined ? undefined : edges.get(edge)?.from.node;
    if (producer === undefined) continue;
    if (isTensor(step.grad_inputs[argnum])) answer.push(producer);
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
  const accumulate = step.accumulate;
  const arrived = step.grad_outputs[0];
  if (accumulate === null || !isTensor(accumulate.before) || !isTensor(accumulate.after)) return null;
  if (!isTensor(arrived)) return null;
  const [before, summand, after] = [accumulate.before, arrived, accumulate.after].map(numbersOf);
  if (before == null || summand == null || after == null) return null;
  const asked = entriesWorthAsking(after);
  const pick = (values: readonly number[]) => asked.map((entry) => values[entry] ?? Number.NaN);
  const grad = code(`${accumulate.leaf}.grad`);
  return {
    kind: "grad",
    id,
    position,
    prompt: fact("ask-grad", {
      grad,
      before: numbers(pick(before)),
      arrived: numbers(pick(summand)),
      asked: entryOf(grad, asked, accumulate.after),
    }),
    answer: pick(after),
    mistakes: [
      {
        values: pick(summand),
        because: fact("ask-grad-replaced"),
      },
      { values: pick(before), because: fact("ask-grad-kept") },
      {
        values: combine([pick(before), pick(summand)], (a, b) => a - b),
        because: fact("ask-grad-subtracted"),
      },
      {
        values: combine([pick(before), pick(summand)], (a, b) => (a + b) / 2),
        because: fact("ask-grad-mean"),
      },
    ],
  };
}

/** What one gets by the usual slips for the whole gradient that a step returns for an operand. */
export function mistakesAt(
  graph: Graph,
  step: Step,
  argnum: number,
  answer: readonly number[],
): readonly Mistake[] {
  const node = nodesById(graph).get(step.node);
  const jacobian = step.local_jacobians.find((each) => each.argnum === argnum);
  if (node === undefined || jacobian === undefined) return [];
  const asked = answer.map((_, entry) => entry);
  return productMistakes({ graph, step, node }, jacobian, asked, answer);
}

/** What one gets for a product by the usual slips. */
function productMistakes(
  { graph, step, node }: Pick<Context, "graph" | "step" | "node">,
  jacobian: LocalJacobian,
  asked: Entries,
  answer: readonly number[],
): readonly Mistake[] {
  const matrix = jacobianMatrix(jacobian);
  const gradient = step.grad_outputs[jacobian.output_nr];
  const v = isTensor(gradient) ? numbersOf(gradient) : null;
  if (matrix === null || v === null || v.length !== matrix.rows) return [];
  const J = matrix.cells.map(toNumber);
  const { rows, columns } = matrix;
  const at = (row: number, column: number) => J[row * columns + column] ?? Number.NaN;
  const rowsOf = Array.from({ length: rows }, (_, row) => row);
  const times = (left: readonly number[], column: number) =>
    rowsOf.reduce((sum, row) => sum + (left[row] ?? 0) * at(row, column), 0);
  const mistakes: Mistake[] = [];
  const add = (because: Plain | Fact, entry: (column: number) => number) =>
    mistakes.push({
      values: asked.map(entry),
      because: typeof because === "string" ? fact(because) : because,
    });

  for (const contribution of step.contributions) {
    const part =
      contribution.output_nr === jacobian.output_nr && isTensor(contribution.value)
        ? numbersOf(contribution.value)
        : null;
    if (part !== null && part.length === rows) add("ask-forgot-sum", (column) => times(part, column));
  }
  if (rows > columns || jacobian.structure === "sum_over_copies") {
    for (const row of rowsOf) {
      if (rows === 1) break;
      add("ask-forgot-copies", (column) => (v[row] ?? 0) * at(row, column));
    }
  }
  add("ask-forgot-v", (column) => rowsOf.reduce((sum, row) => sum + at(row, column), 0));
  for (const row of rowsOf) {
    if (rows === 1) break;
    add("ask-forgot-v-row", (column) => at(row, column));
  }
  for (const values of untransposed(step, node, jacobian.argnum)) {
    mistakes.push({
      values: asked.map((entry) => values[entry] ?? Number.NaN),
      because: fact("ask-forgot-transpose-factor"),
    });
  }
  if (rows === columns && rows > 1) {
    add("ask-forgot-transpose", (column) => rowsOf.reduce((sum, k) => sum + at(column, k) * (v[k] ?? 0), 0));
  }
  add("ask-wrong-sign", (column) => -(answer[column] ?? Number.NaN));
  for (const operand of node.inputs) {
    const other = step.grad_inputs[operand.argnum];
    const values = operand.argnum !== jacobian.argnum && isTensor(other) ? numbersOf(other) : null;
    if (values !== null && values.length === answer.length)
      add(fact("ask-other-operand", { name: calledIn(graph, operand) }), (entry) => values[entry] ?? 0);
  }
  if (rows === columns) add("ask-only-v", (column) => v[column] ?? 0);
  if (rows === 1) add("ask-added", (column) => (v[0] ?? 0) + at(0, column));
  return mistakes;
}

/** What v is multiplied with as a matrix, and whether v stands first; null where the step is no such product. */
interface MatrixProduct {
  readonly other: TensorValue;
  readonly isVFirst: boolean;
  /** Whether the other one is transposed. */
  readonly isTurned: boolean;
}

function matrixProductOf(step: Step, node: Node, argnum: number): MatrixProduct | null {
  const [move, ...more] = step.moves?.find((one) => one.argnum === argnum)?.moves ?? [];
  const [mine = "", theirs = "", result = ""] = move?.axes?.split(/,|->/) ?? [];
  const name = move?.of[1]?.operand;
  const other = node.inputs.find((operand) => operand.name === name)?.value;
  if (other == null || more.length > 0 || [mine, theirs, result].some(({ length }) => length !== 2))
    return null;
  const [row = "", column] = result;
  const isVFirst = mine.includes(row);
  // Letters of their own leave none to meet: an entry times an entry.
  if (mine.includes(row) === theirs.includes(row)) return null;
  return { other, isVFirst, isTurned: isVFirst ? theirs[1] !== column : theirs[0] !== row };
}

/** For y = A B: v B and A v, where the shapes let one get away with it. */
function untransposed(step: Step, node: Node, argnum: number): readonly (readonly number[])[] {
  const product = matrixProductOf(step, node, argnum);
  const v = step.grad_outputs[0];
  if (product === null || !product.isTurned || !isTensor(v)) return [];
  const { other, isVFirst } = product;
  const wrong = isVFirst ? multiply(v, other) : multiply(other, v);
  return wrong === null ? [] : [wrong];
}

function multiply(left: TensorValue, right: TensorValue): readonly number[] | null {
  const [a, b] = [numbersOf(left), numbersOf(right)];
  const [rows, inner] = left.shape;
  const [match, columns] = right.shape;
  if (a === null || b === null || rows === undefined || inner === undefined || columns === undefined)
    return null;
  if (inner !== match) return null;
  return Array.from({ length: rows * columns }, (_, flat) => {
    const [row, column] = [Math.floor(flat / columns), flat % columns];
    let sum = 0;
    for (let k = 0; k < inner; k += 1) sum += (a[row * inner + k] ?? 0) * (b[k * columns + column] ?? 0);
    return sum;
  });
}

/** Real entries; null where they were not recorded or are complex. */
function numbersOf(value: TensorValue): readonly number[] | null {
  if (value.data === undefined || value.data.some((cell) => Array.isArray(cell))) return null;
  return value.data.map(toNumber);
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

/** The variable, else the program's own text, else what made it: never a name of torch's own. */
function calledIn(graph: Graph, operand: Operand): Fact {
  const name = variableOf(graph, operand) ?? operand.source;
  if (name !== undefined) return code(name);
  const producer = operand.edge === undefined ? undefined : edgesById(graph).get(operand.edge)?.from.node;
  const op = producer === undefined ? undefined : nodesById(graph).get(producer)?.label;
  return op === undefined ? code(operand.name) : fact("result-of", { op: code(op) });
}

/** `x at [1, 2]`, `x` where the whole tensor is asked for. */
function entryOf(name: string | Fact, asked: Entries, value: TensorValue): Filling {
  const only = asked[0];
  if (only === undefined || asked.length === elementCount(value.shape)) return name;
  const place: number[] = [];
  let rest = only;
  for (const size of [...value.shape].reverse()) {
    place.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return fact("entry-of", { name, entry: { shape: place } });
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

export function signOf(value: number): Sign {
  return value > 0 ? "positive" : value < 0 ? "negative" : "zero";
}
