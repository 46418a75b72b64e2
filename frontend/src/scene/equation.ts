/**
 * What the callout at the active node says: v times J = returned gradient, one equation per operand. Its parts are all
 * there in every phase, so that nothing changes size; `shown` tells which are revealed.
 */

import { partOfCall } from "../model/calls";
import { problemOfStep } from "../model/failed";
import { accumulatedBy, isTensor, returnedFor } from "../model/gradients";
import { groupsById, groupsRound, nodesById } from "../model/graph";
import { bytesPerElement, elementCount } from "../model/matrix";
import { DEFAULT_PRECISION } from "../model/numbers";
import type { BackwardPhase, Phase } from "../model/phases";
import type { Position } from "../model/position";
import { isReached } from "../model/position";
import { addsUp, isStepExplained, nodeAt, nodeTitle, passAt, stepAt } from "../model/selectors";
import { resultStop } from "../model/stops";
import type { TraceState } from "../model/trace";
import type {
  Contribution,
  Formula,
  Gradient,
  Graph,
  InnerOp,
  LocalJacobian,
  Missing,
  Move,
  Node,
  PassStarted,
  Problem,
  SavedTensor,
  Step,
  Substitution,
  TensorValue,
  VjpLine,
} from "../protocol/trace.gen";
import { calledShort, operandLabel, type Scene, savedLabel } from "../words/names";
import { type NoGrad, noGradAt } from "../words/nograds";
import { sideOfV, whyNoFormula } from "../words/rule";
import { code, label, type Said, say, text, textOf } from "../words/say";
import { toldAt } from "../words/sentences";
import { tell } from "../words/tell";
import type { Told } from "../words/told";
import { shapeText } from "../words/values";

export interface Summand {
  /** The node it came from, or what the program calls the seed. */
  readonly from: string;
  readonly value: Gradient;
}

export interface OperandEquation {
  readonly argnum: number;
  /** The program's own text for it: `x`, `x*y`. */
  readonly name: string;
  /** What it is called beside the other operands: `x, use 2` where `x` is both of them. */
  readonly label: string;
  /** What the other operands are called, by their position. */
  readonly names: ReadonlyMap<number, string>;
  readonly value: TensorValue | null;
  /** What the node returned for it. */
  readonly returned: Gradient;
  readonly vjp: VjpLine | null;
  /** Whether all has come that explains it; until then a part that is missing is still being worked out. */
  readonly isExplained: boolean;
  /** Why there is none, as a sentence; null where there is one, or where the rule is the program's own. */
  readonly whyNoVjp: Said | null;
  /** What the node saved that the vjp names. */
  readonly fills: readonly Fill[];
  /** The vjp with v and then all numbers filled in. */
  readonly substitution: Substitution | null;
  /** How it comes about, move by move; empty where that is not told. */
  readonly moves: readonly Move[];
  /** One per output of the node through which a gradient came. */
  readonly factors: readonly Factor[];
  readonly memory: Memory | null;
  /** A custom backward of which is not known that it gives the derivative of its forward. */
  readonly isUnproven: boolean;
}

/** What a node saved, with what the program calls it. */
export interface Saved extends SavedTensor {
  readonly label: string;
}

/** A saved tensor and the symbol it fills, as LaTeX. */
export interface Fill {
  readonly saved: Saved;
  readonly symbol: string;
}

export interface Factor {
  readonly outputNr: number;
  readonly v: Gradient;
  readonly jacobian: LocalJacobian | null;
}

/** What the whole Jacobian would take, in bytes, beside what the node keeps for its backward. */
export interface Memory {
  /** Of the v's that arrived, one for each output of the node: `[3]`. */
  readonly shapes: readonly string[];
  /** Of all outputs together. */
  readonly rows: number;
  readonly columns: number;
  readonly full_bytes: number;
  readonly kept_bytes: number;
}

export interface Shown {
  /** Several contributions are on their way into their sum. */
  readonly summing: boolean;
  /** Saved tensors are on their way to the symbols they fill. */
  readonly filling: boolean;
  /** v is on its way into the product. */
  readonly entering: boolean;
  readonly v: boolean;
  readonly rule: boolean;
  readonly product: boolean;
  readonly landed: boolean;
}

interface Heading {
  readonly title: string;
  /** `line 14`, `custom Function`, ... */
  readonly notes: readonly string[];
  /** Which backward step built this node under `create_graph`; null where the program's forward did. */
  readonly born: string | null;
  readonly shown: Shown;
  /** Why `.grad` of what this node stands for is None; null where it is not, or nobody asks. */
  readonly none: NoGrad | null;
  /** The step, of which facts are told; null in the forward walk. */
  readonly told: Told | null;
  readonly phase: Phase;
  /** With which the node raised in this step. */
  readonly problem: Problem | null;
}

export interface VjpCallout extends Heading {
  readonly kind: "vjp";
  readonly node: Node;
  readonly stepIndex: number;
  readonly summands: readonly Summand[];
  /** Of the summands: of a node with hooks not yet its v. */
  readonly sum: Gradient;
  readonly sumCaption: string;
  readonly operands: readonly OperandEquation[];
  readonly saved: readonly Saved[];
  readonly formula: Formula | null;
  /** Of the trace, as steps of another may have the same index. */
  readonly traceId: string;
  /** What ran inside the backward of a custom Function. */
  readonly inside: readonly InnerOp[];
  /** How PyTorch has this operation's derivative, as sentences. */
  readonly origin: readonly Said[];
  /** Its lines in PyTorch's `derivatives.yaml`. */
  readonly yaml: readonly string[];
  /** Whether the written formula gave what the engine returned; null where it was not evaluated. */
  readonly formulaCheck: boolean | null;
}

export interface AccumulateCallout extends Heading {
  readonly kind: "accumulate";
  readonly traceId: string;
  readonly pass: number;
  readonly leaf: string;
  readonly summands: readonly Summand[];
  readonly arrived: Gradient;
  readonly before: Gradient;
  /** Before the hooks that run after accumulation. */
  readonly after: Gradient;
}

export interface ForwardCallout extends Heading {
  readonly kind: "forward";
  readonly operands: readonly { readonly name: string; readonly value: TensorValue | null }[];
  readonly outputs: readonly { readonly name: string | null; readonly value: TensorValue | null }[];
  readonly saved: readonly Saved[];
  readonly formula: Formula | null;
  /** What ran inside the forward of a custom Function. */
  readonly inside: readonly InnerOp[];
}

export type CalloutScene = VjpCallout | AccumulateCallout | ForwardCallout;

export function drawCallout(trace: TraceState, position: Position): CalloutScene | null {
  const node = nodeAt(trace, position);
  const started = passAt(trace, position)?.started;
  if (node === null || started === undefined) return null;
  const step = stepAt(trace, position);
  const { graph } = started;
  const scene = { graph, precision: DEFAULT_PRECISION };
  const heading = {
    title: node.name,
    notes: notesOf(node),
    born: bornText(trace, node),
    shown: shownAt(wholeCall(node, position), step && !partOfCall(node) ? resultStop(step, node) : undefined),
    none: noGradAt(trace, node),
    told: toldAt(trace, position),
    phase: position.phase,
    problem: step === null ? null : problemOfStep(trace.problems, step),
  };
  if (position.direction === "forward") {
    return {
      ...heading,
      kind: "forward",
      operands: node.inputs.map((operand) => ({
        name: calledShort(scene, node, operand),
        value: operand.value,
      })),
      outputs: node.outputs,
      saved: savedOf(scene, node),
      formula: trusted(node.formula, null),
      inside: node.inside ?? [],
    };
  }
  if (step === null) return null;
  const isExplained = isStepExplained(trace, step);
  const summands = summandsOf(trace, started, step);
  const shown = { ...heading.shown, summing: addsUp(step, position) };
  if (step.accumulate !== null) {
    const { leaf, before } = step.accumulate;
    return {
      ...heading,
      shown,
      kind: "accumulate",
      traceId: trace.started?.id ?? "",
      pass: step.pass,
      leaf,
      summands,
      arrived: step.grad_outputs[0] ?? UNDEFINED,
      before,
      after: accumulatedBy(step.accumulate),
    };
  }
  return {
    ...heading,
    shown,
    kind: "vjp",
    node,
    stepIndex: step.index,
    summands,
    ...sumOf(step, node),
    operands: node.inputs.map(({ argnum }) => operandEquation({ ...scene, isExplained }, node, step, argnum)),
    saved: savedOf(scene, node),
    formula: trusted(node.formula, step),
    traceId: trace.started?.id ?? "",
    inside: step.inside ?? [],
    origin: originOf(trace, graph, node, isExplained),
    yaml: node.formula?.derivatives_yaml ?? [],
    formulaCheck: formulaCheck(node.formula, step),
  };
}

function originOf(trace: TraceState, graph: Graph, node: Node, isExplained: boolean): readonly Said[] {
  // What follows the plus sign says how it was built, not which it is.
  const version = text((trace.started?.versions.torch ?? "").replace(/\+.*/, ""));
  const composites: string[] = [];
  for (const id of groupsRound(graph, node.id)) {
    const group = groupsById(graph).get(id);
    if (group?.kind === "composite") composites.push(group.label);
    // The call may be all that a module does.
    else if (group?.call?.op === node.op) composites.push(node.op);
  }
  // A call that is read as one operation runs none of the lines that torch may have for it elsewhere.
  const own = composites.includes(node.op)
    ? []
    : node.kind === "custom"
      ? [say("origin-choice")]
      : node.formula !== null && node.formula.derivatives_yaml.length > 0
        ? [say("origin-table", { version })]
        : node.kind === "op" && isExplained
          ? [say("origin-no-line", { version })]
          : [];
  return [...own, ...composites.map((op) => say("origin-composite", { label: code(op), version }))];
}

/** The operand to show first: one that a custom backward has wrong, else of those given a gradient the first product. */
export function firstOperand(callout: VjpCallout): number {
  const wrong = callout.operands.find(isWrong);
  if (wrong !== undefined) return wrong.argnum;
  const given = callout.operands.filter(({ returned }) => isTensor(returned));
  const product = given.find(({ argnum }) => sideOfV(callout.node, argnum) !== null);
  return (product ?? given[0] ?? callout.operands[0])?.argnum ?? 0;
}

/** Of the outputs of a node the first through which a gradient came. */
export function firstFactor({ factors }: OperandEquation): Factor | undefined {
  return factors.find(({ v }) => isTensor(v)) ?? factors[0];
}

/** What backward returned for an operand, where that has another shape, so that the engine raised. */
export function refusedFor({ returned, value }: OperandEquation): TensorValue | null {
  const dropped = isTensor(returned) ? undefined : returned.dropped;
  return dropped === undefined || value === null || isBroadcastOf(dropped, value) ? null : dropped;
}

/** Whether the engine would sum it to the shape of the other, or has nothing to sum. */
function isBroadcastOf({ shape }: TensorValue, to: TensorValue): boolean {
  const before = shape.length - to.shape.length;
  return before >= 0 && to.shape.every((size, axis) => size === 1 || size === shape[before + axis]);
}

/** Whether what a custom backward makes of v is known to be no product with the local Jacobian. */
export function isWrong(operand: OperandEquation): boolean {
  return refusedFor(operand) !== null || wrongFactor(operand) !== undefined;
}

/** The first output whose local Jacobian differs from the finite differences of forward. */
export function wrongFactor({ factors }: OperandEquation): Factor | undefined {
  return factors.find(({ jacobian }) => jacobian?.differences?.verdict === "differs");
}

const UNDEFINED: Missing = { missing: "undefined" };

/** A formula that failed its check against the engine must not be shown. */
function trusted(formula: Formula | null, step: Step | null): Formula | null {
  return formula?.checked === false || step?.formula_checked === false ? null : formula;
}

function formulaCheck(formula: Formula | null, step: Step): boolean | null {
  if (formula === null) return null;
  return formula.checked === false ? false : (step.formula_checked ?? formula.checked ?? null);
}

/** The step is counted as the transport counts them, over all passes. */
function bornText(trace: TraceState, { born }: Node): string | null {
  if (born === undefined) return null;
  const pass = String(born.pass_index + 1);
  if (born.node === null) return label("player-built-by-sum", { pass });
  const index = trace.steps.findIndex((step) => step.pass === born.pass_index && step.node === born.node);
  return index < 0
    ? label("player-built-in", { pass })
    : label("player-built-by-step", { pass, step: String(index + 1) });
}

/** A part of a call that is read as one: v is there before it is computed, and all of it behind. */
function wholeCall(node: Node, position: Position): Position {
  const part = partOfCall(node);
  if (part === null || position.phase === "collect") return position;
  if (position.direction === "backward") return { ...position, phase: part.isBefore ? "rule" : "land" };
  return { ...position, phase: part.isBefore ? "save" : "arrive" };
}

function shownAt(position: Position, resultAt: BackwardPhase | undefined): Shown {
  const isForward = position.direction === "forward";
  return {
    summing: false,
    filling: position.phase === "rule",
    entering: position.phase === resultAt,
    v: true,
    rule: isForward || isReached(position, "rule"),
    product: isReached(position, isForward ? "compute" : "multiply"),
    landed: isReached(position, isForward ? "save" : "land"),
  };
}

function notesOf(node: Node): readonly string[] {
  const notes: string[] = [];
  if (node.span !== null) notes.push(label("player-line", { line: String(node.span.line) }));
  if (node.kind === "custom") notes.push(label("player-custom-function"));
  if (node.note !== undefined) notes.push(textOf(tell(node.note)));
  if (node.backward_span !== undefined)
    notes.push(label("player-its-backward", { line: String(node.backward_span.line) }));
  return notes;
}

/** Contributions add up output by output; the sum that is shown is that of the first output that has several. */
function summedOutput({ contributions }: Step): number {
  const isAgain = ({ output_nr }: Contribution, at: number) =>
    contributions.findIndex((each) => each.output_nr === output_nr) < at;
  return contributions.find(isAgain)?.output_nr ?? 0;
}

/** What the contributions to that output add up to, before hooks make v of it. */
function sumOf(step: Step, node: Node): Pick<VjpCallout, "sum" | "sumCaption"> {
  const { hooks = [], grad_outputs } = step;
  const outputNr = summedOutput(step);
  const hook = hooks.find(({ output_nr }) => output_nr === outputNr);
  const caption =
    node.output_count > 1
      ? label("player-output-sum", { output: String(outputNr) })
      : label(hook === undefined ? "player-v-sum" : "player-sum-before-hook");
  return { sum: hook?.before ?? grad_outputs[outputNr] ?? UNDEFINED, sumCaption: caption };
}

function summandsOf(trace: TraceState, { call, graph }: PassStarted, step: Step): readonly Summand[] {
  const nodes = nodesById(graph);
  const outputNr = summedOutput(step);
  const own = step.contributions.filter(({ output_nr }) => output_nr === outputNr);
  return own.map((contribution) => {
    const sender = contribution.from_step === null ? undefined : trace.steps[contribution.from_step];
    const node = sender === undefined ? undefined : nodes.get(sender.node);
    const from =
      contribution.edge === "seed"
        ? label(call === "grad" ? "player-grad-outputs" : "player-external-gradient")
        : node === undefined
          ? label("player-elsewhere")
          : nodeTitle(node);
    return { from, value: contribution.value };
  });
}

interface Explained extends Scene {
  readonly isExplained: boolean;
}

function operandEquation(scene: Explained, node: Node, step: Step, argnum: number): OperandEquation {
  const { isExplained } = scene;
  const operand = node.inputs.find((each) => each.argnum === argnum);
  const names = new Map(node.inputs.map((each) => [each.argnum, calledShort(scene, node, each)]));
  const name = names.get(argnum) ?? "";
  const jacobians = step.local_jacobians.filter((jacobian) => jacobian.argnum === argnum);
  const returned = returnedFor(step, argnum) ?? operand?.missing ?? UNDEFINED;
  const vjp = trusted(node.formula, step)?.vjp.find((line) => line.argnum === argnum) ?? null;
  return {
    argnum,
    name,
    label: operand === undefined ? name : operandLabel(scene, node, operand),
    names,
    value: operand?.value ?? null,
    returned,
    vjp,
    isExplained,
    whyNoVjp: whyNoFormula(node, step, argnum, isExplained),
    fills: vjp === null ? [] : fillsOf(node, savedOf(scene, node), vjp),
    substitution: step.substitutions?.find((each) => each.argnum === argnum) ?? null,
    moves: step.moves?.find((each) => each.argnum === argnum)?.moves ?? [],
    factors: factorsOf(step, jacobians),
    isUnproven: node.kind === "custom" && !(isExplained && jacobians.every(isProven)),
    memory: isTensor(returned) ? memoryOf(node, step, jacobians, returned) : null,
  };
}

/** At a corner every slope between the one-sided ones is as good. */
function isProven({ differences }: LocalJacobian): boolean {
  return differences !== undefined && differences.verdict !== "differs";
}

/** An operation's plain options stand in its formula, and torch's names for them say nothing. */
function savedOf(scene: Scene, node: Node): readonly Saved[] {
  const shown = node.kind === "op" ? node.saved.filter(({ option }) => option === undefined) : node.saved;
  return shown.map((saved) => ({ ...saved, label: savedLabel(scene, node, saved) }));
}

function fillsOf({ formula }: Node, saved: readonly Saved[], { latex }: VjpLine): readonly Fill[] {
  return saved.flatMap((each): Fill[] => {
    const symbol = formula?.symbols?.[each.name];
    return symbol !== undefined && each.value !== null && names(latex, symbol)
      ? [{ saved: each, symbol }]
      : [];
  });
}

/** Whether a formula has a symbol in it that is not a part of a longer word. */
function names(latex: string, symbol: string): boolean {
  const isLetter = (character: string | undefined): boolean =>
    character !== undefined && /[A-Za-z]/.test(character);
  for (let at = latex.indexOf(symbol); at >= 0; at = latex.indexOf(symbol, at + 1)) {
    const startsWord = symbol.startsWith("\\") || !(isLetter(latex[at - 1]) || latex[at - 1] === "\\");
    if (startsWord && !isLetter(latex[at + symbol.length])) return true;
  }
  return false;
}

function factorsOf(step: Step, jacobians: readonly LocalJacobian[]): readonly Factor[] {
  if (jacobians.length === 0) {
    return step.grad_outputs.map((v, outputNr) => ({ outputNr, v, jacobian: null }));
  }
  return jacobians.map((jacobian) => ({
    outputNr: jacobian.output_nr,
    v: step.grad_outputs[jacobian.output_nr] ?? UNDEFINED,
    jacobian,
  }));
}

function memoryOf(
  node: Node,
  step: Step,
  jacobians: readonly LocalJacobian[],
  returned: TensorValue,
): Memory | null {
  const shapes = step.grad_outputs.flatMap((v, outputNr) =>
    isTensor(v) ? [jacobians.find((each) => each.output_nr === outputNr)?.output_shape ?? v.shape] : [],
  );
  if (shapes.length === 0) return null;
  // A tensor that is saved twice, as both operands of `x * x`, is there once.
  const storages = new Map(
    node.saved.map((saved) => [saved.alias_of ?? `ctx ${saved.name}`, bytesOf(saved)]),
  );
  const rows = shapes.reduce((sum, shape) => sum + elementCount(shape), 0);
  const columns = elementCount(jacobians[0]?.input_shape ?? returned.shape);
  return {
    shapes: shapes.map(shapeText),
    rows,
    columns,
    full_bytes: rows * columns * bytesPerElement(returned.dtype),
    kept_bytes: [...storages.values()].reduce((sum, bytes) => sum + bytes, 0),
  };
}

function bytesOf({ value }: SavedTensor): number {
  return value === null ? 0 : elementCount(value.shape) * bytesPerElement(value.dtype);
}
