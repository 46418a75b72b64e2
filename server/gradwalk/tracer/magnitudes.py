"""How large a recorded value is, and which of its entries are no finite numbers."""

import math
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from gradwalk.protocol.values import TensorValue


class Trouble(NamedTuple):
    """Entries of a value that are no finite numbers."""

    nans: int
    infinities: int


_PLAIN_NUMBERS: Final = frozenset({float, int, bool})
"""Of a value written out, what is not finite is a text."""
_FINE: Final = Trouble(0, 0)


def tensors(gradients: Iterable[Any]) -> list[TensorValue]:
    """Those that are there."""
    return [one for one in gradients if "missing" not in one]


def numbers_of(value: TensorValue) -> list[Any]:
    """Its entries, complex ones as two."""
    flat: list[Any] = []
    for entry in value.get("data", ()):
        if isinstance(entry, list):
            flat += entry
        else:
            flat.append(entry)
    return flat


def trouble_of(value: TensorValue) -> Trouble | None:
    """The entries that are no finite numbers; None where all are. Ragged values are padded with NaN."""
    if value.get("layout", "").startswith("nested"):
        return None
    if "summary" in value:
        found = Trouble(value["summary"]["nans"], value["summary"]["infs"])
        return None if found == _FINE else found
    data: Any = value.get("data", ())
    if _PLAIN_NUMBERS.issuperset(map(type, data)):
        return None
    texts = [entry for entry in numbers_of(value) if isinstance(entry, str)]
    if not texts:
        return None
    nans = texts.count("NaN")
    return Trouble(nans, len(texts) - nans)


def norm_of(value: TensorValue) -> float:
    """Euclidean; NaN where an entry is no finite number."""
    if "summary" in value:
        norm = value["summary"]["norm"]
        return math.nan if trouble_of(value) or isinstance(norm, str) else float(norm)
    data: Any = value.get("data", ())
    try:
        return math.hypot(*data)
    except TypeError:
        entries = numbers_of(value)
        return math.nan if any(isinstance(one, str) for one in entries) else math.hypot(*entries)


def smallest_magnitude(value: TensorValue) -> float:
    """Of its finite entries; of a summary only whether it is 0."""
    if "summary" in value:
        return 0.0 if value["summary"]["zeros"] else math.ulp(0.0)
    return min((abs(one) for one in numbers_of(value) if not isinstance(one, str)), default=0.0)
