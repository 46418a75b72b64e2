"""Numbers as they stand in JSON, and how strictly every object of the protocol is read."""

from typing import Literal

from pydantic import ConfigDict

STRICT = ConfigDict(extra="forbid", strict=True)
"""Every protocol object: unknown keys and converted types are refused."""

NonFinite = Literal["NaN", "Infinity", "-Infinity"]
Real = int | float | NonFinite
Number = bool | Real | list[Real]
"""One entry of a tensor: a real number, a boolean, or `[re, im]`.

Finite numbers are the shortest decimal that reads back to the same number in the tensor's dtype."""
