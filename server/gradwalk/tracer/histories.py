"""Where a tensor without a history comes from, for whoever calls backward on one."""

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from gradwalk.protocol.graph import Span
from gradwalk.tracer.calls import CallLog
from gradwalk.tracer.custom import is_once_differentiable
from gradwalk.tracer.description import Record
from gradwalk.tracer.passes import Pass
from gradwalk.tracer.places import Places
from gradwalk.tracer.values import ValueTable
from gradwalk.words.catalogue import tell


class Lost(NamedTuple):
    """Why there is nothing to walk back through, and what to do; whole sentences."""

    message: str
    hint: str


class _Origin(NamedTuple):
    """A gradient that a pass gave without a history."""

    tensor: "weakref.ref[torch.Tensor]"
    name: str | None
    span: Span | None
    create_graph: bool
    because: str


class Histories:
    """Remembers which gradients came out of a pass as plain numbers. Keeps no tensor alive."""

    def __init__(self, log: CallLog, places: Places, values: ValueTable) -> None:
        self._log = log
        self._places = places
        self._values = values
        self._origins: dict[int, _Origin] = {}

    def note_pass(self, one: Pass, results: Sequence[Any]) -> None:
        """The gradients of a pass that is over: those it returned, and those it left in `.grad`."""
        found: list[tuple[str | None, Any]] = [(None, result) for result in results or ()]
        if one.call != "grad":
            records = [entry.record for entry in one.nodes.values() if entry.record.variable is not None]
            found += [(f"{_name(record)}.grad", record.variable.grad) for record in records]  # type: ignore[union-attr]
        for name, gradient in found:
            if isinstance(gradient, torch.Tensor) and not gradient.requires_grad:
                because = _because(one) if one.create_graph else ""
                self._origins[id(gradient)] = _Origin(weakref.ref(gradient), name, one.span, one.create_graph, because)

    def lost(self, tensor: torch.Tensor, name: str | None) -> Lost | None:
        """Why a tensor that backward was called on has no history; None where nothing is known of it."""
        origin = self._origins.get(id(tensor))
        name = name or (None if origin is None else origin.name)
        spelled = "This tensor" if name is None else f"`{name}`"
        if origin is not None and origin.tensor() is tensor:
            line = _in_line(origin.span)
            if origin.create_graph:
                message = (
                    f"{spelled} is a gradient that was computed{line} with create_graph=True, but {origin.because}"
                )
                return Lost(message, "Check what backward does there with values that depend on the inputs.")
            return Lost(
                f"{spelled} is a gradient that was computed{line} without create_graph=True: it came back as plain "
                "numbers, so there is nothing to differentiate a second time.",
                f"Pass create_graph=True to the call{line}.",
            )
        for cut in reversed(self._log.cuts.found):
            if cut.identity == id(tensor) and cut.result is self._values.value_of(tensor):
                line = _in_line(self._places.span(cut.place))
                return Lost(
                    f"{spelled} comes from `{cut.call}`{line}, which gives a tensor without a history.",
                    f"Leave that out{line}, so that every step from the input to the output is in the graph.",
                )
        if self._log.cuts.found:
            cut = self._log.cuts.found[-1]
            line = _in_line(self._places.span(cut.place))
            return Lost(
                f"{spelled} has no history. The last thing that was taken out of the graph was cut off by `{cut.call}`"
                f"{line}; or no tensor that requires grad went into it.",
                "Create an input with requires_grad=True and keep every step from it to the output in torch.",
            )
        return None


def _because(one: Pass) -> str:
    """Why a pass under create_graph gave plain numbers."""
    if one.cuts:
        return f"it has no history. {tell(one.cuts[0].fact)}"
    for node in one.nodes:
        function = getattr(type(node), "_forward_cls", None)
        if function is not None and is_once_differentiable(function):
            return (
                f"the backward of {function.__name__} is marked @once_differentiable: it runs without grad mode, and "
                "what it returns cannot be differentiated again."
            )
    return (
        "nothing that it was computed from requires grad: the derivative does not depend on the inputs (that of a "
        "linear function is a constant), or a custom backward used only numbers without a history."
    )


def _name(record: Record) -> str:
    return "leaf" if record.node is None else record.node.get("leaf", "leaf")


def _in_line(span: Span | None) -> str:
    return "" if span is None else f" in line {span['line']}"
