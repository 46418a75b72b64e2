/**
 * A graph cut into one level per group, so that opening a group moves nothing outside it. A level holds what stands
 * directly in its group. An edge that crosses the group's border ends at a point on it, `in_<edge>` in the first column
 * or `out_<edge>` in the last, and goes on in the level outside.
 */
import type { Size } from "./geometry";

/** A card or a closed group. */
export interface Item extends Size {
  readonly id: string;
  /** The group that it stands in. */
  readonly home: string;
}

export interface Line {
  readonly id: string;
  readonly tail: string;
  readonly head: string;
  /** One of many, of which at most one is seen by Graphviz. */
  readonly isLoose?: boolean;
}

/** What is drawn, whichever groups are open. Edges run from the producer of a forward value to its consumer. */
export interface Subject {
  readonly nodes: readonly Item[];
  readonly groups: readonly (Item & { readonly isFold: boolean })[];
  readonly edges: readonly {
    readonly id: string;
    readonly from: string;
    readonly to: string;
    /**
     * Of a value used hundreds of times along a chain, whose lines would give Graphviz millions of bends to place. It
     * sees one line to each group; what leads to an open card is drawn straight afterwards.
     */
    readonly isLoose: boolean;
  }[];
}

export interface Level {
  /** Nodes, then groups; a fold where the first of what is in it would stand. */
  readonly items: readonly Item[];
  readonly lines: readonly Line[];
  /** The points where edges come in. */
  readonly arriving: readonly string[];
  readonly leaving: readonly string[];
}

/** The home of what stands in no group, and the id of the outermost level. */
export const TOP = "";

interface Growing extends Level {
  readonly items: Item[];
  readonly lines: Line[];
  readonly arriving: string[];
  readonly leaving: string[];
}

/** Every level by its group's id. Parallel edges are kept; a group that is left and entered again has edges both ways. */
export function levelsOf(subject: Subject): ReadonlyMap<string, Level> {
  const top = emptyLevel();
  const levels = new Map([[TOP, top], ...subject.groups.map(({ id }) => [id, emptyLevel()] as const)]);
  const items = inOrder(subject);
  for (const item of items) (levels.get(item.home) ?? top).items.push(item);
  const pathTo = pathFinder(items);
  for (const { id, from, to, isLoose } of subject.edges)
    addEdge(levels, id, pathTo(from), pathTo(to), isLoose);
  return levels;
}

function inOrder({ nodes, groups }: Subject): readonly Item[] {
  const folds = new Map(groups.filter(({ isFold }) => isFold).map((fold) => [fold.id, fold]));
  const ordered = new Set<Item>();
  for (const item of [...nodes, ...groups]) {
    const fold = folds.get(item.home);
    if (fold !== undefined) ordered.add(fold);
    ordered.add(item);
  }
  return [...ordered];
}

function emptyLevel(): Growing {
  return { items: [], lines: [], arriving: [], leaving: [] };
}

/** The groups round an item from the outermost level inwards, then the item itself. */
function pathFinder(items: readonly Item[]): (id: string) => readonly string[] {
  const homes = new Map(items.map(({ id, home }) => [id, home]));
  const pathTo = (id: string): readonly string[] => {
    const home = homes.get(id);
    return home === undefined ? [TOP] : [...pathTo(home), id];
  };
  return pathTo;
}

/** Adds one edge to every level that it passes through. */
function addEdge(
  levels: ReadonlyMap<string, Growing>,
  id: string,
  start: readonly string[],
  end: readonly string[],
  isLoose: boolean,
): void {
  const add = (level: string | undefined, tail: string | undefined, head: string | undefined) => {
    if (tail === undefined || head === undefined) return;
    levels.get(level ?? TOP)?.lines.push({ id, tail, head, isLoose });
  };
  let shared = 1;
  while (shared < Math.min(start.length, end.length) - 1 && start[shared] === end[shared]) shared += 1;
  const isBetweenCards = shared === start.length - 1 && shared === end.length - 1;
  if (!isLoose || !isBetweenCards) add(start[shared - 1], start[shared], end[shared]);
  if (isLoose) return;
  for (let depth = shared; depth < start.length - 1; depth += 1) {
    levels.get(start[depth] ?? TOP)?.leaving.push(`out_${id}`);
    add(start[depth], start[depth + 1], `out_${id}`);
  }
  for (let depth = shared; depth < end.length - 1; depth += 1) {
    levels.get(end[depth] ?? TOP)?.arriving.push(`in_${id}`);
    add(end[depth], `in_${id}`, end[depth + 1]);
  }
}
