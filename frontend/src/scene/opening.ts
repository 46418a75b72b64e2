/** Which groups are open when a graph is first seen: from the top, while it can be read whole. */

import { cardSize, groupSize } from "../layout/sizes";
import { longestWays } from "../layout/spare";
import { readAsCalls, resultOf } from "../model/calls";
import { groupsByParent, groupsRound } from "../model/graph";
import { append } from "../model/lists";
import { once } from "../model/once";
import type { TraceState } from "../model/trace";
import type { Graph } from "../protocol/trace.gen";

/** Groups are opened, level by level, while not more boxes than this are to be seen, */
const MOST_BOXES_AT_FIRST = 24;
/** and while the longest way through them is not wider than this. */
const WIDEST_AT_FIRST_PX = 2200;
/** Between two boxes, and round those of an open group. */
const GAP_PX = 65;
const FRAME_PX = 28;

export function groupsOpenAtFirst(graph: Graph): readonly string[] {
  const children = groupsByParent(graph);
  const open: string[] = [];
  const outer = children.get(null) ?? [];
  let closed = outer.filter((group) => resultOf(group, graph) === null);
  let boxes = graph.nodes.filter((node) => node.group === null).length + outer.length;
  while (closed.length > 0) {
    const below = closed.flatMap((group) => children.get(group.id) ?? []);
    const shown = closed.reduce((sum, group) => sum + group.nodes.length, 0) + below.length;
    boxes += shown - closed.length;
    const wanted = [...open, ...closed.map((group) => group.id)];
    if (boxes > MOST_BOXES_AT_FIRST || widthOf(graph, new Set(wanted)) > WIDEST_AT_FIRST_PX) break;
    open.push(...closed.map((group) => group.id));
    closed = below.filter((group) => resultOf(group, graph) === null);
  }
  return open;
}

/** A trace as it is read where nobody has opened or closed a group. */
export const readAtFirst = once((trace: TraceState): TraceState => {
  const open = new Set(trace.passes.flatMap(({ started }) => groupsOpenAtFirst(started.graph)));
  return readAsCalls(trace, (group) => open.has(group));
});

/** None where the picture would be too wide: a saved page has only some pictures with it (`openingsOf`). */
export function groupsOpenWithin(graph: Graph, widest: number): readonly string[] {
  const first = groupsOpenAtFirst(graph);
  return widthOf(graph, new Set(first)) > widest ? [] : first;
}

/** Of the picture: at each level of groups, the longest way through what stands in it, an open group being one box. */
function widthOf(graph: Graph, open: ReadonlySet<string>): number {
  const parents = new Map(graph.groups.map(({ id, parent }) => [id, parent]));
  const homes = new Map(graph.nodes.map(({ id, group }) => [id, group]));
  const homeOf = (item: string): string | null => homes.get(item) ?? parents.get(item) ?? null;
  const lines = new Map<string | null, [string, string][]>();
  for (const { from, to } of graph.edges) {
    const tails = [from.node, ...groupsRound(graph, from.node)];
    const heads = [to.node, ...groupsRound(graph, to.node)];
    const tail = tails.findIndex((item) => heads.some((other) => homeOf(other) === homeOf(item)));
    const head = heads.findIndex((item) => homeOf(item) === homeOf(tails[tail] ?? ""));
    const [start, end] = [tails[tail], heads[head]];
    if (start !== undefined && end !== undefined && start !== end) append(lines, homeOf(start), [start, end]);
  }
  const items = new Map<string | null, { id: string; width: number }[]>();
  for (const node of graph.nodes)
    append(items, node.group, { id: node.id, width: cardSize(node, graph).width });
  const children = groupsByParent(graph);
  const levelWidth = (home: string | null): number => {
    const inner = (children.get(home) ?? []).map((group) => ({
      id: group.id,
      width: open.has(group.id) ? levelWidth(group.id) + FRAME_PX : groupSize(group, graph).width,
    }));
    return longestWay([...(items.get(home) ?? []), ...inner], lines.get(home) ?? []);
  };
  return levelWidth(null);
}

function longestWay(
  items: readonly { readonly id: string; readonly width: number }[],
  lines: readonly (readonly [string, string])[],
): number {
  const widths = new Map(items.map(({ id, width }) => [id, width]));
  const links = lines.map(([tail, head]) => ({ tail, head }));
  const reach = longestWays(widths, links, (head) => GAP_PX + (widths.get(head) ?? 0));
  return Math.max(0, ...reach.values());
}
