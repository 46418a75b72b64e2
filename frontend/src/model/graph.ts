/** What a graph holds, by id, and which edges use what. */
import type { Edge, Graph, Group, Operand } from "../protocol/trace.gen";
import { append } from "./lists";
import { once } from "./once";

const byId = <T extends { readonly id: string }>(list: readonly T[]): ReadonlyMap<string, T> =>
  new Map(list.map((each) => [each.id, each]));

export const nodesById = once(({ nodes }: Graph) => byId(nodes));
export const edgesById = once(({ edges }: Graph) => byId(edges));
export const groupsById = once(({ groups }: Graph) => byId(groups));

export const groupsByParent = once(({ groups }: Graph): ReadonlyMap<string | null, readonly Group[]> => {
  const children = new Map<string | null, Group[]>();
  for (const group of groups) append(children, group.parent, group);
  return children;
});

const edgesByProducer = once(({ edges }: Graph) => {
  const uses = new Map<string, Edge[]>();
  for (const edge of edges) append(uses, edge.from.node, edge);
  return uses;
});

/** The output that came along an edge as an operand; undefined for any other operand. */
export function producerOf(graph: Graph, operand: Operand | undefined): Edge["from"] | undefined {
  return operand?.edge === undefined ? undefined : edgesById(graph).get(operand.edge)?.from;
}

/** The groups round a node, the innermost first. */
export function groupsRound(graph: Graph, node: string): readonly string[] {
  const groups = groupsById(graph);
  const round: string[] = [];
  let id = nodesById(graph).get(node)?.group ?? null;
  for (; id !== null && !round.includes(id); id = groups.get(id)?.parent ?? null) round.push(id);
  return round;
}

/** The edges along which a node's forward outputs are used, in the order of the graph's edges. */
export function usesOf(graph: Graph, node: string): readonly Edge[] {
  return edgesByProducer(graph).get(node) ?? [];
}
