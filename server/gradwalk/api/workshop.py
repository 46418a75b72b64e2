"""Exports in the making: what several ask for at once is made once, and whoever waits hears how far it is."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from gradwalk.exports.exporter import Report

AT_ONCE = 2
"""Exports made at the same time; each runs Graphviz side by side with itself."""
KEPT_BYTES_MAX = 64 << 20
NEWS_SECONDS_MAX = 15.0

Make = Callable[[Report], bytes]
"""Makes the file in a thread, telling how many pages are done."""


@dataclass
class Making:
    """One file, from the first wish to its bytes."""

    work: asyncio.Task[bytes]
    done: int = 0
    of: int = 0
    """Pages; 0 as long as nobody knows how many."""
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def body(self) -> bytes:
        """The file. Whoever stops waiting stops nobody else's.

        Raises:
            NothingToExport, ExportUnavailable: as the exporter.
        """
        return await asyncio.shield(self.work)

    async def progress(self) -> AsyncIterator[tuple[int, int]]:
        """How many pages are done, and of how many: at once, at every change and now and then, until it is made."""
        yield self.done, self.of
        while not self.work.done():
            self.news.clear()
            news = asyncio.ensure_future(self.news.wait())
            await asyncio.wait({self.work, news}, timeout=NEWS_SECONDS_MAX, return_when=asyncio.FIRST_COMPLETED)
            news.cancel()
            yield self.done, self.of


class Workshop:
    """The files in the making, and the last ones that were made. Lives on the event loop."""

    def __init__(self) -> None:
        self._makings: OrderedDict[str, Making] = OrderedDict()
        self._room = asyncio.Semaphore(AT_ONCE)

    def ask(self, address: str, make: Make) -> Making:
        """The file of that address: being made, made already, or made now."""
        known = self._makings.get(address)
        if known is not None:
            self._makings.move_to_end(address)
            return known
        making = Making(asyncio.get_running_loop().create_task(self._make(address, make)))
        self._makings[address] = making
        making.work.add_done_callback(lambda work: self._keep(address, work))
        return making

    async def _make(self, address: str, make: Make) -> bytes:
        loop = asyncio.get_running_loop()
        making = self._makings[address]

        def hear(done: int, of: int) -> None:
            making.done, making.of = done, of
            making.news.set()

        async with self._room:
            return await asyncio.to_thread(make, lambda done, of: _tell(loop, hear, done, of))

    def _keep(self, address: str, work: asyncio.Task[bytes]) -> None:
        # A failure is told to those who wait, and tried again for the next one.
        if work.cancelled() or work.exception() is not None:
            self._makings.pop(address, None)
            return
        finished = [(name, each) for name, each in self._makings.items() if each.work.done()]
        size = sum(len(each.work.result()) for _, each in finished)
        for name, each in finished:
            if size <= KEPT_BYTES_MAX:
                break
            size -= len(each.work.result())
            del self._makings[name]


def _tell(loop: asyncio.AbstractEventLoop, hear: Report, done: int, of: int) -> None:
    try:
        loop.call_soon_threadsafe(hear, done, of)
    except RuntimeError:
        # The server has gone; the thread finishes for nobody.
        return
