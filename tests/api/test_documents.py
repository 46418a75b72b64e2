"""Finished traces are read in processes of their own, which may end at any moment."""

import asyncio
import os
import signal
import time
from contextlib import closing
from functools import partial
from types import SimpleNamespace
from unittest.mock import AsyncMock

import pytest
from fastapi import FastAPI

from gradwalk.api.bodies import WatchedRoute
from gradwalk.api.documents import Documents
from gradwalk.api.made_once import MadeOnce
from gradwalk.engine.engine import BusyError
from gradwalk.engine.rates import OwnRate
from gradwalk.protocol.facts import fact
from gradwalk.store.compression import compress
from gradwalk.store.store import StoreError
from tests.world.processes import is_alive, wait_until

SMALL, LARGE = compress(b"x"), compress(bytes(100_000))


def reader(stored: bytes) -> tuple[int, int]:
    """Whose process this is, and what it was given."""
    return os.getpid(), len(stored)


def end(_: bytes, after: float = 0) -> None:
    """What a trace that breaks its reader does, perhaps after V8 took its time over it."""
    time.sleep(after)
    os.kill(os.getpid(), signal.SIGKILL)


def burn(_: bytes) -> None:
    """As V8 does over a large graph, here for half a second of processor time."""
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass


@pytest.mark.usefixtures("run")
async def test_a_large_trace_is_read_elsewhere_and_one_that_ends_its_reader_is_the_only_one_without_an_answer() -> None:
    cpu = OwnRate("1/hour", fact("api-busy-cpu"))
    documents = Documents(cpu)
    try:
        pid, length = await documents.glance("reader", reader, LARGE)
        assert (pid != os.getpid(), length) == (True, len(LARGE))
        assert await documents.glance("reader", reader, SMALL) == (os.getpid(), len(SMALL))
        assert await documents.ask("reader", reader, SMALL) != (os.getpid(), len(SMALL))
        with pytest.raises(StoreError):
            await documents.ask("reader", end, SMALL)
        answers = await asyncio.gather(*[documents.ask(f"{n % 4}", reader, LARGE) for n in range(20)])
        assert {length for _, length in answers} == {len(LARGE)}
        # They hang up, too, and what they began goes on: neither frees a place for their next ones.
        asked = [asyncio.ensure_future(documents.ask(f"many {n % 2}", end, LARGE, 60)) for n in range(40)]
        await asyncio.sleep(0)
        for each in asked[::3]:
            each.cancel()
        assert (await documents.ask("other", reader, LARGE))[1] == len(LARGE)
        assert [each.done() for each in asked] == [n % 3 == 0 for n in range(40)]
        await documents.ask("other", burn, SMALL)
        await cpu.check("other")
        await documents.ask("other", burn, SMALL)
        with pytest.raises(BusyError):
            await cpu.check("other")
    finally:
        documents.close()
    wait_until(lambda: not any(is_alive(pid) for pid, _ in answers))


async def test_what_nobody_waits_for_any_more_is_not_made() -> None:
    app, ended = FastAPI(), asyncio.Event()
    app.router.route_class = WatchedRoute
    made = MadeOnce[str, bytes](1_000, lambda *_: 1, is_stopped=True)

    async def make() -> bytes:
        with closing(SimpleNamespace(close=ended.set)):
            return await asyncio.Event().wait() and b""

    app.get("/")(partial(made.ask, "key", make))
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
    await app(scope, AsyncMock(return_value={"type": "http.disconnect"}), AsyncMock())
    assert (ended.is_set(), "key" in made) == (True, False)
