/**
 * Backward written by hand: the gradients of a pass that a learner can write, the program that runs what was written,
 * and what is said about it. The program is the learner's own with the lines under it, so that it needs no more trust
 * than any other.
 */
import { code, fact, numbers } from "../protocol/facts";
import type { Cell, Contribution, Fact, Gradient, TensorValue } from "../protocol/trace.gen";
import { type Verdict, wrong } from "./answers";
import { isTensor } from "./gradients";
import { edgesById, nodesById } from "./graph";
import { elementCount, sameShape } from "./matrix";
import { agree, linesOf, type Mistake, mistakesInSum, mistakesOf } from "./mistakes";
import { numbersOf, toNumber } from "./numbers";
import type { Position } from "./position";
import type { PassState, TraceState } from "./trace";

/** One gradient of the pass, in the order in which the engine has them. */
export interface Intermediate {
  /** `df`: the variable to write. */
  readonly variable: string;
  /** `f`: what it is the gradient of. */
  readonly name: string;
  readonly value: TensorValue;
  readonly gradient: TensorValue;
  /** It is the external gradient, or cannot be written: a hook of the program's has changed it. */
  readonly isGiven: boolean;
  readonly contributions: readonly Contribution[];
  readonly mistakes: readonly Mistake[];
}

/** What a learner's line gave, and what the engine has there, both as torch prints them. */
export interface Written {
  readonly shape: readonly number[];
  readonly values: readonly number[];
  readonly wanted: readonly number[];
}

/** The pass cannot be written by hand, and why. */
export interface Unsuited {
  readonly because: Fact;
}

const MOST_INTERMEDIATES = 24;
const MOST_CHARACTERS = 18_000;
export const MARK = "gradwalk-backward";

export function intermediatesOf(pass: PassState): readonly Intermediate[] | Unsuited {
  if (pass.finished === null) return { because: fact("ask-write-no-end") };
  const nodes = nodesById(pass.started.graph);
  const used = new Set<string>(["v", "torch"]);
  const found: Intermediate[] = [];
  for (const step of pass.steps) {
    const node = nodes.get(step.node);
    if (node === undefined) continue;
    for (const [outputNr, gradient] of step.grad_outputs.entries()) {
      const value = node.outputs[outputNr]?.value ?? null;
      const contributions = step.contributions.filter((each) => each.output_nr === outputNr);
      if (!isTensor(gradient) || contributions.length === 0) continue;
      const given = node.leaf ?? node.outputs[outputNr]?.name ?? null;
      if (!isWritable(gradient) || value === null || !isWritable(value))
        return { because: fact("ask-write-value", { name: code(given ?? node.label) }) };
      const name = uniqueName(given ?? `${node.label}1`, used);
      found.push({
        variable: `d${name}`,
        name,
        value,
        gradient,
        isGiven:
          contributions.every(({ edge }) => edge === "seed") ||
          (step.hooks ?? []).some(({ output_nr }) => output_nr === outputNr),
        contributions,
        mistakes: mistakesIn(pass, contributions, gradient),
      });
    }
  }
  if (found.length > MOST_INTERMEDIATES) return { because: fact("ask-write-many", { count: found.length }) };
  return found.every(({ isGiven }) => isGiven) ? { because: fact("ask-write-nothing") } : found;
}

/** Up to where the trace may be seen while some gradients are not found yet; null: all of it. */
export function horizonOf(trace: TraceState, unsolved: readonly Intermediate[]): Position | null {
  const senders = unsolved.flatMap(({ contributions }) =>
    contributions.flatMap(({ from_step }) =>
      from_step === null ? [] : [trace.steps.findIndex(({ index }) => index === from_step) + 1],
    ),
  );
  return senders.length === 0
    ? null
    : { direction: "backward", step: Math.min(...senders), phase: "collect" };
}

/** The program that runs what was written. Each line starts from right gradients, so that a slip stays where it is. */
export function programOf(
  source: string,
  isExpression: boolean,
  intermediates: readonly Intermediate[],
  written: ReadonlyMap<string, string>,
): { readonly text: string; readonly rowOfLine: ReadonlyMap<number, string> } | Unsuited {
  const lines = isExpression ? [EXPRESSION_NAMES] : source.replaceAll("\r\n", "\n").split("\n");
  const rowOfLine = new Map<number, string>();
  // No import: to a program without one it would hide the torch that it has from its first line on.
  lines.push("with torch.no_grad():");
  for (const { name, value } of intermediates) lines.push(`    ${name} = ${literal(value)}`);
  const seed = intermediates.find(({ isGiven }) => isGiven);
  if (seed !== undefined) lines.push(`    v = ${literal(seed.gradient)}`);
  for (const { variable, gradient, isGiven } of intermediates) {
    const expression = isGiven ? "" : (written.get(variable) ?? "").trim();
    const print = `print("${MARK} ${variable}", list(${variable}.shape), ${cellsOf(variable)}, end=" ")`;
    const own =
      expression === ""
        ? []
        : [
            // A comment ends with its line.
            `    ${variable} = torch.as_tensor((${expression.replaceAll(/\s+/g, " ")}`,
            "    ))",
            `    ${print}`,
          ];
    lines.push(...own, `    ${variable} = ${literal(gradient)}`);
    for (const at of own.keys()) rowOfLine.set(lines.length - 1 - at, variable);
    if (own.length > 0) lines.push(`    print(${cellsOf(variable)})`);
  }
  const text = `${lines.join("\n")}\n`;
  return text.length > MOST_CHARACTERS ? { because: fact("ask-write-large") } : { text, rowOfLine };
}

function cellsOf(variable: string): string {
  return `${variable}.flatten()[:${MOST_CELLS}].tolist()`;
}

/** What the lines printed, by variable. */
export function readWritten(stdout: string): ReadonlyMap<string, Written> {
  const lists = stdout.matchAll(new RegExp(`^${MARK} (\\S+) \\[(.*)\\] \\[(.*)\\] \\[(.*)\\]$`, "gm"));
  return new Map(
    Array.from(lists, ([, variable = "", ...printed]) => {
      const [shape = [], values = [], wanted = []] = printed.map(readNumbers);
      return [variable, { shape, values, wanted }];
    }),
  );
}

/** Right where every entry is the engine's own, to the last bit or up to rounding; else with the likely mistake. */
export function judgeWritten(intermediate: Intermediate, written: Written): Verdict {
  const { gradient, variable } = intermediate;
  const { shape, values, wanted } = written;
  if (!sameShape(shape, gradient.shape)) {
    const shapes = { said: { shape: [...shape] }, is: { shape: gradient.shape } };
    return wrong("ask-written-shape", shapes, shapeMistake(shape, gradient.shape));
  }
  if (agree(wanted, values, 0)) return { isRight: true, said: fact("ask-written-exact") };
  if (agree(wanted, values, ROUNDING[gradient.dtype] ?? 0))
    return { isRight: true, said: fact("ask-written-right") };
  return wrong("ask-written-wrong", { name: code(variable) }, whyWrong(intermediate, written));
}

function whyWrong({ mistakes, contributions }: Intermediate, { values: said, wanted }: Written): Fact | null {
  const mistake = mistakes.find(({ values }) => agree(values, said) && !agree(values, wanted));
  if (mistake !== undefined) return mistake.because;
  const factor = factorBetween(wanted, said);
  if (factor !== null) return fact("ask-written-factor", { factor: numbers([factor]) });
  return contributions.length > 1 ? fact("ask-written-some", { count: contributions.length }) : null;
}

/** Whether what was written is what the sum of numeric contributions says. */
export function agreesWithDifferences(numeric: readonly number[], written: Written): boolean {
  return agree(numeric, written.values, DIFFERENCES);
}

/** `v` times the numeric Jacobian, flat over the operand. */
export function throughJacobian(
  v: Gradient | undefined,
  jacobian: TensorValue,
  columns: number,
): readonly number[] {
  const cells = jacobian.data?.map(toNumber) ?? [];
  const weights = numbersOf(v) ?? [];
  return Array.from({ length: columns }, (_, column) =>
    weights.reduce((sum, weight, row) => sum + weight * (cells[row * columns + column] ?? Number.NaN), 0),
  );
}

/** The step that sent a contribution, and the operand for which it did. */
export function senderOf(pass: PassState, { edge, from_step }: Contribution) {
  const step = pass.steps.find(({ index }) => index === from_step);
  const argnum = edgesById(pass.started.graph).get(edge)?.to.argnum;
  return step === undefined || argnum === undefined ? null : { step, argnum };
}

const MOST_CELLS = 1024;
/** An expression names functions without their module; so may what is written for it. */
const EXPRESSION_NAMES =
  "from torch import abs, cos, cosh, exp, log, max, mean, min, relu, sigmoid, sign, sin, sinh, sqrt, sum, tan, tanh";
const DIFFERENCES = 2e-3;

/** What may come of another order of the same operations. */
const ROUNDING: Readonly<Record<string, number>> = {
  float16: 2 ** -7,
  bfloat16: 2 ** -4,
  float32: 1e-5,
  float64: 1e-12,
};

function shapeMistake(said: readonly number[], is: readonly number[]): Fact | null {
  if (sameShape(said.toReversed(), is)) return fact("ask-written-transposed");
  const more = elementCount(said) - elementCount(is);
  if (more === 0) return null;
  return fact(more > 0 ? "ask-written-broadcast" : "ask-written-reduced");
}

/** The one factor by which all entries differ; null where there is none. */
function factorBetween(is: readonly number[], said: readonly number[]): number | null {
  const at = is.findIndex((entry) => entry !== 0 && Number.isFinite(entry));
  const factor = (said[at] ?? Number.NaN) / (is[at] ?? Number.NaN);
  const scaled = is.map((entry) => entry * factor);
  return Number.isFinite(factor) && factor !== 0 && agree(scaled, said) ? factor : null;
}

function mistakesIn(
  pass: PassState,
  contributions: readonly Contribution[],
  gradient: TensorValue,
): readonly Mistake[] {
  const { graph } = pass.started;
  const [only, ...others] = contributions;
  if (others.length > 0) return mistakesInSum(graph, contributions);
  const sender = only === undefined ? null : senderOf(pass, only);
  const node = nodesById(graph).get(sender?.step.node ?? "");
  if (sender === null || node === undefined) return [];
  const of = { graph, node, ...sender };
  return mistakesOf(of, linesOf(of, gradient) ?? [], numbersOf(gradient) ?? []);
}

function isWritable(value: TensorValue): boolean {
  return value.data !== undefined && /^(b?float\d+)$/.test(value.dtype);
}

function uniqueName(wanted: string, used: Set<string>): string {
  const base = wanted.replaceAll(/[^\p{L}\p{N}_]/gu, "_").replace(/^(?=\p{N})/u, "_");
  let name = base;
  for (let count = 2; used.has(name) || used.has(`d${name}`); count += 1)
    name = `${base.replace(/\d+$/, "")}${count}`;
  used.add(name).add(`d${name}`);
  return name;
}

function literal({ shape, dtype, data = [] }: TensorValue): string {
  return `torch.tensor([${data.map(pythonNumber).join(", ")}], dtype=torch.${dtype}).reshape([${shape}])`;
}

function pythonNumber(cell: Cell): string {
  const value = toNumber(cell);
  return Number.isFinite(value) ? String(value) : `float("${value}")`;
}

/** `1.5, nan, -inf, True`. */
function readNumbers(list: string): readonly number[] {
  const spelled = { nan: Number.NaN, inf: Infinity, "-inf": -Infinity, True: 1, False: 0 };
  return list === "" ? [] : list.split(", ").map((each) => spelled[each as "nan"] ?? Number(each));
}
