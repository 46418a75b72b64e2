/** Which groups are open when a graph is first seen: all of a small one; of a large one, from the top while it stays readable. */
import type { Graph, Group } from "../protocol/trace.gen";
import { SMALL_GRAPH_NODES } from "./repeats";

/** Groups of a large graph are opened, level by level, while not more boxes than this are to be seen. */
const MOST_BOXES_AT_FIRST = 24;

export function groupsOpenAtFirst(graph: Graph): readonly string[] {
  if (graph.nodes.length <= SMALL_GRAPH_NODES) return graph.groups.map((group) => group.id);
  const children = new Map<string | null, Group[]>();
  for (const group of graph.groups) {
    const siblings = children.get(group.parent);
    if (siblings === undefined) children.set(group.parent, [group]);
    else siblings.push(group);
  }
  const open: string[] = [];
  let closed = children.get(null) ?? [];
  let boxes = graph.nodes.filter((node) => node.group === null).length + closed.length;
  while (closed.length > 0) {
    const below = closed.flatMap((group) => children.get(group.id) ?? []);
    const shown = closed.reduce((sum, group) => sum + group.nodes.length, 0) + below.length;
    boxes += shown - closed.length;
    if (boxes > MOST_BOXES_AT_FIRST) break;
    open.push(...closed.map((group) => group.id));
    closed = below;
  }
  return open;
}
