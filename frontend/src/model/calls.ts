/**
 * A trace in which a call that built several nodes is read as the one operation that it is: `a @ b` of a batch and a
 * matrix as a product, not as a view, mm and another view. Each of its nodes gets the operands and the result of the
 * call, each of their steps the v that arrived at the call and what it returned; all positions stay.
 */
import type {
  CallFormula,
  CallOperand,
  Cell,
  Gradient,
  Graph,
  Group,
  GroupCall,
  LocalJacobian,
  Node,
  Operand,
  Step,
  TensorValue,
} from "../protocol/trace.gen";
import { isTensor } from "./gradients";
import { nodesById } from "./graph";
import { standsFor } from "./stops";
import type { PassState, TraceState } from "./trace";

/** Of a call that is one operation, the node whose output is its result; a module holds its parameters as well. */
export function resultOf({ kind, call }: Group): string | null {
  return kind === "composite" && call !== undefined ? call.output : null;
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
      const whole = nodeOf(call, formula, started.graph);
      const wholeStep = stepOf(call, formula, whole, computing, started.graph, byNode.get(call.output));
      for (const id of members) {
        const [node, step] = [known.get(id), byNode.get(id)];
        if (node === undefined || step === undefined || node.leaf !== undefined) continue;
        const { arranges, sequence_nr } = node;
        const part = { ...whole, id, sequence_nr, ...(arranges && { arranges }) };
        if (arranges) parts.set(part, { node, step, isBefore: step.index < computing.index });
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

/** What stands behind a node of a call, read as the call, that only brings a tensor into another shape. */
export interface Part {
  readonly node: Node;
  readonly step: Step;
  /** In the backward walk, before the call is computed. */
  readonly isBefore: boolean;
}

const parts = new WeakMap<Node, Part>();

export function partOfCall(node: Node): Part | null {
  return parts.get(node) ?? null;
}

function nodeOf({ op, node: id, output, operands }: GroupCall, { formula }: CallFormula, graph: Graph): Node {
  const nodes = nodesById(graph);
  const node = nodes.get(id) as Node;
  const outputs = nodes.get(output)?.outputs ?? node.outputs;
  const inputs = operands.map(({ name, argnum, border }, at) => {
    const operand = nodes.get(border.node)?.inputs[border.argnum] as Operand;
    if (operand.edge !== undefined) return { ...operand, name, argnum: at };
    const alias = node.saved.find((one) => one.name === node.inputs[argnum]?.name)?.alias_of;
    const value = at === 0 ? unfolded(operand.value, outputs[0]?.value ?? null) : operand.value;
    return { ...operand, name, argnum: at, value, ...(alias !== undefined && { source: alias }) };
  });
  const read = new Set(formula.vjp.flatMap(({ reads }) => reads ?? []));
  const saved = inputs
    .filter(({ name }) => read.has(name))
    .map(({ name, value }) => ({ name, value, version: null, is_input: true, is_output: false }));
  return {
    ...node,
    name: op,
    op,
    label: op,
    inputs,
    outputs,
    saved,
    formula,
  };
}

/** A constant that the node was given as rows, in the shape in which the call was given it. */
function unfolded(value: TensorValue | null, result: TensorValue | null): TensorValue | null {
  const lead = result?.shape.slice(0, -1) ?? [];
  if (value?.shape.length !== 2 || product(lead) !== value.shape[0]) return value;
  return { ...value, shape: [...lead, value.shape[1] ?? 1] };
}

const product = (sizes: readonly number[]): number => sizes.reduce((total, size) => total * size, 1);

function stepOf(
  { operands }: GroupCall,
  { substitutions = [], moves = [] }: CallFormula,
  read: Node,
  step: Step,
  graph: Graph,
  last: Step | undefined,
): Step {
  const v = last?.grad_outputs[0] ?? (step.grad_outputs[0] as Gradient);
  const isTurned = ({ border }: CallOperand): boolean => nodesById(graph).get(border.node)?.op === "t";
  // As the node returned it: what comes after its step may not be known yet.
  const returned = operands.map((operand, at) => {
    const own = step.grad_inputs[operand.argnum] as Gradient;
    if (!isTensor(own)) return own;
    return isTurned(operand) ? turned(own) : { ...own, shape: read.inputs[at]?.value?.shape ?? own.shape };
  });
  const jacobians = operands.flatMap((operand, at): LocalJacobian[] => {
    const own = step.local_jacobians.find(({ argnum }) => argnum === operand.argnum);
    const shape = read.inputs[at]?.value?.shape;
    if (
      own === undefined ||
      !("shape" in own.value) ||
      shape === undefined ||
      !isTensor(v) ||
      isTurned(operand)
    )
      return [];
    const { batch: _, ...rest } = own;
    const value = { ...own.value, shape: [...v.shape, ...shape] };
    return [{ ...rest, argnum: at, value, output_shape: v.shape, input_shape: shape }];
  });
  const { changes: _, ...rest } = step;
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

function turned(value: TensorValue): TensorValue {
  const [rows = 1, columns = 1] = value.shape;
  const { data } = value;
  const shape = [columns, rows];
  if (data === undefined) return { ...value, shape };
  return {
    ...value,
    shape,
    data: data.map((_, at) => data[(at % rows) * columns + Math.floor(at / rows)] as Cell),
  };
}
