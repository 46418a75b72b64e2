/** LaTeX to MathML, cached; null where it does not parse, so that the caller falls back to plain text. */
import temml from "temml";

const cache = new Map<string, string | null>();

export function mathml(latex: string, display = false): string | null {
  const key = `${display}${latex}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  let made: string | null;
  try {
    made = temml.renderToString(latex, { displayMode: display, throwOnError: true, trust: false });
  } catch {
    made = null;
  }
  cache.set(key, made);
  return made;
}
