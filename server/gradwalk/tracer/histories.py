"""Where a tensor without a history comes from, for whoever calls backward on one."""

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from gradwalk.protocol.facts import Fact, code, fact
from gradwalk.protocol.graph import Span
from gradwalk.tracer.calls import CallLog
from gradwalk.tracer.custom import is_once_differentiable
from gradwalk.tracer.cuts import Cut
from gradwalk.tracer.description import Record
from gradwalk.tracer.passes import Pass
from gradwalk.tracer.places import Places
from gradwalk.tracer.values import ValueTable


class _Origin(NamedTuple):
    """A gradient that a pass gave without a history."""

    tensor: "weakref.ref[torch.Tensor]"
    name: str | None
    span: Span | None
    because: Fact | None
    """Of a pass under create_graph."""


class Histories:
    """Remembers which gradients came out of a pass as plain numbers. Keeps no tensor alive."""

    def __init__(self, log: CallLog, places: Places, values: ValueTable) -> None:
        self._log = log
        self._places = places
        self._values = values
        self._origins: dict[int, _Origin] = {}
        self._plain: dict[int | None, tuple[Fact, int]] = {}
        """By the line of a pass without create_graph: the call, and the bit of what is computed from its gradients."""

    def note_pass(self, one: Pass, results: Sequence[Any]) -> None:
        """The gradients of a pass that is over: those it returned, and those it left in `.grad`."""
        found: list[tuple[str | None, Any]] = [(None, result) for result in results or ()]
        if one.call != "grad":
            records = [entry.record for entry in one.nodes.values() if entry.record.variable is not None]
            found += [(f"{_name(record)}.grad", record.variable.grad) for record in records]  # type: ignore[union-attr]
        for name, gradient in found:
            if isinstance(gradient, torch.Tensor) and not gradient.requires_grad:
                because = _because(one) if one.create_graph else None
                self._origins[id(gradient)] = _Origin(weakref.ref(gradient), name, one.span, because)
                if because is None:
                    self._log.cuts.sources.mark(gradient, self._bit_of(one.span))

    def _bit_of(self, span: Span | None) -> int:
        line = None if span is None else span["line"]
        if line not in self._plain:
            self._plain[line] = _call_at(span), self._log.cuts.sources.new()
        return self._plain[line][1]

    def lost(self, tensor: torch.Tensor, name: str | None) -> Fact | None:
        """Why a tensor that backward was called on has no history; None where nothing is known of it."""
        origin = self._origins.get(id(tensor))
        name = name or (None if origin is None else origin.name)
        spelled = fact("problem-this-tensor") if name is None else code(name)
        if origin is not None and origin.tensor() is tensor:
            call = _call_at(origin.span)
            if origin.because is None:
                return fact("problem-no-history-plain", tensor=spelled, call=call)
            return fact("problem-no-history-constant", tensor=spelled, call=call, because=origin.because)
        sources = self._log.cuts.sources.of(tensor)
        for cut in reversed(self._log.cuts.found):
            if cut.bit & sources:
                call = self._places.called(cut.call, cut.place)
                return _cut_off(cut, spelled, call)
        for call, bit in self._plain.values():
            if bit & sources:
                return fact("problem-no-history-plain", tensor=spelled, call=call)
        if self._log.cuts.found:
            cut = self._log.cuts.found[-1]
            call = self._places.called(cut.call, cut.place)
            return fact("problem-no-history-last-cut", tensor=spelled, call=call)
        return None


def _cut_off(cut: Cut, tensor: Fact, call: Fact) -> Fact:
    match cut.kind:
        case "inside":
            return fact("problem-no-history-inside", tensor=tensor, call=call)
        case "listed":
            return fact("problem-no-history-listed", tensor=tensor, call=call)
        case _:
            return fact("problem-no-history-cut", tensor=tensor, call=call)


def _call_at(span: Span | None) -> Fact:
    if span is None:
        return fact("problem-the-call")
    return fact("problem-the-call-in-line", line=str(span["line"]))


def _because(one: Pass) -> Fact:
    """Why a pass under create_graph gave plain numbers."""
    if one.cuts:
        return fact("problem-because-cut", message=one.cuts[0].fact)
    for node in one.nodes:
        function = getattr(type(node), "_forward_cls", None)
        if function is not None and is_once_differentiable(function):
            return fact("problem-because-once", function=function.__name__)
    return fact("problem-because-linear")


def _name(record: Record) -> str:
    return "leaf" if record.node is None else record.node.get("leaf", "leaf")
