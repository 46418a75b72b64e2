"""What the server answers besides traces: a gradcheck, entry by entry."""

from typing import Literal

from pydantic import with_config
from typing_extensions import TypedDict

from gradwalk.protocol.facts import Fact
from gradwalk.protocol.numbers import STRICT, Real
from gradwalk.protocol.values import TensorValue

GradcheckVerdict = Literal["agrees", "differs", "not_differentiable", "unavailable"]


@with_config(STRICT)
class GradcheckCell(TypedDict):
    """An entry of the analytic Jacobian that is not what finite differences give."""

    row: int
    """Of the flattened output, row-major."""
    column: int
    """Of the flattened operand."""
    analytic: Real
    numeric: Real


@with_config(STRICT)
class GradcheckKink(TypedDict):
    """An entry where the function has a corner, a jump or the edge of its domain: there is no derivative to compare."""

    row: int
    column: int
    analytic: Real
    left: Real
    """Slope to smaller values of the operand's entry; NaN beyond the domain."""
    right: Real
    """Slope to larger ones."""
    at: Real
    """The operand's entry."""


@with_config(STRICT)
class GradcheckReport(TypedDict):
    """An analytic Jacobian beside finite differences, in double precision.

    An entry is right when |analytic - numeric| <= `absolute_tolerance` + `relative_tolerance` * |numeric|, plus what
    the rounding of the differences themselves can amount to. At a kink any value between the one-sided slopes passes.
    """

    name: str
    """Of the operand, or of the leaf."""
    argnum: int | None
    """Null for the whole program."""
    output_nr: int | None
    verdict: GradcheckVerdict
    because: Fact
    """The verdict in a sentence or two."""
    output_shape: list[int]
    """Complex sides have a last axis of 2, as in local Jacobians. Empty for the whole program: there the one row is
    v times the Jacobian of the outputs, which is what a backward pass computes."""
    input_shape: list[int]
    analytic: TensorValue | None
    """Of shape output shape + operand shape; null where the verdict is `unavailable`."""
    numeric: TensorValue | None
    step_size: float
    """How far an entry is moved to either side, times its own magnitude where that is above 1."""
    absolute_tolerance: float
    relative_tolerance: float
    wrong: list[GradcheckCell]
    kinks: list[GradcheckKink]
