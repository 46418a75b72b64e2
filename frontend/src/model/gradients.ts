/**
 * The state of every gradient at a position: what has landed where, what a node has summed, what `.grad` holds.
 * A gradient lands in the last phase of the step that returned it, so everything here is derived from steps that
 * have been walked already; a node that is not executed yet can still show what it has received.
 */
import type { Gradient, Missing, Step, TensorValue } from "../protocol/trace.gen";
import type { Position } from "./position";
import { edgesById, nodesById } from "./selectors";
import type { PassState, TraceState } from "./trace";

export const LAND = 5;

/** One summand waiting at a node's output. */
export interface Arrival {
  readonly outputNr: number;
  /** The edge it came along, or `seed`. */
  readonly edge: string;
  readonly value: Gradient;
}

export interface GradientLedger {
  /** By node, in the order of arrival; kept after the node was executed. */
  readonly arrivals: ReadonlyMap<string, readonly Arrival[]>;
  /** Nodes whose step has been walked to its end or is being walked. */
  readonly reached: ReadonlyMap<string, Step>;
  /** `.grad` by the name of the leaf. */
  readonly leafGrads: ReadonlyMap<string, Gradient>;
}

export const NOT_COMPUTED: Missing = { missing: "not_computed" };

export function isTensor(gradient: Gradient | null | undefined): gradient is TensorValue {
  return gradient != null && "shape" in gradient;
}

/** The ledger of `pass` when `position` is a still of the backward walk. */
export function ledgerAt(trace: TraceState, pass: PassState, position: Position): GradientLedger {
  const arrivals = new Map<string, Arrival[]>();
  const reached = new Map<string, Step>();
  if (position.direction === "backward") {
    for (const output of pass.started.outputs) {
      arrive(arrivals, output.node, { outputNr: output.output_nr, edge: "seed", value: output.seed });
    }
    const edges = edgesById(pass.started.graph);
    const nodes = nodesById(pass.started.graph);
    const walked = trace.steps.slice(0, position.step);
    walked.forEach((step, index) => {
      if (step.pass !== pass.index) return;
      reached.set(step.node, step);
      if (index === position.step - 1 && position.phase < LAND) return;
      for (const operand of nodes.get(step.node)?.inputs ?? []) {
        const edge = operand.edge === undefined ? undefined : edges.get(operand.edge);
        const value = step.grad_inputs[operand.argnum];
        if (edge === undefined || !isTensor(value)) continue;
        arrive(arrivals, edge.from.node, { outputNr: edge.from.output_nr, edge: edge.id, value });
      }
    });
  }
  return { arrivals, reached, leafGrads: leafGradsAt(trace, pass, position) };
}

/** The sum that a node was handed for one output, where it is known to have been executed. */
export function summedGradient(ledger: GradientLedger, node: string, outputNr = 0): Gradient {
  return ledger.reached.get(node)?.grad_outputs[outputNr] ?? NOT_COMPUTED;
}

function arrive(arrivals: Map<string, Arrival[]>, node: string, arrival: Arrival): void {
  const list = arrivals.get(node);
  if (list === undefined) arrivals.set(node, [arrival]);
  else list.push(arrival);
}

/** A later pass may find `.grad` reset by the program: what its own first accumulation saw before counts. */
function leafGradsAt(trace: TraceState, pass: PassState, position: Position): ReadonlyMap<string, Gradient> {
  const grads = new Map<string, Gradient>();
  if (position.direction === "forward") return grads;
  const ahead = new Set<string>();
  trace.steps.forEach((step, index) => {
    const accumulate = step.accumulate;
    if (accumulate === null) return;
    const walked = index < position.step - 1 || (index === position.step - 1 && position.phase >= LAND);
    if (walked) grads.set(accumulate.leaf, accumulate.after);
    else if (step.pass === pass.index && !ahead.has(accumulate.leaf)) {
      ahead.add(accumulate.leaf);
      grads.set(accumulate.leaf, accumulate.before);
    }
  });
  return grads;
}
