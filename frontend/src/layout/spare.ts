/**
 * A plain layered layout in the place of Graphviz, for graphs on which that gives up: a chain of thousands of nodes
 * overflows its stack. Columns by longest path from the left, each stacked in the order of the level, edges as one
 * Bezier piece.
 */
import { append } from "../model/lists";
import type { Places } from "./dot";
import type { Point, Size } from "./geometry";
import type { Level, Line } from "./levels";

const COLUMN_GAP = 64;
const ROW_GAP = 24;
const BORDER_POINT: Size = { width: 2, height: 2 };

export function layOutSimply({ items, lines }: Level): Places {
  const sizes = new Map<string, Size>(items.map((item) => [item.id, item]));
  for (const { tail, head } of lines) {
    for (const end of [tail, head]) if (!sizes.has(end)) sizes.set(end, BORDER_POINT);
  }
  const sizeOf = (name: string) => sizes.get(name) ?? BORDER_POINT;
  const middles = new Map<string, Point>();
  let left = 0;
  let tallest = 0;
  for (const column of columnsOf([...sizes.keys()], lines)) {
    const width = Math.max(...column.map((name) => sizeOf(name).width));
    let y = 0;
    for (const name of column) {
      const { height } = sizeOf(name);
      middles.set(name, { x: left + width / 2, y: y + height / 2 });
      y += height + ROW_GAP;
    }
    left += width + COLUMN_GAP;
    tallest = Math.max(tallest, y - ROW_GAP);
  }
  const sideOf = (name: string, side: -1 | 1): Point => {
    const { x, y } = middles.get(name) ?? { x: 0, y: 0 };
    return { x: x + (side * sizeOf(name).width) / 2, y };
  };
  const curves = lines.map((line) => {
    const [start, end] = [sideOf(line.tail, 1), sideOf(line.head, -1)];
    const bend = COLUMN_GAP / 2;
    return { ...line, curve: [start, { ...start, x: start.x + bend }, { ...end, x: end.x - bend }, end] };
  });
  return { width: Math.max(0, left - COLUMN_GAP), height: tallest, middles, curves };
}

/** Each as far to the right as the longest way to it is. */
function columnsOf(names: readonly string[], lines: readonly Line[]): readonly (readonly string[])[] {
  const column = longestWays(new Map(names.map((name) => [name, 0])), lines, () => 1);
  const columns: string[][] = [];
  for (const name of names) {
    const index = column.get(name) ?? 0;
    for (let k = columns.length; k <= index; k += 1) columns.push([]);
    columns[index]?.push(name);
  }
  return columns.filter((each) => each.length > 0);
}

/**
 * By name, how long the longest way to it is, from those that nothing leads to; the lines of a cycle that close it are
 * passed over.
 * @param own the length of a way to each by itself
 * @param step how much longer a line makes a way to its head
 */
export function longestWays(
  own: ReadonlyMap<string, number>,
  lines: readonly Pick<Line, "tail" | "head">[],
  step: (head: string) => number,
): ReadonlyMap<string, number> {
  const next = new Map<string, string[]>();
  const waitsFor = new Map<string, number>();
  for (const { tail, head } of lines) {
    append(next, tail, head);
    waitsFor.set(head, (waitsFor.get(head) ?? 0) + 1);
  }
  const ways = new Map(own);
  const ready = [...own.keys()].filter((name) => !waitsFor.has(name));
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    for (const head of next.get(name) ?? []) {
      ways.set(head, Math.max(ways.get(head) ?? 0, (ways.get(name) ?? 0) + step(head)));
      const left = (waitsFor.get(head) ?? 1) - 1;
      waitsFor.set(head, left);
      if (left === 0) ready.push(head);
    }
  }
  return ways;
}
