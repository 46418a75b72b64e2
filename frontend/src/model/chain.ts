/**
 * The part of a pass's graph that lies between two tensors: every path along which a change of `by` reaches `of`.
 * A link is one local Jacobian, that of an output of a node by what came along one of its edges. The chain rule
 * multiplies the links of a path and adds up the paths.
 *
 * A tensor that every path goes through is a cut. Between two cuts next to each other there is one link, or several
 * paths whose products are added up; from cut to cut the Jacobians are multiplied. In `x*sin(x)` there is no cut
 * between both ends, and two paths; in `y = y + y`, sixty times, there are 61 cuts, and 2^60 paths that nobody walks.
 */

import type { Edge, Graph, Node } from "../protocol/trace.gen";
import { edgesById, groupsRound, nodesById, usesOf } from "./graph";
import { append } from "./lists";

/** The output of a node that a leaf, a parameter or a result of an operation is. */
export interface TensorId {
  readonly node: string;
  readonly outputNr: number;
}

/** One local Jacobian: d `of` / d `by`, where `by` came to the node of `of` along `edge`. */
export interface Link {
  readonly edge: Edge;
  readonly of: TensorId;
  readonly by: TensorId;
}

/** All that lies between two cuts next to each other, or between the ends of a run of them. */
export interface Segment {
  readonly of: TensorId;
  readonly by: TensorId;
  /** Those that end at a tensor come before those that start there: `of` first. */
  readonly links: readonly Link[];
  readonly paths: bigint;
  /** The group that this is one link of; null where it is none's. */
  readonly group: string | null;
  /** How many equal operations in a row are one link here; 1 where nothing is repeated. */
  readonly repeats: number;
  /** The first of them; absent where nothing is repeated. */
  readonly turn?: Segment;
}

export interface Chain {
  readonly of: TensorId;
  readonly by: TensorId;
  /** From `of` to `by`, as they stand in the product. */
  readonly segments: readonly Segment[];
  readonly links: readonly Link[];
  readonly paths: bigint;
}

export function tensorOf({ node, output_nr }: Edge["from"]): TensorId {
  return { node, outputNr: output_nr };
}

export function tensorKey({ node, outputNr }: TensorId): string {
  return outputNr === 0 ? node : `${node}.${outputNr}`;
}

/** What lies between two tensors; null where no path leads from `by` to `of`. */
export function chainBetween(graph: Graph, of: TensorId, by: TensorId): Chain | null {
  const order = tensorsBetween(graph, of, by);
  if (order === null) return null;
  const rank = new Map(order.map((tensor, at) => [tensorKey(tensor), at]));
  const links = order.flatMap((tensor) =>
    linksOf(graph, tensor).filter((link) => rank.has(tensorKey(link.by))),
  );
  const fromOf = pathCounts(tensorKey(of), links, "downwards");
  const toBy = pathCounts(tensorKey(by), [...links].reverse(), "upwards");
  const paths = toBy.get(tensorKey(of)) ?? 0n;
  const cuts = order.filter((tensor) => {
    const key = tensorKey(tensor);
    return (fromOf.get(key) ?? 0n) * (toBy.get(key) ?? 0n) === paths;
  });
  const places = cuts.map((cut) => rank.get(tensorKey(cut)) ?? 0);
  const inSegment: Link[][] = cuts.slice(1).map(() => []);
  let at = 0;
  for (const link of links) {
    while ((rank.get(tensorKey(link.of)) ?? 0) >= (places[at + 1] ?? Infinity)) at += 1;
    inSegment[at]?.push(link);
  }
  const segments = inSegment.map((inside, index): Segment => {
    const [above, below] = [cuts[index] ?? of, cuts[index + 1] ?? by];
    const count = (fromOf.get(tensorKey(below)) ?? 1n) / (fromOf.get(tensorKey(above)) ?? 1n);
    return { of: above, by: below, links: inside, paths: count, group: null, repeats: 1 };
  });
  return { of, by, segments, links, paths };
}

/** The tensors on paths from `by` to `of`, each before what it was made from. */
function tensorsBetween(graph: Graph, of: TensorId, by: TensorId): readonly TensorId[] | null {
  if (!nodesById(graph).has(of.node) || !nodesById(graph).has(by.node)) return null;
  if (tensorKey(of) === tensorKey(by)) return null;
  const reached = reachedFrom(graph, by.node);
  if (!reached.has(of.node)) return null;
  const made: TensorId[] = [];
  const seen = new Set<string>([tensorKey(of)]);
  /** Depth first with a stack of its own: a loop of thousands of turns is that deep. */
  const stack = [{ tensor: of, links: linksOf(graph, of), next: 0 }];
  while (stack.length > 0) {
    const top = stack[stack.length - 1];
    if (top === undefined) break;
    const link = tensorKey(top.tensor) === tensorKey(by) ? undefined : top.links[top.next];
    top.next += 1;
    if (link === undefined) {
      made.push(top.tensor);
      stack.pop();
    } else if (reached.has(link.by.node) && !seen.has(tensorKey(link.by))) {
      seen.add(tensorKey(link.by));
      stack.push({ tensor: link.by, links: linksOf(graph, link.by), next: 0 });
    }
  }
  // Another output of the node of `by` was reached, but does not depend on this one.
  if (!seen.has(tensorKey(by))) return null;
  return leadingTo(graph, by, made.reverse());
}

/** Without the tensors from which no path leads on to `by`: other outputs of its node, and what leads to them only. */
function leadingTo(graph: Graph, by: TensorId, order: readonly TensorId[]): readonly TensorId[] {
  const leading = new Set([tensorKey(by)]);
  for (const tensor of [...order].reverse()) {
    if (linksOf(graph, tensor).some((link) => leading.has(tensorKey(link.by))))
      leading.add(tensorKey(tensor));
  }
  return order.filter((tensor) => leading.has(tensorKey(tensor)));
}

/** The nodes that what a node made goes into, and itself. */
function reachedFrom(graph: Graph, node: string): ReadonlySet<string> {
  const reached = new Set([node]);
  const open = [node];
  for (let here = open.pop(); here !== undefined; here = open.pop()) {
    for (const edge of usesOf(graph, here)) {
      if (reached.has(edge.to.node)) continue;
      reached.add(edge.to.node);
      open.push(edge.to.node);
    }
  }
  return reached;
}

/** One link per operand of a tensor's node that came along an edge, in operand order. */
function linksOf(graph: Graph, of: TensorId): readonly Link[] {
  const edges = edgesById(graph);
  return (nodesById(graph).get(of.node)?.inputs ?? []).flatMap((operand) => {
    const edge = operand.edge === undefined ? undefined : edges.get(operand.edge);
    return edge === undefined ? [] : [{ edge, of, by: tensorOf(edge.from) }];
  });
}

/** In how many ways each tensor is reached from `start`; the links come in an order that allows one look at each. */
function pathCounts(
  start: string,
  links: readonly Link[],
  direction: "downwards" | "upwards",
): ReadonlyMap<string, bigint> {
  const counts = new Map([[start, 1n]]);
  for (const { of, by } of links) {
    const [from, to] = direction === "downwards" ? [of, by] : [by, of];
    const more = counts.get(tensorKey(from)) ?? 0n;
    counts.set(tensorKey(to), (counts.get(tensorKey(to)) ?? 0n) + more);
  }
  return counts;
}

/** The paths of a segment, `most` at most, each from `of` to `by`. */
export function pathsOf({ of, by, links }: Segment, most: number): readonly (readonly Link[])[] {
  const after = new Map<string, Link[]>();
  for (const link of links) append(after, tensorKey(link.of), link);
  const found: (readonly Link[])[] = [];
  const open: (readonly Link[])[] = [[]];
  for (let path = open.pop(); path !== undefined && found.length < most; path = open.pop()) {
    const here = path.at(-1)?.by ?? of;
    if (tensorKey(here) === tensorKey(by)) found.push(path);
    else for (const link of [...(after.get(tensorKey(here)) ?? [])].reverse()) open.push([...path, link]);
  }
  return found;
}

/** A run of segments that a group alone has computed. */
export interface GroupRun {
  readonly group: string;
  readonly start: number;
  readonly end: number;
}

/** The groups of which a part of a chain from cut to cut is the work, the longest first. */
export function groupRuns(graph: Graph, { segments }: Chain): readonly GroupRun[] {
  const runs: GroupRun[] = [];
  const open = new Map<string, number>();
  for (let at = 0; at <= segments.length; at += 1) {
    const here =
      segments[at] === undefined ? new Set<string>() : sharedGroups(graph, segments[at] as Segment);
    for (const [group, start] of open) {
      if (here.has(group)) continue;
      runs.push({ group, start, end: at });
      open.delete(group);
    }
    for (const group of here) if (!open.has(group)) open.set(group, at);
  }
  return runs.sort((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start);
}

function sharedGroups(graph: Graph, { links }: Segment): ReadonlySet<string> {
  const [first, ...others] = links.map(({ of }) => groupsRound(graph, of.node));
  return new Set((first ?? []).filter((group) => others.every((groups) => groups.includes(group))));
}

/** The chain with each of these groups as one link, where it is a run of segments; of nested ones the outermost. */
export function withGroupsAsLinks(graph: Graph, chain: Chain, groups: ReadonlySet<string>): Chain {
  const runs = groupRuns(graph, chain).filter(({ group }) => groups.has(group));
  const taken = new Map<number, GroupRun>();
  for (const run of runs) {
    const places = Array.from({ length: run.end - run.start }, (_, offset) => run.start + offset);
    if (places.some((place) => taken.has(place))) continue;
    for (const place of places) taken.set(place, run);
  }
  const segments: Segment[] = [];
  chain.segments.forEach((segment, at) => {
    const run = taken.get(at);
    if (run === undefined) segments.push(segment);
    else if (run.start === at) segments.push(asOneLink(chain.segments.slice(run.start, run.end), run.group));
  });
  return { ...chain, segments };
}

function asOneLink(segments: readonly Segment[], group: string | null): Segment {
  const [first, last] = [segments[0] as Segment, segments.at(-1) as Segment];
  return {
    of: first.of,
    by: last.by,
    links: segments.flatMap(({ links }) => links),
    paths: segments.reduce((product, { paths }) => product * paths, 1n),
    group,
    repeats: 1,
  };
}

const FEWEST_REPEATS = 3;

/** The chain with operations that are repeated in a row, such as the turns of a loop, as one link. */
export function withRepeatsAsLinks(graph: Graph, chain: Chain): Chain {
  const nodes = nodesById(graph);
  const kindOf = (segment: Segment): string =>
    segment.group ??
    segment.links.map(({ edge, of }) => `${nodes.get(of.node)?.name}.${edge.to.argnum}`).join(" ");
  const segments: Segment[] = [];
  for (let start = 0; start < chain.segments.length; ) {
    const first = chain.segments[start] as Segment;
    const rest = chain.segments.slice(start);
    const other = rest.findIndex((segment) => kindOf(segment) !== kindOf(first));
    const end = other === -1 ? chain.segments.length : start + other;
    const run = chain.segments.slice(start, end);
    if (run.length < FEWEST_REPEATS) segments.push(...run);
    else segments.push({ ...asOneLink(run, null), repeats: run.length, turn: first });
    start = end;
  }
  return { ...chain, segments };
}

/** A group's way from what comes into it to what it makes, where that is one tensor each. */
export interface GroupEnds {
  readonly group: string;
  readonly of: TensorId;
  readonly by: readonly TensorId[];
}

/** The keys of all tensors that something is made of. */
export function usedTensors({ edges }: Graph): ReadonlySet<string> {
  return new Set(edges.map(({ from }) => tensorKey(tensorOf(from))));
}

/** What each group makes (one tensor) and the tensors that come into it from outside, parameters last. */
export function groupEnds(graph: Graph): readonly GroupEnds[] {
  const ofGroup = new Map<string, { made: Map<string, TensorId>; taken: Map<string, TensorId> }>();
  const sides = (group: string) => {
    const known = ofGroup.get(group) ?? { made: new Map(), taken: new Map() };
    ofGroup.set(group, known);
    return known;
  };
  const used = usedTensors(graph);
  const isLeaf = (node: string): boolean => nodesById(graph).get(node)?.kind === "accumulate_grad";
  for (const { from, to } of graph.edges) {
    const tensor = tensorOf(from);
    const [inFrom, inTo] = [groupsRound(graph, from.node), groupsRound(graph, to.node)];
    for (const group of inTo) {
      if (isLeaf(from.node) || !inFrom.includes(group)) sides(group).taken.set(tensorKey(tensor), tensor);
    }
    for (const group of inFrom) {
      if (!isLeaf(from.node) && !inTo.includes(group)) sides(group).made.set(tensorKey(tensor), tensor);
    }
  }
  for (const node of graph.nodes) {
    if (isUnused(node, used))
      for (const group of groupsRound(graph, node.id))
        sides(group).made.set(node.id, { node: node.id, outputNr: 0 });
  }
  return graph.groups.flatMap(({ id }) => {
    const { made, taken } = sides(id);
    const [of] = made.values();
    const by = [...taken.values()].sort((a, b) => Number(isLeaf(a.node)) - Number(isLeaf(b.node)));
    return of === undefined || made.size > 1 || by.length === 0 ? [] : [{ group: id, of, by }];
  });
}

/** A pass starts at what nothing else uses. */
function isUnused({ id, kind, output_count }: Node, used: ReadonlySet<string>): boolean {
  if (kind === "accumulate_grad") return false;
  return !Array.from({ length: output_count }, (_, outputNr) =>
    used.has(tensorKey({ node: id, outputNr })),
  ).some(Boolean);
}
