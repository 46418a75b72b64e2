"""A fact without its sentence: the kind, and what it is filled in with."""

from collections.abc import Iterator
from typing import Any


def spoken(fact: Any) -> str:
    """The kind of a fact and its operands, those of facts inside it in their place."""
    return " ".join((fact["kind"], *_operands(fact)))


def _operands(fact: Any) -> list[str]:
    return [leaf for operand in fact.get("operands", {}).values() for leaf in _leaves(operand)]


def _leaves(operand: Any) -> Iterator[str]:
    if isinstance(operand, list):
        for one in operand:
            yield from _leaves(one)
    elif not isinstance(operand, dict):
        yield str(operand)
    elif "kind" in operand:
        yield from _operands(operand) or [operand["kind"]]
    else:
        entries = operand["numbers"] if "numbers" in operand else operand["shape"]
        yield ", ".join(f"{number:.4g}" if isinstance(number, float) else str(number) for number in entries)
