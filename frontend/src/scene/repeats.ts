/**
 * What a program runs through again and again, folded into one group with a count: twelve transformer blocks in a row
 * become "Block × 12", forty turns of a loop "mul, add, tanh × 40". Only the tree of groups changes; every node and
 * edge stays.
 */

import { groupsById, groupsByParent, nodesById, usesOf } from "../model/graph";
import { append } from "../model/lists";
import { once, onceFor } from "../model/once";
import type { Graph, Group, Node } from "../protocol/trace.gen";

/** Up to here a program is readable whole. */
const SMALL_GRAPH_NODES = 15;
const FEWEST_REPEATS = 3;
/** Blocks of so many parts, such as "Linear, relu", are still seen as one block. */
const LONGEST_PERIOD = 4;
/** A loop's turn may have so many operations, which the same places of the program ran each time. */
const LONGEST_TURN = 24;
const MOST_NAMED = 4;

interface Folded extends Group {
  readonly repeats: number;
  /** By node and group directly in it, which of the repeats it belongs to, from 1. */
  readonly turns: ReadonlyMap<string, number>;
}

/** How often a group's block is repeated in it; null for a group that the program itself has. */
export function repeatsOf(group: Group): number | null {
  return "repeats" in group ? (group as Folded).repeats : null;
}

/** `mul × 500` */
export function titled(title: string, group: Group | undefined): string {
  const repeats = group === undefined ? null : repeatsOf(group);
  return repeats === null ? title : `${title} × ${repeats}`;
}

/** Which of a group's repeats a node belongs to, from 1; null where the group is none, or the node's own group tells it. */
export function turnIn(group: Group, node: string): number | null {
  return "turns" in group ? ((group as Folded).turns.get(node) ?? null) : null;
}

/** The graph with runs of equal groups folded; itself where there are none, or where it is small. */
export const withRepeats = once((graph: Graph): Graph => {
  const isFolded = graph.groups.some((group) => repeatsOf(group) !== null);
  if (isFolded || graph.nodes.length <= SMALL_GRAPH_NODES) return graph;
  const folding = foldingsOf(graph.edges)(graph);
  if (folding === null) return graph;
  const nodes = graph.nodes.map((node): Node => {
    const group = folding.homes.get(node.id) ?? null;
    return group === node.group ? node : { ...node, group };
  });
  return { ...graph, nodes, groups: folding.groups as Group[] };
});

/** What folding changes; null where nothing is repeated. */
interface Folding {
  /** By node, its group. */
  readonly homes: ReadonlyMap<string, string | null>;
  readonly groups: readonly Group[];
}

/** By edges, and their groups: both stay the same objects while values and formulas come to the nodes. */
const foldingsOf = once((_edges: Graph["edges"]) => onceFor((graph: Graph) => graph.groups, fold));

/** A node or group among its siblings, in the order in which the program ran them. */
interface Item {
  readonly id: string;
  readonly isGroup: boolean;
  readonly label: string;
  /** Equal for equal structure. */
  readonly signature: string;
  /** Where in the program it was written; null for a group, and where that is not known. */
  readonly place: string | null;
  readonly order: number;
}

interface Run {
  readonly start: number;
  readonly period: number;
  readonly count: number;
}

function fold(graph: Graph): Folding | null {
  const siblings = itemsByParent(graph);
  const level: Level = {
    homes: new Map(graph.nodes.map((node) => [node.id, node.group])),
    parents: new Map(graph.groups.map((group) => [group.id, group.parent])),
    made: [],
  };
  for (const [parent, items] of siblings) {
    for (const [index, run] of runsOf(items).entries()) foldRun(graph, level, parent, items, run, index);
  }
  if (level.made.length === 0) return null;
  const members = new Map<string, string[]>();
  for (const [node, group] of level.homes) if (group !== null) append(members, group, node);
  const groups = [...graph.groups, ...level.made].map(
    (group): Group => ({
      ...group,
      parent: level.parents.get(group.id) ?? null,
      nodes: members.get(group.id) ?? [],
    }),
  );
  return { homes: level.homes, groups };
}

/** What changes while runs are folded. */
interface Level {
  readonly homes: Map<string, string | null>;
  readonly parents: Map<string, string | null>;
  readonly made: Folded[];
}

function foldRun(
  graph: Graph,
  level: Level,
  parent: string | null,
  items: readonly Item[],
  run: Run,
  index: number,
): void {
  const chosen = items.slice(run.start, run.start + run.period * run.count);
  const members = new Set(chosen.map((item) => item.id));
  const first = chosen.find((item) => item.isGroup);
  // What a loop works on belongs to the program, what a block works on to the block.
  if (first !== undefined) for (const leaf of leavesInside(graph, level, parent, members)) members.add(leaf);
  const id = `r${parent ?? ""}_${index}`;
  for (const member of members) {
    if (level.homes.has(member)) level.homes.set(member, id);
    if (level.parents.has(member)) level.parents.set(member, id);
  }
  level.parents.set(id, parent);
  const known = first === undefined ? undefined : groupsById(graph).get(first.id);
  const { kind, span } = known ?? { kind: "function" as const, span: null };
  const names = chosen.slice(0, run.period).map((item) => item.label);
  const label = names.length > MOST_NAMED ? `${names.slice(0, MOST_NAMED).join(", ")}, …` : names.join(", ");
  const turns = new Map(chosen.map((item, at) => [item.id, Math.floor(at / run.period) + 1]));
  level.made.push({ id, kind, label, parent, span, nodes: [], repeats: run.count, turns });
}

/** The leaves beside a run that feed nothing outside it: its own parameters. */
function leavesInside(
  graph: Graph,
  level: Level,
  parent: string | null,
  members: ReadonlySet<string>,
): readonly string[] {
  const isInside = (node: string): boolean => {
    if (members.has(node)) return true;
    let group = level.homes.get(node) ?? null;
    for (; group !== null; group = level.parents.get(group) ?? null) if (members.has(group)) return true;
    return false;
  };
  return graph.nodes
    .filter((node) => node.kind === "accumulate_grad" && (level.homes.get(node.id) ?? null) === parent)
    .map((node) => node.id)
    .filter((id) => {
      const uses = usesOf(graph, id);
      return uses.length > 0 && uses.every((edge) => isInside(edge.to.node));
    });
}

/** From left to right the longest runs of equal neighbours: of blocks, or of the turns of a loop. */
function runsOf(items: readonly Item[]): readonly Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < items.length; ) {
    let best: Run | null = null;
    for (let period = 1; period <= LONGEST_TURN; period += 1) {
      const count = repeatsFrom(items, start, period);
      const covers = count * period;
      if (count < FEWEST_REPEATS || covers <= (best === null ? 0 : best.count * best.period)) continue;
      if (isBlock(items.slice(start, start + period)) || isLoop(items, start, period))
        best = { start, period, count };
    }
    if (best === null) start += 1;
    else {
      runs.push(best);
      start += best.period * best.count;
    }
  }
  return runs;
}

function isBlock(parts: readonly Item[]): boolean {
  return parts.length <= LONGEST_PERIOD && parts.some((item) => item.isGroup);
}

/** Every operation of a turn was written where that of the next turn was. */
function isLoop(items: readonly Item[], start: number, period: number): boolean {
  for (let at = start; at < start + period; at += 1) {
    const place = items[at]?.place ?? null;
    if (place === null || place !== items[at + period]?.place) return false;
  }
  return true;
}

function repeatsFrom(items: readonly Item[], start: number, period: number): number {
  let count = 1;
  for (let at = start + period; at + period <= items.length; at += period) {
    for (let offset = 0; offset < period; offset += 1) {
      if (items[at + offset]?.signature !== items[start + offset]?.signature) return count;
    }
    count += 1;
  }
  return count;
}

function itemsByParent(graph: Graph): ReadonlyMap<string | null, readonly Item[]> {
  const groups = groupsByParent(graph);
  const nodes = nodesById(graph);
  const made = new Map<string, Item>();
  const itemsOf = (direct: readonly string[], children: readonly Group[]): readonly Item[] => {
    const ops = direct.flatMap((id) => nodes.get(id) ?? []).filter((node) => node.kind !== "accumulate_grad");
    const items = [...ops.map(itemOfNode), ...children.map(itemOfGroup)].filter(
      (item) => item.order < Infinity,
    );
    return items.sort((a, b) => a.order - b.order);
  };
  const itemOfGroup = (group: Group): Item => {
    const before = made.get(group.id);
    if (before !== undefined) return before;
    const inside = itemsOf(group.nodes, groups.get(group.id) ?? []);
    const label = group.label.replace(/^.*: /, "");
    const item = {
      id: group.id,
      isGroup: true,
      label,
      signature: `${group.kind} ${label.replace(/\d+/g, "#")}(${inside.map((each) => each.signature).join(" ")})`,
      place: null,
      order: inside[0]?.order ?? Infinity,
    };
    made.set(group.id, item);
    return item;
  };
  const top = graph.nodes.filter((node) => node.group === null).map((node) => node.id);
  const result = new Map<string | null, readonly Item[]>([[null, itemsOf(top, groups.get(null) ?? [])]]);
  for (const group of graph.groups) {
    const children = groups.get(group.id);
    result.set(group.id, itemsOf(group.nodes, children ?? []));
  }
  return result;
}

function itemOfNode(node: Node): Item {
  const signature = `${node.name}/${node.inputs.length}`;
  const { span } = node;
  const place = span === null ? null : `${span.line}:${span.column}`;
  return {
    id: node.id,
    isGroup: false,
    label: node.label,
    signature,
    place,
    order: node.sequence_nr ?? Infinity,
  };
}
