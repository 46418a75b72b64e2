"""Who is to blame for an error inside a backward pass: the node, its saved tensors, the write that changed one."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from gradwalk.protocol.facts import Fact
from gradwalk.protocol.graph import Span
from gradwalk.tracer.calls import CallLog
from gradwalk.tracer.custom import parameter_names
from gradwalk.tracer.description import Record
from gradwalk.tracer.frames import Place
from gradwalk.tracer.histories import Lost
from gradwalk.tracer.places import Places
from gradwalk.tracer.saved import FREED
from gradwalk.tracer.text import called
from gradwalk.tracer.values import storage_address
from gradwalk.tracer.walk import Node

WRITES_TOLD: Final = 3
"""Writes into one saved tensor that are told one by one."""


class Changed(NamedTuple):
    """Words about a saved tensor that was changed in place."""

    what: str
    saved_at: str
    changed_at: str


class Unused(NamedTuple):
    """An input that a pass was asked for and to which nothing leads."""

    name: str | None
    detail: Fact | None
    """Why nothing leads to it, where that is known."""
    span: Span | None
    """Where it was made."""


class Culprits:
    """What is known around one error; says it in pieces of sentences."""

    def __init__(
        self,
        places: Places,
        log: CallLog,
        record: Record | None = None,
        node: Node | None = None,
        finished_spans: Sequence[Span | None] = (),
        storages: Mapping[int, str] | None = None,
        lost: Lost | None = None,
    ) -> None:
        self.places = places
        self.lost = lost
        """Why what backward was called on has no history, where that is known."""
        self.unused: Unused | None = None
        """The input that a pass did not reach, where that is the error."""
        self._log = log
        self._record = record
        self._node = node
        self._finished_spans = finished_spans
        self._storages = storages or {}

    @property
    def span(self) -> Span | None:
        """Of the node that failed, or of the input that was not reached."""
        if self.unused is not None:
            return self.unused.span
        described = None if self._record is None else self._record.node
        return None if described is None else described["span"]

    def node_words(self) -> str:
        """`MulBackward0 (line 3)`."""
        if self._record is None:
            return "A node"
        span = self.span
        return self._record.name if span is None else f"{self._record.name} (line {span['line']})"

    def saved_names(self) -> str:
        """The saved tensors of the node, listed."""
        described = None if self._record is None else self._record.node
        names = [one["name"] for one in described["saved"] if _holds_tensor(one)] if described is not None else []
        return " and ".join(f"`{name}`" for name in names)

    def earlier_pass_words(self) -> str:
        """Where the backward was called that freed the graph."""
        lines = [span["line"] for span in self._finished_spans if span is not None]
        return f" in line {lines[-1]}" if lines else ""

    def operand_name(self, argnum: int) -> str:
        """The name of forward's argument at a position among all of them."""
        names = self.forward_arguments()
        return f"`{names[argnum]}`" if argnum < len(names) else f"number {argnum}"

    def operand_of_node(self, argnum: int) -> str:
        """The name of a node's operand at a position among its edges."""
        described = None if self._record is None else self._record.node
        known = described is not None and argnum < len(described["inputs"])
        return f"`{called(described['inputs'][argnum])}`" if known and described else f"operand {argnum}"

    def forward_arguments(self) -> list[str]:
        """The names of a custom forward's arguments."""
        function = self._function()
        if function is None or self._node is None:
            return []
        count = len(getattr(self._node, "needs_input_grad", ()))
        return parameter_names(function, count)

    def function_name(self, node_name: str) -> str:
        """The class of the custom Function."""
        function = self._function()
        return function.__name__ if function is not None else node_name.removesuffix("Backward") or "The Function"

    def changed_tensor(self, saved_version: int, version: int) -> Changed:
        """Which saved tensor was changed, and by which lines, between its version when saved and its version now."""
        span = self.span
        saved_at = "" if span is None else f" in line {span['line']}"
        for name, packed in self._packed():
            data = getattr(packed, "data", None)
            if data is None or data._version != version:
                continue
            address = storage_address(data)
            writes = [one for one in self._log.changes if one[0] == address and saved_version < one[1] <= version]
            if writes:
                return Changed(f"`{self._storages.get(address, name)}`", saved_at, self._writes_in_words(writes))
        return Changed("a tensor", saved_at, "an operation then wrote into it,")

    def _writes_in_words(self, writes: Sequence[tuple[int, int, Place | None, str]]) -> str:
        told = []
        for _, _, place, label in writes[:WRITES_TOLD]:
            span = self.places.span(place)
            told.append(label if span is None else f"{label} in line {span['line']}")
        more = len(writes) - len(told)
        rest = f" and {more} more" if more > 0 else ""
        return f"{', then '.join(told)}{rest} {'then ' if len(told) == 1 else ''}wrote into it,"

    def _packed(self) -> list[tuple[str, Any]]:
        node = self._node
        prefix = "_raw_saved_"
        found: list[tuple[str, Any]] = []
        for attribute in dir(type(node)) if node is not None else ():
            if attribute.startswith(prefix):
                try:
                    packed = getattr(node, attribute)
                except RuntimeError:
                    continue
                several = packed if isinstance(packed, (list, tuple)) else [packed]
                found += [(attribute[len(prefix) :], one) for one in several]
        return found

    def _function(self) -> type | None:
        function: type | None = getattr(type(self._node), "_forward_cls", None)
        return function


def _holds_tensor(saved: Any) -> bool:
    return saved["version"] is not None or saved.get("note") == FREED
