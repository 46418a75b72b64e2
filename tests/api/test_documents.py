"""Finished traces are read in processes of their own, which may end at any moment."""

import asyncio
import os
import signal

import pytest

from gradwalk.api.documents import Documents
from gradwalk.store.store import StoreError
from tests.world.processes import is_alive, wait_until

SMALL, LARGE = b"x", bytes(100_000)


def reader(stored: bytes) -> tuple[int, int]:
    """Whose process this is, and what it was given."""
    return os.getpid(), len(stored)


def end(_: bytes) -> None:
    """What a trace that breaks its reader does."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.usefixtures("run")
async def test_a_large_trace_is_read_elsewhere_and_one_that_ends_its_reader_is_the_only_one_without_an_answer() -> None:
    documents = Documents()
    try:
        pid, length = await documents.glance(reader, LARGE)
        assert (pid != os.getpid(), length) == (True, len(LARGE))
        assert await documents.glance(reader, SMALL) == (os.getpid(), len(SMALL))
        assert await documents.ask(reader, SMALL) != (os.getpid(), len(SMALL))
        with pytest.raises(StoreError):
            await documents.ask(end, SMALL)
        answers = await asyncio.gather(*[documents.ask(reader, LARGE) for _ in range(20)])
        assert {length for _, length in answers} == {len(LARGE)}
    finally:
        documents.close()
    pids = {pid for pid, _ in answers}
    wait_until(lambda: not any(map(is_alive, pids)))
