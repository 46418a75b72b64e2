"""The graph of a program that raised outside every pass: what leads to the differentiable tensors it had by then."""

from collections.abc import Mapping
from types import FrameType
from typing import Any

import torch

from gradwalk.protocol import graph as protocol
from gradwalk.protocol.events import FailedCall, FailedOperand
from gradwalk.tracer import originals
from gradwalk.tracer.arguments import tensors_in
from gradwalk.tracer.calls import CallRecorder
from gradwalk.tracer.description import GraphWriter, Record
from gradwalk.tracer.frames import Place, frames_in
from gradwalk.tracer.naming import NamedTensors
from gradwalk.tracer.originals import PROGRAM_FILES
from gradwalk.tracer.passes import resolve_slots
from gradwalk.tracer.places import Places
from gradwalk.tracer.values import ValueTable
from gradwalk.tracer.walk import Node, walk

_RECORDED_CALL = CallRecorder.__torch_function__.__code__


class Unfinished:
    """What was alive when an error left the program, read off its traceback."""

    def __init__(self, error: BaseException, variables: Mapping[str, Any]) -> None:
        self.named = NamedTensors()
        self.named.read(variables)
        self._call: FrameType | None = None
        self._place: Place | None = None
        for frame, offset in frames_in(error.__traceback__):
            if frame.f_code.co_filename in PROGRAM_FILES:
                self._place = (frame.f_code, offset)
                if frame.f_code.co_name != "<module>":
                    self.named.read(frame.f_locals)
            elif frame.f_code is _RECORDED_CALL:
                self._call = frame

    @property
    def operands(self) -> list[torch.Tensor]:
        """The tensors handed to the torch call that raised; empty where something else did."""
        if self._call is None:
            return []
        given = self._call.f_locals
        return list(tensors_in((*given["args"], *(given["kwargs"] or {}).values())))

    def write(self, writer: GraphWriter, nodes_max: int) -> tuple[protocol.Graph, dict[Node, Record]] | None:
        """The graph, and the record of each node; None where passes have shown it all, or it is too large."""
        alive = [tensor for _, tensor in self.named.intermediates if not _is_rewritten_view(tensor)]
        alive += [tensor for tensor in self.operands if tensor.requires_grad and not _is_rewritten_view(tensor)]
        if not alive:
            alive = [leaf for _, leaf in self.named.leaves.values()]
        starts = dict.fromkeys(node for node, _ in resolve_slots(alive) if node is not None)
        graph = walk(starts, nodes_max) if starts else None
        if graph is None:
            return None
        records = writer.records(graph)
        if all(record.node is not None for record in records.values()):
            return None
        written = writer.write(graph, records, self.named)
        writer.explain()
        return written, records

    def failed_call(self, records: dict[Node, Record], values: ValueTable, places: Places) -> FailedCall | None:
        """The torch call that raised, None where something else did."""
        if self._call is None:
            return None
        name: str = getattr(self._call.f_locals["func"], "__name__", "call")
        operands: list[FailedOperand] = []
        for tensor in self.operands:
            [(node, slot)] = [(None, 0)] if not tensor.requires_grad else resolve_slots([tensor])
            record = None if node is None else records.get(node)
            operands.append(
                {"value": values.value_of(tensor), "node": None if record is None else record.id, "output_nr": slot}
            )
        return {"op": name.strip("_"), "span": places.span(self._place), "operands": operands}


def _is_rewritten_view(tensor: torch.Tensor) -> bool:
    """True for a view whose base changed: asking it for its grad_fn makes the engine build another node."""
    return tensor._is_view() and tensor._version > 0 and not isinstance(tensor, originals.Parameter)
