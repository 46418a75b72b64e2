"""Facts: what a sentence on the screen says, without the sentence.

A fact names a message of the catalogues (`words/*.ftl`) and carries what that message is filled in with. Whoever shows
it says it, in the language of whoever reads.
"""

from typing import NotRequired, final

from pydantic import with_config
from typing_extensions import TypeAliasType, TypedDict

from gradwalk.protocol.fact_kinds import FactKind
from gradwalk.protocol.numbers import STRICT, Number


@final
@with_config(STRICT)
class Numbers(TypedDict):
    """Entries of a tensor, to be spelled as all numbers on the screen are."""

    numbers: list[Number]
    """Row-major, flat."""
    shape: NotRequired[list[int]]
    """Of the tensor that they are all entries of; absent where there is one number."""


@final
@with_config(STRICT)
class Shape(TypedDict):
    """The shape of a tensor."""

    shape: list[int]


@final
@with_config(STRICT)
class Fact(TypedDict):
    """Something that is so, to be said in a sentence or a part of one."""

    kind: str
    """The message's name in the catalogues."""
    operands: "NotRequired[dict[str, Filling]]"
    """By the names that the message calls them. Text is copied as it stands: names, operations, words of PyTorch's. An
    integer chooses the plural. A list is said as `a, b and c`."""


Filling = TypeAliasType("Filling", "str | int | Numbers | Shape | Fact | list[Filling]")


def fact(kind: FactKind, **operands: Filling) -> Fact:
    """A fact; `kind` and the names of the operands are those of a message in the catalogues."""
    return {"kind": kind, "operands": operands} if operands else {"kind": kind}


def number(value: Number) -> Numbers:
    """One number, to be spelled as all numbers on the screen are."""
    return {"numbers": [value]}


def in_turn(first: Fact, *rest: Fact) -> Fact:
    """Sentences, one after the other."""
    for one in rest:
        first = fact("then", first=first, rest=one)
    return first


def code(text: str) -> Fact:
    """Text of the program or of mathematics, where it stands in a list or may be replaced by words."""
    return fact("code", text=text)
