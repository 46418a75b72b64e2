"""The union of trace events; the one place where an event type is declared.

A trace is a list of these in the order of `seq`. Nothing in an event depends on the clock, on memory
addresses or on ids of the operating system: same source, options and versions give the same bytes.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from gradwalk.protocol.facts import Fact
from gradwalk.protocol.graph import (
    Argnum,
    Formula,
    Graph,
    InnerOp,
    NodeId,
    OutputNr,
    PassIndex,
    SavedTensor,
    Span,
    Where,
)
from gradwalk.protocol.moves import VjpMoves
from gradwalk.protocol.numbers import STRICT, Real
from gradwalk.protocol.values import Gradient, OnDemand, Structure, TensorValue

ProblemKind = Literal[
    "syntax",
    "rejected",
    "error",
    "timeout",
    "memory",
    "too_big",
    "crashed",
    "forbidden",
    "not_differentiable",
    "protocol",
    "busy",
    "internal",
]
Call = Literal["backward", "grad", "implicit"]
Between = Literal["step", "zero_grad"]
"""What was done to leaves between two passes: they were written to, or their `.grad` became None or zero."""


@with_config(STRICT)
class Versions(TypedDict):
    """Of everything that can change a number or a node."""

    gradwalk: str
    """A trace of another version is not the same trace."""
    torch: str


@with_config(STRICT)
class Input(TypedDict):
    """A free variable of the program: it is set from `options.inputs`, or to a default."""

    name: str
    """Its key in `options.inputs`."""
    value: TensorValue
    """What it was set to."""


DirectionKind = Literal["note", "break", "hide", "focus", "predict"]


@with_config(STRICT)
class DirectingComment(TypedDict):
    """A comment in the program that directs the lecture: `#@ note text`."""

    kind: DirectionKind
    """What it asks the player for."""
    text: str
    """What follows the kind, stripped."""
    line: int
    """1-based line of the comment; it speaks of this line or, where there is no code on it, of the next with code."""


@with_config(STRICT)
class Started(TypedDict):
    """The document's header fields."""

    seq: int
    type: Literal["started"]
    format: int
    """2."""
    id: str
    """The trace's address: a hash of source, options and versions."""
    source: str
    """The program, with LF endings."""
    options: dict[str, Any]
    """As asked for, defaults spelled out."""
    versions: Versions
    inputs: NotRequired[list[Input]]
    """The free variables, in the order of their first use."""
    directions: NotRequired[list[DirectingComment]]
    """In the order of their lines; absent where the program has none."""


@with_config(STRICT)
class Stdout(TypedDict):
    """What the program printed, in its place in the order."""

    seq: int
    type: Literal["stdout"]
    text: str
    """As much as came between two other events."""


@with_config(STRICT)
class Warned(TypedDict):
    """What PyTorch or the program warned of, in its place in the order; once for each category, text and line."""

    seq: int
    type: Literal["warning"]
    category: str
    """The class's name: `UserWarning`."""
    text: str
    """Its own words."""
    span: Span | None
    """What the program was doing."""


@with_config(STRICT)
class PassOutput(TypedDict):
    """Where a pass starts; the same slot may be listed twice."""

    node: NodeId
    output_nr: OutputNr
    name: str | None
    """What the program calls the tensor."""
    seed: Gradient
    """The external gradient v."""
    seed_requires_grad: NotRequired[Literal[True]]
    """v is itself a part of a graph, so no other can take its place."""
    cast: NotRequired[TensorValue]
    """What the engine made of v where its dtype is not the output's; this is the contribution to the sum."""


@with_config(STRICT)
class PassInput(TypedDict):
    """What a `grad` call (or `backward(inputs=...)`) asks for."""

    node: str | None
    """Null when nothing in this graph leads there."""
    output_nr: OutputNr
    name: str | None
    """What the program calls the tensor."""


@with_config(STRICT)
class Tangent(TypedDict):
    """The direction in which forward mode pushed a leaf."""

    node: NodeId
    value: TensorValue | None
    """Null where there was no room for it."""


_OfPass = TypedDict("_OfPass", {"pass": PassIndex})
_MayBeOfPass = TypedDict("_MayBeOfPass", {"pass": NotRequired[PassIndex]})


@with_config(STRICT)
class PassStarted(_OfPass):
    """A backward pass begins."""

    seq: int
    type: Literal["pass_started"]
    call: Call
    """`implicit`: the program started no pass, so the page did."""
    span: Where
    outputs: list[PassOutput]
    """Where it starts, in the order of the call."""
    inputs: list[PassInput]
    """What it is asked for; empty: every leaf."""
    create_graph: bool
    """Whether the pass builds a graph of its own."""
    graph: Graph
    """What it can reach, without values, which `forward` brings."""
    number: NotRequired[int]
    """Among all passes that ran, where it is not `pass`."""
    between: NotRequired[list[Between]]
    """What was done to leaves since the pass before."""
    parent: NotRequired[int]
    """The pass in which this one is nested."""
    batch: NotRequired[int]
    """The m of m stacked v's (`is_grads_batched`)."""
    examples: NotRequired[list[int]]
    """Batch sizes of torch.func's vmap, outermost first, where the outputs are batched as well: values and gradients
    have them as their first axes, and each example has local Jacobians of its own."""
    notes: NotRequired[list[Fact]]
    """What ran before it and is worth knowing, though nothing is wrong."""
    tangents: NotRequired[list[Tangent]]
    """Where the program pushed tangents forward through the same function, and started no pass itself."""


@with_config(STRICT)
class Contribution(TypedDict):
    """One summand of a grad_output."""

    output_nr: OutputNr
    edge: str
    """The edge it came along, or `seed`."""
    from_step: int | None
    """Index of the step that returned it, null for the seed."""
    value: Gradient
    """What arrived along it."""


@with_config(STRICT)
class Batch(TypedDict):
    """What a local Jacobian does with the first axis of the output, which counts examples."""

    kind: Literal["block_diagonal", "sum"]
    """`block_diagonal`: row i of the output depends on row i of the operand only. `sum`: all rows share the operand,
    so v J adds up one product per row."""
    size: int
    """How many rows."""


@with_config(STRICT)
class Differences(TypedDict):
    """The Jacobian that a custom backward computes, beside central differences of its forward in double precision."""

    verdict: Literal["agrees", "differs", "not_differentiable", "raised"]
    """`not_differentiable`: at a corner or a jump, where any slope between the one-sided ones is as good. `raised`: so
    did backward, and the local Jacobian itself is that of the differences."""
    value: NotRequired[TensorValue]
    """Only where it differs: the Jacobian by finite differences, of the same shape."""
    because: NotRequired[Fact]
    """Only where it differs: how."""


@with_config(STRICT)
class LocalJacobian(TypedDict):
    """d output / d operand at this node's forward values; dense shape is output shape then input shape."""

    argnum: Argnum
    output_nr: OutputNr
    structure: Structure | None
    """Null while `value` is on demand."""
    value: TensorValue | OnDemand
    """Of shape `output_shape` then `input_shape`."""
    output_shape: list[int]
    """Of one output, without the examples of a vmap."""
    input_shape: list[int]
    """Of the operand."""
    batch: NotRequired[Batch]
    """Only where `value` is computed and the first axis of the output is a batch."""
    checked: NotRequired[bool]
    """True: v times this Jacobian reproduced the returned gradient."""
    nan_products: NotRequired[list[int]]
    """Flat positions in the operand at which v is 0 and the slope infinite: the returned NaN is 0 times infinity."""
    differences: NotRequired[Differences]
    """Only for a custom Function, whose backward may be anything, where finding out costs little. Absent: unknown."""


HookKind = Literal["tensor_hook", "node_prehook", "node_hook", "module_hook", "post_accumulate_hook", "shared_write"]
"""`shared_write` is none: the gradient shares its memory with one that a hook or a custom backward wrote into."""
ChangeKind = HookKind | Literal["sum_to_size", "cast"]


@with_config(STRICT)
class GradientChange(TypedDict):
    """A hook of the program's made another gradient of one."""

    kind: HookKind
    """How it was registered."""
    before: Gradient
    """What it was given."""
    after: Gradient
    """What it made of that."""
    span: Span | None
    """Where the hook was registered; of a module's hooks, the first."""


@with_config(STRICT)
class Accumulate(TypedDict):
    """What an AccumulateGrad node did to `.grad`."""

    leaf: str
    """The variable's name."""
    before: Gradient
    """`.grad` until then."""
    after: Gradient
    """After the hooks that run after accumulation."""
    changes: NotRequired[list[GradientChange]]
    """What each of those hooks made of `.grad`, in order."""


@with_config(STRICT)
class HookChange(TypedDict):
    """A hook of the program's rewrote a gradient before the node saw it."""

    output_nr: OutputNr
    before: Gradient
    """What it was given."""
    after: Gradient
    """What the node then saw."""
    span: Where
    kind: NotRequired[HookKind]
    """Absent in traces that older versions made."""


@with_config(STRICT)
class ReturnedChange(TypedDict):
    """What became of a gradient after the rule had returned it."""

    argnum: Argnum
    kind: ChangeKind
    """`sum_to_size` and `cast` are the engine's: it sums what was broadcast, and casts to the operand's dtype."""
    before: Gradient
    """Of an operand's first change: what the rule returned."""
    after: Gradient
    """What became of it."""
    span: Where


@with_config(STRICT)
class Substitution(TypedDict):
    """One operand's vjp in three stages, as LaTeX."""

    argnum: Argnum
    symbols: str
    """The vjp as its formula has it."""
    with_v: str
    """grad_output filled in."""
    with_numbers: str
    """All numbers filled in, ending in what the engine returned."""


FormulaChecked = Annotated[
    bool,
    Field(
        description="Whether the node's written formula, evaluated on its saved values, gave what the engine returned; "
        "where it is false the formula does not apply here and must not be shown. Absent: not evaluated."
    ),
]


@with_config(STRICT)
class NodeValues(TypedDict):
    """What the forward pass put into a node, in the order of the node's own lists."""

    node: NodeId
    inputs: list[TensorValue | None]
    """Of its operands; null: not observed."""
    outputs: list[TensorValue | None]
    saved: list[SavedTensor]
    inside: NotRequired[list[InnerOp]]
    """Only of a custom Function: what its forward did."""


@with_config(STRICT)
class Forward(_OfPass):
    """Values of nodes whose places in the graph `pass_started` told: whoever reads a trace puts them there."""

    seq: int
    type: Literal["forward"]
    nodes: list[NodeValues]


@with_config(STRICT)
class CallFormula(TypedDict):
    """The mathematics of a call that built several nodes, told with the step of the one that computes.

    `argnum` counts the operands of the call; v is what arrived at its output."""

    formula: Formula
    """Evaluated with the values at the borders of the call, it gave what the engine returned there."""
    substitutions: NotRequired[list[Substitution]]
    moves: NotRequired[list[VjpMoves]]


@with_config(STRICT)
class Explanation(TypedDict):
    """The mathematics of a node, and of one of its steps with its numbers."""

    node: NodeId
    step: int | None
    """Index of the step; null for a node that did not run."""
    formula: Annotated[Formula | None, Field(default=None)]
    """Null where the node has none, or has it already."""
    formula_checked: NotRequired[FormulaChecked]
    substitutions: NotRequired[list[Substitution]]
    """One per operand with a formula, where the numbers are few."""
    moves: NotRequired[list[VjpMoves]]
    """One per operand whose vjp is a short list of moves that make what the step returned."""
    call: NotRequired[CallFormula]
    """Of the call that the node computes, where the formula holds."""
    local_jacobians: Annotated[list[LocalJacobian], Field(default=[])]
    """One per operand and output through which a gradient came."""


@with_config(STRICT)
class Explained(_OfPass):
    """What is not needed to show what happened, and takes longest: whoever reads a trace puts it into node and step."""

    seq: int
    type: Literal["explained"]
    nodes: list[Explanation]


@with_config(STRICT)
class Step(_OfPass):
    """One executed autograd node, or the one that raised: its grad_inputs are `not_computed`."""

    seq: int
    type: Literal["step"]
    index: int
    """Over the whole trace, from 0."""
    node: NodeId
    grad_outputs: list[Gradient]
    """v: what the engine handed to the node, one for each output, summed."""
    contributions: list[Contribution]
    """The summands of these, in the order in which they arrived."""
    grad_inputs: list[Gradient]
    """v times J: what was sent on, one for each operand."""
    local_jacobians: Annotated[list[LocalJacobian], Field(default=[])]
    """Told by `explained`; empty until then."""
    accumulate: Annotated[Accumulate | None, Field(default=None)]
    """Only at a leaf."""
    hooks: NotRequired[list[HookChange]]
    """What each hook made of a sum of contributions before the node saw it."""
    changes: NotRequired[list[ReturnedChange]]
    """What became, in order, of what the rule returned. v times J is compared with what the rule returned,
    `grad_inputs` is what was sent on."""
    inside: NotRequired[list[InnerOp]]
    """Only of a custom Function: what its backward did."""
    formula_checked: NotRequired[FormulaChecked]
    substitutions: NotRequired[list[Substitution]]
    """Told by `explained`."""
    moves: NotRequired[list[VjpMoves]]
    """Told by `explained`."""
    call: NotRequired[CallFormula]
    """Told by `explained`."""


@with_config(STRICT)
class LeafGrad(TypedDict):
    """`.grad` of a named leaf after a pass."""

    leaf: str
    """The variable's name."""
    grad: Gradient
    """As it is then, or why there is none."""
    is_read: NotRequired[Literal[True]]
    """The program looks at this `.grad`."""


FindingKind = Literal[
    "first_non_finite",
    "overflow",
    "vanishing",
    "exploding",
    "dead_relu",
    "cut_derivative",
    "wrong_backward",
    "behind_autograd",
    "written_gradient",
    "no_zero_grad",
    "broadcast",
    "rebuilt",
    "loss_input",
    "overlooked",
]


@with_config(STRICT)
class Finding(TypedDict):
    """Something in the numbers of a pass that a person should look at."""

    kind: FindingKind
    """What was looked for."""
    node: str | None
    """Where it shows."""
    step: int | None
    """Index of the step at which it shows; null where the node did not run."""
    span: Where
    group: str | None
    """The node's group."""
    fact: Fact
    """Its title names the kind, its hint says what to write instead."""
    used_at: NotRequired[Span]
    """Only `cut_derivative`: where backward uses what forward saved at `span`."""


@with_config(STRICT)
class PassFinished(_OfPass):
    """A backward pass is over."""

    seq: int
    type: Literal["pass_finished"]
    leaf_grads: list[LeafGrad]
    """Of every leaf that the program has a name for."""
    results: NotRequired[list[Gradient]]
    """What a `grad` call returned, in the order of its inputs."""
    materialized: NotRequired[list[int]]
    """Positions in `results` at which nothing arrived and `materialize_grads=True` made zeros."""
    findings: NotRequired[list[Finding]]
    """In a fixed order: of values going forward, of custom backwards, of gradients, of relus, of second derivatives,
    of silent mistakes."""


@with_config(STRICT)
class UnrecordedCall(TypedDict):
    """A place in the program that starts passes."""

    call: Call
    """`backward` or `grad`."""
    span: Where
    output: str | None
    """What the program calls the tensor it starts from."""
    leaves: list[str]
    """Those whose gradients were measured."""


@with_config(STRICT)
class BetweenPasses(TypedDict):
    """Before which passes leaves were written to, and before which their gradients were cleared; by number."""

    step: list[int]
    """Leaves were written to before these."""
    zero_grad: list[int]
    """`.grad` became None or zero before these."""


@with_config(STRICT)
class Unrecorded(TypedDict):
    """Passes that ran without being recorded: `first`, `first + 1`, and so on. Each can be asked for by its number."""

    seq: int
    type: Literal["unrecorded"]
    first: int
    """The number of the first of them, among all that ran."""
    calls: list[UnrecordedCall]
    """The places that started them."""
    of: list[int]
    """Per pass, its position in `calls`."""
    outputs: list[Real | None]
    """Per pass, the number that it started from; null where that was no single real number."""
    norms: list[list[Real | None]]
    """Per pass, the Euclidean norm of each leaf's `.grad` after it, in six digits; null where there is none."""
    between: BetweenPasses


@with_config(STRICT)
class FailedOperand(TypedDict):
    """A tensor that was handed to a call that raised."""

    value: TensorValue
    """What it held."""
    node: str | None
    """The node in the problem's graph that made it; null for a constant."""
    output_nr: OutputNr


@with_config(STRICT)
class FailedCall(TypedDict):
    """The torch call that raised."""

    op: str
    """torch's name for it."""
    span: Where
    operands: list[FailedOperand]
    """In the order of the call."""


@with_config(STRICT)
class Problem(_MayBeOfPass):
    """Something a person can see and mend. The events before it stay valid."""

    seq: int
    type: Literal["problem"]
    kind: ProblemKind
    """`internal` is our own fault; the others are not."""
    fact: Fact
    """Its message has a title, and a hint where there is something to try."""
    span: Where
    words: NotRequired[str]
    """What Python or PyTorch said itself, verbatim, where it adds something."""
    node: NotRequired[NodeId]
    graph: NotRequired[Graph]
    """Where the program raised outside a pass: what leads to every differentiable tensor that was alive then."""
    failed: NotRequired[FailedCall]
    """The torch call that raised, if it was one."""
    addition: NotRequired[str]
    """A line that could stand at the end of the program, where that would run."""


@with_config(STRICT)
class RepeatedWarning(TypedDict):
    """A warning that was given more than once."""

    seq: int
    """Of its event."""
    count: int
    """How often in all."""


@with_config(STRICT)
class Finished(TypedDict):
    """The last event of a whole trace."""

    seq: int
    type: Literal["finished"]
    passes: int
    """Those that are recorded."""
    steps: int
    """Over all of them."""
    problems: int
    """Without those that the program coped with."""
    truncated: str | None
    """The name of the limit that cut the trace short."""
    unrecorded: NotRequired[int]
    """How many passes ran besides, where any did."""
    notes: NotRequired[list[Fact]]
    """As those of `PassStarted`, where no pass followed that could have told them."""
    caught: NotRequired[list[int]]
    """`seq` of the problems whose errors the program caught: it went on after them."""
    repeated_warnings: NotRequired[list[RepeatedWarning]]
    """In the order of `seq`."""


Event = Annotated[
    Started
    | Stdout
    | Warned
    | PassStarted
    | Forward
    | Step
    | Explained
    | PassFinished
    | Unrecorded
    | Problem
    | Finished,
    Field(discriminator="type"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)
