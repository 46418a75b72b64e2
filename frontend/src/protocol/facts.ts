/** Facts that are made here rather than in the server: what is said, without the sentence. */
import type { Catalogue } from "./catalogue.gen";
import type { Fact, Filling } from "./trace.gen";
import { spelled } from "./values";

/** The kinds of facts that take no operands. */
export type Plain = {
  [K in keyof Catalogue]: [Catalogue[K]] extends [never] ? K : never;
}[keyof Catalogue];

/** A fact; the operands are those of the message in the catalogue. */
export function fact<K extends keyof Catalogue>(
  kind: K,
  ...[operands]: [Catalogue[K]] extends [never] ? [] : [{ readonly [name in Catalogue[K]]: Filling }]
): Fact {
  return operands === undefined ? { kind } : { kind, operands };
}

/** Text of the program or of mathematics, where it stands in a list or may be replaced by words. */
export function code(text: string): Fact {
  return fact("code", { text });
}

/** Numbers to be spelled as all numbers on the screen are: several in brackets. */
export function numbers(values: readonly number[]): Filling {
  const cells = values.map(spelled);
  return cells.length === 1 ? { numbers: cells } : { numbers: cells, shape: [cells.length] };
}
