/**
 * Generated from server/gradwalk/protocol by `npm run generate`; edit the Python models, not this file.
 */

export type Event =
  | Started
  | Stdout
  | Warned
  | PassStarted
  | Forward
  | Step
  | Explained
  | PassFinished
  | Unrecorded
  | Problem
  | Finished;
export type Cell = boolean | number | ("NaN" | "Infinity" | "-Infinity") | Real[];
export type Real = number | ("NaN" | "Infinity" | "-Infinity");
export type Filling = string | number | Numbers | Shape | Fact | Filling[];
export type Call = "backward" | "grad" | "implicit";
export type Gradient = TensorValue | Missing;
export type MissingReason = "undefined" | "not_required" | "returned_none" | "no_path" | "not_computed";
export type NodeKind = "op" | "custom" | "accumulate_grad" | "view_write" | "other";
export type GroupKind = "module" | "function" | "composite";
export type Structure =
  | "scalar"
  | "diagonal"
  | "permutation"
  | "selection"
  | "sum_over_copies"
  | "copy_to_summands"
  | "broadcast_sum"
  | "kronecker"
  | "dense"
  | "zero"
  | "too_large";
export type ProblemKind =
  | "syntax"
  | "rejected"
  | "error"
  | "timeout"
  | "memory"
  | "too_big"
  | "crashed"
  | "forbidden"
  | "not_differentiable"
  | "protocol"
  | "busy"
  | "internal";

/**
 * A saved trace; replays with no server.
 */
export interface TraceDocument {
  format: number;
  id: string;
  source: string;
  options: {
    [k: string]: unknown;
  };
  versions: Versions;
  events: Event[];
}
/**
 * Of everything that can change a number or a node.
 */
export interface Versions {
  /**
   * A trace of another version is not the same trace.
   */
  gradwalk: string;
  torch: string;
}
/**
 * The document's header fields.
 */
export interface Started {
  seq: number;
  type: "started";
  /**
   * 2.
   */
  format: number;
  /**
   * The trace's address: a hash of source, options and versions.
   */
  id: string;
  /**
   * The program, with LF endings.
   */
  source: string;
  /**
   * As asked for, defaults spelled out.
   */
  options: {
    [k: string]: unknown;
  };
  versions: Versions;
  /**
   * The free variables, in the order of their first use.
   */
  inputs?: Input[];
  /**
   * In the order of their lines; absent where the program has none.
   */
  directions?: DirectingComment[];
}
/**
 * A free variable of the program: it is set from `options.inputs`, or to a default.
 */
export interface Input {
  /**
   * Its key in `options.inputs`.
   */
  name: string;
  value: TensorValue;
}
/**
 * A tensor at a moment. Exactly one of `data`, `summary` and `unavailable` is present; of many entries, only on the
 * wire, `packed` in the place of `data`.
 */
export interface TensorValue {
  /**
   * Empty for a number.
   */
  shape: number[];
  /**
   * torch's name without the prefix: `float32`, `complex64`, `bool`.
   */
  dtype: string;
  /**
   * Row-major, flat.
   */
  data?: Cell[];
  /**
   * The same as little-endian bytes in base64.
   */
  packed?: string;
  summary?: Summary;
  /**
   * Only for layouts other than strided, e.g. `sparse_coo`; `data` is then the dense form.
   */
  layout?: string;
  unavailable?: Fact;
}
/**
 * Stands in the place of `data` when a value is over the element limit.
 */
export interface Summary {
  min: Real;
  max: Real;
  mean: Real;
  std: Real;
  norm: Real;
  /**
   * How many entries are 0.
   */
  zeros: number;
  nans: number;
  /**
   * Of both signs.
   */
  infs: number;
  histogram: Histogram;
  thumbnail: Thumbnail;
}
/**
 * Counts of the finite entries in equal bins.
 */
export interface Histogram {
  low: Real;
  high: Real;
  /**
   * Per bin.
   */
  counts: number[];
}
/**
 * A large value pooled down to something that can be drawn, with its last axis across.
 *
 * Each cell is the mean of a block, of magnitudes where the value is complex; NaN and infinity spread over their
 * block.
 */
export interface Thumbnail {
  /**
   * Two axes at most, each at most 64.
   */
  shape: number[];
  /**
   * Row-major, a signed byte each, in base64: 126 stands for the largest finite magnitude in it, what is not zero is
   * at least 1, 127 is infinity, -128 NaN.
   */
  cells: string;
}
/**
 * Something that is so, to be said in a sentence or a part of one.
 */
export interface Fact {
  /**
   * The message's name in the catalogues.
   */
  kind: string;
  /**
   * By the names that the message calls them. Text is copied as it stands: names, operations, words of PyTorch's. An
   * integer chooses the plural. A list is said as `a, b and c`.
   */
  operands?: {
    [k: string]: Filling;
  };
}
/**
 * Entries of a tensor, to be spelled as all numbers on the screen are.
 */
export interface Numbers {
  /**
   * Row-major, flat.
   */
  numbers: Cell[];
  /**
   * Of the tensor that they are all entries of; absent where there is one number.
   */
  shape?: number[];
}
/**
 * The shape of a tensor.
 */
export interface Shape {
  shape: number[];
}
/**
 * A comment in the program that directs the lecture: `#@ note text`.
 */
export interface DirectingComment {
  /**
   * What it asks the player for.
   */
  kind: "note" | "break" | "hide" | "focus" | "predict";
  /**
   * What follows the kind, stripped.
   */
  text: string;
  /**
   * 1-based line of the comment; it speaks of this line or, where there is no code on it, of the next with code.
   */
  line: number;
}
/**
 * What the program printed, in its place in the order.
 */
export interface Stdout {
  seq: number;
  type: "stdout";
  /**
   * As much as came between two other events.
   */
  text: string;
}
/**
 * What PyTorch or the program warned of, in its place in the order; once for each category, text and line.
 */
export interface Warned {
  seq: number;
  type: "warning";
  /**
   * The class's name: `UserWarning`.
   */
  category: string;
  /**
   * Its own words.
   */
  text: string;
  /**
   * What the program was doing.
   */
  span: Span | null;
}
/**
 * A stretch of the program's text.
 */
export interface Span {
  /**
   * 1-based.
   */
  line: number;
  /**
   * 0-based, in UTF-16 units.
   */
  column: number;
  /**
   * 1-based.
   */
  end_line: number;
  /**
   * Exclusive.
   */
  end_column: number;
}
/**
 * A backward pass begins.
 */
export interface PassStarted {
  /**
   * The pass, counted from 0 among those that are recorded.
   */
  pass: number;
  seq: number;
  type: "pass_started";
  call: Call;
  /**
   * Where the program says so; null where no line of it does.
   */
  span: Span | null;
  /**
   * Where it starts, in the order of the call.
   */
  outputs: PassOutput[];
  /**
   * What it is asked for; empty: every leaf.
   */
  inputs: PassInput[];
  /**
   * Whether the pass builds a graph of its own.
   */
  create_graph: boolean;
  graph: Graph;
  /**
   * Among all passes that ran, where it is not `pass`.
   */
  number?: number;
  /**
   * What was done to leaves since the pass before.
   */
  between?: ("step" | "zero_grad")[];
  /**
   * The pass in which this one is nested.
   */
  parent?: number;
  /**
   * The m of m stacked v's (`is_grads_batched`).
   */
  batch?: number;
  /**
   * Batch sizes of torch.func's vmap, outermost first, where the outputs are batched as well: values and gradients
   * have them as their first axes, and each example has local Jacobians of its own.
   */
  examples?: number[];
  /**
   * What ran before it and is worth knowing, though nothing is wrong.
   */
  notes?: Fact[];
  /**
   * Where the program pushed tangents forward through the same function, and started no pass itself.
   */
  tangents?: Tangent[];
}
/**
 * Where a pass starts; the same slot may be listed twice.
 */
export interface PassOutput {
  /**
   * A node of the pass's graph, by its id.
   */
  node: string;
  /**
   * 0-based number of a node's output.
   */
  output_nr: number;
  /**
   * What the program calls the tensor.
   */
  name: string | null;
  seed: Gradient;
  /**
   * v is itself a part of a graph, so no other can take its place.
   */
  seed_requires_grad?: true;
  cast?: TensorValue;
}
/**
 * A gradient that is not a tensor. Never drawn as zeros.
 */
export interface Missing {
  missing: MissingReason;
  because?: Fact;
  /**
   * Only where a leaf ended without a gradient and the program could be written otherwise, as the hint of `because`
   * says: 1-based, of the call or the use, else of the assignment to the name; null where there is none.
   */
  line?: number | null;
  /**
   * True: the backward of the program's Function got zeros in its place, as it does unless told otherwise.
   */
  materialized?: boolean;
  dropped?: TensorValue;
}
/**
 * What a `grad` call (or `backward(inputs=...)`) asks for.
 */
export interface PassInput {
  /**
   * Null when nothing in this graph leads there.
   */
  node: string | null;
  /**
   * 0-based number of a node's output.
   */
  output_nr: number;
  /**
   * What the program calls the tensor.
   */
  name: string | null;
}
/**
 * The graph that one pass walks.
 */
export interface Graph {
  /**
   * In the order in which they were met from the outputs on.
   */
  nodes: Node[];
  edges: Edge[];
  groups: Group[];
}
/**
 * One autograd node.
 */
export interface Node {
  /**
   * A node of the pass's graph, by its id.
   */
  id: string;
  /**
   * As torch prints it: `MulBackward0`, `AccumulateGrad`, `FBackward`.
   */
  name: string;
  /**
   * `mul`, `F`, `accumulate_grad`.
   */
  op: string;
  kind: NodeKind;
  /**
   * Short text for the card.
   */
  label: string;
  /**
   * Where the program says so; null where no line of it does.
   */
  span: Span | null;
  /**
   * The innermost group that it is in.
   */
  group: string | null;
  /**
   * Of a call that is one operation, a part that only brings a tensor into another shape.
   */
  arranges?: true;
  /**
   * In operand order; an operand that is used twice stands twice.
   */
  inputs: Operand[];
  /**
   * By number.
   */
  outputs: Output[];
  /**
   * How many the node has in all.
   */
  output_count: number;
  /**
   * What it keeps for its backward.
   */
  saved: SavedTensor[];
  /**
   * Null where none is known, or not told yet.
   */
  formula: Formula | null;
  /**
   * Null for `accumulate_grad`, which is always first in the engine's queue.
   */
  sequence_nr: number | null;
  /**
   * Only `accumulate_grad`: the variable's name (`x`, `model.0.weight`).
   */
  leaf?: string;
  /**
   * Only `accumulate_grad`: the key of `options.inputs` that sets this leaf.
   */
  input?: string;
  born?: Born;
  backward_span?: Span;
  /**
   * Only `custom`: what its forward did; what its backward does is on the step.
   */
  inside?: InnerOp[];
  note?: Fact;
}
/**
 * One differentiable operand of a node; the position in `inputs` is that of `grad_inputs`.
 */
export interface Operand {
  /**
   * 0-based position among the node's `next_functions`.
   */
  argnum: number;
  /**
   * The name torch's derivatives table gives it (`self`, `other`), or the forward's parameter name.
   */
  name: string;
  /**
   * The forward value, null where it could not be observed.
   */
  value: TensorValue | null;
  /**
   * What the program calls it: a variable (`model.0.weight`), else the text that computes it (`x*y`, on one line)
   * where it is short, `weight.T` for a transpose inside the call, or the digits of a constant.
   */
  source?: string;
  /**
   * Id of the edge that brings it: gradients go back along it.
   */
  edge?: string;
  missing?: Missing;
}
/**
 * One differentiable output of a node.
 */
export interface Output {
  /**
   * The forward value, null where it could not be observed.
   */
  value: TensorValue | null;
  /**
   * Where the value is known: what a picture needs before it.
   */
  shape?: number[];
  /**
   * The variable the program gave it to, where it gave it to one.
   */
  name: string | null;
  /**
   * The text that computes it, on one line, where it is an expression of its own and short.
   */
  source?: string;
}
/**
 * What a node keeps for its backward.
 */
export interface SavedTensor {
  /**
   * As the node has it, without `_saved_`: `self`, `exponent`.
   */
  name: string;
  /**
   * What backward reads; null where it is no tensor or cannot be had.
   */
  value: TensorValue | null;
  /**
   * What it is where it is no tensor: a number, a flag, sizes.
   */
  option?: number | boolean | string | (number | boolean | string | null)[];
  /**
   * The tensor's version counter when it was saved, null for what is not a tensor.
   */
  version: number | null;
  /**
   * It is one of the operands.
   */
  is_input: boolean;
  /**
   * It is the node's own result.
   */
  is_output: boolean;
  note?: Fact;
  /**
   * The variable whose storage this shares.
   */
  alias_of?: string;
  was?: TensorValue;
}
/**
 * The mathematics of a node.
 */
export interface Formula {
  /**
   * LaTeX; empty when only the derivatives table knows this node.
   */
  forward: string;
  /**
   * One line per operand that has a gradient.
   */
  vjp: VjpLine[];
  /**
   * Operands without a line in `vjp`, where the reason is known.
   */
  unwritten?: UnwrittenLine[];
  /**
   * The lines of torch's own derivatives.yaml for this node, `name: formula`.
   */
  derivatives_yaml: string[];
  /**
   * Evaluated on this node's saved tensors it gave what the engine returned; where false it must not be shown.
   */
  checked?: boolean;
  /**
   * What to know about ties, kinks, broadcasting and optional arguments.
   */
  special_cases?: Fact[];
  /**
   * How the vjps write the values they need, as LaTeX by the name of the saved tensor: `self` as `x`.
   */
  symbols?: {
    [k: string]: string;
  };
}
/**
 * The vector-Jacobian product for one operand.
 */
export interface VjpLine {
  /**
   * 0-based position among a node's operands.
   */
  argnum: number;
  /**
   * With short letters for the operands, as in a textbook.
   */
  latex: string;
  /**
   * The same as PyTorch would write it: `grad * cos(x)`.
   */
  text: string;
  because: Fact;
  /**
   * The text with the program's own texts for all values, however long; `tanh(...)` for what has none. Absent in
   * traces of older versions.
   */
  said?: string;
  /**
   * What v is multiplied by, entry by entry, in the same names; absent where the vjp is no such product.
   */
  derivative?: string;
  /**
   * The derivative with what it is the derivative of: `∂ sin(x*y)/∂(x*y) = cos(x*y)`; absent where one of both has no
   * text in the program.
   */
  equation?: string;
  /**
   * The saved tensors that the vjp is computed from, by name; `result` for the node's own.
   */
  reads?: string[];
}
/**
 * An operand whose vjp has no formula here.
 */
export interface UnwrittenLine {
  /**
   * 0-based position among a node's operands.
   */
  argnum: number;
  /**
   * Why there is none.
   */
  reason:
    | "mask_among_indices"
    | "matrix_too_large"
    | "sizes_unknown"
    | "some_scales"
    | "unrolled_in_time"
    | "window";
}
/**
 * The backward step that built this node under `create_graph=True`.
 */
export interface Born {
  /**
   * The pass, counted from 0 among those that are recorded.
   */
  pass_index: number;
  /**
   * Null: the engine's own sum at a fan-out.
   */
  node: string | null;
}
/**
 * One operation inside a custom Function's forward or backward, or a composite.
 */
export interface InnerOp {
  /**
   * torch's name for it: `mm`.
   */
  op: string;
  /**
   * Where the program says so; null where no line of it does.
   */
  span: Span | null;
  /**
   * Null: not observed.
   */
  inputs: (TensorValue | null)[];
  outputs: (TensorValue | null)[];
  /**
   * What ran inside it.
   */
  inside?: InnerOp[];
}
/**
 * From the producer of a forward value to its consumer.
 */
export interface Edge {
  id: string;
  from: Producer;
  to: Consumer;
}
/**
 * Where a forward value comes from.
 */
export interface Producer {
  /**
   * A node of the pass's graph, by its id.
   */
  node: string;
  /**
   * 0-based number of a node's output.
   */
  output_nr: number;
}
/**
 * Where a forward value goes to.
 */
export interface Consumer {
  /**
   * A node of the pass's graph, by its id.
   */
  node: string;
  /**
   * 0-based position among a node's operands.
   */
  argnum: number;
}
/**
 * What collapses into one box.
 */
export interface Group {
  /**
   * Unique in its graph.
   */
  id: string;
  kind: GroupKind;
  /**
   * What is called: `model.0`, `attend`, `linear`.
   */
  label: string;
  /**
   * Id of the group round it.
   */
  parent: string | null;
  /**
   * Where the program says so; null where no line of it does.
   */
  span: Span | null;
  /**
   * Direct members only.
   */
  nodes: string[];
  call?: GroupCall;
}
/**
 * A group that is one operation: a node computes it, or several one after the other, and all others only bring
 * tensors into other shapes. The nodes of an einsum may also add up, each for one operand.
 */
export interface GroupCall {
  /**
   * `matmul`, `linear`, `cross_entropy`, `einsum`.
   */
  op: string;
  /**
   * What else it was called with, as far as its formula needs that: `equation` of `einsum`, `tensordot`, `outer` and
   * `inner`, which is `ij,jk->ik`; `reduction` and `label_smoothing` of `cross_entropy`.
   */
  options?: {
    [k: string]: number | string;
  };
  /**
   * A node of the pass's graph, by its id.
   */
  node: string;
  /**
   * A node of the pass's graph, by its id.
   */
  output: string;
  /**
   * In the order of the call.
   */
  operands: CallOperand[];
}
/**
 * An operand of a call that built several nodes.
 */
export interface CallOperand {
  /**
   * As torch has it: `self`, `other`, `weight`.
   */
  name: string;
  /**
   * 0-based position among a node's operands.
   */
  argnum: number;
  border: Consumer;
  /**
   * Of a constant: that in which the call was given it; the node got the same cells.
   */
  shape?: number[];
  value?: TensorValue;
  /**
   * Of a constant: the variable that the call was given.
   */
  source?: string;
  /**
   * The node that computes has its cells, and those of the result, in the order in which the call has them.
   */
  keeps_order?: true;
}
/**
 * The direction in which forward mode pushed a leaf.
 */
export interface Tangent {
  /**
   * A node of the pass's graph, by its id.
   */
  node: string;
  /**
   * Null where there was no room for it.
   */
  value: TensorValue | null;
}
/**
 * Values of nodes whose places in the graph `pass_started` told: whoever reads a trace puts them there.
 */
export interface Forward {
  /**
   * The pass, counted from 0 among those that are recorded.
   */
  pass: number;
  seq: number;
  type: "forward";
  nodes: NodeValues[];
}
/**
 * What the forward pass put into a node, in the order of the node's own lists.
 */
export interface NodeValues {
  /**
   * A node of the pass's graph, by its id.
   */
  node: string;
  /**
   * Of its operands; null: not observed.
   */
  inputs: (TensorValue | null)[];
  outputs: (TensorValue | null)[];
  saved: SavedTensor[];
  /**
   * Only of a custom Function: what its forward did.
   */
  inside?: InnerOp[];
}
/**
 * One executed autograd node, or the one that raised: its grad_inputs are `not_computed`.
 */
export interface Step {
  /**
   * The pass, counted from 0 among those that are recorded.
   */
  pass: number;
  seq: number;
  type: "step";
  /**
   * Over the whole trace, from 0.
   */
  index: number;
  /**
   * A node of the pass's graph, by its id.
   */
  node: string;
  /**
   * v: what the engine handed to the node, one for each output, summed.
   */
  grad_outputs: Gradient[];
  /**
   * The summands of these, in the order in which they arrived.
   */
  contributions: Contribution[];
  /**
   * v times J: what was sent on, one for each operand.
   */
  grad_inputs: Gradient[];
  /**
   * Told by `explained`; empty until then.
   */
  local_jacobians: LocalJacobian[];
  /**
   * Only at a leaf.
   */
  accumulate: Accumulate | null;
  /**
   * What each hook made of a sum of contributions before the node saw it.
   */
  hooks?: HookChange[];
  /**
   * What became, in order, of what the rule returned. v times J is compared with what the rule returned,
   * `grad_inputs` is what was sent on.
   */
  changes?: ReturnedChange[];
  /**
   * Only of a custom Function: what its backward did.
   */
  inside?: InnerOp[];
  /**
   * Whether the node's written formula, evaluated on its saved values, gave what the engine returned; where it is false the formula does not apply here and must not be shown. Absent: not evaluated.
   */
  formula_checked?: boolean;
  /**
   * Told by `explained`.
   */
  substitutions?: Substitution[];
  /**
   * Told by `explained`.
   */
  moves?: VjpMoves[];
  call?: CallFormula;
}
/**
 * One summand of a grad_output.
 */
export interface Contribution {
  /**
   * 0-based number of a node's output.
   */
  output_nr: number;
  /**
   * The edge it came along, or `seed`.
   */
  edge: string;
  /**
   * Index of the step that returned it, null for the seed.
   */
  from_step: number | null;
  value: Gradient;
}
/**
 * d output / d operand at this node's forward values; dense shape is output shape then input shape.
 */
export interface LocalJacobian {
  /**
   * 0-based position among a node's operands.
   */
  argnum: number;
  /**
   * 0-based number of a node's output.
   */
  output_nr: number;
  /**
   * Null while `value` is on demand.
   */
  structure: Structure | null;
  /**
   * Of shape `output_shape` then `input_shape`.
   */
  value: TensorValue | OnDemand;
  /**
   * Of one output, without the examples of a vmap.
   */
  output_shape: number[];
  /**
   * Of the operand.
   */
  input_shape: number[];
  batch?: Batch;
  /**
   * True: v times this Jacobian reproduced the returned gradient.
   */
  checked?: boolean;
  /**
   * Flat positions in the operand at which v is 0 and the slope infinite: the returned NaN is 0 times infinity.
   */
  nan_products?: number[];
  differences?: Differences;
}
/**
 * Left out while tracing; the jacobian route computes it by re-running the program.
 */
export interface OnDemand {
  /**
   * A mark, no reason.
   */
  missing: "on_demand";
}
/**
 * What a local Jacobian does with the first axis of the output, which counts examples.
 */
export interface Batch {
  /**
   * `block_diagonal`: row i of the output depends on row i of the operand only. `sum`: all rows share the operand,
   * so v J adds up one product per row.
   */
  kind: "block_diagonal" | "sum";
  /**
   * How many rows.
   */
  size: number;
}
/**
 * The Jacobian that a custom backward computes, beside central differences of its forward in double precision.
 */
export interface Differences {
  /**
   * `not_differentiable`: at a corner or a jump, where any slope between the one-sided ones is as good. `raised`: so
   * did backward, and the local Jacobian itself is that of the differences.
   */
  verdict: "agrees" | "differs" | "not_differentiable" | "raised";
  value?: TensorValue;
  because?: Fact;
}
/**
 * What an AccumulateGrad node did to `.grad`.
 */
export interface Accumulate {
  /**
   * The variable's name.
   */
  leaf: string;
  before: Gradient;
  after: Gradient;
  /**
   * What each of those hooks made of `.grad`, in order.
   */
  changes?: GradientChange[];
}
/**
 * A hook of the program's made another gradient of one.
 */
export interface GradientChange {
  /**
   * How it was registered.
   */
  kind:
    "tensor_hook" | "node_prehook" | "node_hook" | "module_hook" | "post_accumulate_hook" | "shared_write";
  before: Gradient;
  after: Gradient;
  /**
   * Where the hook was registered; of a module's hooks, the first.
   */
  span: Span | null;
}
/**
 * A hook of the program's rewrote a gradient before the node saw it.
 */
export interface HookChange {
  /**
   * 0-based number of a node's output.
   */
  output_nr: number;
  before: Gradient;
  after: Gradient;
  /**
   * Where the program says so; null where no line of it does.
   */
  span: Span | null;
  /**
   * Absent in traces that older versions made.
   */
  kind?:
    "tensor_hook" | "node_prehook" | "node_hook" | "module_hook" | "post_accumulate_hook" | "shared_write";
}
/**
 * What became of a gradient after the rule had returned it.
 */
export interface ReturnedChange {
  /**
   * 0-based position among a node's operands.
   */
  argnum: number;
  /**
   * `sum_to_size` and `cast` are the engine's: it sums what was broadcast, and casts to the operand's dtype.
   */
  kind:
    | ("tensor_hook" | "node_prehook" | "node_hook" | "module_hook" | "post_accumulate_hook" | "shared_write")
    | ("sum_to_size" | "cast");
  before: Gradient;
  after: Gradient;
  /**
   * Where the program says so; null where no line of it does.
   */
  span: Span | null;
}
/**
 * One operand's vjp in three stages, as LaTeX.
 */
export interface Substitution {
  /**
   * 0-based position among a node's operands.
   */
  argnum: number;
  /**
   * The vjp as its formula has it.
   */
  symbols: string;
  /**
   * grad_output filled in.
   */
  with_v: string;
  /**
   * All numbers filled in, ending in what the engine returned.
   */
  with_numbers: string;
}
/**
 * The moves of one operand's vjp, in order.
 */
export interface VjpMoves {
  /**
   * 0-based position among a node's operands.
   */
  argnum: number;
  moves: Move[];
}
/**
 * One move. Exactly one of `axes`, `source` and `goal` is present.
 */
export interface Move {
  /**
   * `scale`: each cell meets a factor of its own; `meet`: products are added up, or each meets each; `fold`: several
   * cells fall into one; `deal`: one goes to several; `travel`: each goes to one; `slide`: a window goes over the cells;
   * `win`: a cell goes to what the forward pass had picked; `subtract`: one table less another, cell by cell.
   */
  verb: "scale" | "meet" | "fold" | "deal" | "travel" | "slide" | "win" | "subtract";
  /**
   * One or two.
   */
  of: MoveSource[];
  /**
   * The cells of each table, and after the arrow of the result.
   */
  axes?: string;
  /**
   * Per cell of the result the cell of the first table that goes there, counted row by row; -1: none, it is 0.
   */
  source?: number[];
  /**
   * Per cell of the table the cell of the result that it is added to; -1: to none.
   */
  goal?: number[];
  /**
   * Of the result by `axes`, where it is not that of the value.
   */
  shape?: number[];
  value?: TensorValue;
  /**
   * How that is computed, as in the vjp's text; absent of the last move.
   */
  text?: string;
}
/**
 * A table that a move reads. Exactly one of `grad_output`, `operand`, `move` and `value` is present.
 */
export interface MoveSource {
  /**
   * v of this output.
   */
  grad_output?: number;
  /**
   * An operand or a saved tensor, by name.
   */
  operand?: string;
  /**
   * What an earlier move of the list made.
   */
  move?: number;
  value?: TensorValue;
  /**
   * How that is computed, as in the vjp's text.
   */
  text?: string;
  /**
   * `value` is 1 where v is not 0, minus what `text` computes.
   */
  classes_minus?: true;
  /**
   * As which it is read, where that is not its own: the same cells in the same order.
   */
  shape?: number[];
}
/**
 * The mathematics of a call that built several nodes, told with the step of the one that computes.
 *
 * `argnum` counts the operands of the call; v is what arrived at its output.
 */
export interface CallFormula {
  formula: Formula;
  substitutions?: Substitution[];
  moves?: VjpMoves[];
}
/**
 * What is not needed to show what happened, and takes longest: whoever reads a trace puts it into node and step.
 */
export interface Explained {
  /**
   * The pass, counted from 0 among those that are recorded.
   */
  pass: number;
  seq: number;
  type: "explained";
  nodes: Explanation[];
}
/**
 * The mathematics of a node, and of one of its steps with its numbers.
 */
export interface Explanation {
  /**
   * A node of the pass's graph, by its id.
   */
  node: string;
  /**
   * Index of the step; null for a node that did not run.
   */
  step: number | null;
  /**
   * Null where the node has none, or has it already.
   */
  formula: Formula | null;
  /**
   * Whether the node's written formula, evaluated on its saved values, gave what the engine returned; where it is false the formula does not apply here and must not be shown. Absent: not evaluated.
   */
  formula_checked?: boolean;
  /**
   * One per operand with a formula, where the numbers are few.
   */
  substitutions?: Substitution[];
  /**
   * One per operand whose vjp is a short list of moves that make what the step returned.
   */
  moves?: VjpMoves[];
  call?: CallFormula;
  /**
   * One per operand and output through which a gradient came.
   */
  local_jacobians: LocalJacobian[];
}
/**
 * A backward pass is over.
 */
export interface PassFinished {
  /**
   * The pass, counted from 0 among those that are recorded.
   */
  pass: number;
  seq: number;
  type: "pass_finished";
  /**
   * Of every leaf that the program has a name for.
   */
  leaf_grads: LeafGrad[];
  /**
   * What a `grad` call returned, in the order of its inputs.
   */
  results?: Gradient[];
  /**
   * Positions in `results` at which nothing arrived and `materialize_grads=True` made zeros.
   */
  materialized?: number[];
  /**
   * In a fixed order: of values going forward, of custom backwards, of gradients, of relus, of second derivatives,
   * of silent mistakes.
   */
  findings?: Finding[];
}
/**
 * `.grad` of a named leaf after a pass.
 */
export interface LeafGrad {
  /**
   * The variable's name.
   */
  leaf: string;
  grad: Gradient;
  /**
   * The program looks at this `.grad`.
   */
  is_read?: true;
}
/**
 * Something in the numbers of a pass that a person should look at.
 */
export interface Finding {
  /**
   * What was looked for.
   */
  kind:
    | "first_non_finite"
    | "overflow"
    | "vanishing"
    | "exploding"
    | "dead_relu"
    | "cut_derivative"
    | "wrong_backward"
    | "behind_autograd"
    | "written_gradient"
    | "no_zero_grad"
    | "broadcast"
    | "rebuilt"
    | "loss_input"
    | "overlooked";
  /**
   * Where it shows.
   */
  node: string | null;
  /**
   * Index of the step at which it shows; null where the node did not run.
   */
  step: number | null;
  /**
   * Where the program says so; null where no line of it does.
   */
  span: Span | null;
  /**
   * The node's group.
   */
  group: string | null;
  fact: Fact;
  used_at?: Span;
}
/**
 * Passes that ran without being recorded: `first`, `first + 1`, and so on. Each can be asked for by its number.
 */
export interface Unrecorded {
  seq: number;
  type: "unrecorded";
  /**
   * The number of the first of them, among all that ran.
   */
  first: number;
  /**
   * The places that started them.
   */
  calls: UnrecordedCall[];
  /**
   * Per pass, its position in `calls`.
   */
  of: number[];
  /**
   * Per pass, the number that it started from; null where that was no single real number.
   */
  outputs: (number | ("NaN" | "Infinity" | "-Infinity") | null)[];
  /**
   * Per pass, the Euclidean norm of each leaf's `.grad` after it, in six digits; null where there is none.
   */
  norms: (number | ("NaN" | "Infinity" | "-Infinity") | null)[][];
  between: BetweenPasses;
}
/**
 * A place in the program that starts passes.
 */
export interface UnrecordedCall {
  call: Call;
  /**
   * Where the program says so; null where no line of it does.
   */
  span: Span | null;
  /**
   * What the program calls the tensor it starts from.
   */
  output: string | null;
  /**
   * Those whose gradients were measured.
   */
  leaves: string[];
}
/**
 * Before which passes leaves were written to, and before which their gradients were cleared; by number.
 */
export interface BetweenPasses {
  /**
   * Leaves were written to before these.
   */
  step: number[];
  /**
   * `.grad` became None or zero before these.
   */
  zero_grad: number[];
}
/**
 * Something a person can see and mend. The events before it stay valid.
 */
export interface Problem {
  /**
   * The pass, counted from 0 among those that are recorded.
   */
  pass?: number;
  seq: number;
  type: "problem";
  kind: ProblemKind;
  fact: Fact;
  /**
   * Where the program says so; null where no line of it does.
   */
  span: Span | null;
  /**
   * What Python or PyTorch said itself, verbatim, where it adds something.
   */
  words?: string;
  /**
   * A node of the pass's graph, by its id.
   */
  node?: string;
  graph?: Graph;
  failed?: FailedCall;
  /**
   * A line that could stand at the end of the program, where that would run.
   */
  addition?: string;
}
/**
 * The torch call that raised.
 */
export interface FailedCall {
  /**
   * torch's name for it.
   */
  op: string;
  /**
   * Where the program says so; null where no line of it does.
   */
  span: Span | null;
  /**
   * In the order of the call.
   */
  operands: FailedOperand[];
}
/**
 * A tensor that was handed to a call that raised.
 */
export interface FailedOperand {
  value: TensorValue;
  /**
   * The node in the problem's graph that made it; null for a constant.
   */
  node: string | null;
  /**
   * 0-based number of a node's output.
   */
  output_nr: number;
}
/**
 * The last event of a whole trace.
 */
export interface Finished {
  seq: number;
  type: "finished";
  /**
   * Those that are recorded.
   */
  passes: number;
  /**
   * Over all of them.
   */
  steps: number;
  /**
   * Without those that the program coped with.
   */
  problems: number;
  /**
   * The name of the limit that cut the trace short.
   */
  truncated: string | null;
  /**
   * How many passes ran besides, where any did.
   */
  unrecorded?: number;
  /**
   * As those of `PassStarted`, where no pass followed that could have told them.
   */
  notes?: Fact[];
  /**
   * `seq` of the problems whose errors the program caught: it went on after them.
   */
  caught?: number[];
  /**
   * In the order of `seq`.
   */
  repeated_warnings?: RepeatedWarning[];
}
/**
 * A warning that was given more than once.
 */
export interface RepeatedWarning {
  /**
   * Of its event.
   */
  seq: number;
  /**
   * How often in all.
   */
  count: number;
}
/**
 * An entry of the analytic Jacobian that is not what finite differences give.
 */
export interface GradcheckCell {
  /**
   * Of the flattened output, row-major.
   */
  row: number;
  /**
   * Of the flattened operand.
   */
  column: number;
  analytic: Real;
  numeric: Real;
}
/**
 * An entry where the function has a corner, a jump or the edge of its domain: there is no derivative to compare.
 */
export interface GradcheckKink {
  row: number;
  column: number;
  analytic: Real;
  left: Real;
  right: Real;
  at: Real;
}
/**
 * An analytic Jacobian beside finite differences, in double precision.
 *
 * An entry is right when |analytic - numeric| <= `absolute_tolerance` + `relative_tolerance` * |numeric|, plus what
 * the rounding of the differences themselves can amount to. At a kink any value between the one-sided slopes passes.
 */
export interface GradcheckReport {
  /**
   * Of the operand, or of the leaf.
   */
  name: string;
  /**
   * Null for the whole program.
   */
  argnum: number | null;
  output_nr: number | null;
  verdict: "agrees" | "differs" | "not_differentiable" | "unavailable";
  because: Fact;
  /**
   * Complex sides have a last axis of 2, as in local Jacobians. Empty for the whole program: there the one row is
   * v times the Jacobian of the outputs, which is what a backward pass computes.
   */
  output_shape: number[];
  input_shape: number[];
  /**
   * Of shape output shape + operand shape; null where the verdict is `unavailable`.
   */
  analytic: TensorValue | null;
  numeric: TensorValue | null;
  /**
   * How far an entry is moved to either side, times its own magnitude where that is above 1.
   */
  step_size: number;
  absolute_tolerance: number;
  relative_tolerance: number;
  wrong: GradcheckCell[];
  kinks: GradcheckKink[];
}

/** Where values stand, by type and field: "" for a value, else the type that holds some. On the wire a number stands there. */
export const VALUE_PLACES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Missing": {
    "dropped": ""
  },
  "Operand": {
    "value": "",
    "missing": "Missing"
  },
  "Output": {
    "value": ""
  },
  "Node": {
    "inputs": "Operand",
    "outputs": "Output",
    "saved": "SavedTensor",
    "inside": "InnerOp"
  },
  "CallOperand": {
    "value": ""
  },
  "GroupCall": {
    "operands": "CallOperand"
  },
  "Group": {
    "call": "GroupCall"
  },
  "Graph": {
    "nodes": "Node",
    "groups": "Group"
  },
  "SavedTensor": {
    "value": "",
    "was": ""
  },
  "InnerOp": {
    "inputs": "",
    "outputs": "",
    "inside": "InnerOp"
  },
  "Differences": {
    "value": ""
  },
  "LocalJacobian": {
    "value": "",
    "differences": "Differences"
  },
  "MoveSource": {
    "value": ""
  },
  "Move": {
    "of": "MoveSource",
    "value": ""
  },
  "VjpMoves": {
    "moves": "Move"
  },
  "CallFormula": {
    "moves": "VjpMoves"
  },
  "Input": {
    "value": ""
  },
  "Started": {
    "inputs": "Input"
  },
  "PassOutput": {
    "seed": "",
    "cast": ""
  },
  "Tangent": {
    "value": ""
  },
  "PassStarted": {
    "outputs": "PassOutput",
    "graph": "Graph",
    "tangents": "Tangent"
  },
  "NodeValues": {
    "inputs": "",
    "outputs": "",
    "saved": "SavedTensor",
    "inside": "InnerOp"
  },
  "Forward": {
    "nodes": "NodeValues"
  },
  "Contribution": {
    "value": ""
  },
  "GradientChange": {
    "before": "",
    "after": ""
  },
  "Accumulate": {
    "before": "",
    "after": "",
    "changes": "GradientChange"
  },
  "HookChange": {
    "before": "",
    "after": ""
  },
  "ReturnedChange": {
    "before": "",
    "after": ""
  },
  "Step": {
    "grad_outputs": "",
    "contributions": "Contribution",
    "grad_inputs": "",
    "local_jacobians": "LocalJacobian",
    "accumulate": "Accumulate",
    "hooks": "HookChange",
    "changes": "ReturnedChange",
    "inside": "InnerOp",
    "moves": "VjpMoves",
    "call": "CallFormula"
  },
  "Explanation": {
    "moves": "VjpMoves",
    "call": "CallFormula",
    "local_jacobians": "LocalJacobian"
  },
  "Explained": {
    "nodes": "Explanation"
  },
  "LeafGrad": {
    "grad": ""
  },
  "PassFinished": {
    "leaf_grads": "LeafGrad",
    "results": ""
  },
  "FailedOperand": {
    "value": ""
  },
  "FailedCall": {
    "operands": "FailedOperand"
  },
  "Problem": {
    "graph": "Graph",
    "failed": "FailedCall"
  }
};

/** What stands in a field that is left out on the wire, by type and field. */
export const DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "Operand": {
    "value": null
  },
  "Output": {
    "value": null,
    "name": null
  },
  "Node": {
    "kind": "op",
    "span": null,
    "group": null,
    "output_count": 1,
    "saved": [],
    "formula": null,
    "sequence_nr": null
  },
  "SavedTensor": {
    "value": null,
    "version": null,
    "is_input": false,
    "is_output": false
  },
  "Step": {
    "local_jacobians": [],
    "accumulate": null
  },
  "Explanation": {
    "formula": null,
    "local_jacobians": []
  }
};

/** The name of each event's type. */
export const EVENT_DEFINITIONS: Readonly<Record<Event["type"], string>> = {
  "started": "Started",
  "stdout": "Stdout",
  "warning": "Warned",
  "pass_started": "PassStarted",
  "forward": "Forward",
  "step": "Step",
  "explained": "Explained",
  "pass_finished": "PassFinished",
  "unrecorded": "Unrecorded",
  "problem": "Problem",
  "finished": "Finished"
};
