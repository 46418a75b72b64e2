/**
 * The formula of a node with the operands called as the program calls them. The only place that knows how a formula
 * is stored: today a text with symbols of its own.
 */
import { formatNumber } from "../model/numbers";
import type { Node, Step, UnwrittenLine } from "../protocol/trace.gen";
import { operandSymbol, opOf, ownSymbol, type Scene } from "./names";
import { ATOM, bare, embedded } from "./python";
import { type Key, type Said, say } from "./say";
import { scalarOf } from "./values";

const WORD = /[\p{L}_][\p{L}\p{N}_]*/gu;

/** The vjp for one operand, `v * cos(x*y)`; null where not every symbol of it has a name in the program. */
export function ruleText(scene: Scene, node: Node, argnum: number): string | null {
  const line = formulaOf(node)?.vjp.find((each) => each.argnum === argnum);
  const symbols = symbolsOf(scene, node);
  if (line === undefined || line.text === "" || symbols === null) return null;
  let isNamed = true;
  const written = line.text.replace(WORD, (word, at: number) => {
    const name = symbols.get(word);
    if (name === undefined || line.text[at - 1] === ".") return word;
    if (name === null) isNamed = false;
    const after = line.text.slice(at + word.length);
    const isAlone = (line.text[at - 1] === "(" && /^[,)]/.test(after)) || (at === 0 && after === "");
    return name === null ? word : isAlone ? name : embedded(name, ATOM);
  });
  if (!isNamed) return null;
  return simplified(MATRICES.test(node.name) ? written.replaceAll(".mT", ".T") : written);
}

/** Operations on matrices alone, where the program's own spelling of a transpose will do. */
const MATRICES = /^(?:Mm|Addmm|T)Backward0$/;

/** What v is multiplied by, entry by entry: `cos(x*y)`; null where the rule is no such product. */
export function derivativeText(scene: Scene, node: Node, argnum: number): string | null {
  const factor = factorText(scene, node, argnum);
  return factor === null ? null : bare(factor);
}

function factorText(scene: Scene, node: Node, argnum: number): string | null {
  const rule = ruleText(scene, node, argnum);
  if (rule === null || !isElementwise(node, argnum, rule)) return null;
  const [, sign = "", rest = ""] = /^(-?)v(.*)$/.exec(rule) ?? [];
  if (rule === `${sign}v`) return `${sign}1`;
  if (rest.startsWith(" * ")) return `${sign}${rest.slice(3)}`;
  if (rest.startsWith(" / ")) return `${sign}1${rest}`;
  const [, before = "", after = ""] = /^([^v()]+ \* )v(?: \* (.+))?$/.exec(rule) ?? [];
  return before === "" ? null : after === "" ? before.slice(0, -" * ".length) : `${before}${after}`;
}

/** Saved values that a rule reads: for each its operand's number, or null for the node's own result. */
export function savedInRule(node: Node, argnum: number): readonly (number | null)[] {
  const formula = formulaOf(node);
  const written = formula?.vjp.find((each) => each.argnum === argnum)?.text ?? "";
  const words: readonly string[] = written.match(WORD) ?? [];
  const saved = Object.entries(formula?.symbols ?? {}).filter(([, symbol]) => {
    const piece = TEXT.exec(symbol)?.[1];
    return piece === undefined ? words.includes(symbol.replace(GREEK, "")) : written.includes(piece);
  });
  return saved.flatMap(([name]) => {
    if (name === "result") return [null];
    const operand = node.inputs.find((each) => each.name === name);
    return operand === undefined ? [] : [operand.argnum];
  });
}

const UNWRITTEN = {
  mask_among_indices: "no-formula-mask",
  matrix_too_large: "no-formula-matrix",
  sizes_unknown: "no-formula-sizes",
  some_scales: "no-formula-scales",
  unrolled_in_time: "no-formula-unrolled",
  window: "no-formula-window",
} as const satisfies Record<UnwrittenLine["reason"], Key>;

/** Why there is no formula for an operand; null where there is one, or where the rule is the program's own. */
export function whyNoFormula(node: Node, step: Step, argnum: number): Said | null {
  if (node.formula?.checked === false || step.formula_checked === false) return say("no-formula-failed");
  const isWritten = node.formula?.vjp.some((line) => line.argnum === argnum) ?? false;
  if (isWritten || node.kind !== "op") return null;
  const reason = node.formula?.unwritten?.find((line) => line.argnum === argnum)?.reason;
  return say(reason === undefined ? "no-formula-here" : UNWRITTEN[reason], { op: opOf(node) });
}

function formulaOf(node: Node): NonNullable<Node["formula"]> | null {
  return node.formula === null || node.formula.checked === false ? null : node.formula;
}

/**
 * By symbol of the formula, what the program calls it: null where it has no name. The text of the program stands for
 * itself; null for all where one text stands for two values.
 */
function symbolsOf(scene: Scene, node: Node): ReadonlyMap<string, string | null> | null {
  const symbols = Object.entries(formulaOf(node)?.symbols ?? {});
  const texts = symbols.flatMap(([, symbol]) => TEXT.exec(symbol)?.[1] ?? []);
  if (new Set(texts).size < texts.length) return null;
  const letters = symbols.filter(([, symbol]) => !TEXT.test(symbol));
  return new Map(
    letters.map(([name, symbol]) => [symbol.replace(GREEK, ""), nameOfSaved(scene, node, name)]),
  );
}

/** A piece of the program in LaTeX. */
const TEXT = /^\\texttt\{(.*)\}$/;
/** Symbols that are LaTeX commands in `Formula.symbols` and Greek names in its texts. */
const GREEK = /^\\(?=[A-Za-z]+$)/;

function nameOfSaved(scene: Scene, node: Node, name: string): string | null {
  if (name === "result") return ownSymbol(scene, node);
  const operand = node.inputs.find((each) => each.name === name);
  if (operand !== undefined) return operandSymbol(scene, node, operand);
  const saved = node.saved.find((each) => each.name === name)?.value;
  if (typeof saved === "number") return formatNumber(saved, scene.precision);
  const number = saved !== null && typeof saved === "object" && "shape" in saved ? scalarOf(saved) : null;
  return number === null ? null : formatNumber(number, scene.precision);
}

function isElementwise(node: Node, argnum: number, rule: string): boolean {
  const output = node.outputs[0]?.value?.shape;
  const operand = node.inputs.find((each) => each.argnum === argnum)?.value?.shape;
  const isOneShape = output !== undefined && operand !== undefined && String(output) === String(operand);
  return (
    isOneShape && !/@|\b(?:sum|ones|one_hot|outer|permute|reshape|select|stack|expand)\(|\.m?T\b/.test(rule)
  );
}

/** Products with one and transposes of transposes as people write them. */
function simplified(formula: string): string {
  return formula
    .replace(/\.T\.m?T\b/g, "")
    .replace(/ \* 1(?![\w.*])/g, "")
    .replace(/(^|[( -])1 \* /g, "$1");
}
