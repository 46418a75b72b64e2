"""asyncio without the descriptors that its event loops open: it sleeps where they wait for a socket."""

import asyncio
import selectors
import time
from collections.abc import Mapping
from typing import Any, NoReturn

_FOREVER_SECONDS = 3_600.0
"""The limit on time ends it first."""


class _Patience(selectors.BaseSelector):
    """Nothing is ever ready but the time."""

    def register(self, fileobj: Any, events: int, data: Any = None) -> NoReturn:  # noqa: ARG002
        """Refuses, as the kernel would."""
        raise PermissionError("nothing can be waited for here but time")

    def unregister(self, fileobj: Any) -> NoReturn:
        """Nothing was registered."""
        raise KeyError(fileobj)

    def select(self, timeout: float | None = None) -> list[Any]:
        """Sleeps until the next timer."""
        time.sleep(_FOREVER_SECONDS if timeout is None else max(timeout, 0))
        return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """Empty."""
        return {}


class _Loop(asyncio.SelectorEventLoop):
    """One thread, no signals: nobody has to wake it."""

    def __init__(self) -> None:
        super().__init__(_Patience())

    def _make_self_pipe(self) -> None: ...
    def _close_self_pipe(self) -> None: ...
    def _write_to_self(self) -> None: ...


class LoopsThatSleep(asyncio.DefaultEventLoopPolicy):
    """What `asyncio.run` and `new_event_loop` ask for a loop."""

    _loop_factory = _Loop
