/**
 * The part of a pass's graph that lies between two tensors: every path along which a change of `by` reaches `of`.
 * A link is one local Jacobian, that of an output of a node by what came along one of its edges. The chain rule
 * multiplies the links of a path and adds up the paths.
 *
 * A tensor that every path goes through is a cut. Between two cuts next to each other there is one link, or several
 * paths whose products are added up; from cut to cut the Jacobians are multiplied. In `x*sin(x)` there is no cut
 * between both ends, and two paths; in `y = y + y`, sixty times, there are 61 cuts, and 2^60 paths that nobody walks.
 */

import type { Edge, Graph } from "../protocol/trace.gen";
import { edgesById, groupsRound, nodesById } from "./graph";
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
  if (order.length === 0) return null;
  const between = new Set(order.map(tensorKey));
  const inside = (tensor: TensorId): readonly Link[] =>
    linksOf(graph, tensor).filter((link) => between.has(tensorKey(link.by)));
  const links = order.flatMap(inside);
  const fromOf = pathCounts(tensorKey(of), links, "downwards");
  const toBy = pathCounts(tensorKey(by), links.toReversed(), "upwards");
  const reached = (tensor: TensorId): bigint => fromOf.get(tensorKey(tensor)) ?? 1n;
  const paths = reached(by);
  const segments: Segment[] = [];
  let [above, open]: [TensorId, Link[]] = [of, []];
  for (const tensor of order) {
    const isCut = reached(tensor) * (toBy.get(tensorKey(tensor)) ?? 1n) === paths;
    if (isCut && open.length > 0) {
      const count = reached(tensor) / reached(above);
      segments.push({ of: above, by: tensor, links: open, paths: count, group: null, repeats: 1 });
      [above, open] = [tensor, []];
    }
    open.push(...inside(tensor));
  }
  return { of, by, segments, links, paths };
}

/** The tensors on paths from `by` to `of`, each before what it was made from; none where no path leads there. */
function tensorsBetween(graph: Graph, of: TensorId, by: TensorId): readonly TensorId[] {
  const made: TensorId[] = [];
  const seen = new Set([tensorKey(of)]);
  /** Depth first with a stack of its own: a loop of thousands of turns is that deep. */
  const stack = [{ tensor: of, links: [...linksOf(graph, of)] }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const tensor = top.links.shift()?.by;
    if (tensor === undefined) {
      made.push(top.tensor);
      stack.pop();
    } else if (!seen.has(tensorKey(tensor))) {
      seen.add(tensorKey(tensor));
      stack.push({ tensor, links: [...linksOf(graph, tensor)] });
    }
  }
  const leading = new Set([tensorKey(by)]);
  for (const tensor of made) {
    if (linksOf(graph, tensor).some((link) => leading.has(tensorKey(link.by))))
      leading.add(tensorKey(tensor));
  }
  // An end that nothing leads to, or that is both, has no way.
  if (!leading.has(tensorKey(of)) || leading.size === 1) return [];
  return made.filter((tensor) => leading.has(tensorKey(tensor))).reverse();
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

/** Segments next to each other of which one link is made. */
interface Run {
  readonly start: number;
  readonly end: number;
}

export interface GroupRun extends Run {
  readonly group: string;
}

/** The groups of which a part of a chain from cut to cut is the work, the longest first. */
export function groupRuns(graph: Graph, { segments }: Chain): readonly GroupRun[] {
  const runs: GroupRun[] = [];
  let open = new Map<string, number>();
  for (const [at, segment] of [...segments, null].entries()) {
    const here = new Map(
      sharedGroups(graph, segment?.links ?? []).map((group) => [group, open.get(group) ?? at]),
    );
    for (const [group, start] of open) if (!here.has(group)) runs.push({ group, start, end: at });
    open = here;
  }
  return runs.sort((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start);
}

function sharedGroups(graph: Graph, [first, ...others]: readonly Link[]): readonly string[] {
  if (first === undefined) return [];
  return groupsRound(graph, first.of.node).filter((group) =>
    others.every(({ of }) => groupsRound(graph, of.node).includes(group)),
  );
}

/** The chain with each of these groups as one link, where it is a run of segments; of nested ones the outermost. */
export function withGroupsAsLinks(graph: Graph, chain: Chain, groups: ReadonlySet<string>): Chain {
  const runs = groupRuns(graph, chain).filter(({ group }) => groups.has(group));
  return folded(chain, runs, ({ group }, run) => ({ ...asOneLink(run), group }));
}

const FEWEST_REPEATS = 3;

/** The chain with operations that are repeated in a row, such as the turns of a loop, as one link. */
export function withRepeatsAsLinks(graph: Graph, chain: Chain): Chain {
  const nodes = nodesById(graph);
  const kinds = chain.segments.map(
    ({ group, links }) =>
      group ?? links.map(({ edge, of }) => `${nodes.get(of.node)?.name}.${edge.to.argnum}`).join(" "),
  );
  const starts = kinds.flatMap((kind, at) => (kind === kinds[at - 1] ? [] : [at]));
  const runs = starts.map((start, at): Run => ({ start, end: starts[at + 1] ?? kinds.length }));
  return folded(
    chain,
    runs.filter(({ start, end }) => end - start >= FEWEST_REPEATS),
    (_, run) => ({ ...asOneLink(run), repeats: run.length, turn: run[0] as Segment }),
  );
}

/** The chain with one link for each run that no run before it overlaps. */
function folded<R extends Run>(
  chain: Chain,
  runs: readonly R[],
  linkOf: (run: R, segments: readonly Segment[]) => Segment,
): Chain {
  const taken = new Map<number, R>();
  for (const run of runs) {
    const places = Array.from({ length: run.end - run.start }, (_, offset) => run.start + offset);
    if (!places.some((place) => taken.has(place))) for (const place of places) taken.set(place, run);
  }
  const segments = chain.segments.flatMap((segment, at) => {
    const run = taken.get(at);
    if (run === undefined) return [segment];
    return run.start === at ? [linkOf(run, chain.segments.slice(run.start, run.end))] : [];
  });
  return { ...chain, segments };
}

function asOneLink(segments: readonly Segment[]): Segment {
  const [first, last] = [segments[0] as Segment, segments.at(-1) as Segment];
  const links = segments.flatMap((segment) => segment.links);
  const paths = segments.reduce((product, segment) => product * segment.paths, 1n);
  return { of: first.of, by: last.by, links, paths, group: null, repeats: 1 };
}

/** A group's way to the one tensor that it makes, from the first that comes into it: a parameter where nothing else does. */
export interface GroupEnds {
  readonly group: string;
  readonly of: TensorId;
  readonly by: TensorId;
}

/** The ends of each group that makes one tensor. */
export function groupEnds(graph: Graph): readonly GroupEnds[] {
  const made = new Map<string, TensorId[]>();
  const taken = new Map<string, TensorId[]>();
  const isLeaf = (node: string): boolean => nodesById(graph).get(node)?.kind === "accumulate_grad";
  const groupsOf = (node: string) => (isLeaf(node) ? [] : groupsRound(graph, node));
  for (const { from, to } of graph.edges) {
    const [inFrom, inTo] = [groupsOf(from.node), groupsOf(to.node)];
    for (const group of inTo) if (!inFrom.includes(group)) append(taken, group, tensorOf(from));
    for (const group of inFrom) if (!inTo.includes(group)) append(made, group, tensorOf(from));
  }
  const used = new Set(graph.edges.map(({ from }) => from.node));
  // A pass starts at what nothing else uses.
  for (const { id } of graph.nodes.filter((node) => !used.has(node.id)))
    for (const group of groupsOf(id)) append(made, group, { node: id, outputNr: 0 });
  return graph.groups.flatMap(({ id: group }) => {
    const [of, ...others] = made.get(group) ?? [];
    const all = taken.get(group) ?? [];
    const by = all.find(({ node }) => !isLeaf(node)) ?? all[0];
    if (of === undefined || by === undefined) return [];
    return others.some((other) => tensorKey(other) !== tensorKey(of)) ? [] : [{ group, of, by }];
  });
}
