/**
 * LaTeX to MathML, cached; null where it does not parse, so that the caller falls back to plain text. What sets the
 * formulas is a guest (`typesetting.svelte.ts`): the page fetches it beside the trace, the embedded player only for a
 * trace whose formulas were not set beforehand.
 */

/** Throws for what it cannot parse. */
export type Typesetter = (latex: string) => string;

const known = new Map<string, string | null>();
let typeset: Typesetter | null = null;
let notice: () => void = () => undefined;

export function useTypesetter(made: Typesetter): void {
  typeset = made;
}

/** `noticed` is called whenever a formula is asked for, so that what shows it as text can ask again. */
export function onMath(noticed: () => void): void {
  notice = noticed;
}

/** Takes over formulas that were set beforehand, by their LaTeX; null for what does not parse. */
export function rememberMath(markup: Readonly<Record<string, string | null>>): void {
  for (const [latex, made] of Object.entries(markup)) known.set(latex, made);
}

export function mathml(latex: string): string | null {
  notice();
  const before = known.get(latex);
  if (before !== undefined) return before;
  if (typeset === null) return null;
  let made: string | null;
  try {
    made = typeset(latex);
  } catch {
    made = null;
  }
  known.set(latex, made);
  return made;
}
