"""The union of trace events; the one place where an event type is declared.

A trace is a list of these in the order of `seq`. Nothing in an event depends on the clock, on memory
addresses or on ids of the operating system: same source, options and versions give the same bytes.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from gradwalk.protocol.facts import Fact
from gradwalk.protocol.graph import Formula, Graph, InnerOp, SavedTensor, Span
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
    torch: str


@with_config(STRICT)
class Input(TypedDict):
    """A free variable of the program: it is set from `options.inputs`, or to a default."""

    name: str
    value: TensorValue


DirectionKind = Literal["note", "break", "hide", "focus", "predict"]


@with_config(STRICT)
class DirectingComment(TypedDict):
    """A comment in the program that directs the lecture: `#@ note text`."""

    kind: DirectionKind
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
    id: str
    source: str
    options: dict[str, Any]
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


@with_config(STRICT)
class Warned(TypedDict):
    """What PyTorch or the program warned of, in its place in the order; once for each category, text and line."""

    seq: int
    type: Literal["warning"]
    category: str
    """The class's name: `UserWarning`."""
    text: str
    span: Span | None
    """What the program was doing."""


@with_config(STRICT)
class PassOutput(TypedDict):
    """Where a pass starts; the same slot may be listed twice."""

    node: str
    output_nr: int
    name: str | None
    seed: Gradient
    """The external gradient v."""
    cast: NotRequired[TensorValue]
    """What the engine made of v where its dtype is not the output's; this is the contribution to the sum."""


@with_config(STRICT)
class PassInput(TypedDict):
    """What a `grad` call (or `backward(inputs=...)`) asks for."""

    node: str | None
    """Null when nothing in this graph leads there."""
    output_nr: int
    name: str | None


_PassStarted = TypedDict(
    "_PassStarted",
    {
        "seq": int,
        "type": Literal["pass_started"],
        "pass": int,
        "call": Call,
        "span": Span | None,
        "outputs": list[PassOutput],
        "inputs": list[PassInput],
        "create_graph": bool,
        "graph": Graph,
        "number": NotRequired[int],
        "between": NotRequired[list[Between]],
        "parent": NotRequired[int],
        "batch": NotRequired[int],
        "examples": NotRequired[list[int]],
        "notes": NotRequired[list[Fact]],
    },
)


@with_config(STRICT)
class PassStarted(_PassStarted):
    """A backward pass begins. `pass` counts those that are recorded, from 0; `number` counts all that ran, absent where
    it is the same. `between` says what was done to leaves since the pass before, absent where nothing was.

    `parent` names the pass in which a nested one runs; `batch` is the m of m stacked v's.

    `examples` are the batch sizes of torch.func's vmap, outermost first, where the outputs are batched as well:
    values and gradients have them as their first axes, and each example has local Jacobians of its own.

    `notes` tell what ran before it and is worth knowing, though nothing is wrong.
    """


@with_config(STRICT)
class Contribution(TypedDict):
    """One summand of a grad_output."""

    output_nr: int
    edge: str
    """The edge it came along, or `seed`."""
    from_step: int | None
    """Index of the step that returned it, null for the seed."""
    value: Gradient


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

    verdict: Literal["agrees", "differs", "not_differentiable"]
    """`not_differentiable`: at a corner or a jump, where any slope between the one-sided ones is as good."""
    value: NotRequired[TensorValue]
    """Only where it differs: the Jacobian by finite differences, of the same shape."""
    because: NotRequired[Fact]
    """Only where it differs: how."""


@with_config(STRICT)
class LocalJacobian(TypedDict):
    """d output / d operand at this node's forward values; dense shape is output shape then input shape."""

    argnum: int
    output_nr: int
    structure: Structure | None
    """Null while `value` is on demand."""
    value: TensorValue | OnDemand
    output_shape: list[int]
    input_shape: list[int]
    batch: NotRequired[Batch]
    """Only where `value` is computed and the first axis of the output is a batch."""
    checked: NotRequired[bool]
    """True: v times this Jacobian reproduced the returned gradient."""
    nan_products: NotRequired[list[int]]
    """Flat positions in the operand at which v is 0 and the slope infinite: the returned NaN is 0 times infinity."""
    differences: NotRequired[Differences]
    """Only for a custom Function, whose backward may be anything, where finding out costs little. Absent: unknown."""


HookKind = Literal["tensor_hook", "node_prehook", "node_hook", "module_hook", "post_accumulate_hook"]
ChangeKind = HookKind | Literal["sum_to_size", "cast"]


@with_config(STRICT)
class GradientChange(TypedDict):
    """A hook of the program's made another gradient of one."""

    kind: HookKind
    before: Gradient
    after: Gradient
    span: Span | None
    """Where the hook was registered; of a module's hooks, the first."""


@with_config(STRICT)
class Accumulate(TypedDict):
    """What an AccumulateGrad node did to `.grad`."""

    leaf: str
    before: Gradient
    after: Gradient
    """After the hooks that run after accumulation."""
    changes: NotRequired[list[GradientChange]]
    """What each of those hooks made of `.grad`, in order."""


@with_config(STRICT)
class HookChange(TypedDict):
    """A hook of the program's rewrote a gradient before the node saw it."""

    output_nr: int
    before: Gradient
    after: Gradient
    span: Span | None
    kind: NotRequired[HookKind]
    """Absent in traces that older versions made."""


@with_config(STRICT)
class ReturnedChange(TypedDict):
    """What became of a gradient after the rule had returned it."""

    argnum: int
    kind: ChangeKind
    """`sum_to_size` and `cast` are the engine's: it sums what was broadcast, and casts to the operand's dtype."""
    before: Gradient
    after: Gradient
    span: Span | None


@with_config(STRICT)
class Substitution(TypedDict):
    """One operand's vjp in three stages, as LaTeX."""

    argnum: int
    symbols: str
    with_v: str
    """grad_output filled in."""
    with_numbers: str
    """All numbers filled in, ending in what the engine returned."""


@with_config(STRICT)
class NodeValues(TypedDict):
    """What the forward pass put into a node, in the order of the node's own lists."""

    node: str
    inputs: list[TensorValue | None]
    outputs: list[TensorValue | None]
    saved: list[SavedTensor]
    inside: NotRequired[list[InnerOp]]


_Forward = TypedDict(
    "_Forward",
    {"seq": int, "type": Literal["forward"], "pass": int, "nodes": list[NodeValues]},
)


@with_config(STRICT)
class Forward(_Forward):
    """Values of nodes whose places in the graph `pass_started` told: whoever reads a trace puts them there."""


@with_config(STRICT)
class Explanation(TypedDict):
    """The mathematics of a node, and of one of its steps with its numbers."""

    node: str
    step: int | None
    """Index of the step; null for a node that did not run."""
    formula: Annotated[Formula | None, Field(default=None)]
    formula_checked: NotRequired[bool]
    substitutions: NotRequired[list[Substitution]]
    local_jacobians: Annotated[list[LocalJacobian], Field(default=[])]


_Explained = TypedDict(
    "_Explained",
    {"seq": int, "type": Literal["explained"], "pass": int, "nodes": list[Explanation]},
)


@with_config(STRICT)
class Explained(_Explained):
    """What is not needed to show what happened, and takes longest: whoever reads a trace puts it into node and step."""


_Step = TypedDict(
    "_Step",
    {
        "seq": int,
        "type": Literal["step"],
        "pass": int,
        "index": int,
        "node": str,
        "grad_outputs": list[Gradient],
        "contributions": list[Contribution],
        "grad_inputs": list[Gradient],
        "local_jacobians": Annotated[list[LocalJacobian], Field(default=[])],
        "accumulate": Annotated[Accumulate | None, Field(default=None)],
        "hooks": NotRequired[list[HookChange]],
        "changes": NotRequired[list[ReturnedChange]],
        "inside": NotRequired[list[InnerOp]],
        "formula_checked": NotRequired[bool],
        "substitutions": NotRequired[list[Substitution]],
    },
)


@with_config(STRICT)
class Step(_Step):
    """One executed autograd node. `index` counts over the whole trace, from 0.

    `hooks` tell what each hook made of a sum of contributions before the node saw it as grad_output. `changes` tell,
    in order, what became of what the rule returned: `before` of an operand's first change is what the rule returned,
    `grad_inputs` is what was sent on. v times J is compared with what the rule returned.

    `formula_checked` tells whether the node's written formula, evaluated on its saved values, gave what the engine
    returned; where it is false the formula does not apply here and must not be shown. Absent: not evaluated.
    """


@with_config(STRICT)
class LeafGrad(TypedDict):
    """`.grad` of a named leaf after a pass."""

    leaf: str
    grad: Gradient
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
    "no_zero_grad",
    "broadcast",
    "rebuilt",
]


@with_config(STRICT)
class Finding(TypedDict):
    """Something in the numbers of a pass that a person should look at."""

    kind: FindingKind
    node: str | None
    step: int | None
    """Index of the step at which it shows; null where the node did not run."""
    span: Span | None
    group: str | None
    """The node's group."""
    fact: Fact
    """Its title names the kind, its hint says what to write instead."""
    used_at: NotRequired[Span]
    """Only `cut_derivative`: where backward uses what forward saved at `span`."""


_PassFinished = TypedDict(
    "_PassFinished",
    {
        "seq": int,
        "type": Literal["pass_finished"],
        "pass": int,
        "leaf_grads": list[LeafGrad],
        "results": NotRequired[list[Gradient]],
        "materialized": NotRequired[list[int]],
        "findings": NotRequired[list[Finding]],
    },
)


@with_config(STRICT)
class PassFinished(_PassFinished):
    """A backward pass is over; `results` are what a `grad` call returned, in the order of its inputs.

    `materialized` are the positions in `results` at which nothing arrived and `materialize_grads=True` made zeros.
    `findings` are in a fixed order: of values going forward, of custom backwards, of gradients, of relus, of second
    derivatives, of silent mistakes.
    """


@with_config(STRICT)
class UnrecordedCall(TypedDict):
    """A place in the program that starts passes."""

    call: Call
    span: Span | None
    output: str | None
    """What the program calls the tensor it starts from."""
    leaves: list[str]
    """Those whose gradients were measured."""


@with_config(STRICT)
class BetweenPasses(TypedDict):
    """Before which passes leaves were written to, and before which their gradients were cleared; by number."""

    step: list[int]
    zero_grad: list[int]


@with_config(STRICT)
class Unrecorded(TypedDict):
    """Passes that ran without being recorded: `first`, `first + 1`, and so on. Each can be asked for by its number."""

    seq: int
    type: Literal["unrecorded"]
    first: int
    calls: list[UnrecordedCall]
    of: list[int]
    """Per pass, its position in `calls`."""
    started_from: list[Real | None]
    """Per pass, the number that it started from; null where that was no single real number."""
    norms: list[list[Real | None]]
    """Per pass, the Euclidean norm of each leaf's `.grad` after it, in six digits; null where there is none."""
    between: BetweenPasses


@with_config(STRICT)
class FailedOperand(TypedDict):
    """A tensor that was handed to a call that raised."""

    value: TensorValue
    node: str | None
    """The node in the problem's graph that made it; null for a constant."""
    output_nr: int


@with_config(STRICT)
class FailedCall(TypedDict):
    """The torch call that raised."""

    op: str
    span: Span | None
    operands: list[FailedOperand]


_Problem = TypedDict(
    "_Problem",
    {
        "seq": int,
        "type": Literal["problem"],
        "kind": ProblemKind,
        "fact": Fact,
        "span": Span | None,
        "words": NotRequired[str],
        "pass": NotRequired[int],
        "node": NotRequired[str],
        "graph": NotRequired[Graph],
        "failed": NotRequired[FailedCall],
    },
)


@with_config(STRICT)
class Problem(_Problem):
    """Something a person can see and mend. The events before it stay valid.

    The message of `fact` has a title, and a hint where there is something to try. `words` is what Python or PyTorch
    said itself, verbatim, where it adds something.

    Where the program raised outside a pass, `graph` is what leads to every differentiable tensor that was alive then,
    and `failed` the torch call that raised, if it was one.
    """


@with_config(STRICT)
class RepeatedWarning(TypedDict):
    """A warning that was given more than once."""

    seq: int
    """Of its event."""
    count: int


@with_config(STRICT)
class Finished(TypedDict):
    """The last event of a whole trace."""

    seq: int
    type: Literal["finished"]
    passes: int
    """Those that are recorded."""
    steps: int
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
EVENTS: TypeAdapter[list[Event]] = TypeAdapter(list[Event])
