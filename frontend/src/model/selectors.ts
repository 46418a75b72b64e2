/** Questions asked of a trace at a position. Each answer is a function of both; maps are kept for as long as what they map. */

import type { Fact, Graph, Node, Span, Step } from "../protocol/trace.gen";
import { nodesById, producerOf } from "./graph";
import { once, onceFor } from "./once";
import type { Position } from "./position";
import { forwardOrder } from "./position";
import type { PassState, TraceState } from "./trace";
import { stepsOf } from "./trace";

export type Operand = Node["inputs"][number];

/** The step being walked; null at step 0, in the forward walk, and where it has not arrived yet. */
export function stepAt(trace: TraceState, position: Position): Step | null {
  if (position.direction === "forward" || position.step === 0) return null;
  return trace.steps[position.step - 1] ?? null;
}

/** Whether several contributions become one sum at this stop. */
export function addsUp({ contributions }: Step, { phase }: Position): boolean {
  return phase === "collect" && contributions.length > 1;
}

/** Whether what explains a step has come: steps are explained in their order, after their pass, if there is anything to say. */
export function isStepExplained({ finished, steps }: TraceState, { index, pass }: Step): boolean {
  const isTold = (one: Step): boolean => one.formula_checked !== undefined || one.local_jacobians.length > 0;
  return finished !== null || steps.some((one) => one.pass === pass && one.index >= index && isTold(one));
}

/** The pass whose graph is on show; at step 0 the first one. */
export function passAt(trace: TraceState, position: Position): PassState | null {
  const step = stepAt(trace, position);
  if (step !== null) return trace.passes[step.pass] ?? null;
  const node = position.direction === "forward" ? forwardOrder(trace)[position.step - 1] : undefined;
  if (node !== undefined)
    return trace.passes.find((pass) => nodesById(pass.started.graph).has(node.id)) ?? null;
  return trace.passes[0] ?? null;
}

/** The node at work; null at step 0. */
export function nodeAt(trace: TraceState, position: Position): Node | null {
  if (position.step === 0) return null;
  if (position.direction === "forward") return forwardOrder(trace)[position.step - 1] ?? null;
  const step = stepAt(trace, position);
  const graph = passAt(trace, position)?.started.graph;
  return step !== null && graph !== undefined ? (nodesById(graph).get(step.node) ?? null) : null;
}

/** The source sub-expression to light up: the node's, and before a pass the call that starts it. */
export function spanAt(trace: TraceState, position: Position): Span | null {
  const node = nodeAt(trace, position);
  if (node !== null) return node.span;
  return position.direction === "backward" ? (passAt(trace, position)?.started.span ?? null) : null;
}

/** The first step number (1-based) of a pass; 0 while none has arrived. */
export function firstStepOfPass(trace: TraceState, pass: number): number {
  const step = trace.passes[pass]?.steps[0];
  return step === undefined ? 0 : trace.steps.indexOf(step) + 1;
}

/** The step (1-based number and content) at which a pass executes a node. */
export function executionOf(
  trace: TraceState,
  pass: PassState,
  node: string,
): { number: number; step: Step } | null {
  return executions(trace, pass).get(node) ?? null;
}

/** Every node of a pass that has been executed, with its step number (1-based). */
export const executions = onceFor(
  stepsOf,
  (trace, pass): ReadonlyMap<string, { number: number; step: Step }> =>
    new Map(
      trace.steps.flatMap((step, index) =>
        step.pass === pass.index ? [[step.node, { number: index + 1, step }]] : [],
      ),
    ),
);

/** The nodes of the walk that a position is in, within the graph on show, in order; and how many of them it has come to. */
export interface Walk {
  readonly nodes: readonly string[];
  readonly walked: number;
}

export function walkAt(trace: TraceState, position: Position): Walk {
  const pass = passAt(trace, position);
  if (pass === null) return { nodes: [], walked: 0 };
  const nodes = position.direction === "forward" ? nodesForward(trace, pass) : nodesBackward(pass.steps);
  const here = nodeAt(trace, position);
  if (position.step === 0) return { nodes, walked: 0 };
  return { nodes, walked: here === null ? nodes.length : nodes.indexOf(here.id) + 1 };
}

const nodesForward = onceFor(stepsOf, (trace, pass) => {
  const graph = nodesById(pass.started.graph);
  return forwardOrder(trace).flatMap(({ id }) => (graph.has(id) ? [id] : []));
});
const nodesBackward = once((steps: readonly Step[]) => steps.map((step) => step.node));

/** What a node is called on screen: a leaf by its variable, an operation by its op. */
export function nodeTitle(node: Node): string {
  return node.leaf ?? node.label;
}

/** The variable that holds an operand, where one is known: `x`. */
export function variableOf(graph: Graph, operand: Operand | undefined): string | null {
  const from = producerOf(graph, operand);
  const producer = from === undefined ? undefined : nodesById(graph).get(from.node);
  return producer?.leaf ?? producer?.outputs[from?.output_nr ?? 0]?.name ?? null;
}

/** The node that made the first operand of `node` that came along an edge. */
export function firstProducer(graph: Graph, node: string): string | undefined {
  const inputs = nodesById(graph).get(node)?.inputs ?? [];
  return producerOf(
    graph,
    inputs.find(({ edge }) => edge !== undefined),
  )?.node;
}

/** What was noted of the run, in order. */
export function notesOf(trace: TraceState): readonly Fact[] {
  return [...trace.passes.flatMap(({ started }) => started.notes ?? []), ...(trace.finished?.notes ?? [])];
}
