"""Shortest decimals: the fewest digits that read back to the same number in a given dtype.

0.1 in float32 is 0.100000001490116..., which nobody typed. Python spells float64 this way by itself,
orjson spells float32; the 16-bit and 8-bit formats have so few numbers that each is searched once.
"""

from collections.abc import Iterable
from math import isfinite
from typing import Any

import numpy as np
import orjson
import torch

from gradwalk.protocol.numbers import Real

_INFINITY = float("inf")
_dumps, _loads, _SERIALIZE_NUMPY = orjson.dumps, orjson.loads, orjson.OPT_SERIALIZE_NUMPY
_as_tensor, _float64, _tolist, _to = torch.tensor, torch.float64, torch._C.TensorBase.tolist, torch._C.TensorBase.to
_float32 = np.float32


def spell_non_finite(number: float) -> Real:
    """`number` as JSON can hold it: non-finite numbers become the format's strings."""
    if number != number:
        return "NaN"
    if number == _INFINITY:
        return "Infinity"
    return "-Infinity" if number == -_INFINITY else number


def shortest_float64(numbers: list[float]) -> list[Real]:
    """Python's own spelling is shortest already."""
    if _INFINITY in numbers or -_INFINITY in numbers or any(number != number for number in numbers):
        return [spell_non_finite(number) for number in numbers]
    return numbers  # type: ignore[return-value]


def shortest_float32(numbers: np.ndarray[Any, np.dtype[np.float32]]) -> list[Real]:
    """The entries of a flat, contiguous array."""
    spelled: list[Any] = _loads(_dumps(numbers, option=_SERIALIZE_NUMPY))
    if None in spelled:
        spelled = [
            spell_non_finite(float(number)) if one is None else one
            for one, number in zip(spelled, numbers, strict=True)
        ]
    return spelled


def shortest_float32_scalar(number: float) -> Real:
    """One float32, given as the float64 of the same value."""
    spelled: Real | None = _loads(_dumps(_float32(number), option=_SERIALIZE_NUMPY))
    return spell_non_finite(number) if spelled is None else spelled


class ShortestTable(dict[float, Real]):
    """The shortest decimals of a dtype with few numbers, found on first use.

    Zero is not for this table: 0.0 and -0.0 are one key.
    """

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self._dtype = dtype

    def spell(self, numbers: Iterable[float]) -> list[Real]:
        """Each number, given as the float64 of the same value."""
        numbers = list(numbers)
        self._search([one for one in dict.fromkeys(numbers) if one and isfinite(one) and one not in self])
        return [self.get(number) or spell_non_finite(number) for number in numbers]

    def _search(self, numbers: list[float]) -> None:
        """With one digit more each time, all together that do not read back yet."""
        for digits in range(9):
            if not numbers:
                return
            candidates = [float(f"{number:.{digits}e}") for number in numbers]
            # Read as every reader does: decimal to float64 to the dtype.
            read_back = _tolist(_to(_to(_as_tensor(candidates, dtype=_float64, device="cpu"), self._dtype), _float64))
            tried = list(zip(numbers, candidates, read_back, strict=True))
            self.update((number, candidate) for number, candidate, read in tried if read == number)
            numbers = [number for number, _, read in tried if read != number]
        self.update(zip(numbers, numbers, strict=True))
