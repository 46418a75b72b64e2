/**
 * What v is: dL/dy of an L that nobody wrote, L = v y. Its gradient is the sum of J's rows, each as important as v says.
 * J is that of the whole pass, a row for each number of the output, and stands here only where v J is what the engine
 * left at the leaf.
 */
import { nodesById } from "../model/graph";
import { dot } from "../model/matrix";
import { numbersOf } from "../model/numbers";
import { executions } from "../model/selectors";
import type { PassState, TraceState } from "../model/trace";
import { pushForward, slot } from "./nudge";

export interface LossOnTop {
  /** Of the output, as the program calls it. */
  readonly name: string;
  readonly v: readonly number[];
  readonly y: readonly number[];
  /** v times y. */
  readonly loss: number;
  readonly leaves: readonly WeightedRows[];
}

/** J of the output with respect to one leaf. */
export interface WeightedRows {
  readonly leaf: string;
  /** One for each number of the output. */
  readonly rows: readonly (readonly number[])[];
  /** v J, as the engine returned it. */
  readonly gradient: readonly number[];
}

const MOST_OUTPUTS = 6;
const MOST_COLUMNS = 6;
const TOLERANCE = 1e-4;

/** Null where the output is one number, several, too many, or v is a stack. */
export function lossOnTop(trace: TraceState, pass: PassState): LossOnTop | null {
  const [output, ...others] = pass.started.outputs;
  if (output === undefined || others.length > 0 || pass.started.batch !== undefined) return null;
  const node = nodesById(pass.started.graph).get(output.node);
  const produced = node?.outputs[output.output_nr];
  const [v, y] = [numbersOf(output.seed), numbersOf(produced?.value)];
  if (v === null || y?.length !== v.length || v.length < 2 || v.length > MOST_OUTPUTS) return null;
  return {
    name: output.name ?? produced?.name ?? "y",
    v,
    y,
    loss: dot(v, y),
    leaves: leavesOf(trace, pass, slot(output.node, output.output_nr), v),
  };
}

function leavesOf(
  trace: TraceState,
  pass: PassState,
  output: string,
  v: readonly number[],
): readonly WeightedRows[] {
  const steps = executions(trace, pass);
  return pass.started.graph.nodes.flatMap((node) => {
    const gradient = numbersOf(steps.get(node.id)?.step.grad_outputs[0]);
    if (node.leaf === undefined || gradient === null || gradient.length > MOST_COLUMNS) return [];
    const columns = gradient.map((_, at) => {
      const move = gradient.map((__, other) => (other === at ? 1 : 0));
      return pushForward(trace, pass, new Map([[node.id, move]])).get(output) ?? null;
    });
    if (!columns.every((column) => column !== null)) return [];
    const rows = v.map((_, row) => columns.map((column) => column[row] ?? 0));
    const isReturned = gradient.every((entry, at) => {
      const sum = dot(v, columns[at] ?? []);
      return Math.abs(sum - entry) <= TOLERANCE * Math.max(1, Math.abs(entry));
    });
    return isReturned ? [{ leaf: node.leaf, rows, gradient }] : [];
  });
}
