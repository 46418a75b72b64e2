/**
 * The numbers of a chain: rows of v go backwards along its links, each times the link's local Jacobian, and are added
 * up where paths meet. With one-hot rows that is the Jacobian of the whole chain.
 */

import type { Contribution, Gradient, LocalJacobian, Output } from "../protocol/trace.gen";
import { spelled } from "../protocol/values";
import type { Chain, Link, Segment, TensorId } from "./chain";
import { tensorKey } from "./chain";
import { isTensor } from "./gradients";
import { edgesById, nodesById } from "./graph";
import type { Matrix } from "./matrix";
import { elementCount, inPairs, isComplex, jacobianMatrix } from "./matrix";
import { toNumber } from "./numbers";
import { once } from "./once";
import { executions, isStepExplained } from "./selectors";
import type { PassState, TraceState } from "./trace";

/** Why a link has no numbers: a message for each. */
export type NoJacobian =
  /** The server works it out when asked. */
  | "chain-on-demand"
  | "chain-too-large"
  /** No gradient came through this output in the pass, so nothing was asked of the node. */
  | "chain-not-run"
  | "chain-not-yet"
  /** One Jacobian for each example of a vmap. */
  | "chain-no-matrix";

/** Rows of numbers in double precision. */
export interface Rows {
  readonly count: number;
  readonly columns: number;
  readonly entries: Float64Array;
  /** By entry, the sum of the magnitudes of its terms: what its rounding error is to be measured by. */
  readonly magnitudes: Float64Array;
}

/** The entries of a local Jacobian that are not zero. */
export interface Sparse {
  readonly rows: number;
  readonly columns: number;
  readonly at: readonly { readonly row: number; readonly column: number; readonly value: number }[];
}

/** A whole Jacobian is worked out while no tensor on the way needs more numbers than this. */
const MOST_ENTRIES = 65_536;
const MOST_PRODUCTS = 2e7;

/** The local Jacobian of a link in the numbers of the pass, or why there is none. */
export function jacobianOf(trace: TraceState, pass: PassState, { edge, of }: Link): Sparse | NoJacobian {
  const step = executions(trace, pass).get(of.node)?.step;
  if (step === undefined) return "chain-not-run";
  const found = step.local_jacobians.find(
    ({ argnum, output_nr }) => argnum === edge.to.argnum && output_nr === of.outputNr,
  );
  if (found === undefined) return isStepExplained(trace, step) ? "chain-not-run" : "chain-not-yet";
  if (found.structure === "too_large") return "chain-too-large";
  if (!("shape" in found.value)) return "chain-on-demand";
  return pass.started.examples === undefined ? sparse(found) : "chain-no-matrix";
}

const sparse = once((jacobian: LocalJacobian): Sparse | "chain-no-matrix" => {
  const matrix = jacobianMatrix(jacobian);
  if (matrix === null || matrix.cells.length !== matrix.rows * matrix.columns) return "chain-no-matrix";
  if (matrix.cells.some(Array.isArray)) return "chain-no-matrix";
  const at = matrix.cells.flatMap((cell, index) => {
    const value = toNumber(cell);
    const row = Math.floor(index / matrix.columns);
    return value === 0 ? [] : [{ row, column: index - row * matrix.columns, value }];
  });
  return { rows: matrix.rows, columns: matrix.columns, at };
});

/** Rows as a table. */
export function asMatrix({ count, columns, entries }: Rows): Matrix {
  return { rows: count, columns, cells: Array.from(entries, spelled) };
}

/** What gives the local Jacobian of a link. */
export type JacobianOf = (link: Link) => Sparse | NoJacobian;

/** Rows at `of` times the Jacobian of all that lies between: the rows at `by`; null where a link has no numbers, or there are too many. */
export function timesLinks(
  rows: Rows,
  { of, by, links }: Pick<Segment, "of" | "by" | "links">,
  jacobian: JacobianOf,
): Rows | null {
  const sums = new Map<string, Rows>([[tensorKey(of), rows]]);
  let products = 0;
  for (const link of links) {
    const factor = jacobian(link);
    const v = sums.get(tensorKey(link.of));
    if (typeof factor === "string" || v === undefined || v.columns !== factor.rows) return null;
    products += v.count * factor.at.length;
    if (products > MOST_PRODUCTS || v.count * factor.columns > MOST_ENTRIES) return null;
    const before = sums.get(tensorKey(link.by));
    if (before !== undefined && before.columns !== factor.columns) return null;
    sums.set(tensorKey(link.by), plusProduct(before, v, factor));
  }
  return sums.get(tensorKey(by)) ?? null;
}

function plusProduct(sum: Rows | undefined, v: Rows, { rows, columns, at }: Sparse): Rows {
  const zeros = new Float64Array(v.count * columns);
  const [entries, magnitudes] = [(sum?.entries ?? zeros).slice(), (sum?.magnitudes ?? zeros).slice()];
  for (let index = 0; index < v.count; index += 1) {
    for (const { row, column, value } of at) {
      const [from, to] = [index * rows + row, index * columns + column];
      entries[to] = (entries[to] ?? 0) + (v.entries[from] ?? 0) * value;
      magnitudes[to] = (magnitudes[to] ?? 0) + (v.magnitudes[from] ?? 0) * Math.abs(value);
    }
  }
  return { count: v.count, columns, entries, magnitudes };
}

/** The Jacobian of a segment or a chain; null where a link has no numbers, or there are too many. */
export function wholeJacobian(
  between: Pick<Segment, "of" | "by" | "links">,
  size: number,
  jacobian: JacobianOf,
): Rows | null {
  if (size * size > MOST_ENTRIES) return null;
  const entries = new Float64Array(size * size);
  for (let at = 0; at < size; at += 1) entries[at * size + at] = 1;
  return timesLinks({ count: size, columns: size, entries, magnitudes: entries }, between, jacobian);
}

/** How many real numbers a tensor has, from its forward value; null where that was not observed. */
export function sizeOf(pass: PassState, tensor: TensorId): number | null {
  const shape = shapeOf(pass, tensor);
  return shape && elementCount(shape) * (isComplex(outputOf(pass, tensor)?.value ?? undefined) ? 2 : 1);
}

export function shapeOf(pass: PassState, tensor: TensorId): readonly number[] | null {
  const output = outputOf(pass, tensor);
  return output?.value?.shape ?? output?.shape ?? null;
}

function outputOf({ started }: PassState, { node, outputNr }: TensorId): Output | undefined {
  return nodesById(started.graph).get(node)?.outputs[outputNr];
}

/** v as the engine handed it to the node of a tensor: one row, or m of them where m are stacked; null where there is none. */
export function recordedV(trace: TraceState, pass: PassState, tensor: TensorId): Rows | null {
  const v = executions(trace, pass).get(tensor.node)?.step.grad_outputs[tensor.outputNr];
  return gradientRows(pass, tensor, v);
}

/** Rows as long as the tensor has numbers; null where one is hidden. */
function gradientRows(pass: PassState, tensor: TensorId, gradient: Gradient | undefined): Rows | null {
  const columns = sizeOf(pass, tensor);
  const data = isTensor(gradient) ? inPairs(gradient).data : undefined;
  if (data === undefined || !columns) return null;
  const count = pass.started.batch ?? 1;
  if (data.length !== columns * count || data.some(Array.isArray)) return null;
  const entries = Float64Array.from(data, toNumber);
  return { count, columns, entries, magnitudes: entries.map(Math.abs) };
}

/** What the engine brought to a tensor of a chain along its links. */
export interface Brought {
  readonly rows: Rows;
  /** It is the whole gradient of the tensor: none of it came by another way. */
  readonly isAll: boolean;
}

/**
 * What the pass brought from `of` to a tensor between `of` and `by`, as it was recorded: the contributions that came
 * along the chain's links. Null where some of what the nodes on the way handed on had not come from `of`.
 */
export function broughtTo(
  trace: TraceState,
  pass: PassState,
  chain: Chain,
): (tensor: TensorId) => Brought | null {
  const steps = executions(trace, pass);
  const edges = edgesById(pass.started.graph);
  const inChain = new Set(chain.links.map(({ edge }) => edge.id));
  const nodes = new Set(chain.links.map(({ of }) => of.node));
  const known = new Map<string, boolean>();
  const isKnown = (edge: string): boolean => known.get(edges.get(edge)?.to.node ?? "") === true;
  /** In the order of execution, so that a deep chain is no deep recursion. */
  for (const { node, contributions } of pass.steps) {
    if (!nodes.has(node)) continue;
    const isOurs =
      node === chain.of.node
        ? ({ output_nr }: Contribution) => output_nr === chain.of.outputNr
        : ({ edge }: Contribution) => inChain.has(edge) && isKnown(edge);
    known.set(node, contributions.filter(({ value }) => isTensor(value)).every(isOurs));
  }
  return (tensor) => {
    const step = steps.get(tensor.node)?.step;
    if (step === undefined) return null;
    const arrived = step.contributions.filter(
      ({ output_nr, value }) => output_nr === tensor.outputNr && isTensor(value),
    );
    const ours = arrived.filter(({ edge }) => inChain.has(edge));
    if (ours.length === 0 || !ours.every(({ edge }) => isKnown(edge))) return null;
    const parts = ours.map(({ value }) => gradientRows(pass, tensor, value));
    if (!parts.every((part) => part !== null)) return null;
    return { rows: parts.reduce(plus), isAll: ours.length === arrived.length };
  };
}

function plus(a: Rows, b: Rows): Rows {
  return {
    ...a,
    entries: a.entries.map((entry, at) => entry + (b.entries[at] ?? 0)),
    magnitudes: a.magnitudes.map((magnitude, at) => magnitude + (b.magnitudes[at] ?? 0)),
  };
}

/** The links after which a gradient became another than the rule returned: a hook, a cast, a sum over what was broadcast. */
export function changedLinks(trace: TraceState, pass: PassState, { links }: Chain): readonly Link[] {
  const steps = executions(trace, pass);
  return links.filter(({ edge, of, by }) => {
    const changes = steps.get(of.node)?.step.changes ?? [];
    const hooks = steps.get(by.node)?.step.hooks ?? [];
    return (
      changes.some(({ argnum }) => argnum === edge.to.argnum) ||
      hooks.some(({ output_nr }) => output_nr === by.outputNr)
    );
  });
}

/** Single precision and the order of additions move the last digits of a sum by this much of its terms. */
const TOLERANCE = 1e-4;

/** Whether two rows are the same numbers, as far as the engine's precision tells. */
export function areEqual(a: Rows, b: Rows): boolean {
  if (a.entries.length !== b.entries.length) return false;
  return a.entries.every((entry, at) => {
    const other = b.entries[at] ?? 0;
    if (!Number.isFinite(entry) || !Number.isFinite(other)) return Object.is(entry, other);
    const scale = Math.max(a.magnitudes[at] ?? 0, b.magnitudes[at] ?? 0);
    return Math.abs(entry - other) <= TOLERANCE * scale;
  });
}
