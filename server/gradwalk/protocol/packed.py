"""Entries of a tensor as packed bytes: row-major, little-endian, in base64.

Decimal text of a float32 takes twice the room. Only what is many and long is packed: a few numbers can be read as
they are, and small whole numbers are shorter as text.
"""

import sys
from array import array
from base64 import b64decode, b64encode
from itertools import chain
from typing import Any, Final

from gradwalk.protocol.numbers import Number

PACKED_FROM: Final = 16
"""Entries from which on a value is packed."""
_NON_FINITE: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_SPELLED: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_FORMS: Final = {"float32": "f", "float64": "d", "bool": "b", "complex64": "f", "complex128": "d"}
_FLOAT32_DIGITS: Final = (6, 7, 8, 9)


def pack(entries: list[Number], dtype: str) -> str | None:
    """The base64 of these entries, given as the format spells them; None where they stay as they are."""
    form = _FORMS.get(dtype)
    if form is None or len(entries) < PACKED_FROM:
        return None
    numbers: Any = chain.from_iterable(entries) if dtype.startswith("complex") else entries  # type: ignore[arg-type]
    numbers = [_NON_FINITE.get(one, one) for one in numbers]
    return b64encode(_little_endian(array(form, numbers)).tobytes()).decode()


def unpack(packed: str, dtype: str) -> list[Number]:
    """The entries as the format spells them.

    Raises:
        ValueError: not the base64 of whole entries of this dtype.
    """
    if dtype not in _FORMS:
        raise ValueError(f"{dtype} is never packed")
    numbers: Any = array(_FORMS[dtype])
    numbers.frombytes(b64decode(packed, validate=True))
    numbers = _little_endian(numbers)
    if dtype == "bool":
        return [number != 0 for number in numbers]
    is_short = numbers.itemsize == array("f").itemsize
    spelled = [_spell(_shortest(number) if is_short else number) for number in numbers]
    if dtype.startswith("float"):
        return spelled
    return [[*pair] for pair in zip(spelled[::2], spelled[1::2], strict=True)]


def count_entries(packed: str, dtype: str) -> int:
    """How many entries these are.

    Raises:
        ValueError: as `unpack`.
    """
    if dtype not in _FORMS:
        raise ValueError(f"{dtype} is never packed")
    parts = 2 if dtype.startswith("complex") else 1
    count, rest = divmod(len(b64decode(packed, validate=True)), parts * array(_FORMS[dtype]).itemsize)
    if rest:
        raise ValueError("not whole entries")
    return count


def _little_endian(numbers: Any) -> Any:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _shortest(number: float) -> float:
    """A float32, given as the float64 of the same value, as the shortest decimal that reads back to it."""
    for digits in _FLOAT32_DIGITS:
        decimal = float(f"{number:.{digits}g}")
        if array("f", (decimal,))[0] == number:
            return decimal
    return number


def _spell(number: float) -> Any:
    return number if number - number == 0 else _SPELLED[str(number)]
