"""Which tensors and nodes have hooks of the program's, and where they were registered."""

import functools
from collections.abc import Callable
from typing import Any

import torch

from gradwalk.protocol.graph import Span
from gradwalk.tracer.calls import CallLog
from gradwalk.tracer.description import Record
from gradwalk.tracer.frames import Place, snippet_place
from gradwalk.tracer.originals import frame_at
from gradwalk.tracer.places import Places
from gradwalk.tracer.walk import Node

_OURS = "gradwalk.tracer."


class HookWatch:
    """Sees every registration while a run is recorded: torch's own functions for it are written in Python."""

    def __init__(self, log: CallLog, places: Places, *, is_complete: bool) -> None:
        self._log = log
        self._spans = places
        self._is_complete = is_complete
        """False where tensors were live before we came: nobody saw their hooks being registered."""
        self._places: dict[int, Place | None] = {}
        """By the id of the handle."""
        self._asked: dict[int, Callable[..., Any]] = {}
        """The hooks that were there at the latest registration."""
        self._of_tensors: Any = None

    def install(self) -> None:
        """Starts to watch."""
        of_nodes: Any = torch.autograd.Function._register_hook
        of_tensors: Any = torch.Tensor.register_hook
        self._of_tensors = of_tensors

        def register(present: Any, hook: Callable[..., Any]) -> Any:
            result = of_nodes(present, hook)
            caller = frame_at(1)
            if not caller.f_globals.get("__name__", "").startswith(_OURS):
                self._places[result[1].id] = snippet_place(caller)
            elif hook is _nothing:
                self._asked = dict(result[0])
            return result

        @functools.wraps(of_tensors)
        def register_hook(tensor: torch.Tensor, hook: Callable[..., Any]) -> Any:
            handle = of_tensors(tensor, hook)
            node = tensor.grad_fn
            key: object = id(tensor) if node is None else (node._sequence_nr(), tensor.output_nr)
            place = snippet_place(frame_at(1))
            if place is not None or key not in self._log.hooks:
                self._log.hooks[key] = place
            return handle

        setattr(torch.autograd.Function, "_register_hook", staticmethod(register))  # noqa: B010 (mypy sees a method)
        setattr(torch.Tensor, "register_hook", register_hook)  # noqa: B010

    def remove(self) -> None:
        """Stops watching, unless the program has put something else there."""
        if self._of_tensors is not None:
            del torch.autograd.Function._register_hook
            setattr(torch.Tensor, "register_hook", self._of_tensors)  # noqa: B010
            self._of_tensors = None

    def rewriter_of(self, node: Node, record: Record, slot: int) -> tuple[bool, Span | None]:
        """Whether the program put a hook here that can rewrite the gradient of this output, and where."""
        key: object = id(record.variable)
        if record.variable is None and record.node is not None:
            key = (record.sequence, slot)
        if key in self._log.hooks:
            return True, self._spans.span(self._log.hooks[key])
        found, place = self._prehook_of(node)
        return found or not self._is_complete, self._spans.span(place)

    def _prehook_of(self, node: Node) -> tuple[bool, Place | None]:
        """Whether somebody else's prehook is on a node, and where the program registered it.

        Asked by registering one more, since the list is handed over then; call it only once the node's prehooks ran.
        """
        self._asked = {}
        node.register_prehook(_nothing).remove()
        for number, hook in self._asked.items():
            if not str(getattr(hook, "__module__", "")).startswith(_OURS):
                return True, self._places.get(number)
        return False, None


def _nothing(*_gradients: Any) -> None:
    return None
