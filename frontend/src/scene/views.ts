/** The three ways to write one product. Which of them a step offers depends on its numbers; the choice outlives the step. */

export const VIEWS = ["elements", "matrices", "jacobian"] as const;

/** `elements`: entry by entry; `matrices`: in the tensors' own shapes; `jacobian`: every tensor one row, J in full. */
export type View = (typeof VIEWS)[number];

/** As the address has it; null for what is not a view. */
export function parseView(text: string): View | null {
  return VIEWS.find((view) => view === text) ?? null;
}

/** The wanted one where the step offers it, else the most readable one that it does offer. */
export function chosen<T extends { readonly view: View }>(
  offered: readonly T[],
  wanted: View | null,
): T | undefined {
  return offered.find(({ view }) => view === wanted) ?? offered[0];
}
