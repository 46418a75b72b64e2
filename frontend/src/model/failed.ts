/**
 * What raised: a node of a backward pass, which has a step like any other, and a torch call of the forward, drawn as a node of the graph that led to it, so
 * that one sees what went into it.
 */
import type { Edge, FailedCall, Graph, Node, Problem, Step } from "../protocol/trace.gen";

export const FAILED_NODE = "failed";

/** The graph of a problem with the call that raised at its end; as it is where that call is not known. */
export function withFailedCall(graph: Graph, failed: FailedCall | undefined): Graph {
  if (failed === undefined) return graph;
  const edges = failed.operands.flatMap(({ node, output_nr }, argnum): Edge[] =>
    node === null
      ? []
      : [{ id: edgeId(argnum), from: { node, output_nr }, to: { node: FAILED_NODE, argnum } }],
  );
  return { ...graph, nodes: [...graph.nodes, nodeOf(graph, failed)], edges: [...graph.edges, ...edges] };
}

/** The problem that a node raised, or that stands in the place of a call that raised. */
export function problemOfNode(problems: readonly Problem[], pass: number, node: string): Problem | null {
  return (
    problems.find((problem) =>
      node === FAILED_NODE
        ? problem.failed !== undefined
        : problem.node === node && (problem.pass ?? pass) === pass,
    ) ?? null
  );
}

/** Whether the node raised in this step, so that nothing was sent on. */
export function hasRaised({ accumulate, grad_inputs }: Step): boolean {
  return (
    accumulate === null && grad_inputs.some((sent) => "missing" in sent && sent.missing === "not_computed")
  );
}

/** The problem of a step that raised. */
export function problemOfStep(problems: readonly Problem[], step: Step): Problem | null {
  return hasRaised(step) ? problemOfNode(problems, step.pass, step.node) : null;
}

function nodeOf(graph: Graph, { op, span, operands }: FailedCall): Node {
  const last = Math.max(-1, ...graph.nodes.map((node) => node.sequence_nr ?? -1));
  const names = new Map(graph.nodes.map((node) => [node.id, node.leaf ?? node.outputs[0]?.name ?? null]));
  return {
    id: FAILED_NODE,
    name: op,
    op,
    kind: "other",
    label: op,
    span,
    group: null,
    inputs: operands.map(({ value, node }, argnum) => ({
      argnum,
      name: (node === null ? null : names.get(node)) ?? "",
      value,
      ...(node === null ? {} : { edge: edgeId(argnum) }),
    })),
    outputs: [],
    output_count: 0,
    saved: [],
    formula: null,
    sequence_nr: last + 1,
  };
}

function edgeId(argnum: number): string {
  return `failed_${argnum}`;
}
