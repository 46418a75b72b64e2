"""The events of kept traces, for readers who want a stream: each document is taken apart once, not once per reader."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable

_TRACES_MAX = 32
_BYTES_MAX = 64 << 20


class KeptEvents:
    """The encoded events of the documents that were asked for last. Lives on the event loop."""

    def __init__(self, split: Callable[[bytes], list[bytes]]) -> None:
        self._split = split
        self._found: OrderedDict[str, asyncio.Task[list[bytes]]] = OrderedDict()

    async def of(self, trace: str, stored: bytes) -> list[bytes]:
        """Of a document, gzip-compressed; whoever asks meanwhile waits for the same work."""
        task = self._found.get(trace)
        if task is None:
            task = self._found[trace] = asyncio.create_task(asyncio.to_thread(self._split, stored))
            task.add_done_callback(lambda _: self._forget_some(trace))
        self._found.move_to_end(trace)
        return await asyncio.shield(task)

    def _forget_some(self, newest: str) -> None:
        """A failure at once, the others when there are too many."""
        task = self._found.get(newest)
        if task is not None and (task.cancelled() or task.exception() is not None):
            del self._found[newest]
        while len(self._found) > _TRACES_MAX or self._bytes() > _BYTES_MAX:
            self._found.popitem(last=False)

    def _bytes(self) -> int:
        whole = [task for task in self._found.values() if task.done() and not task.cancelled() and not task.exception()]
        return sum(len(event) for task in whole for event in task.result())
