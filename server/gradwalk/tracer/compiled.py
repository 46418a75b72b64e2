"""Notices that a function of `torch.compile` ran: here it runs eagerly, and that must be said."""

import sys
from collections.abc import Callable
from typing import Any, Final

from gradwalk.protocol.facts import Fact, fact
from gradwalk.tracer.frames import snippet_place
from gradwalk.tracer.originals import frame_at
from gradwalk.tracer.places import Places

_MODULE: Final = "torch._dynamo.eval_frame"
_NAME: Final = "_callback_from_stance"
"""What every compiled function asks, each time it is called, before it runs eagerly or not."""


class CompileWatch:
    """Says once where a compiled function was first called."""

    def __init__(self, places: Places, note: Callable[[Fact], None]) -> None:
        self._places = places
        self._note = note
        self._module: Any = None
        self._original: Any = None
        self._said = False

    def install(self) -> None:
        """Starts to watch; the stance must be set already, since that loads the compiler."""
        self._module = sys.modules.get(_MODULE)
        self._original = original = getattr(self._module, _NAME, None)
        if original is None:
            return

        def noticing(callback: Any) -> Any:
            if callback and not self._said:
                self._said = True
                self._notice()
            return original(callback)

        setattr(self._module, _NAME, noticing)

    def remove(self) -> None:
        """Stops watching."""
        if self._original is not None:
            setattr(self._module, _NAME, self._original)
            self._original = None

    def _notice(self) -> None:
        span = self._places.span(snippet_place(frame_at(2)))
        self._note(fact("note-compiled") if span is None else fact("note-compiled-in-line", line=span["line"]))
