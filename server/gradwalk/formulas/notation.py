"""How an operation of an expression is written and computed: what one entry of the list in `operations.py` says."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypedDict


class Strength(IntEnum):
    """How tightly a written expression holds together; a weaker one needs parentheses inside a stronger one."""

    CONDITION = 0
    """Conditions joined by and, or."""
    COMPARISON = 1
    SUM = 2
    BIG_SIGN = 3
    r"""A `\sum`: it reaches over the products that follow it."""
    PRODUCT = 4
    MATRIX = 5
    """A matrix product, written without a sign."""
    SIGN = 6
    POWER = 7
    ATOM = 8


@dataclass(frozen=True, slots=True)
class Notation:
    """A way of writing with holes: `{0}`, `{1}`, ... for the arguments, `{all}` for a list of them, `{dim}` for an option."""

    template: str
    strength: Strength
    needs: tuple[Strength, ...]
    """How strong each argument must be to stand without parentheses."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation."""

    evaluate: Callable[..., Any]
    latex: Notation | None = None
    """None: a function by its name."""
    text: Notation | None = None
    is_elementwise: bool = True
    is_real: bool = False
    """The result is real or boolean whatever the arguments are."""


class Signs(TypedDict, total=False):
    """What `Operation` takes for an operation with signs of its own."""

    latex: Notation
    text: Notation
    is_real: bool
