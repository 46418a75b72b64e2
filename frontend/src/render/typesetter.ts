/** Temml, most of the weight of a formula. */
import temml from "temml";

export function typeset(latex: string): string {
  return temml.renderToString(latex, { displayMode: false, throwOnError: true, trust: false });
}
