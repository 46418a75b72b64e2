"""Entries of a tensor as packed bytes: row-major, little-endian, in base64.

Decimal text of a float32 takes twice the room and ten times the time. Only what is many and long is packed: a few
numbers can be read as they are, and small whole numbers are shorter as text.
"""

from base64 import b64decode, b64encode
from typing import Any, Final

import numpy as np
import orjson

from gradwalk.protocol.numbers import Number

PACKED_FROM: Final = 16
"""Entries from which on a value is packed."""
_NON_FINITE: Final = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}
_REAL: Final = {"float32": "<f4", "float64": "<f8", "bool": "?"}
_PARTS: Final = {"complex64": "<f4", "complex128": "<f8"}


def pack(entries: list[Number], dtype: str) -> str | None:
    """The base64 of these entries, given as the format spells them; None where they stay as they are."""
    if len(entries) < PACKED_FROM:
        return None
    numbers: Any = entries
    form = _REAL.get(dtype)
    if form is None:
        form = _PARTS.get(dtype)
        if form is None:
            return None
        numbers = [part for entry in entries for part in entry]  # type: ignore[union-attr]
    try:
        packed = np.array(numbers, form)
    except ValueError:
        packed = np.array([_NON_FINITE.get(one, one) for one in numbers], form)
    return b64encode(packed.tobytes()).decode()


def unpack(packed: str, dtype: str) -> list[Number]:
    """The entries as the format spells them.

    Raises:
        ValueError: not the base64 of whole entries of this dtype.
    """
    form = _REAL.get(dtype) or _PARTS.get(dtype)
    if form is None:
        raise ValueError(f"{dtype} is never packed")
    flat: list[Any] = _spell(np.frombuffer(b64decode(packed, validate=True), form))
    return flat if dtype in _REAL else [[*pair] for pair in zip(flat[::2], flat[1::2], strict=True)]


def _spell(numbers: np.ndarray[Any, Any]) -> list[Any]:
    """Each as the shortest decimal that reads back in its dtype, which orjson finds; it has none for NaN."""
    spelled: list[Any] = orjson.loads(orjson.dumps(numbers, option=orjson.OPT_SERIALIZE_NUMPY))
    if None not in spelled:
        return spelled
    names = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    return [names[str(float(number))] if one is None else one for one, number in zip(spelled, numbers, strict=True)]
