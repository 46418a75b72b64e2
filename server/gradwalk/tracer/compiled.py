"""Functions of `torch.compile` run eagerly here, and that is said.

What the compiler would fuse is one opaque node; run eagerly, it is the graph that was written. The compiler itself is
loaded only when the program asks for it: its modules take more than a second.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

from gradwalk.protocol.facts import Fact, fact
from gradwalk.tracer.frames import snippet_place
from gradwalk.tracer.originals import frame_at
from gradwalk.tracer.patches import replaced
from gradwalk.tracer.places import Places

_COMPILER: Final = "torch._dynamo"
_MODULE: Final = "torch._dynamo.eval_frame"
_NAME: Final = "_callback_from_stance"
"""What every compiled function asks, each time it is called, before it runs eagerly or not."""


class CompileWatch:
    """Has compiled functions run eagerly, and says once where one was first called."""

    def __init__(self, places: Places, note: Callable[[Fact], None]) -> None:
        self._places = places
        self._note = note
        self._said = False
        self._undo = ExitStack()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watches, at once or as soon as the compiler is loaded."""
        with self._undo:
            if _COMPILER in sys.modules:
                self._watch()
            else:
                waiting = _Waiting(self._watch)
                sys.meta_path.insert(0, waiting)
                self._undo.callback(waiting.leave)
            yield

    def _watch(self) -> None:
        compiler: Any = sys.modules[_COMPILER]
        self._undo.enter_context(compiler.set_stance("force_eager"))
        module = sys.modules.get(_MODULE)
        original = getattr(module, _NAME, None)
        if original is None:
            return

        def noticing(callback: Any) -> Any:
            if callback and not self._said:
                self._said = True
                self._notice()
            return original(callback)

        self._undo.enter_context(replaced(lambda: module, _NAME, noticing))

    def _notice(self) -> None:
        span = self._places.span(snippet_place(frame_at(2)))
        self._note(fact("note-compiled") if span is None else fact("note-compiled-in-line", line=span["line"]))


class _Waiting(MetaPathFinder):
    """Finds nothing itself; calls `loaded` once the compiler was imported."""

    def __init__(self, loaded: Callable[[], None]) -> None:
        self._loaded = loaded

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _COMPILER:
            return None
        self.leave()
        found = PathFinder.find_spec(fullname, path, target)
        if found is not None and found.loader is not None:
            self._tell(found.loader)
        return found

    def _tell(self, loader: Loader) -> None:
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            # The module keeps the loader that it would have had.
            del loader.exec_module
            load(module)
            self._loaded()

        loader.exec_module = exec_module  # type: ignore[method-assign]

    def leave(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
