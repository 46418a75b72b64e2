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
NodeId = Annotated[str, Field(description="A node of the pass's graph, by its id.")]
OutputNr = Annotated[int, Field(description="0-based number of a node's output.")]
Argnum = Annotated[int, Field(description="0-based position among a node's operands.")]
PassIndex = Annotated[int, Field(description="The pass, counted from 0 among those that are recorded.")]


@with_config(STRICT)
class Span(TypedDict):
    """A stretch of the program's text."""

    line: int
    """1-based."""
    column: int
    """0-based, in UTF-16 units."""
    end_line: int
    """1-based."""
    end_column: int
    """Exclusive."""


Where = Annotated[Span | None, Field(description="Where the program says so; null where no line of it does.")]


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
    """Id of the edge that brings it: gradients go back along it."""
    missing: NotRequired[Missing]
    """Stands in the place of `edge` when no gradient can flow here."""


@with_config(STRICT)
class Output(TypedDict):
    """One differentiable output of a node."""

    value: Annotated[TensorValue | None, Field(default=None)]
    """The forward value, null where it could not be observed."""
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
    """As the node has it, without `_saved_`: `self`, `exponent`."""
    value: Annotated[TensorValue | None, Field(default=None)]
    """What backward reads; null where it is no tensor or cannot be had."""
    option: NotRequired[int | float | bool | str | list[int | float | bool | str | None]]
    """What it is where it is no tensor: a number, a flag, sizes."""
    version: Annotated[int | None, Field(default=None)]
    """The tensor's version counter when it was saved, null for what is not a tensor."""
    is_input: Annotated[bool, Field(default=False)]
    """It is one of the operands."""
    is_output: Annotated[bool, Field(default=False)]
    """It is the node's own result."""
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

    argnum: Argnum
    latex: str
    """With short letters for the operands, as in a textbook."""
    text: str
    """The same as PyTorch would write it: `grad * cos(x)`."""
    because: Fact
    """The derivative in words."""
    said: NotRequired[str]
    """The text with the program's own texts for all values, however long; `tanh(...)` for what has none. Absent in
    traces of older versions."""
    derivative: NotRequired[str]
    """What v is multiplied by, entry by entry, in the same names; absent where the vjp is no such product."""
    equation: NotRequired[str]
    """The derivative with what it is the derivative of: `∂ sin(x*y)/∂(x*y) = cos(x*y)`; absent where one of both has no
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

    argnum: Argnum
    reason: UnwrittenReason
    """Why there is none."""


@with_config(STRICT)
class Formula(TypedDict):
    """The mathematics of a node."""

    forward: str
    """LaTeX; empty when only the derivatives table knows this node."""
    vjp: list[VjpLine]
    """One line per operand that has a gradient."""
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
    """torch's name for it: `mm`."""
    span: Where
    inputs: list[TensorValue | None]
    """Null: not observed."""
    outputs: list[TensorValue | None]
    inside: NotRequired[list["InnerOp"]]
    """What ran inside it."""


@with_config(STRICT)
class Born(TypedDict):
    """The backward step that built this node under `create_graph=True`."""

    pass_index: PassIndex
    node: str | None
    """Null: the engine's own sum at a fan-out."""


@with_config(STRICT)
class Node(TypedDict):
    """One autograd node."""

    id: NodeId
    name: str
    """As torch prints it: `MulBackward0`, `AccumulateGrad`, `FBackward`."""
    op: str
    """`mul`, `F`, `accumulate_grad`."""
    kind: Annotated[NodeKind, Field(default="op")]
    """`op`: PyTorch's own; `custom`: of a `torch.autograd.Function`; `accumulate_grad`: a leaf; `view_write`: a write
    into a view (`CopySlices`)."""
    label: str
    """Short text for the card."""
    span: Annotated[Where, Field(default=None)]
    group: Annotated[str | None, Field(default=None)]
    """The innermost group that it is in."""
    arranges: NotRequired[Literal[True]]
    """Of a call that is one operation, a part that only brings a tensor into another shape."""
    inputs: list[Operand]
    """In operand order; an operand that is used twice stands twice."""
    outputs: list[Output]
    """By number."""
    output_count: Annotated[int, Field(default=1)]
    """How many the node has in all."""
    saved: Annotated[list[SavedTensor], Field(default=[])]
    """What it keeps for its backward."""
    formula: Annotated[Formula | None, Field(default=None)]
    """Null where none is known, or not told yet."""
    sequence_nr: Annotated[int | None, Field(default=None)]
    """Null for `accumulate_grad`, which is always first in the engine's queue."""
    leaf: NotRequired[str]
    """Only `accumulate_grad`: the variable's name (`x`, `model.0.weight`)."""
    input: NotRequired[str]
    """Only `accumulate_grad`: the key of `options.inputs` that sets this leaf."""
    born: NotRequired[Born]
    """Only where a backward pass built it."""
    backward_span: NotRequired[Span]
    """Only `custom`: where the user's `backward` is written."""
    inside: NotRequired[list[InnerOp]]
    """Only `custom`: what its forward did; what its backward does is on the step."""
    note: NotRequired[Fact]
    """What cannot be known of this node, and why."""


@with_config(STRICT)
class Producer(TypedDict):
    """Where a forward value comes from."""

    node: NodeId
    output_nr: OutputNr


@with_config(STRICT)
class Consumer(TypedDict):
    """Where a forward value goes to."""

    node: NodeId
    argnum: Argnum


_Edge = TypedDict("_Edge", {"id": str, "from": Producer, "to": Consumer})


@with_config(STRICT)
class Edge(_Edge):
    """From the producer of a forward value to its consumer."""


@with_config(STRICT)
class CallOperand(TypedDict):
    """An operand of a call that built several nodes."""

    name: str
    """As torch has it: `self`, `other`, `weight`."""
    argnum: Argnum
    """Which operand of the node that computes it becomes; beyond those, one that comes in behind that node."""
    border: Consumer
    """Where it comes into the group."""
    shape: NotRequired[list[int]]
    """Of a constant: that in which the call was given it; the node got the same cells."""
    value: NotRequired[TensorValue]
    """Of a constant: what the call was given; the node got its cells turned, repeated or added up."""
    source: NotRequired[str]
    """Of a constant: the variable that the call was given."""
    keeps_order: NotRequired[Literal[True]]
    """The node that computes has its cells, and those of the result, in the order in which the call has them."""


@with_config(STRICT)
class GroupCall(TypedDict):
    """A group that is one operation: a node computes it, or several one after the other, and all others only bring
    tensors into other shapes. The nodes of an einsum may also add up, each for one operand."""

    op: str
    """`matmul`, `linear`, `cross_entropy`, `einsum`."""
    options: NotRequired[dict[str, int | float | str]]
    """What else it was called with, as far as its formula needs that: `equation` of `einsum`, `tensordot`, `outer` and
    `inner`, which is `ij,jk->ik`; `reduction` and `label_smoothing` of `cross_entropy`."""
    node: NodeId
    """The one that computes; of several the first."""
    output: NodeId
    """The one that gives the result: its v is that of the call."""
    operands: list[CallOperand]
    """In the order of the call."""


@with_config(STRICT)
class Group(TypedDict):
    """What collapses into one box."""

    id: str
    """Unique in its graph."""
    kind: GroupKind
    """A call of a module, of a function of the program, or of a composite operation of PyTorch."""
    label: str
    """What is called: `model.0`, `attend`, `linear`."""
    parent: str | None
    """Id of the group round it."""
    span: Where
    nodes: list[str]
    """Direct members only."""
    call: NotRequired[GroupCall]
    """What it is as one operation."""


@with_config(STRICT)
class Graph(TypedDict):
    """The graph that one pass walks."""

    nodes: list[Node]
    """In the order in which they were met from the outputs on."""
    edges: list[Edge]
    groups: list[Group]
