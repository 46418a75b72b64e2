"""Finished traces are read in processes of their own, which may end at any moment."""

import asyncio
import os
import re
import signal
import time

import pytest

from gradwalk.api.documents import Documents
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
        with pytest.raises(BusyError):  # noqa: PT012 (sooner or later)
            while not await cpu.check("other"):
                await documents.ask("other", re.fullmatch, b"(a|a)*b", b"a" * 21)
    finally:
        documents.close()
    wait_until(lambda: not any(is_alive(pid) for pid, _ in answers))
