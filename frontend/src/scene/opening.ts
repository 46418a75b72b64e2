/** Which groups are open when a graph is first seen: all of a small one, none of a large one. */
import type { Graph } from "../protocol/trace.gen";

/** Up to here a program is readable whole. */
export const SMALL_GRAPH_NODES = 15;

export function groupsOpenAtFirst(graph: Graph): readonly string[] {
  return graph.nodes.length <= SMALL_GRAPH_NODES ? graph.groups.map((group) => group.id) : [];
}
