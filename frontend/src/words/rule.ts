/**
 * The formula of a node with the operands called as the program calls them. The only place that knows how a formula
 * is stored: today a text with symbols of its own.
 */
import { formatNumber } from "../model/numbers";
import type { Node } from "../protocol/trace.gen";
import { operandSymbol, ownSymbol, type Scene } from "./names";
import { ATOM, bare, embedded } from "./python";
import { scalarOf } from "./values";

/** Symbols that are LaTeX commands in `Formula.symbols` and Greek names in its texts. */
const GREEK = /^\\(?=[a-z]+$)/;
const WORD = /[\p{L}_][\p{L}\p{N}_]*/gu;
/** Functions that a formula may call. Of a sum its text does not say over what: such a formula is not read aloud. */
const FUNCTIONS = /^(?:abs|acos|asin|atan|cos|cosh|exp|log|outer|sigmoid|sign|sin|sinh|sqrt|tan|tanh)$/;

/** The vjp for one operand, `v * cos(x*y)`; null where not every symbol of it has a name in the program. */
export function ruleText(scene: Scene, node: Node, argnum: number): string | null {
  const line = formulaOf(node)?.vjp.find((each) => each.argnum === argnum);
  if (line === undefined || line.text === "") return null;
  const symbols = symbolsOf(scene, node);
  let isNamed = true;
  const written = line.text.replace(WORD, (word, at: number) => {
    const before = line.text.slice(0, at);
    const after = line.text.slice(at + word.length);
    if (word === "v" || (FUNCTIONS.test(word) && after.startsWith("("))) return word;
    // The T of a transpose.
    if (word === "T" && before.endsWith("^")) return word;
    const name = symbols.get(word);
    if (name === undefined || /^ [a-z]/.test(after)) isNamed = false;
    const isAlone = (before.endsWith("(") && after.startsWith(")")) || (before === "" && after === "");
    return name === undefined ? word : isAlone ? name : embedded(name, ATOM);
  });
  return isNamed ? inPython(written) : null;
}

/** What v is multiplied by, entry by entry: `cos(x*y)`; null where the rule is no such product. */
export function derivativeText(scene: Scene, node: Node, argnum: number): string | null {
  const factor = factorText(scene, node, argnum);
  return factor === null ? null : bare(factor);
}

function factorText(scene: Scene, node: Node, argnum: number): string | null {
  const rule = ruleText(scene, node, argnum);
  if (rule === null || !isElementwise(node)) return null;
  const [, sign = "", rest = ""] = /^(-?)v(.*)$/.exec(rule) ?? [];
  if (rule === `${sign}v`) return `${sign}1`;
  if (rest.startsWith(" * ")) return `${sign}${rest.slice(3)}`;
  if (rest.startsWith(" / ")) return `${sign}1${rest}`;
  return / \* v$/.test(rule) ? rule.slice(0, -" * v".length) : null;
}

/** Saved values that a rule reads: for each its operand's number, or null for the node's own result. */
export function savedInRule(node: Node, argnum: number): readonly (number | null)[] {
  const formula = formulaOf(node);
  const words: readonly string[] =
    formula?.vjp.find((each) => each.argnum === argnum)?.text.match(WORD) ?? [];
  const saved = Object.entries(formula?.symbols ?? {}).filter(([, symbol]) => words.includes(symbol));
  return saved.flatMap(([name]) => {
    if (name === "result") return [null];
    const operand = node.inputs.find((each) => each.name === name);
    return operand === undefined ? [] : [operand.argnum];
  });
}

function formulaOf(node: Node): NonNullable<Node["formula"]> | null {
  return node.formula === null || node.formula.checked === false ? null : node.formula;
}

/** By symbol of the formula, what the program calls it. */
function symbolsOf(scene: Scene, node: Node): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, symbol] of Object.entries(formulaOf(node)?.symbols ?? {})) {
    const known = nameOfSaved(scene, node, name);
    if (known !== null) found.set(symbol.replace(GREEK, ""), known);
  }
  return found;
}

function nameOfSaved(scene: Scene, node: Node, name: string): string | null {
  if (name === "result") return ownSymbol(scene, node);
  const operand = node.inputs.find((each) => each.name === name);
  if (operand !== undefined) return operandSymbol(scene, node, operand);
  const saved = node.saved.find((each) => each.name === name)?.value;
  if (typeof saved === "number") return formatNumber(saved, scene.precision);
  const number = saved !== null && typeof saved === "object" && "shape" in saved ? scalarOf(saved) : null;
  return number === null ? null : formatNumber(number, scene.precision);
}

function isElementwise(node: Node): boolean {
  const texts = formulaOf(node)?.vjp.map(({ text }) => text) ?? [];
  return texts.every((text) => !/@|\bsum\(|\bouter\(|\^T/.test(text));
}

/** Powers, transposes and products by one as Python and people write them. */
function inPython(formula: string): string {
  return formula
    .replace(/\((\d+)-1\)/g, (_, power: string) => String(Number(power) - 1))
    .replace(/\^T\b/g, ".T")
    .replace(/\.T\.T\b/g, "")
    .replace(/ \* 1(?![\w.*])/g, "")
    .replace(/\*\*1\b|\^1\b/g, "")
    .replace(/\^/g, "**")
    .replace(/(^|[( -])1 \* /g, "$1");
}
