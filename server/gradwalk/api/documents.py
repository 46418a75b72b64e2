"""Processes that read finished traces, so that whoever holds the connections never parses a large one."""

import asyncio
import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar
from weakref import WeakValueDictionary

from gradwalk.store.store import StoreError

T = TypeVar("T")

_PROCESSES = 2
"""A trace that takes V8 a minute leaves one to the others."""
_NICENESS = 5
"""Programs that people watch go first."""
_SMALL_BYTES = 8 << 10
"""Of a trace as it is kept: what is shorter is read in a millisecond or two."""


class Documents:
    """Started when they are first needed. Lives on the event loop."""

    def __init__(self) -> None:
        self._pool = _start()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """One to each client: whatever it asks for, it has one process, and the others are left to others."""

    async def ask(self, client: str, work: Callable[..., T], stored: bytes, *arguments: object) -> T:
        """What `work`, a function of `api.reading`, makes of a trace as it is kept; one after the other for a client.

        Raises:
            Exception: that of `work`.
            StoreError: the process ended over it, twice.
        """
        turn = self._turns.setdefault(client, asyncio.Lock())
        await turn.acquire()
        # A reader who hangs up does not end the work, nor therefore the turn.
        working = asyncio.ensure_future(self._ask(work, stored, *arguments))
        working.add_done_callback(lambda _: turn.release())
        return await asyncio.shield(working)

    async def _ask(self, work: Callable[..., T], stored: bytes, *arguments: object) -> T:
        for _ in range(2):
            pool = self._pool
            try:
                # In a thread: the first ones start a process.
                answer = await asyncio.to_thread(pool.submit, work, stored, *arguments)
                return await asyncio.wrap_future(answer)
            except BrokenProcessPool:
                if pool is self._pool:
                    pool.shutdown(wait=False)
                    self._pool = _start()
        raise StoreError("the process that reads traces ended")

    async def glance(self, client: str, work: Callable[..., T], stored: bytes, *arguments: object) -> T:
        """As `ask`, of what needs no V8: of a small trace it is had here, in a thread, which is sooner."""
        if len(stored) <= _SMALL_BYTES:
            return await asyncio.to_thread(work, stored, *arguments)
        return await self.ask(client, work, stored, *arguments)

    def close(self) -> None:
        """Ends them, whatever they are at."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.kill()


def _start() -> ProcessPoolExecutor:
    # Not forked: a server has threads.
    return ProcessPoolExecutor(_PROCESSES, multiprocessing.get_context("spawn"), _prepare)


def _prepare() -> None:
    os.nice(_NICENESS)
    threading.Thread(target=_end_with_the_server, daemon=True).start()


def _end_with_the_server() -> None:
    """The queue that these processes read from does not end with the process that fills it."""
    server = multiprocessing.parent_process()
    assert server is not None
    server.join()
    os._exit(1)
