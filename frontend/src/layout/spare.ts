/**
 * A plain layered layout in the place of Graphviz, for graphs on which that gives up: a chain of thousands of nodes
 * overflows its stack. It reads the same DOT and answers in the same json0: columns by longest path from the left,
 * each column stacked in the order of the DOT, edges as one Bezier piece.
 */
const NODE = /^\s*(\w+) \[.*?\bwidth=([\d.]+) height=([\d.]+)/;
const EDGE = /^\s*(\w+)\s*->\s*(\w+)\s*\[.*?\bid="?(\w+)"?/;
const POINTS_PER_INCH = 72;
const COLUMN_GAP = 76;
const ROW_GAP = 24;
const POINT: Box = { width: 2, height: 2 };

interface Box {
  readonly width: number;
  readonly height: number;
}

interface Link {
  readonly tail: string;
  readonly head: string;
  readonly id: string;
}

export function layOutSimply(dot: string): string {
  const boxes = new Map<string, Box>();
  const links: Link[] = [];
  for (const line of dot.split("\n")) {
    const [, tail, head, id] = EDGE.exec(line) ?? [];
    if (tail !== undefined && head !== undefined && id !== undefined) links.push({ tail, head, id });
    const [, name, width, height] = NODE.exec(line) ?? [];
    if (name === undefined || ["graph", "node", "edge"].includes(name)) continue;
    boxes.set(name, { width: Number(width) * POINTS_PER_INCH, height: Number(height) * POINTS_PER_INCH });
  }
  for (const { tail, head } of links) {
    for (const end of [tail, head]) if (!boxes.has(end)) boxes.set(end, POINT);
  }
  const columns = columnsOf([...boxes.keys()], links);
  const places = new Map<string, { x: number; y: number }>();
  let left = 0;
  let tallest = 0;
  for (const column of columns) {
    const sizes = column.map((name) => boxes.get(name) ?? POINT);
    const width = Math.max(...sizes.map((size) => size.width));
    let y = 0;
    column.forEach((name, index) => {
      const height = sizes[index]?.height ?? 0;
      places.set(name, { x: left + width / 2, y: y + height / 2 });
      y += height + ROW_GAP;
    });
    left += width + COLUMN_GAP;
    tallest = Math.max(tallest, y - ROW_GAP);
  }
  const names = [...boxes.keys()];
  const numbers = new Map(names.map((name, index) => [name, index]));
  const at = (name: string) => places.get(name) ?? { x: 0, y: 0 };
  return JSON.stringify({
    bb: `0,0,${Math.max(0, left - COLUMN_GAP)},${tallest}`,
    objects: names.map((name, index) => ({
      _gvid: index,
      name,
      pos: `${at(name).x},${tallest - at(name).y}`,
    })),
    edges: links.map(({ tail, head, id }) => {
      const start = at(tail).x + (boxes.get(tail)?.width ?? 0) / 2;
      const end = at(head).x - (boxes.get(head)?.width ?? 0) / 2;
      const [from, to] = [tallest - at(tail).y, tallest - at(head).y];
      const bend = COLUMN_GAP / 2;
      const pos = `${start},${from} ${start + bend},${from} ${end - bend},${to} ${end},${to}`;
      return { id, pos, tail: numbers.get(tail), head: numbers.get(head) };
    }),
  });
}

/** Longest path from the nodes that nothing leads to; the links of a cycle that close it are passed over. */
function columnsOf(names: readonly string[], links: readonly Link[]): readonly (readonly string[])[] {
  const next = new Map<string, string[]>();
  const waitsFor = new Map(names.map((name) => [name, 0]));
  for (const { tail, head } of links) {
    const heads = next.get(tail);
    if (heads === undefined) next.set(tail, [head]);
    else heads.push(head);
    waitsFor.set(head, (waitsFor.get(head) ?? 0) + 1);
  }
  const column = new Map(names.map((name) => [name, 0]));
  const ready = names.filter((name) => waitsFor.get(name) === 0);
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    for (const head of next.get(name) ?? []) {
      column.set(head, Math.max(column.get(head) ?? 0, (column.get(name) ?? 0) + 1));
      const left = (waitsFor.get(head) ?? 1) - 1;
      waitsFor.set(head, left);
      if (left === 0) ready.push(head);
    }
  }
  const columns: string[][] = [];
  for (const name of names) {
    const index = column.get(name) ?? 0;
    for (let k = columns.length; k <= index; k += 1) columns.push([]);
    columns[index]?.push(name);
  }
  return columns.filter((each) => each.length > 0);
}
