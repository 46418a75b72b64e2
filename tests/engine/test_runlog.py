"""Who may write a run's log, who is believed to be alive, and what becomes of what was lost; on a real redis-server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gradwalk.cluster.connection import connect, connect_listener
from gradwalk.engine import runlog
from gradwalk.engine.broker import MESSAGE_LISTS
from gradwalk.engine.engine import BusyError, Lane, Order
from gradwalk.engine.job import Outcome
from gradwalk.engine.runlog import Attempt, Entry, FencedError, Reader, RunLog, SharedRun
from tests.world.redis import Redis
from tests.world.sandbox import job_of

LASTING, PASSING = Outcome(lasting=True), Outcome(lasting=False)
HERE, THERE = "here", "there"


@asynccontextmanager
async def opened(redis: Redis) -> AsyncIterator[RunLog]:
    """The log of an empty server."""
    async with connect(redis.url) as connection:
        yield RunLog(connection)


def order(run_id: str = "a", client: str = "", lane: Lane = Lane.LIVE) -> Order:
    return Order(run_id, job_of("x"), lane, client)


async def start(log: RunLog, run_id: str = "a", server: str = HERE) -> SharedRun:
    return (await log.open(order(run_id), server))[0]


async def begin(log: RunLog, run_id: str = "a") -> Attempt:
    attempt = await log.begin(run_id, "worker")
    assert attempt is not None
    return attempt


def silence(redis: Redis, run: SharedRun) -> None:
    """As when nothing was heard of its worker for too long."""
    with redis.client() as client:
        client.delete(f"gradwalk:beat:{run.log}")


async def states(log: RunLog, *runs: SharedRun, server: str = HERE) -> list[str]:
    return [condition.state for condition in await log.tend([(run, True) for run in runs], server)]


async def test_a_run_is_started_once_and_begun_once(redis: Redis) -> None:
    async with opened(redis) as log:
        found = await asyncio.gather(*[log.open(order(), f"server {n}") for n in range(100)])
        assert len({run.log for run, _ in found}) == 1
        assert [priority for _, priority in found].count(0) == 1
        assert [priority for _, priority in found].count(None) == 99
        begun = await asyncio.gather(*[log.begin("a", f"worker {n}") for n in range(20)])
        assert sum(attempt is not None for attempt in begun) == 1
        assert [await log.find(run_id) for run_id in "ab"] == [found[0][0], None]


async def test_what_an_attempt_writes_is_there_once_and_ends_with_its_outcome(redis: Redis) -> None:
    async with opened(redis) as log:
        run = await start(log)
        attempt = await begin(log)
        await log.append(attempt, [b"zero", b"one"])
        attempt.entries, attempt.results = 1, []
        await log.append(attempt, [b"zero", b"one"])  # as when the answer was lost
        await log.append(attempt, [b"two"])
        for _ in range(2):
            await log.finish(attempt, LASTING, progress=(3, 3))
        assert await log.results(run) == [b"zero", b"one", b"two"]
        async with connect_listener(redis.url) as listener:
            news = await Reader(listener, HERE).news({run.log: "0"})
        assert [entry for _, _, entry in news] == [
            Entry(begun="worker"),
            Entry(0, (b"zero", b"one")),
            Entry(2, (b"two",)),
            Entry(progress=(3, 3), outcome=LASTING),
        ]
        assert await states(log, run) == ["running"], "there is nothing to look after"
        assert await log.open(order(), "late") == (run, None), "it can be read for a while"
        assert await log.begin("a", "a message that came twice") is None
        passing = await start(log, "b")
        await log.finish(await begin(log, "b"), PASSING)
        assert (await log.find("b"), await states(log, passing)) == (passing, ["running"])
        assert (await start(log, "b")).log != passing.log, "what does not last is run again when it is asked for"
        assert await begin(log, "b")


async def test_a_worker_that_is_silent_loses_its_run_to_an_heir_and_may_write_no_more(redis: Redis) -> None:
    async with opened(redis) as log:
        earlier, run = await start(log, "earlier"), await start(log)
        dead = await begin(log)
        await log.append(dead, [b"zero"])
        silence(redis, run)
        assert await log.beat(dead), "there is no heir yet"
        assert await states(log, run) == ["running"]
        silence(redis, run)
        assert await states(log, run) == ["lost"]
        assert [await log.enqueue_again(run.order) for _ in range(2)] == [True, False], "one server sends it again"
        assert await states(log, run) == ["unsent"]
        ahead = await log.tend([(each, True) for each in (earlier, run)], HERE)
        assert [condition.jobs_ahead for condition in ahead] == [1, 0], "it is the next to start"
        heir = await begin(log)
        assert (heir.results, heir.tries) == ([b"zero"], 2)
        for write in (log.append(dead, [b"late"]), log.finish(dead, LASTING)):
            with pytest.raises(FencedError):
                await write
        assert not await log.beat(dead)
        assert await log.beat(heir)
        heir.results.clear()  # as when it began before the last entry of the other
        await log.append(heir, [b"zero", b"one"])
        assert await log.results(run) == [b"zero", b"one"]
        with redis.client() as client:
            client.delete(f"gradwalk:log:{run.log}")  # as when memory ran out
        with pytest.raises(FencedError):
            await log.append(heir, [b"after a gap"])


async def test_what_was_lost_is_noticed_and_what_only_waits_is_no_loss(redis: Redis) -> None:
    async with opened(redis) as log:
        runs = [await start(log, "a"), await start(log, "b")]
        with redis.client() as client:
            for messages in MESSAGE_LISTS[:2]:
                client.rpush(messages, "a message")
            assert await states(log, *runs) == ["queued", "queued"]
            client.delete(MESSAGE_LISTS[1])
            assert await states(log, *runs) == ["unsent", "queued"], "the next to start, whichever message is missing"
            client.flushall()
            assert await states(log, *runs) == ["gone", "gone"]


async def test_a_run_stops_when_its_last_server_leaves_or_dies(redis: Redis) -> None:
    async with opened(redis) as log:
        run = await start(log, server=HERE)
        await start(log, server=THERE)
        attempt = await begin(log)
        await log.leave("a", HERE)
        assert await log.beat(attempt)
        await log.leave("a", THERE)
        assert (await log.tend([(run, False)], HERE))[0].is_stopping
        assert not await log.beat(attempt)
        assert (await start(log)).log != run.log, "who comes now begins anew"
        assert await log.beat(await begin(log))
        await start(log, "b")
        orphan = await begin(log, "b")
        with redis.client() as client:
            assert 0 < client.pttl("gradwalk:watched:b") <= runlog.WATCH_MS
            client.delete("gradwalk:watched:b")
        assert not await log.beat(orphan)


async def test_room_is_counted_over_all_servers_and_per_client(redis: Redis) -> None:
    async with opened(redis) as log:
        caps = 3, 2
        runs = [(await log.open(order(f"a{n}", "greedy"), HERE, *caps))[0] for n in range(2)]
        with pytest.raises(BusyError, match="address"):
            await log.open(order("a2", "greedy"), HERE, *caps)
        assert await log.open(order("a0", "greedy"), THERE, *caps) == (runs[0], None), "joining needs no room"
        runs.append((await log.open(order("b", "modest", Lane.BATCH), THERE, *caps))[0])
        with pytest.raises(BusyError):
            await log.open(order("c", "modest"), HERE, *caps)
        assert (await log.counts())[1] == {Lane.LIVE: 2, Lane.BATCH: 1}
        ahead = await log.tend([(run, True) for run in runs], HERE)
        assert [condition.jobs_ahead for condition in ahead] == [0, 1, 2]
        assert await log.begin("a0", "worker")
        await log.leave("a1", HERE)
        assert await log.begin("a1", "worker") is None, "no server follows it"
        await log.leave("b", HERE)
        await log.leave("b", THERE)
        for number in range(2):
            await log.open(order(f"d{number}", "greedy"), HERE, *caps)
        assert await log.open(order("e", "other"), HERE, *caps), "what no server follows takes no room"


async def test_everybodys_first_run_starts_before_anybodys_second(redis: Redis) -> None:
    async with opened(redis) as log:
        names = {"g": "greedy", "m": "modest", "l": "late", "n": "new"}
        runs, priorities = {}, {}
        for run_id in ("g1", "g2", "g3", "m1", "m2", "l1"):
            runs[run_id], priorities[run_id] = await log.open(order(run_id, names[run_id[0]]), HERE)
        fair = ["g1", "m1", "l1", "g2", "m2", "g3"]
        assert [priorities[run_id] for run_id in fair] == [0, 0, 0, 1, 1, 2]
        ahead = await log.tend([(runs[run_id], True) for run_id in fair], HERE)
        assert [condition.jobs_ahead for condition in ahead] == list(range(6))
        for run_id in fair[:4]:
            await begin(log, run_id)
        assert (await log.open(order("n1", "new"), HERE))[1] == 0
        assert (await log.open(order("f1", "greedy", Lane.BATCH), HERE))[1] == 5
        assert (await log.open(order("g4", "greedy"), HERE))[1] == 1
        many = [(await log.open(order(f"x{n}", "many"), HERE))[1] for n in range(7)]
        assert many == [0, 1, 2, 3, 4, 4, 4]
