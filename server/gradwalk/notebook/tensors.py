"""Values of a trace as tensors, and the reasons why some are none."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar, overload

import torch

from gradwalk.protocol.values import Gradient, TensorValue
from gradwalk.words.catalogue import say, tell

Part = TypeVar("Part")
_REASONS: Final = {
    "undefined": "missing-undefined",
    "not_required": "missing-not-required",
    "returned_none": "missing-returned-none",
    "no_path": "missing-no-path",
    "not_computed": "missing-not-computed",
}


class NotRecordedError(ValueError):
    """The entries of a value were not recorded: there were more than the limit, or torch does not give them out."""


def tensor_of(value: TensorValue) -> torch.Tensor:
    """The tensor as it was, on the CPU, strided and without a history.

    Raises:
        NotRecordedError: only its summary was recorded, or its shape.
    """
    shape, dtype = value["shape"], getattr(torch, value["dtype"])
    if "data" not in value:
        if "summary" in value:
            raise NotRecordedError(say("notebook-summarised", shape=_text(value), count=str(math.prod(shape))))
        raise NotRecordedError(tell(value["unavailable"]))
    return torch.tensor([_entry(one) for one in value["data"]], dtype=dtype).reshape(shape)


def _entry(written: Any) -> Any:
    if isinstance(written, list):
        return complex(*map(float, written))
    return float(written) if isinstance(written, str) else written


def _text(value: TensorValue) -> str:
    return f"{value['dtype']}{value['shape']}"


class Tensors(Sequence[torch.Tensor | None]):
    """Tensors in order. One that is None has no gradient, which is not zero: `because` says why.

    What was over the limit of entries raises `NotRecordedError` when it is asked for; `written` has its summary.
    """

    def __init__(self, written: Sequence[Gradient | None]) -> None:
        self.written = written
        """As the document has them; null: not observed."""

    @overload
    def __getitem__(self, index: int) -> torch.Tensor | None: ...
    @overload
    def __getitem__(self, index: slice) -> "Tensors": ...
    def __getitem__(self, index: int | slice) -> "torch.Tensor | None | Tensors":
        if isinstance(index, slice):
            return Tensors(self.written[index])
        value = self.written[index]
        return None if value is None or "missing" in value else tensor_of(value)

    def __len__(self) -> int:
        return len(self.written)

    def because(self, index: int) -> str | None:
        """Why there is no tensor; None where there is one."""
        return _because(self.written[index])

    def __repr__(self) -> str:
        return f"({', '.join(map(_shown, self.written))})"


class NamedTensors(Mapping[str, torch.Tensor | None]):
    """As `Tensors`, by the names that the program has for them.

    Raises:
        KeyError: there is no such name; the error lists those that there are.
    """

    def __init__(self, written: Mapping[str, Gradient | None]) -> None:
        self.written = written

    def __getitem__(self, name: str) -> torch.Tensor | None:
        return Tensors([_found(self.written, name)])[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.written)

    def __len__(self) -> int:
        return len(self.written)

    def because(self, name: str) -> str | None:
        """Why there is no tensor; None where there is one."""
        return _because(_found(self.written, name))

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {_shown(value)}' for name, value in self.written.items())}}}"


class Named(Mapping[str, Part]):
    """Parts of a graph by name.

    Raises:
        KeyError: there is no such name; the error lists those that there are.
    """

    def __init__(self, parts: Mapping[str, Part]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> Part:
        return _found(self._parts, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        return repr(dict(self._parts))


def _found(parts: Mapping[str, Part], name: str) -> Part:
    try:
        return parts[name]
    except KeyError:
        raise KeyError(say("notebook-no-such-name", name=str(name), known=", ".join(parts))) from None


def _because(value: Gradient | None) -> str | None:
    if value is None:
        return say("player-not-observed")
    if "missing" not in value:
        return None
    return tell(value["because"]) if "because" in value else say(_REASONS[value["missing"]])


def _shown(value: Gradient | None) -> str:
    if value is None:
        return "None"
    if "missing" in value:
        return f"None ({value['missing']})"
    return str(tensor_of(value)) if "data" in value else f"{_text(value)} (summary)"
