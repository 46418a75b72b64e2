"""Partial derivatives of the commonest operations, short enough for one sentence.

`{x}` and `{y}` are the operands in order, `{z}` the result. The full formulas, with their reasons, are
the business of `gradwalk.formulas`; what is not in this list is told by the shape of its Jacobian.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Derivative(NamedTuple):
    """How one operation is read aloud."""

    forward: str
    partials: Sequence[str]
    """One per operand."""


DERIVATIVES: Mapping[str, Derivative] = {
    "AddBackward0": Derivative("{x} + {y}", ("1", "1")),
    "SubBackward0": Derivative("{x} - {y}", ("1", "-1")),
    "MulBackward0": Derivative("{x}*{y}", ("{y}", "{x}")),
    "DivBackward0": Derivative("{x}/{y}", ("1/{y}", "-{x}/{y}^2")),
    "NegBackward0": Derivative("-{x}", ("-1",)),
    "ExpBackward0": Derivative("exp({x})", ("{z}",)),
    "LogBackward0": Derivative("log({x})", ("1/{x}",)),
    "SinBackward0": Derivative("sin({x})", ("cos({x})",)),
    "CosBackward0": Derivative("cos({x})", ("-sin({x})",)),
    "TanhBackward0": Derivative("tanh({x})", ("1 - {z}^2",)),
    "SigmoidBackward0": Derivative("sigmoid({x})", ("{z}*(1 - {z})",)),
    "SqrtBackward0": Derivative("sqrt({x})", ("1/(2*{z})",)),
    "ReluBackward0": Derivative("relu({x})", ("1 where {x} > 0, else 0",)),
    "AbsBackward0": Derivative("abs({x})", ("the sign of {x}",)),
    "SumBackward0": Derivative("sum({x})", ("1 for every entry",)),
    "SumBackward1": Derivative("sum({x})", ("1 for every entry of the group",)),
}
"""By node name. Add and sub are meant with alpha = 1."""
