"""The autograd graph of one backward pass: nodes, edges in operand order, groups.

Edges run from the producer of a forward value to its consumer; gradients flow the other way. They
are a list, never a set: `x * x` has two. Ids are opaque (`n0`, `e0`, `g0`), safe inside DOT, and keep
their meaning over all passes of one trace. Sizes and places are the reader's business.
"""

from typing import Annotated, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from gradwalk.protocol.facts import Fact
from gradwalk.protocol.numbers import STRICT
from gradwalk.protocol.values import Missing, TensorValue

NodeKind = Literal["op", "custom", "accumulate_grad", "view_write", "other"]
GroupKind = Literal["module", "function", "composite"]


@with_config(STRICT)
class Span(TypedDict):
    """A stretch of the program's text."""

    line: int
    """1-based."""
    column: int
    """0-based, in UTF-16 units."""
    end_line: int
    end_column: int
    """Exclusive."""


@with_config(STRICT)
class Operand(TypedDict):
    """One differentiable operand of a node; the position in `inputs` is that of `grad_inputs`."""

    argnum: int
    """0-based position among the node's `next_functions`."""
    name: str
    """The name torch's derivatives table gives it (`self`, `other`), or the forward's parameter name."""
    value: Annotated[TensorValue | None, Field(default=None)]
    """The forward value, null where it could not be observed."""
    source: NotRequired[str]
    """What the program calls it: a variable (`model.0.weight`), else the text that computes it (`x*y`, on one line)
    where it is short, `weight.T` for a transpose inside the call, or the digits of a constant."""
    edge: NotRequired[str]
    missing: NotRequired[Missing]
    """Stands in the place of `edge` when no gradient can flow here."""


@with_config(STRICT)
class Output(TypedDict):
    """One differentiable output of a node."""

    value: Annotated[TensorValue | None, Field(default=None)]
    shape: NotRequired[list[int]]
    """Where the value is known: what a picture needs before it."""
    name: Annotated[str | None, Field(default=None)]
    """The variable the program gave it to, where it gave it to one."""
    source: NotRequired[str]
    """The text that computes it, on one line, where it is an expression of its own and short."""


@with_config(STRICT)
class SavedTensor(TypedDict):
    """What a node keeps for its backward."""

    name: str
    value: Annotated[TensorValue | None, Field(default=None)]
    option: NotRequired[int | float | bool | str | list[int | float | bool | str | None]]
    """What it is where it is no tensor: a number, a flag, sizes."""
    version: Annotated[int | None, Field(default=None)]
    """The tensor's version counter when it was saved, null for what is not a tensor."""
    is_input: Annotated[bool, Field(default=False)]
    is_output: Annotated[bool, Field(default=False)]
    note: NotRequired[Fact]
    """Why there is no value: packed by a hook, already freed, ..."""
    alias_of: NotRequired[str]
    """The variable whose storage this shares."""
    was: NotRequired[TensorValue]
    """What it held in the forward pass, where that is not `value` although its version counter did not move: something
    wrote into it behind autograd's back (`.data`, numpy), and the gradient is silently that of other values."""


@with_config(STRICT)
class VjpLine(TypedDict):
    """The vector-Jacobian product for one operand."""

    argnum: int
    latex: str
    text: str
    because: Fact
    said: NotRequired[str]
    """The text with the program's own texts for all values, however long; `tanh(...)` for what has none. Absent in
    traces of older versions."""
    derivative: NotRequired[str]
    """What v is multiplied by, entry by entry, in the same names; absent where the vjp is no such product."""
    equation: NotRequired[str]
    """The derivative with what it is the derivative of: `d sin(x*y)/d(x*y) = cos(x*y)`; absent where one of both has no
    text in the program."""
    reads: NotRequired[list[str]]
    """The saved tensors that the vjp is computed from, by name; `result` for the node's own."""


UnwrittenReason = Literal[
    "mask_among_indices", "matrix_too_large", "sizes_unknown", "some_scales", "unrolled_in_time", "window"
]
"""Why no exact formula is written for an operand of a node with these options."""


@with_config(STRICT)
class UnwrittenLine(TypedDict):
    """An operand whose vjp has no formula here."""

    argnum: int
    reason: UnwrittenReason


@with_config(STRICT)
class Formula(TypedDict):
    """The mathematics of a node."""

    forward: str
    """LaTeX; empty when only the derivatives table knows this node."""
    vjp: list[VjpLine]
    unwritten: NotRequired[list[UnwrittenLine]]
    """Operands without a line in `vjp`, where the reason is known."""
    derivatives_yaml: list[str]
    """The lines of torch's own derivatives.yaml for this node, `name: formula`."""
    checked: NotRequired[bool]
    """Evaluated on this node's saved tensors it gave what the engine returned; where false it must not be shown."""
    special_cases: NotRequired[list[Fact]]
    """What to know about ties, kinks, broadcasting and optional arguments."""
    symbols: NotRequired[dict[str, str]]
    """How the vjps write the values they need, as LaTeX by the name of the saved tensor: `self` as `x`."""


@with_config(STRICT)
class InnerOp(TypedDict):
    """One operation inside a custom Function's forward or backward, or a composite."""

    op: str
    span: Span | None
    inputs: list[TensorValue | None]
    outputs: list[TensorValue | None]
    inside: NotRequired[list["InnerOp"]]


@with_config(STRICT)
class Born(TypedDict):
    """The backward step that built this node under `create_graph=True`."""

    pass_index: int
    node: str | None
    """Null: the engine's own sum at a fan-out."""


@with_config(STRICT)
class Node(TypedDict):
    """One autograd node."""

    id: str
    name: str
    """As torch prints it: `MulBackward0`, `AccumulateGrad`, `FBackward`."""
    op: str
    """`mul`, `F`, `accumulate_grad`."""
    kind: Annotated[NodeKind, Field(default="op")]
    label: str
    """Short text for the card."""
    span: Annotated[Span | None, Field(default=None)]
    group: Annotated[str | None, Field(default=None)]
    inputs: list[Operand]
    outputs: list[Output]
    output_count: Annotated[int, Field(default=1)]
    saved: Annotated[list[SavedTensor], Field(default=[])]
    formula: Annotated[Formula | None, Field(default=None)]
    sequence_nr: Annotated[int | None, Field(default=None)]
    """Null for `accumulate_grad`, which is always first in the engine's queue."""
    leaf: NotRequired[str]
    """Only `accumulate_grad`: the variable's name (`x`, `model.0.weight`)."""
    input: NotRequired[str]
    """Only `accumulate_grad`: the key of `options.inputs` that sets this leaf."""
    born: NotRequired[Born]
    backward_span: NotRequired[Span]
    """Only `custom`: where the user's `backward` is written."""
    inside: NotRequired[list[InnerOp]]
    """Only `custom`: what its forward did; what its backward does is on the step."""
    note: NotRequired[Fact]
    """What cannot be known of this node, and why."""


@with_config(STRICT)
class Producer(TypedDict):
    """Where a forward value comes from."""

    node: str
    output_nr: int


@with_config(STRICT)
class Consumer(TypedDict):
    """Where a forward value goes to."""

    node: str
    argnum: int


_Edge = TypedDict("_Edge", {"id": str, "from": Producer, "to": Consumer})


@with_config(STRICT)
class Edge(_Edge):
    """From the producer of a forward value to its consumer."""


@with_config(STRICT)
class Group(TypedDict):
    """What collapses into one box."""

    id: str
    kind: GroupKind
    label: str
    parent: str | None
    span: Span | None
    nodes: list[str]
    """Direct members only."""


@with_config(STRICT)
class Graph(TypedDict):
    """The graph that one pass walks."""

    nodes: list[Node]
    edges: list[Edge]
    groups: list[Group]
