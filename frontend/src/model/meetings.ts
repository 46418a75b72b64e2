/** What a move relates: which cells of its tables go into each cell of its result, read off its letters or its list of cells. */
import type { Move, Node, TensorValue } from "../protocol/trace.gen";
import { elementCount, indicesOf } from "./matrix";

/** Whose cells go into a cell of the result, counted row by row. */
export interface Meeting {
  readonly result: number;
  readonly first: number;
  readonly second: number | null;
}

/** An index along an axis: a sum of letters with factors, and a number. */
interface Index {
  readonly letters: readonly (readonly [letter: string, factor: number])[];
  readonly offset: number;
}

/** What a move calls by name: a tensor that the node saved, an operand, the result. */
export function namedValue({ saved, inputs, outputs }: Node, name: string | undefined): TensorValue | null {
  const isNamed = (each: { readonly name: string }): boolean => each.name === name;
  const result = name === "result" ? outputs[0]?.value : null;
  return saved.find(isNamed)?.value ?? inputs.find(isNamed)?.value ?? result ?? null;
}

export function meetingsOf(
  { axes = "", source, goal }: Move,
  shapes: readonly (readonly number[])[],
): readonly Meeting[] {
  if (source !== undefined)
    return source.flatMap((first, result) => (first < 0 ? [] : [{ result, first, second: null }]));
  if (goal !== undefined)
    return goal.flatMap((result, first) => (result < 0 ? [] : [{ result, first, second: null }]));
  const tables = axes.split(/,|->/).map(indicesIn);
  const size = new Map<string, number>();
  for (const [at, indices] of tables.entries())
    for (const [axis, { letters }] of indices.entries()) {
      const [only, more] = letters;
      if (only === undefined || more !== undefined || only[1] !== 1) continue;
      size.set(only[0], Math.max(size.get(only[0]) ?? 1, shapes[at]?.[axis] ?? 1));
    }
  const names = [...size.keys()];
  const counts = [...size.values()];
  return Array.from({ length: elementCount(counts) }, (_, number) => indicesOf(number, counts)).flatMap(
    (along) => {
      const at = new Map(names.map((name, index) => [name, along[index] ?? 0]));
      const cells = tables.map((indices, table) => flatOf(indices, shapes[table] ?? [], at));
      const result = cells.at(-1) ?? null;
      const [first = null, second = null] = cells.slice(0, -1);
      if (result === null || first === null || (tables.length > 2 && second === null)) return [];
      return [{ result, first, second }];
    },
  );
}

const INDEX = /\(([^)]*)\)|([a-z])/g;
const TERM = /([+-]?\d*)([a-z]?)/g;

/** `i(2y+k-1)`: letter by letter, in parentheses a sum. */
function indicesIn(axes: string): readonly Index[] {
  return [...axes.matchAll(INDEX)].map(([, sum, letter]) => {
    if (letter !== undefined) return { letters: [[letter, 1]], offset: 0 };
    const terms = [...(sum ?? "").matchAll(TERM)].filter(([whole]) => whole !== "");
    const factor = (written: string): number =>
      /\d/.test(written) ? Number(written) : written === "-" ? -1 : 1;
    return {
      letters: terms.flatMap(([, written = "", name = ""]) =>
        name === "" ? [] : [[name, factor(written)] as const],
      ),
      offset: terms.reduce((total, [, written = "", name]) => total + (name === "" ? Number(written) : 0), 0),
    };
  });
}

/** Null outside of the table. */
function flatOf(
  indices: readonly Index[],
  shape: readonly number[],
  at: ReadonlyMap<string, number>,
): number | null {
  let flat = 0;
  for (const [axis, { letters, offset }] of indices.entries()) {
    const size = shape[axis] ?? 1;
    const index = letters.reduce((sum, [letter, factor]) => sum + factor * (at.get(letter) ?? 0), offset);
    const read = size === 1 && letters.length === 1 ? 0 : index;
    if (read < 0 || read >= size) return null;
    flat = flat * size + read;
  }
  return flat;
}
