"""Who may carry out a run, who is believed to be alive, and what becomes of what was lost; on a real redis-server."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from gradwalk.cluster.connection import connect, connect_listener
from gradwalk.engine import runlog
from gradwalk.engine.engine import BusyError, Lane, Order
from gradwalk.engine.job import Outcome
from gradwalk.engine.runlog import Attempt, Entry, FencedError, Reader, RunLog, SharedRun
from tests.world.redis import Redis
from tests.world.sandbox import job_of

LASTING, PASSING = Outcome(lasting=True), Outcome(lasting=False)
RUNNING, WAITING, GONE = (True, True), (False, True), (False, False)


@asynccontextmanager
async def opened(redis: Redis) -> AsyncIterator[RunLog]:
    """The log of an empty server."""
    async with connect(redis.url) as connection:
        yield RunLog(connection)


def order(run_id: str = "a", client: str = "", lane: Lane = Lane.LIVE) -> Order:
    return Order(run_id, job_of("x"), lane, client)


async def start(log: RunLog, run_id: str = "a") -> SharedRun:
    return (await log.open(order(run_id)))[0]


async def begin(log: RunLog, run_id: str = "a") -> Attempt:
    attempt = await log.begin(run_id)
    assert attempt is not None
    return attempt


def pass_by(redis: Redis, *keys: str) -> None:
    """Their time."""
    with redis.client() as client:
        assert client.delete(*(f"gradwalk:{key}" for key in keys)) == len(keys)


async def conditions(log: RunLog, *runs: SharedRun) -> list[tuple[bool, bool]]:
    return await log.tend([(run, True, True) for run in runs])


async def test_a_run_is_started_once_and_begun_once(redis: Redis) -> None:
    async with opened(redis) as log:
        found = await asyncio.gather(*[log.open(order()) for _ in range(100)])
        assert len({run.log for run, _ in found}) == 1
        assert sum(place is not None for _, place in found) == 1
        begun = await asyncio.gather(*[log.begin("a") for _ in range(20)])
        assert sum(attempt is not None for attempt in begun) == 1
        assert [await log.find(run_id) for run_id in "ab"] == [found[0][0], None]


async def test_what_an_attempt_writes_is_there_once_and_ends_with_its_outcome(redis: Redis) -> None:
    async with opened(redis) as log:
        run = await start(log)
        attempt = await begin(log)
        await log.tell(attempt, 0, 3)
        await log.append(attempt, [b"zero", b"one"])
        attempt.results = []
        await log.append(attempt, [b"zero", b"one"])  # as when the answer was lost
        await log.append(attempt, [b"two"])
        for _ in range(2):
            await log.finish(attempt, LASTING)
        assert await log.beat(attempt), "the last of another thread"
        with redis.client() as client:
            assert client.pttl(f"gradwalk:beat:{run.log}") > runlog.BEAT_MS
        assert await log.results(run) == [b"zero", b"one", b"two"]
        async with connect_listener(redis.url) as listener:
            news = await Reader(listener, "here").news({run.log: 0})
        entries = [entry for _, entry in news]
        told = [Entry(1, progress=(0, 3)), Entry(2, (b"zero", b"one")), Entry(3, (b"two",))]
        assert entries == [*told, Entry(2**64 - 1, outcome=LASTING)]
        assert entries[1].after(1) == (b"one",)
        assert await conditions(log, run) == [RUNNING], "there is nothing to look after"
        assert await log.open(order()) == (run, None), "it can be read for a while"
        assert await log.begin("a") is None, "a message that came twice"
        passing = await start(log, "b")
        await log.finish(await begin(log, "b"), PASSING)
        assert (await log.find("b"), (await conditions(log, passing))[0][0]) == (passing, True)
        assert (await start(log, "b")).log != passing.log, "what does not last is run again when it is asked for"
        assert await begin(log, "b")


async def test_a_worker_that_is_silent_loses_its_run_to_an_heir_and_may_not_end_it(redis: Redis) -> None:
    async with opened(redis) as log:
        run = await start(log)
        dead = await begin(log)
        await log.append(dead, [b"zero"])
        pass_by(redis, f"beat:{run.log}")
        assert await log.beat(dead), "there is no heir yet"
        assert await conditions(log, run) == [RUNNING]
        pass_by(redis, f"beat:{run.log}")
        assert await conditions(log, run) == [WAITING]
        heir = await begin(log)
        assert (heir.results, heir.tries) == ([b"zero"], 2)
        with pytest.raises(FencedError):
            await log.finish(dead, LASTING)
        assert not await log.beat(dead)
        assert await log.beat(heir)
        heir.results.clear()  # as when it began before the last entry of the other
        await log.append(heir, [b"zero", b"one"])
        await log.append(dead, [b"one"])
        assert await log.results(run) == [b"zero", b"one"]
        pass_by(redis, f"log:{run.log}")  # as when memory ran out
        with pytest.raises(FencedError):
            await log.append(heir, [b"after a gap"])


async def test_a_run_stops_when_its_last_server_leaves_or_dies(redis: Redis) -> None:
    async with opened(redis) as log:
        run = await start(log)
        attempt = await begin(log)
        with redis.client() as client:
            assert runlog.LEAVE_MS < client.pttl("gradwalk:order:a") <= runlog.FOLLOW_MS
            await log.leave(run)
            assert 0 < client.pttl("gradwalk:order:a") <= runlog.LEAVE_MS
            assert await log.tend([(run, False, False)]) == [RUNNING]
            assert client.pttl("gradwalk:order:a") <= runlog.LEAVE_MS
            assert await conditions(log, run) == [RUNNING]
            assert client.pttl("gradwalk:order:a") > runlog.LEAVE_MS, "another server follows it"
        assert await log.beat(attempt)
        pass_by(redis, "order:a")
        assert not await log.beat(attempt)
        assert (await start(log)).log != run.log, "who comes now begins anew"
        assert not await log.beat(attempt)
        assert await log.beat(await begin(log))
        waiting = await start(log, "b")
        pass_by(redis, "order:b")
        assert await log.begin("b") is None
        assert await conditions(log, waiting) == [GONE]


async def test_room_is_counted_over_all_servers_and_per_client(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(redis) as log, opened(redis) as there:
        caps = 3, 2
        runs = [(await log.open(order(f"a{n}", "greedy"), *caps))[0] for n in range(2)]
        with pytest.raises(BusyError, match="address"):
            await there.open(order("a2", "greedy"), *caps)
        assert await there.open(order("a0", "greedy"), *caps) == (runs[0], None), "joining needs no room"
        _, place = await there.open(order("b", "modest", Lane.BATCH), *caps)
        assert place.turn == 2
        with pytest.raises(BusyError):
            await log.open(order("c", "modest"), *caps)
        assert (await log.counts())[1] == {Lane.LIVE: 2, Lane.BATCH: 1}
        assert await log.begin("a0")
        assert await conditions(log, *runs) == [RUNNING, WAITING]
        assert (await log.counts())[1] == {Lane.LIVE: 1, Lane.BATCH: 1}
        await log.leave(runs[1])
        for number in range(2):
            await log.open(order(f"d{number}", "greedy"), *caps)
        with pytest.raises(BusyError):
            await log.open(order("e", "other"), *caps)
        later = time.time() + runlog.FOLLOW_MS / 1_000
        monkeypatch.setattr(runlog, "time", SimpleNamespace(time=lambda: later))
        assert await log.open(order("e", "other"), *caps), "what no server follows takes no room"


async def test_everybodys_first_run_starts_before_anybodys_second(redis: Redis) -> None:
    async with opened(redis) as log:

        async def priority(run_id: str, client: str, lane: Lane = Lane.LIVE) -> int:
            _, place = await log.open(order(run_id, client, lane))
            return place.priority

        assert [await priority(f"g{n}", "greedy") for n in range(3)] == [0, 1, 2]
        assert [await priority(f"m{n}", "modest") for n in range(2)] == [0, 1]
        for run_id in ("g0", "g1", "m0"):
            await begin(log, run_id)
        assert await priority("f", "greedy", Lane.BATCH) == 5
        assert await priority("g3", "greedy") == 1
        assert [await priority(f"x{n}", "many") for n in range(7)] == [0, 1, 2, 3, 4, 4, 4]
