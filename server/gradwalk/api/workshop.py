"""Small files in the making: what several ask for at once is made once, in a thread of this process."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable

AT_ONCE = 2
"""Each runs Graphviz beside it."""
KEPT_BYTES_MAX = 64 << 20


class Workshop:
    """The files in the making, and the last ones that were made. Lives on the event loop."""

    def __init__(self) -> None:
        self._makings: OrderedDict[str, asyncio.Task[bytes]] = OrderedDict()
        self._room = asyncio.Semaphore(AT_ONCE)

    async def ask(self, address: str, make: Callable[[], bytes]) -> bytes:
        """The file of that address: being made, made already, or made now. Who stops waiting stops nobody else's.

        Raises:
            NothingToExport, ExportUnavailable: as the exporter.
        """
        making = self._makings.get(address)
        if making is None:
            making = self._makings[address] = asyncio.create_task(self._make(make))
            making.add_done_callback(lambda work: self._keep(address, work))
        self._makings.move_to_end(address)
        return await asyncio.shield(making)

    async def _make(self, make: Callable[[], bytes]) -> bytes:
        async with self._room:
            return await asyncio.to_thread(make)

    def _keep(self, address: str, work: asyncio.Task[bytes]) -> None:
        # A failure is told to those who wait, and tried again for the next one.
        if work.cancelled() or work.exception() is not None:
            self._makings.pop(address, None)
            return
        finished = [(name, each) for name, each in self._makings.items() if each.done()]
        size = sum(len(each.result()) for _, each in finished)
        for name, each in finished:
            if size <= KEPT_BYTES_MAX:
                break
            size -= len(each.result())
            del self._makings[name]
