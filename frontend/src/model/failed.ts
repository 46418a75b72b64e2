/** A torch call that raised, drawn as a node of the graph that led to it, so that one sees what went into it. */
import type { Edge, FailedCall, Graph, Group, Node, Problem } from "../protocol/trace.gen";

export const FAILED_NODE = "failed";

/** The graph of a problem with the call that raised at its end; as it is where that call is not known. */
export function withFailedCall(graph: Graph, failed: FailedCall | undefined): Graph {
  if (failed === undefined) return graph;
  const edges = failed.operands.flatMap(({ node, output_nr }, argnum): Edge[] =>
    node === null
      ? []
      : [{ id: edgeId(argnum), from: { node, output_nr }, to: { node: FAILED_NODE, argnum } }],
  );
  const drawn = edges.reduce(withEdge, { ...graph, dot: withStatement(graph.dot, FAILED_NODE) });
  return { ...drawn, nodes: [...graph.nodes, nodeOf(graph, failed)], edges: [...graph.edges, ...edges] };
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

/** An edge out of a group leaves by a point of the group's own DOT, as the server writes it. */
function withEdge(graph: Graph, edge: Edge): Graph {
  const groups = new Map(graph.groups.map((group) => [group.id, group]));
  const changed = new Map<string, Group>();
  let from = edge.from.node;
  let attributes = `id=${edge.id}`;
  let group = graph.groups.find(({ nodes }) => nodes.includes(from));
  while (group !== undefined) {
    const way = `{rank=max node [shape=point width=0.02 height=0.02 style=invis] out_${edge.id}}\n\t${from} -> out_${edge.id} [${attributes}]`;
    changed.set(group.id, { ...group, dot: withStatement(group.dot, way) });
    from = group.id;
    attributes = `id=${edge.id} tailport=${edge.id}`;
    group = group.parent === null ? undefined : groups.get(group.parent);
  }
  return {
    ...graph,
    groups: graph.groups.map((each) => changed.get(each.id) ?? each),
    dot: withStatement(graph.dot, `${from} -> ${FAILED_NODE} [${attributes}]`),
  };
}

function withStatement(dot: string, statement: string): string {
  return dot.replace(/}\s*$/, `\t${statement}\n}\n`);
}
