/** The formula of a node, in the program's own texts: the only place that knows how a formula is stored. */
import type { Node, Step, UnwrittenLine, VjpLine } from "../protocol/trace.gen";
import { opOf } from "./names";
import { type Key, type Said, say } from "./say";

/** The vjp for one operand, `v * cos(x*y)`; null where not every value in it has a name. */
export function ruleText(node: Node, argnum: number): string | null {
  return lineOf(node, argnum)?.said ?? null;
}

/** Whether the vjp only puts v back to where its entries came from, among zeros. */
export function isPlacing(node: Node, argnum: number): boolean {
  return lineOf(node, argnum)?.said?.startsWith("into_zeros(v,") === true;
}

/** What v is multiplied by, entry by entry: `cos(x*y)`; null where the rule is no such product. */
export function derivativeText(node: Node, argnum: number): string | null {
  return lineOf(node, argnum)?.derivative ?? null;
}

/** `∂ sin(x*y)/∂(x*y) = cos(x*y)`; null where the program has no text for one of both. */
export function equationText(node: Node, argnum: number): string | null {
  return lineOf(node, argnum)?.equation ?? null;
}

/** Saved values that a rule reads: for each its operand's number, or null for the node's own result. */
export function savedInRule(node: Node, argnum: number): readonly (number | null)[] {
  return (lineOf(node, argnum)?.reads ?? []).flatMap((name) => {
    if (name === "result") return [null];
    const operand = node.inputs.find((each) => each.name === name);
    return operand === undefined ? [] : [operand.argnum];
  });
}

/** The side of v where the vjp is a product with another matrix and nothing else: left in `v @ values.T`; else null. */
export function sideOfV(node: Node, argnum: number): "left" | "right" | null {
  const scale = node.saved.find(({ name }) => name === "alpha")?.value ?? 1;
  const reason = lineOf(node, argnum)?.because.kind;
  if (scale !== 1 || (reason !== "why-product-rows" && reason !== "why-product-columns")) return null;
  return reason === "why-product-rows" ? "left" : "right";
}

const UNWRITTEN = {
  mask_among_indices: "no-formula-mask",
  matrix_too_large: "no-formula-matrix",
  sizes_unknown: "no-formula-sizes",
  some_scales: "no-formula-scales",
  unrolled_in_time: "no-formula-unrolled",
  window: "no-formula-window",
} as const satisfies Record<UnwrittenLine["reason"], Key>;

/**
 * Why there is no formula for an operand; null where there is one, or where the rule is the program's own. What
 * explains a step comes after it.
 */
export function whyNoFormula(node: Node, step: Step, argnum: number, isExplained: boolean): Said | null {
  if (node.formula?.checked === false || step.formula_checked === false) return say("no-formula-failed");
  const isWritten = node.formula?.vjp.some((line) => line.argnum === argnum) ?? false;
  if (isWritten || node.kind !== "op") return null;
  if (!isExplained) return say("no-formula-yet");
  const reason = node.formula?.unwritten?.find((line) => line.argnum === argnum)?.reason;
  return say(reason === undefined ? "no-formula-here" : UNWRITTEN[reason], { op: opOf(node) });
}

function lineOf({ formula }: Node, argnum: number): VjpLine | undefined {
  return formula === null || formula.checked === false
    ? undefined
    : formula.vjp.find((each) => each.argnum === argnum);
}
