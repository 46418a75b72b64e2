/**
 * A nudge: the program was run again with one entry of an input changed, and every tensor's real change stands beside
 * the one that its local Jacobians predict. Forward, J times the change; at the output, v J times the change, where
 * v J is the gradient that backward left at the leaf. What lies between both is what a straight line cannot follow.
 */
import { areOfOneGraph, changeOf, outputValue } from "../model/comparison";
import { nodesById, producerOf } from "../model/graph";
import { added, dot, elementCount, indicesOf, jacobianMatrix, type Matrix } from "../model/matrix";
import { numbersOf, toNumber } from "../model/numbers";
import { forwardOrder } from "../model/position";
import { executions, nodeTitle } from "../model/selectors";
import type { PassState, TraceState } from "../model/trace";
import type { Edge, Node, TensorValue } from "../protocol/trace.gen";

/** One tensor of the graph, changed or not. */
export interface NudgedTensor {
  readonly node: string;
  /** As the program calls it. */
  readonly name: string;
  /** Its place in the forward walk; 0 for a leaf. */
  readonly order: number;
  readonly shape: readonly number[];
  /** Entry by entry; null where the numbers were not recorded. */
  readonly change: readonly number[] | null;
  /** J times the change of what it was computed from; null where a local Jacobian on the way is not there. */
  readonly predicted: readonly number[] | null;
}

/** How the change of the output compares with the gradient times the change of the input. */
export interface NudgedOutput {
  /** `loss`, or `v · y` where what is predicted is v times the change of several numbers. */
  readonly name: string;
  readonly isBare: boolean;
  /** v times the real change of the outputs: of L, where v is dL/dy. */
  readonly real: number;
  /** The gradients at the leaves times their changes; null where none arrived. */
  readonly predicted: number | null;
  /** What is left of `real`; null where nothing is predicted. */
  readonly difference: number | null;
  readonly terms: readonly Term[];
  /** What rounding alone may make of `real`. */
  readonly rounding: number;
}

/** One product of the prediction: an entry of a gradient times the change of that entry. */
export interface Term {
  /** `x[0]`. */
  readonly name: string;
  readonly gradient: number;
  readonly change: number;
}

export interface Nudge {
  readonly tensors: readonly NudgedTensor[];
  /** By node: its first output. */
  readonly at: ReadonlyMap<string, NudgedTensor>;
  /** The edges along which a change runs. */
  readonly edges: readonly { readonly edge: Edge; readonly order: number }[];
  /** How many steps the walk has. */
  readonly length: number;
  /** Null where a pass starts at several v's at once, or its numbers were not recorded. */
  readonly output: NudgedOutput | null;
  /** An operand that changed though no edge leads to it: no gradient can know of it. */
  readonly unseen: string | null;
}

/** Null where the second run did not build the same graph. */
export function drawNudge(before: TraceState, after: TraceState, index: number): Nudge | null {
  const [pass, twin] = [before.passes[index], after.passes[index]];
  if (pass === undefined || twin === undefined || !areOfOneGraph(before, after)) return null;
  const pairs = pass.started.graph.nodes.map(
    (node, place) => [node, twin.started.graph.nodes[place] ?? node] as const,
  );
  const moved = new Map<string, readonly number[]>();
  for (const [node, other] of pairs) {
    const change = node.kind === "accumulate_grad" ? changeOf(firstValue(node), firstValue(other)) : null;
    if (change !== null) moved.set(node.id, change);
  }
  const order = ordersOf(before, pass);
  const tangents = pushForward(before, pass, moved);
  const tensors = pairs
    .flatMap(([node, other]) =>
      node.outputs.map(
        (output, nr): NudgedTensor => ({
          node: node.id,
          name: nameOf(node, nr),
          order: order.get(node.id) ?? 0,
          shape: output.value?.shape ?? [],
          change: changeOf(output.value, other.outputs[nr]?.value),
          predicted: tangents.get(slot(node.id, nr)) ?? null,
        }),
      ),
    )
    .sort((a, b) => a.order - b.order);
  const at = new Map<string, NudgedTensor>();
  for (const each of tensors) if (!at.has(each.node)) at.set(each.node, each);
  const edges = pass.started.graph.edges.flatMap((edge) => {
    const from = at.get(edge.from.node);
    return from !== undefined && hasMoved(from) ? [{ edge, order: order.get(edge.to.node) ?? 0 }] : [];
  });
  return {
    tensors,
    at,
    edges,
    length: Math.max(0, ...order.values()),
    output: outputOf(before, pass, twin, moved),
    unseen: unseenIn(pairs),
  };
}

/** Something of it changed, or should have. */
export function hasMoved({ change, predicted }: NudgedTensor): boolean {
  return [...(change ?? []), ...(predicted ?? [])].some((entry) => entry !== 0);
}

/**
 * Forward mode: J times the change, node by node in the order in which the program ran them.
 * @param moved the changes of leaves, by node; the others stay where they are
 * @returns by `slot`; null where a local Jacobian that is needed is not in the trace
 */
export function pushForward(
  trace: TraceState,
  pass: PassState,
  moved: ReadonlyMap<string, readonly number[]>,
): ReadonlyMap<string, readonly number[] | null> {
  const { graph, examples } = pass.started;
  const nodes = nodesById(graph);
  const steps = executions(trace, pass);
  const tangents = new Map<string, readonly number[] | null>();
  for (const node of graph.nodes) {
    if (node.kind === "accumulate_grad")
      tangents.set(slot(node.id, 0), moved.get(node.id) ?? zeros(firstValue(node)));
  }
  const tangentOf = (node: Node, outputNr: number): readonly number[] | null => {
    const still = zeros(node.outputs[outputNr]?.value ?? null);
    const jacobians = steps.get(node.id)?.step.local_jacobians ?? [];
    let sum = still;
    for (const operand of node.inputs) {
      const from = producerOf(graph, operand);
      if (from === undefined) continue;
      const tangent = tangents.get(slot(from.node, from.output_nr)) ?? null;
      if (tangent?.every((entry) => entry === 0)) continue;
      const jacobian = jacobians.find(
        ({ argnum, output_nr }) => argnum === operand.argnum && output_nr === outputNr,
      );
      const matrix = jacobian === undefined || examples !== undefined ? null : jacobianMatrix(jacobian);
      if (tangent === null || sum === null || matrix === null || matrix.columns !== tangent.length)
        return null;
      sum = added(sum, product(matrix, tangent));
    }
    return sum;
  };
  for (const each of forwardOrder(trace)) {
    const node = nodes.get(each.id);
    node?.outputs.forEach((_, nr) => {
      tangents.set(slot(node.id, nr), tangentOf(node, nr));
    });
  }
  return tangents;
}

export function slot(node: string, outputNr: number): string {
  return `${node}:${outputNr}`;
}

/**
 * How the difference between the real change and the predicted one behaves when the nudge is halved, and halved again:
 * - `none`: there is none beyond rounding;
 * - `second`: it falls to about a quarter each time, or further, as what is of second order and above does;
 * - `first`: it halves, so the gradient is not the slope;
 * - `unsettled`: neither; the nudge is large for this function, or crosses a kink.
 */
export type Verdict = "none" | "second" | "first" | "unsettled";

export function judge(whole: NudgedOutput, half: NudgedOutput, quarter: NudgedOutput): Verdict | null {
  const differences = [whole, half, quarter].map(({ difference }) => Math.abs(difference ?? Number.NaN));
  const [difference = 0, rest = 0, least = 0] = differences;
  if (whole.difference === null) return null;
  if (!differences.every(Number.isFinite)) return "unsettled";
  if (difference <= whole.rounding) return "none";
  const ratio = difference / Math.max(rest, Number.MIN_VALUE);
  if (ratio >= SECOND_ORDER.least) {
    // A kink between a quarter of the nudge and half of it looks the same up to here; then nothing is left.
    const isSmooth =
      least <= rest / SECOND_ORDER.least + quarter.rounding &&
      least >= rest / SECOND_ORDER.most - quarter.rounding;
    return isSmooth ? "second" : "unsettled";
  }
  const isHalved = [ratio, rest / least].every(
    (each) => each >= FIRST_ORDER.least && each <= FIRST_ORDER.most,
  );
  return isHalved ? "first" : "unsettled";
}

/**
 * Halving a nudge leaves a quarter of what is of second order, half of what is of first order. Where a kink is crossed
 * at c times the nudge, (1 - c) / (1/2 - c) is at least 3 only where c is above a quarter.
 */
const SECOND_ORDER = { least: 3, most: 40 };
const FIRST_ORDER = { least: 1.7, most: 2.3 };

function outputOf(
  trace: TraceState,
  pass: PassState,
  twin: PassState,
  moved: ReadonlyMap<string, readonly number[]>,
): NudgedOutput | null {
  const { outputs, batch, examples, graph } = pass.started;
  const [first] = outputs;
  if (first === undefined || batch !== undefined || examples !== undefined) return null;
  const v: number[] = [];
  let [real, rounding] = [0, 0];
  for (const [place, output] of outputs.entries()) {
    const value = outputValue(pass.started, output);
    const other = outputValue(twin.started, twin.started.outputs[place]);
    const change = changeOf(value, other);
    const [was, is, seed] = [value, other, output.seed].map(numbersOf);
    if (value === null || change === null || seed?.length !== change.length) return null;
    const epsilon = EPSILON[value.dtype] ?? EPSILON.float32 ?? 0;
    v.push(...seed);
    real += dot(seed, change);
    for (const [at, weight] of seed.entries())
      rounding +=
        ROUNDINGS * epsilon * Math.abs(weight) * Math.max(Math.abs(was?.[at] ?? 0), Math.abs(is?.[at] ?? 0));
  }
  const terms = termsOf(trace, pass, moved);
  const predicted = terms?.reduce((sum, { gradient, change }) => sum + gradient * change, 0) ?? null;
  const own = first.name ?? nameOf(nodesById(graph).get(first.node), first.output_nr);
  const name = (outputs.length === 1 && own) || "y";
  const isBare = v.length === 1 && v[0] === 1;
  return {
    name: isBare ? name : `v\u00a0·\u00a0${name}`,
    isBare,
    real,
    predicted,
    difference: predicted === null ? null : real - predicted,
    terms: terms ?? [],
    rounding,
  };
}

/** Distance from 1 to the next number. */
const EPSILON: Readonly<Record<string, number>> = {
  float64: 2 ** -52,
  float32: 2 ** -23,
  bfloat16: 2 ** -7,
  float16: 2 ** -10,
};
/** As many roundings may add up in one output. */
const ROUNDINGS = 16;

/** Null where a leaf that moved got no gradient, or one that is not written out. */
function termsOf(
  trace: TraceState,
  pass: PassState,
  moved: ReadonlyMap<string, readonly number[]>,
): readonly Term[] | null {
  const steps = executions(trace, pass);
  const nodes = nodesById(pass.started.graph);
  const terms: Term[] = [];
  for (const [id, change] of moved) {
    if (change.every((entry) => entry === 0)) continue;
    const node = nodes.get(id);
    const result = pass.started.inputs.findIndex((input) => input.node === id);
    const gradient = steps.get(id)?.step.grad_outputs[0] ?? pass.finished?.results?.[result];
    const entries = numbersOf(gradient);
    if (node === undefined || entries?.length !== change.length) return null;
    const shape = firstValue(node)?.shape ?? [];
    change.forEach((entry, at) => {
      const name = nodeTitle(node) + indexText(at, shape);
      if (entry !== 0) terms.push({ name, gradient: entries[at] ?? 0, change: entry });
    });
  }
  return terms.length === 0 ? null : terms;
}

function unseenIn(pairs: readonly (readonly [Node, Node])[]): string | null {
  for (const [node, other] of pairs) {
    for (const [place, operand] of node.inputs.entries()) {
      if (operand.edge !== undefined) continue;
      const change = changeOf(operand.value, other.inputs[place]?.value);
      if (change?.some((entry) => entry !== 0)) return operand.source ?? operand.name;
    }
  }
  return null;
}

function ordersOf(trace: TraceState, pass: PassState): ReadonlyMap<string, number> {
  const nodes = nodesById(pass.started.graph);
  const walked = forwardOrder(trace).filter(({ id }) => nodes.has(id));
  return new Map(walked.map(({ id }, place) => [id, place + 1]));
}

function nameOf(node: Node | undefined, outputNr: number): string {
  if (node === undefined) return "";
  const { name = null, source } = node.outputs[outputNr] ?? {};
  return node.leaf ?? name ?? source ?? nodeTitle(node);
}

function firstValue(node: Node): TensorValue | null {
  return node.outputs[0]?.value ?? null;
}

function zeros(value: TensorValue | null): readonly number[] | null {
  return value === null ? null : new Array<number>(elementCount(value.shape)).fill(0);
}

function product(matrix: Matrix, tangent: readonly number[]): readonly number[] {
  return Array.from({ length: matrix.rows }, (_, row) =>
    tangent.reduce(
      (sum, entry, column) =>
        entry === 0 ? sum : sum + entry * toNumber(matrix.cells[row * matrix.columns + column] ?? 0),
      0,
    ),
  );
}

/** `[1][0]` for entry 2 of shape [2, 2]; empty for a scalar. */
export function indexText(flat: number, shape: readonly number[]): string {
  return indicesOf(flat, shape)
    .map((index) => `[${index}]`)
    .join("");
}
