"""What a call was given beside tensors, where a formula of the whole call needs it and no node of it says so.

Calls that multiply tensors and sum over what they share are the einsum that says so: `equation` is `ij,jk->ik`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import ascii_lowercase
from typing import Any, Final

from gradwalk.tracer.arguments import tensors_in

Options = Mapping[str, int | float | str]


def options_of(label: str, arguments: Sequence[Any]) -> Options:
    """The options of a call by name; none for most calls.

    Args:
        label: what was called: `einsum`, `tensordot`, `cross_entropy_loss`.
        arguments: what it was called with, those by keyword last.
    """
    if label in _PLACES:
        return {name: arguments[at] for name, at in _PLACES[label].items() if at < len(arguments)}
    equation = _EQUATIONS.get(label)
    written = None if equation is None else equation(arguments, [one.dim() for one in tensors_in(arguments)])
    return {} if written is None else {"equation": written}


def _einsum(arguments: Sequence[Any], ranks: Sequence[int]) -> str | None:
    """The equation that was given, without blanks and dots, its result written out."""
    given, arrow, result = str(arguments[0]).replace(" ", "").replace("...", ".").partition("->")
    tables = given.split(",")
    if not arrow:
        once = sorted(letter for letter in {*given} - {".", ","} if given.count(letter) == 1)
        result = "." * ("." in given) + "".join(once)
    used = dict.fromkeys(re.sub("[^A-Za-z]", "", given))
    fresh = (letter for letter in ascii_lowercase if letter not in used)
    small = {letter: letter if letter.islower() else next(fresh, "") for letter in used}
    hidden = [rank - len(table) + 1 if "." in table else 0 for table, rank in zip(tables, ranks, strict=False)]
    dots = "".join(next(fresh, "") for _ in range(max(hidden)))
    written = [
        "".join(dots[len(dots) - count :] if letter == "." else small.get(letter, "") for letter in table)
        for table, count in zip([*tables, result], [*hidden, len(dots)], strict=False)
    ]
    is_whole = len(tables) == len(ranks) and [*map(len, written[:-1])] == [*ranks]
    return f"{','.join(written[:-1])}->{written[-1]}" if is_whole else None


def _tensordot(arguments: Sequence[Any], ranks: Sequence[int]) -> str | None:
    first, second, *dims = arguments
    if len(ranks) != 2 or len(dims) < 2:  # noqa: PLR2004
        return None
    fresh = iter(ascii_lowercase[8:])
    left = [next(fresh) for _ in range(first.dim())]
    right = [next(fresh, "") for _ in range(second.dim())]
    shared = [(one % first.dim(), other % second.dim()) for one, other in zip(dims[0], dims[1], strict=True)]
    for one, other in shared:
        right[other] = left[one]
    met = {left[one] for one, _ in shared}
    kept = [letter for letter in (*left, *right) if letter not in met]
    return f"{''.join(left)},{''.join(right)}->{''.join(kept)}"


def _inner(_: Sequence[Any], ranks: Sequence[int]) -> str | None:
    """Over the last dim of both, each row of the one with each of the other."""
    if len(ranks) != 2 or not all(ranks):  # noqa: PLR2004
        return None
    letters: Iterator[str] = iter(ascii_lowercase[8:])
    left, right = ("".join(next(letters) for _ in range(rank - 1)) for rank in ranks)
    met = next(letters)
    return f"{left}{met},{right}{met}->{left}{right}"


_PLACES: Final[Mapping[str, Mapping[str, int]]] = {"cross_entropy_loss": {"reduction": 3, "label_smoothing": 5}}
"""By call, the places of its options among what torch passes on, always by position."""
_EQUATIONS: Final[Mapping[str, Callable[[Sequence[Any], Sequence[int]], str | None]]] = {
    "einsum": _einsum,
    "tensordot": _tensordot,
    "inner": _inner,
    "outer": lambda _, ranks: "i,j->ij" if [*ranks] == [1, 1] else None,
    "ger": lambda _, ranks: "i,j->ij" if [*ranks] == [1, 1] else None,
}
