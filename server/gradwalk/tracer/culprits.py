"""Who is to blame for an error inside a backward pass: the node, its saved tensors, the write that changed one."""

import dis
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from gradwalk.protocol.facts import Fact, Filling, code, fact
from gradwalk.protocol.graph import Span
from gradwalk.tracer.calls import CallLog
from gradwalk.tracer.custom import parameter_names
from gradwalk.tracer.description import Record
from gradwalk.tracer.frames import Place
from gradwalk.tracer.originals import PROGRAM_FILES, innermost
from gradwalk.tracer.places import Places
from gradwalk.tracer.saved import FREED
from gradwalk.tracer.text import called
from gradwalk.tracer.values import storage_address
from gradwalk.tracer.walk import Node

WRITES_TOLD: Final = 3
"""Writes into one saved tensor that are told one by one."""


class Changed(NamedTuple):
    """A saved tensor that was changed in place, and the calls that wrote into it."""

    tensor: Fact
    writes: Filling
    span: Span | None = None
    """Where the last of them is."""
    is_part: bool = False
    """Whether that was `y[i] = …`."""


class Unused(NamedTuple):
    """An input that a pass was asked for and to which nothing leads."""

    position: int
    name: str | None
    detail: Fact | None
    """Why nothing leads to it, where that is known."""
    span: Span | None
    """Where it was made."""


@dataclass
class Culprits:
    """What is known around one error."""

    places: Places
    log: CallLog
    record: Record | None
    node: Node | None
    finished_spans: Sequence[Span | None]
    storages: Mapping[int, str]
    saves: Callable[[type, str], Span | None]
    """Where a custom Function saves something."""
    lost: Fact | None = None
    """Why what backward was called on has no history, where that is known."""
    unused: Unused | None = None
    """The input that a pass did not reach, where that is the error."""
    asked: Span | None = None
    """Where the pass was called for."""
    cause: Span | None = None
    """What the error comes from: the last write into a saved tensor, what a backward returns."""
    hooks: Callable[[], Sequence[Place | None]] = tuple
    """Where the hooks at the node that failed were registered."""

    @property
    def span(self) -> Span | None:
        """Of the node that failed, or of the input that was not reached."""
        if self.unused is not None:
            return self.unused.span
        described = None if self.record is None else self.record.node
        return None if described is None else described["span"]

    def hook_span(self) -> Span | None:
        """Where the hooks at the node that failed were registered, if that is one place."""
        places = set(self.hooks())
        return self.places.span(places.pop()) if len(places) == 1 else None

    def last_cut(self) -> Fact | None:
        """The call that took something out of the graph last."""
        cuts = self.log.cuts.found
        return self.places.called(cuts[-1].call, cuts[-1].place) if cuts else None

    def failed_node(self) -> Fact | str:
        """`MulBackward0 (line 3)`."""
        if self.record is None:
            return fact("problem-a-node")
        span = self.span
        return self.record.name if span is None else fact("node-in-line", op=self.record.name, line=str(span["line"]))

    def saved_names(self) -> list[str]:
        """The saved tensors of the node, by what the program calls them."""
        described = None if self.record is None else self.record.node
        if described is None:
            return []
        names = {operand["name"]: called(operand) for operand in described["inputs"]}
        result = described["outputs"][0]["name"] if described["outputs"] else None
        if result is not None:
            names["result"] = result
        held = [one["name"] for one in described["saved"] if _holds_tensor(one)]
        return [*dict.fromkeys(names.get(name, name) for name in held)]

    def earlier_line(self) -> str | None:
        """Where the backward was called that freed the graph."""
        lines = [span["line"] for span in self.finished_spans if span is not None]
        return str(lines[-1]) if lines else None

    def is_repeated(self) -> bool:
        """Whether the same call in the program asked for the pass before, as in a loop."""
        return self.asked is not None and self.finished_spans[-1:] == [self.asked]

    def argument(self, argnum: int) -> Fact:
        """Forward's argument at a position among all of them."""
        names = self.forward_arguments()
        if 0 <= argnum < len(names):
            return fact("problem-argument", name=names[argnum])
        return fact("problem-argument-number", number=str(argnum + 1))

    def operand_of_node(self, argnum: int) -> Fact:
        """A node's operand at a position among its edges."""
        described = None if self.record is None else self.record.node
        known = described is not None and argnum < len(described["inputs"])
        if known and described:
            return code(called(described["inputs"][argnum]))
        return fact("operand-number", number=str(argnum + 1))

    def forward_arguments(self) -> list[str]:
        """The names of a custom forward's arguments."""
        function = self._function()
        if function is None or self.node is None:
            return []
        count = len(getattr(self.node, "needs_input_grad", ()))
        return parameter_names(function, count)

    def return_span(self) -> Span | None:
        """Where the backward of the custom Function returns, the last time if it does so in several places."""
        function: Any = self._function()
        code = getattr(function and innermost(function.backward), "__code__", None)
        if code is None or code.co_filename not in PROGRAM_FILES:
            return None
        ends = [one.offset for one in dis.get_instructions(code) if one.opname.startswith("RETURN_")]
        return self.places.span((code, ends[-1])) if ends else None

    def shapes_of_arguments(self) -> list[list[int]]:
        """Of a custom forward's arguments that get a gradient."""
        edges = [] if self.node is None else self.node.next_functions
        sides: list[Any] = [following._input_metadata[slot] for following, slot in edges if following is not None]
        return [[*side.shape] for side in sides]

    def function_name(self, node_name: str) -> str:
        """The class of the custom Function."""
        function = self._function()
        return function.__name__ if function is not None else node_name.removesuffix("Backward") or "Function"

    def changed_tensor(self, saved_version: int, version: int) -> Changed:
        """Which saved tensor was changed, and by which lines, between its version when saved and its version now."""
        for name, packed in self._packed():
            data = getattr(packed, "data", None)
            if data is None or data._version != version:
                continue
            address = storage_address(data)
            writes = self._writes(address, saved_version, version)
            if writes:
                return self._changed(self.storages.get(address, name), writes)
        for address, after, place, _ in reversed(self.log.changes):
            # A write into a view hides what it saved; it is a part of what it wrote into.
            if after == saved_version and self.span is not None and self.places.span(place) == self.span:
                writes = self._writes(address, saved_version, version)
                if writes and address in self.storages:
                    return self._changed(self.storages[address], writes)
        return Changed(fact("problem-a-tensor"), fact("problem-an-operation"))

    def _changed(self, name: str, writes: Sequence[tuple[int, int, Place | None, str]]) -> Changed:
        *_, place, label = writes[-1]
        return Changed(code(name), self._told(writes), self.places.span(place), label == "__setitem__")

    def _writes(self, address: int, after: int, until: int) -> list[tuple[int, int, Place | None, str]]:
        # What lies at an address now was written last; memory that is free again may have been written before.
        latest = {one[1]: one for one in self.log.changes if one[0] == address and after < one[1] <= until}
        return [latest[version] for version in sorted(latest)]

    def _told(self, writes: Sequence[tuple[int, int, Place | None, str]]) -> Filling:
        told: list[Filling] = [self.places.called(label, place) for _, _, place, label in writes[:WRITES_TOLD]]
        more = len(writes) - len(told)
        return fact("and-more", first=told, count=more) if more > 0 else told

    def _packed(self) -> list[tuple[str, Any]]:
        node = self.node
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
        function: type | None = getattr(type(self.node), "_forward_cls", None)
        return function


def _holds_tensor(saved: Any) -> bool:
    return saved["version"] is not None or saved.get("note") == FREED
