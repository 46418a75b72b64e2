"""Tensors at a moment, and the ways a gradient can be absent.

An event is plain JSON data: what is declared here as a `TypedDict` *is* the JSON object, in Python
as on the wire. The tracer builds such dictionaries, the parent process validates them with
pydantic's `TypeAdapter`, TypeScript reads types generated from the same declarations.
"""

from typing import Literal, NotRequired, final

from pydantic import with_config
from typing_extensions import TypedDict

from gradwalk.protocol.facts import Fact
from gradwalk.protocol.numbers import STRICT, Number, Real

MissingReason = Literal["undefined", "not_required", "returned_none", "no_path", "not_computed"]
Structure = Literal[
    "scalar",
    "diagonal",
    "permutation",
    "selection",
    "sum_over_copies",
    "copy_to_summands",
    "broadcast_sum",
    "kronecker",
    "dense",
    "zero",
    "too_large",
]
"""Of a local Jacobian, as defined in `tracer/structure.py`. `broadcast_sum` stands only in traces of older versions,
for `sum_over_copies` as well as for its transpose `copy_to_summands`."""


@with_config(STRICT)
class Thumbnail(TypedDict):
    """A large value pooled down to something that can be drawn, with its last axis across.

    Each cell is the mean of a block, of magnitudes where the value is complex; NaN and infinity spread over their
    block.
    """

    shape: list[int]
    """Two axes at most, each at most 64."""
    cells: str
    """Row-major, a signed byte each, in base64: 126 stands for the largest finite magnitude in it, what is not zero is
    at least 1, 127 is infinity, -128 NaN."""


@with_config(STRICT)
class Histogram(TypedDict):
    """Counts of the finite entries in equal bins."""

    low: Real
    """The least finite entry."""
    high: Real
    """The greatest."""
    counts: list[int]
    """Per bin."""


@with_config(STRICT)
class Summary(TypedDict):
    """Stands in the place of `data` when a value is over the element limit."""

    min: Real
    """Of the finite entries, NaN where there is none; of magnitudes where the value is complex."""
    max: Real
    mean: Real
    std: Real
    """Dividing by n - 1, as `torch.std`; 0 for a single entry."""
    norm: Real
    """Euclidean."""
    zeros: int
    """How many entries are 0."""
    nans: int
    infs: int
    """Of both signs."""
    histogram: Histogram
    thumbnail: Thumbnail


@final
@with_config(STRICT)
class TensorValue(TypedDict):
    """A tensor at a moment. Exactly one of `data`, `summary` and `unavailable` is present; of many entries, only on the
    wire, `packed` in the place of `data`."""

    shape: list[int]
    """Empty for a number."""
    dtype: str
    """torch's name without the prefix: `float32`, `complex64`, `bool`."""
    data: NotRequired[list[Number]]
    """Row-major, flat."""
    packed: NotRequired[str]
    """The same as little-endian bytes in base64."""
    summary: NotRequired[Summary]
    """Of a value over the element limit."""
    layout: NotRequired[str]
    """Only for layouts other than strided, e.g. `sparse_coo`; `data` is then the dense form."""
    unavailable: NotRequired[Fact]
    """Why there are no numbers: a meta tensor has only a shape."""


@final
@with_config(STRICT)
class Missing(TypedDict):
    """A gradient that is not a tensor. Never drawn as zeros."""

    missing: MissingReason
    """`undefined`: the engine passes no tensor, which acts as zeros; `not_required`: the operand requires no grad;
    `returned_none`: the program's backward returned None; `no_path`: nothing reached it in this pass; `not_computed`:
    the pass has not come to it, or failed before."""
    because: NotRequired[Fact]
    """Where more is known than the name of the reason says."""
    line: NotRequired[int | None]
    """Only where a leaf ended without a gradient and the program could be written otherwise, as the hint of `because`
    says: 1-based, of the call or the use, else of the assignment to the name; null where there is none."""
    materialized: NotRequired[bool]
    """True: the backward of the program's Function got zeros in its place, as it does unless told otherwise."""
    dropped: NotRequired[TensorValue]
    """What the node returned all the same, and the engine did not take: no gradient goes there, or it does not fit."""


@final
@with_config(STRICT)
class OnDemand(TypedDict):
    """Left out while tracing; the jacobian route computes it by re-running the program."""

    missing: Literal["on_demand"]
    """A mark, no reason."""


Gradient = TensorValue | Missing
