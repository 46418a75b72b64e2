"""Processes that read finished traces, so that whoever holds the connections never parses a large one."""

import asyncio
import multiprocessing
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from gradwalk.engine.engine import BusyError
from gradwalk.engine.rates import Rate
from gradwalk.exports.scene import SCENE
from gradwalk.protocol.facts import fact
from gradwalk.store.compression import length_of
from gradwalk.store.store import StoreError

T = TypeVar("T")
_Answer = tuple[Any, Exception | None, float]
"""What was made, or why not, and seconds of processor time."""

_PROCESSES = 3
"""Two clients whose traces take V8 a minute leave one to the others."""
_NICENESS = 10
"""Programs that people watch go first."""
_SMALL_BYTES = 64 << 10
"""Of a trace: what is shorter is read in a millisecond or two."""
_WAITING_BYTES_MAX = 64 << 20
"""Of the traces that one client's readings wait with."""
_RETRY_SECONDS = 5


class Documents:
    """Started when they are first needed, and paid for from `cpu` by who asks. Lives on the event loop.

    A client has one place at most, and places are given out in the order in which clients began to wait: so they take
    turns, whatever one of them sends.
    """

    def __init__(self, cpu: Rate) -> None:
        self._pool = _start()
        self._cpu = cpu
        self._places = asyncio.Semaphore(_PROCESSES)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Of each client that reads or waits."""
        self._waiting_bytes: Counter[str] = Counter()

    async def ask(self, client: str, work: Callable[..., T], stored: bytes, *arguments: object) -> T:
        """What `work`, a function of `api.reading`, makes of a trace as it is kept; one after the other for a client.

        To stop waiting leaves the queue; what has begun goes on, and keeps the client's place until it is done.

        Raises:
            BusyError: too much waits for this client.
            Exception: that of `work`.
            StoreError: the process ended over it, twice.
        """
        if self._waiting_bytes[client] > _WAITING_BYTES_MAX:
            raise BusyError(_RETRY_SECONDS, fact("api-busy-client-queue"))
        async with AsyncExitStack() as place:
            self._waiting_bytes[client] += len(stored)
            try:
                await place.enter_async_context(self._turns.setdefault(client, asyncio.Lock()))
                await place.enter_async_context(self._places)
            finally:
                self._waiting_bytes[client] -= len(stored)
                if not self._waiting_bytes[client]:
                    del self._waiting_bytes[client]
            reading = asyncio.ensure_future(self._carry_out(client, partial(work, stored, *arguments), place.pop_all()))
        made, error = await asyncio.shield(reading)
        if error is not None:
            raise error
        return made

    async def _carry_out(self, client: str, work: partial[T], place: AsyncExitStack) -> tuple[T, Exception | None]:
        async with place:
            made, error, seconds = await self._read(work)
        with suppress(BusyError):
            await self._cpu.take(client, seconds)
        return made, error

    async def _read(self, work: partial[Any]) -> _Answer:
        began = time.monotonic()
        for _ in range(2):
            pool = self._pool
            try:
                # In a thread: the first ones start a process.
                answer = await asyncio.to_thread(pool.submit, _measure, work)
                return await asyncio.wrap_future(answer)
            except BrokenProcessPool:
                if pool is self._pool:
                    pool.shutdown(wait=False)
                    self._pool = _start()
            except Exception as error:  # noqa: BLE001 (what was made cannot be sent from there to here)
                return None, error, time.monotonic() - began
        return None, StoreError("the process that reads traces ended"), time.monotonic() - began

    async def glance(self, client: str, work: Callable[..., T], stored: bytes, *arguments: object) -> T:
        """As `ask`, of what needs no V8: of a small trace it is had here, in a thread, which is sooner."""
        if length_of(stored) <= _SMALL_BYTES:
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


def _measure(work: partial[Any]) -> _Answer:
    began = _cpu_seconds()
    made, failure = None, None
    try:
        made = work()
    except Exception as error:  # noqa: BLE001 (it is raised where it was asked for)
        failure = error
    return made, failure, _cpu_seconds() - began


def _cpu_seconds() -> float:
    """Of this process, the V8 that it runs, and those that it ran."""
    return time.process_time() + sum(os.times()[2:4]) + SCENE.cpu_seconds


def _prepare() -> None:
    os.nice(_NICENESS)
    threading.Thread(target=_end_with_the_server, daemon=True).start()


def _end_with_the_server() -> None:
    """The queue that these processes read from does not end with the process that fills it."""
    server = multiprocessing.parent_process()
    assert server is not None
    server.join()
    os._exit(1)
