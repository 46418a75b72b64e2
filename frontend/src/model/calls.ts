/**
 * A trace in which a call that built several nodes is read as the one operation that it is: `a @ b` of a batch and a
 * matrix as a product, not as a view, mm and another view. Each of its nodes gets the operands and the result of the
 * call, each of their steps the v that arrived at the call and what it returned; all positions stay.
 */
import type {
  CallFormula,
  Gradient,
  Graph,
  Group,
  GroupCall,
  LocalJacobian,
  Node,
  Operand,
  SavedTensor,
  Step,
} from "../protocol/trace.gen";
import { isTensor } from "./gradients";
import { groupsById, groupsRound, nodesById } from "./graph";
import { hideGradient, isHidden } from "./mask";
import { originalOf, standsFor } from "./stops";
import type { PassState, TraceState } from "./trace";

/** Of a group that is one operation and no more, the node whose output is its result; some modules hold parameters. */
export function resultOf({ kind, call, nodes }: Group, graph: Graph): string | null {
  if (kind === "function" || call === undefined) return null;
  const known = nodesById(graph);
  return nodes.some((id) => known.get(id)?.leaf !== undefined) ? null : call.output;
}

/** By node, the group that is drawn in its place: the outermost closed one round it. */
export function closedGroups(graph: Graph, isOpen: (group: string) => boolean): ReadonlyMap<string, Group> {
  return new Map(
    graph.nodes.flatMap(({ id }) => {
      const outermost = groupsRound(graph, id).findLast((group) => !isOpen(group));
      const closed = groupsById(graph).get(outermost ?? "");
      return closed === undefined ? [] : [[id, closed] as const];
    }),
  );
}

/** @param isOpen of a group by its id: whether what it consists of is on show */
export function readAsCalls(trace: TraceState, isOpen: (group: string) => boolean): TraceState {
  const read = new Map<Step, Step>();
  const passes = trace.passes.map((pass): PassState => {
    const { started } = pass;
    const closed = started.graph.groups.filter(({ id, call }) => call !== undefined && !isOpen(id));
    if (closed.length === 0) return pass;
    const known = nodesById(started.graph);
    const byNode = new Map(pass.steps.map((step) => [step.node, step]));
    const nodes = new Map<string, Node>();
    for (const { call, nodes: members } of closed) {
      const computing = call && byNode.get(call.node);
      const formula = computing?.call;
      if (call === undefined || computing === undefined || formula === undefined) continue;
      const others = members
        .flatMap((id) => known.get(id) ?? [])
        .filter(({ id, leaf, arranges }) => id !== call.node && leaf === undefined && !arranges);
      const whole = nodeOf(call, formula, started.graph, others);
      const wholeStep = stepOf(call, formula, whole, computing, byNode);
      for (const id of members) {
        const [node, step] = [known.get(id), byNode.get(id)];
        if (node === undefined || step === undefined || node.leaf !== undefined) continue;
        const { arranges, sequence_nr } = node;
        const part = { ...whole, id, sequence_nr, ...(arranges && { arranges }) };
        const itself = { node, graph: started.graph, step };
        if (others.length > 0 || id !== call.node) ran.set(part, itself);
        if (id !== call.node) parts.set(part, { ...itself, isBefore: step.index < computing.index });
        nodes.set(id, part);
        const { seq, index, contributions, hooks } = step;
        const own = { seq, index, node: id, contributions, ...(hooks && { hooks }) };
        read.set(step, standsFor({ ...wholeStep, ...own }, step));
      }
    }
    if (nodes.size === 0) return pass;
    const graph = { ...started.graph, nodes: started.graph.nodes.map((node) => nodes.get(node.id) ?? node) };
    return {
      ...pass,
      started: { ...started, graph },
      steps: pass.steps.map((step) => read.get(step) ?? step),
    };
  });
  return read.size === 0
    ? trace
    : { ...trace, passes, steps: trace.steps.map((step) => read.get(step) ?? step) };
}

/** What stands behind a node that is read as a call. */
export interface Ran {
  readonly node: Node;
  readonly step: Step;
  readonly graph: Graph;
}

/** A node of a call beside the one at which the call is shown to be computed. */
export interface Part extends Ran {
  /** In the backward walk, before the call is computed. */
  readonly isBefore: boolean;
}

const parts = new WeakMap<Node, Part>();

export function partOfCall(node: Node): Part | null {
  return parts.get(node) ?? null;
}

const ran = new WeakMap<Node, Ran>();

/** What a node did in the forward pass, where that is only a part of what its call is. */
export function ranAs(node: Node): Ran | null {
  return ran.get(node) ?? null;
}

function nodeOf(
  { op, node: id, output, operands, options }: GroupCall,
  { formula }: CallFormula,
  graph: Graph,
  others: readonly Node[],
): Node {
  const nodes = nodesById(graph);
  const node = nodes.get(id) as Node;
  const outputs = nodes.get(output)?.outputs ?? node.outputs;
  const inputs = operands.map(({ name, argnum, border, shape, value: given, source }, at) => {
    const operand = nodes.get(border.node)?.inputs[border.argnum] as Operand;
    if (operand.edge !== undefined) return { ...operand, name, argnum: at };
    const alias = node.saved.find((one) => one.name === node.inputs[argnum]?.name)?.alias_of;
    const value = given ?? (operand.value && { ...operand.value, shape: shape ?? operand.value.shape });
    const called = source ?? alias;
    return { ...operand, name, argnum: at, value, ...(called !== undefined && { source: called }) };
  });
  const isOfOperands = others.length === 0 || options?.equation !== undefined;
  const behind = inputs.filter((_, at) => (operands[at]?.argnum ?? 0) >= node.inputs.length);
  const kept = isOfOperands
    ? inputs.map(keptOperand)
    : [...behind.map(keptOperand), ...savedBeside(inputs, others)];
  return {
    ...node,
    name: op,
    op,
    label: op,
    inputs,
    outputs,
    saved: kept.filter(({ name }) => formula.symbols?.[name] !== undefined),
    formula,
  };
}

const keptOperand = ({ name, value }: Operand): SavedTensor => {
  return { name, value, version: null, is_input: true, is_output: false };
};

/** What others of several nodes saved under the name of an operand is something between them. */
function savedBeside(inputs: readonly Operand[], others: readonly Node[]): SavedTensor[] {
  const names = new Set(inputs.map(({ name }) => name));
  return others.flatMap(({ saved }) => saved).filter(({ name }) => !names.has(name));
}

function stepOf(
  { operands, output }: GroupCall,
  { substitutions = [], moves = [] }: CallFormula,
  read: Node,
  computing: Step,
  steps: ReadonlyMap<string, Step>,
): Step {
  const v = steps.get(output)?.grad_outputs[0] ?? (computing.grad_outputs[0] as Gradient);
  const returned = operands.map(({ argnum, border }) => {
    const step = steps.get(border.node);
    const whole = step && originalOf(step).grad_inputs[border.argnum];
    const own = (computing.grad_inputs[argnum] ?? whole) as Gradient;
    if (!isTensor(own) || whole === undefined) return own;
    // Known as soon as the node has computed it; the step at the border may be hidden still.
    return isHidden(own) ? hideGradient(whole) : whole;
  });
  const jacobians = operands.flatMap(({ argnum, keeps_order }, at): LocalJacobian[] => {
    const own = computing.local_jacobians.find((each) => each.argnum === argnum);
    const shape = read.inputs[at]?.value?.shape;
    if (!keeps_order || own === undefined || !("shape" in own.value) || shape === undefined || !isTensor(v))
      return [];
    const { batch: _, ...rest } = own;
    const value = { ...own.value, shape: [...v.shape, ...shape] };
    return [{ ...rest, argnum: at, value, output_shape: v.shape, input_shape: shape }];
  });
  const { changes: _, ...rest } = computing;
  return {
    ...rest,
    grad_outputs: [v],
    grad_inputs: returned,
    formula_checked: true,
    local_jacobians: jacobians,
    substitutions,
    moves,
  };
}
