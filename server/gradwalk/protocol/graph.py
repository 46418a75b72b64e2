"""The autograd graph of one backward pass: nodes, edges in operand order, groups.

Edges run from the producer of a forward value to its consumer; gradients flow the other way. They
are a list, never a set: `x * x` has two. Ids are opaque (`n0`, `e0`, `g0`), safe inside DOT, and keep
their meaning over all passes of one trace.
"""

from typing import Literal

from typing_extensions import NotRequired, TypedDict

from gradwalk.protocol.values import STRICT, Gradient, Missing, TensorValue

NodeKind = Literal["op", "custom", "accumulate_grad", "view_write", "other"]
GroupKind = Literal["module", "function", "composite"]


class Span(TypedDict):
    """A stretch of the program's text."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    line: int
    """1-based."""
    column: int
    """0-based, in UTF-16 units."""
    end_line: int
    end_column: int
    """Exclusive."""


class Operand(TypedDict):
    """One differentiable operand of a node; the position in `inputs` is that of `grad_inputs`."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    argnum: int
    """0-based position among the node's `next_functions`."""
    name: str
    """The name torch's derivatives table gives it (`self`, `other`), or the forward's parameter name."""
    value: TensorValue | None
    """The forward value, null where it could not be observed."""
    edge: NotRequired[str]
    missing: NotRequired[Missing]
    """Stands in the place of `edge` when no gradient can flow here."""


class Output(TypedDict):
    """One differentiable output of a node."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    value: TensorValue | None
    name: str | None
    """The variable the program gave it to, where it gave it to one."""


class SavedTensor(TypedDict):
    """What a node keeps for its backward."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    name: str
    value: TensorValue | int | float | bool | str | None | list[int | float | bool | str | None]
    version: int | None
    """The tensor's version counter when it was saved, null for what is not a tensor."""
    is_input: bool
    is_output: bool
    note: NotRequired[str]
    """Why there is no value: packed by a hook, already freed, ..."""
    alias_of: NotRequired[str]
    """The variable whose storage this shares."""


class VjpLine(TypedDict):
    """The vector-Jacobian product for one operand."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    argnum: int
    latex: str
    text: str
    because: str


class Formula(TypedDict):
    """The mathematics of a node."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    forward: str
    """LaTeX; empty when only the derivatives table knows this node."""
    vjp: list[VjpLine]
    derivatives_yaml: list[str]
    """The lines of torch's own derivatives.yaml for this node, `name: formula`."""
    checked: NotRequired[bool]
    """True: evaluated on this node's saved tensors it gave what the engine returned. False: it did not, and must not be shown."""


class Born(TypedDict):
    """The backward step that built this node under `create_graph=True`."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    pass_index: int
    node: str | None
    """Null: the engine's own sum at a fan-out."""


class Node(TypedDict):
    """One autograd node."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    id: str
    name: str
    """As torch prints it: `MulBackward0`, `AccumulateGrad`, `FBackward`."""
    op: str
    """`mul`, `F`, `accumulate_grad`."""
    kind: NodeKind
    label: str
    """Short text for the card."""
    span: Span | None
    group: str | None
    inputs: list[Operand]
    outputs: list[Output]
    output_count: int
    saved: list[SavedTensor]
    formula: Formula | None
    sequence_nr: int | None
    """Null for `accumulate_grad`, which is always first in the engine's queue."""
    leaf: NotRequired[str]
    """Only `accumulate_grad`: the variable's name (`x`, `model.0.weight`)."""
    input: NotRequired[str]
    """Only `accumulate_grad`: the key of `options.inputs` that sets this leaf."""
    born: NotRequired[Born]
    backward_span: NotRequired[Span]
    """Only `custom`: where the user's `backward` is written."""


class Producer(TypedDict):
    """Where a forward value comes from."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    node: str
    output_nr: int


class Consumer(TypedDict):
    """Where a forward value goes to."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    node: str
    argnum: int


Edge = TypedDict("Edge", {"id": str, "from": Producer, "to": Consumer})
Edge.__pydantic_config__ = STRICT  # type: ignore[attr-defined]


class Group(TypedDict):
    """What collapses into one box."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    id: str
    kind: GroupKind
    label: str
    parent: str | None
    span: Span | None
    nodes: list[str]
    """Direct members only."""
    dot: str
    """The group's direct children as Graphviz DOT; see `Graph.dot`."""


class Graph(TypedDict):
    """The graph that one pass walks."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    nodes: list[Node]
    edges: list[Edge]
    groups: list[Group]
    dot: str
    """The top level as Graphviz DOT with opaque ids: one statement per direct child, one `in_<edge>` or
    `out_<edge>` point per edge that crosses a group's border. Sizes and places are the reader's business."""


__all__ = [
    "Born",
    "Consumer",
    "Edge",
    "Formula",
    "Gradient",
    "Graph",
    "Group",
    "GroupKind",
    "Node",
    "NodeKind",
    "Operand",
    "Output",
    "Producer",
    "SavedTensor",
    "Span",
    "VjpLine",
]
