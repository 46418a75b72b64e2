"""What a node keeps for its backward."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from weakref import WeakKeyDictionary

import torch

from gradwalk.formulas.derivatives import DerivativeEntry
from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.graph import SavedTensor
from gradwalk.tracer.originals import Tensor, grad_fn_of
from gradwalk.tracer.values import ValueTable, storage_address
from gradwalk.tracer.walk import Node

_PREFIX: Final = "_saved_"
_UNSIGNED_HALF: Final = 1 << 63
_HOOKED: Final = fact("note-packed")
FREED: Final = fact("note-freed")

_PLAIN_TYPES: Final = frozenset({torch.Tensor, torch.nn.Parameter})

_FIELDS: Final = WeakKeyDictionary[type, tuple[tuple[str, str, str | None], ...]]()
"""By type of node, which takes torch a third of a millisecond to list."""

Plain = int | float | bool | str | None


class KeptFields:
    """What built-in nodes saved, kept for as long as it takes to describe a pass after it ran."""

    def __init__(self) -> None:
        self._kept: dict[Node, dict[str, Any]] = {}

    def keep(self, node: Node) -> bool:
        """Keeps it; False where torch will not hand it out, or Python of the program's would."""
        kept: dict[str, Any] = {}
        for attribute, name, packed in saved_fields(type(node)):
            if packed is not None and is_hooked(getattr(node, packed)):
                return False
            try:
                saved = kept[name] = getattr(node, attribute)
            except RuntimeError:
                return False
            if packed is not None and isinstance(saved, Tensor) and type(saved) not in _PLAIN_TYPES:
                return False
        self._kept[node] = kept
        return True

    def of(self, node: Node) -> dict[str, Any] | None:
        """By bare names what the node saved; None where that was not kept."""
        return self._kept.get(node)

    def tensors(self) -> Iterator[torch.Tensor]:
        """All that are kept."""
        for kept in self._kept.values():
            for saved in kept.values():
                if isinstance(saved, Tensor):
                    yield saved

    def release(self) -> None:
        """Lets go of all of it."""
        self._kept.clear()


class SavedReader:
    """Reads `_saved_*` of built-in nodes; the names are looked up once per type of node."""

    def __init__(self, values: ValueTable, kept: KeptFields) -> None:
        self._values = values
        self._kept = kept
        self._fields: dict[type, list[tuple[str, str, str | None, bool]]] = {}
        self.met_python = False
        """Whether some node saved a tensor that the program's own Python packs, or is of."""

    def read(self, node: Node, entry: DerivativeEntry | None, storages: Mapping[int, str]) -> list[SavedTensor]:
        """Everything the node saved, by name. What cannot be read now says why.

        `storages` names the variable that lives at a storage address; a tensor that shares it says so.
        """
        kind = type(node)
        fields = self._fields.get(kind)
        if fields is None:
            fields = self._fields[kind] = _fields_of(kind, entry)
        found: list[SavedTensor] = []
        for field in fields:
            found += self._read_one(node, storages, *field)
        return found

    def _read_one(  # noqa: PLR0913 (a row of the table of fields)
        self, node: Node, storages: Mapping[int, str], attribute: str, name: str, packed: str | None, is_input: bool
    ) -> list[SavedTensor]:
        kept = self._kept.of(node)
        try:
            if packed is not None and kept is None and is_hooked(getattr(node, packed, None)):
                self.met_python = True
                return [_entry(name, None, is_input, note=_HOOKED)]
            saved = getattr(node, attribute) if kept is None else kept[name]
        except RuntimeError as error:
            return [_entry(name, None, is_input, note=note_on(error))]
        if isinstance(saved, Tensor):
            entry = self.tensor_entry(name, saved, is_input, is_output=not is_input and grad_fn_of(saved) is node)
            if storages and saved.layout is torch.strided:
                alias = storages.get(storage_address(saved))
                if alias is not None:
                    entry["alias_of"] = alias
            return [entry]
        if isinstance(saved, (list, tuple)) and any(isinstance(one, Tensor) for one in saved):
            return [
                self.tensor_entry(f"{name}[{position}]", one, is_input, is_output=False)
                if isinstance(one, Tensor)
                else _entry(f"{name}[{position}]", None, is_input)
                for position, one in enumerate(saved)
            ]
        return [option_entry(name, saved, is_input)]

    def tensor_entry(self, name: str, tensor: torch.Tensor, is_input: bool, is_output: bool) -> SavedTensor:
        """The entry of a saved tensor, its content as it is now."""
        self.met_python = self.met_python or type(tensor) not in _PLAIN_TYPES
        entry = _entry(name, tensor._version, is_input, is_output=is_output)
        entry["value"] = self._values.value_of(tensor)
        return entry


def _fields_of(kind: type, entry: DerivativeEntry | None) -> list[tuple[str, str, str | None, bool]]:
    """Per saved field: attribute, name, attribute of its packed form if it is a tensor, whether it is an argument."""
    arguments = "" if entry is None else entry.schema.partition("->")[0].replace(",", " ").replace(")", " ") + " "
    return [(*field, f" {field[1]} " in arguments or f" {field[1]}=" in arguments) for field in saved_fields(kind)]


def saved_fields(kind: type) -> tuple[tuple[str, str, str | None], ...]:
    """What nodes of a type save: attribute, name, attribute of its packed form if it is a tensor."""
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = tuple(
            (name, name.removeprefix(_PREFIX), f"_raw{name}" if hasattr(kind, f"_raw{name}") else None)
            for name in dir(kind)
            if name.startswith(_PREFIX)
        )
    return fields


def is_hooked(packed: Any) -> bool:
    """True for a saved tensor that a user's pack hook holds; unpacking it would run the user's code."""
    if isinstance(packed, (list, tuple)):
        return any(is_hooked(one) for one in packed)
    return packed is not None and getattr(packed, "unpack_hook", None) is not None


def note_on(error: RuntimeError) -> Fact:
    """Why a saved tensor could not be read."""
    text = str(error)
    if "after they have already been freed" in text or "already been freed" in text:
        return FREED
    if "modified by an inplace operation" in text:
        return fact("note-saved-changed")
    return fact("note-unreadable", text=text.partition("\n")[0][:200])


def plain_value(value: Any) -> Any:
    """Numbers, texts, and lists of them; a negative integer that C++ handed over as unsigned is mended."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value - (1 << 64) if value >= _UNSIGNED_HALF else value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, (list, tuple)):
        return [one if not isinstance(one, list) else str(one) for one in map(plain_value, value)]
    return str(value) if isinstance(value, (torch.dtype, torch.device, torch.layout, complex)) else type(value).__name__


def option_entry(name: str, saved: Any, is_input: bool) -> SavedTensor:
    """The entry of what is saved beside tensors."""
    entry = _entry(name, None, is_input)
    option = plain_value(saved)
    if option is not None:
        entry["option"] = option
    return entry


def _entry(
    name: str, version: int | None, is_input: bool, *, is_output: bool = False, note: Fact | None = None
) -> SavedTensor:
    entry: SavedTensor = {
        "name": name,
        "value": None,
        "version": version,
        "is_input": is_input,
        "is_output": is_output,
    }
    if note is not None:
        entry["note"] = note
    return entry
