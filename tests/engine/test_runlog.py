"""Who may write a run's log, who is believed to be alive, and what becomes of what was lost; on a real redis-server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gradwalk.cluster.connection import connect, connect_listener
from gradwalk.engine import runlog
from gradwalk.engine.engine import BusyError, Lane, Order
from gradwalk.engine.job import CALLED_OFF, Outcome
from gradwalk.engine.runlog import Attempt, Caps, Entry, FencedError, Reader, RunLog
from gradwalk.protocol.requests import TraceRequest, resolve_limits
from gradwalk.sandbox.jobs import TraceJob
from tests.world.redis import Redis

REQUEST = TraceRequest(source="x")
JOB = TraceJob(request=REQUEST, limits=resolve_limits(REQUEST.options.limits))
ROOM = Caps(waiting_max=100, client_waiting_max=100)
LASTING = Outcome(lasting=True)
MESSAGES = "gradwalk:live"


@asynccontextmanager
async def opened(redis: Redis) -> AsyncIterator[RunLog]:
    """The log of an empty server."""
    async with connect(redis.url) as connection:
        yield RunLog(connection)


def order(run_id: str = "a", client: str = "", lane: Lane = Lane.LIVE) -> Order:
    return Order(run_id, JOB, lane, client)


async def begin(log: RunLog, run_id: str = "a") -> Attempt:
    attempt = await log.begin(run_id, "worker", Lane.LIVE)
    assert attempt.run_id == run_id
    return attempt


async def taken(log: RunLog, ticket: str, lane: Lane = Lane.LIVE) -> str:
    """The run that a worker gets for this message."""
    attempt = await log.begin(ticket, "worker", lane)
    return attempt.run_id


async def condition(log: RunLog, run_id: str = "a", server: str = "server") -> str:
    return (await log.tend([run_id], server))[run_id].state


async def test_a_run_is_made_once_and_begun_once(redis: Redis) -> None:
    async with opened(redis) as log:
        made = await asyncio.gather(*[log.open(order(), f"server {n}", ROOM) for n in range(50)])
        assert made.count(True) == 1
        begun = await asyncio.gather(*[log.begin("a", f"worker {n}", Lane.LIVE) for n in range(20)])
        assert sum(attempt is not None for attempt in begun) == 1
        assert await log.find("a") == order()
        assert await log.find("b") is None


async def test_what_an_attempt_writes_is_there_once_and_ends_with_its_outcome(redis: Redis) -> None:
    async with opened(redis) as log:
        await log.open(order(), "server", ROOM)
        attempt = await begin(log)
        await log.append(attempt, 0, [b"zero", b"one"])
        await log.append(attempt, 0, [b"zero", b"one"])  # the answer was lost, so it is sent again
        await log.append(attempt, 2, [b"two\nwith a line break"])
        for _ in range(2):
            await log.finish(attempt, LASTING)
        assert await log.results("a") == [b"zero", b"one", b"two\nwith a line break"]
        async with connect_listener(redis.url) as listener:
            news = await Reader(listener, "server").news({"a": "0"})
        assert [entry for _, _, entry in news] == [
            Entry(has_begun=True),
            Entry(0, (b"zero", b"one")),
            Entry(2, (b"two\nwith a line break",)),
            Entry(outcome=LASTING),
        ]
        assert await condition(log) == "done"
        assert not await log.open(order(), "late", ROOM), "it can be read for a while"


async def test_a_worker_that_is_silent_loses_its_run_and_may_write_no_more(redis, monkeypatch):
    async with opened(redis) as log:
        await log.open(order(), "server", ROOM)
        monkeypatch.setattr(runlog, "BEAT_MS", 1)
        dead = await begin(log)
        await log.append(dead, 0, [b"zero"])
        while await condition(log) != "lost":
            pass
        assert await condition(log, server="another") == "queued", "one server sends it again, not all"
        monkeypatch.setattr(runlog, "BEAT_MS", 4_000)
        heir = await begin(log)
        assert (heir.count, heir.tries) == (1, 2)
        for write in (log.append(dead, 1, [b"late"]), log.finish(dead, LASTING)):
            with pytest.raises(FencedError):
                await write
        assert not await log.beat(dead)
        assert await log.beat(heir)
        with pytest.raises(FencedError):
            await log.append(heir, 5, [b"a gap"])
        await log.append(heir, 1, [b"one"])
        assert await log.results("a") == [b"zero", b"one"]


async def test_a_lost_message_is_noticed_and_one_that_only_waits_is_not(redis, monkeypatch):
    monkeypatch.setattr(runlog, "PATIENCE_MS", 1)

    async with opened(redis) as log:
        await log.open(order(), "server", ROOM)
        with redis.client() as client:
            client.rpush(MESSAGES, "its message")
            for _ in range(20):
                assert await condition(log) == "queued"
            client.delete(MESSAGES)
        while await condition(log) != "lost":
            pass


async def test_when_everything_is_forgotten_the_server_is_told(redis: Redis) -> None:
    async with opened(redis) as log:
        await log.open(order(), "server", ROOM)
        with redis.client() as client:
            client.flushall()
        assert await condition(log) == "gone"


async def test_a_run_stops_when_its_last_server_leaves_or_dies(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(redis) as log:
        for server in ("one", "other"):
            await log.open(order(), server, ROOM)
        attempt = await begin(log)
        assert not await log.leave("a", "one", CALLED_OFF)
        assert await log.beat(attempt)
        assert await log.leave("a", "other", CALLED_OFF)
        assert not await log.beat(attempt)
        assert await log.open(order(), "one", ROOM), "who comes now begins anew"
        await begin(log)
        monkeypatch.setattr(runlog, "WATCH_MS", 1)
        await log.open(order("b"), "dies", ROOM)
        orphan = await begin(log, "b")
        while await log.beat(orphan):
            pass


async def test_room_is_counted_over_all_servers_and_per_client(redis: Redis) -> None:
    async with opened(redis) as log:
        caps = Caps(waiting_max=3, client_waiting_max=2)
        for number in range(2):
            assert await log.open(order(f"a{number}", "greedy"), f"server {number}", caps)
        with pytest.raises(BusyError):
            await log.open(order("a2", "greedy"), "server", caps)
        assert not await log.open(order("a0", "greedy"), "server", caps), "joining needs no room"
        assert await log.open(order("b", "modest", Lane.BATCH), "server", caps)
        with pytest.raises(BusyError):
            await log.open(order("c", "modest"), "server", caps)
        assert (await log.counts())[1] == {Lane.LIVE: 2, Lane.BATCH: 1}
        ahead = await log.tend(dict.fromkeys(("a0", "a1", "b"), ("", MESSAGES)), "server")
        assert [each.jobs_ahead for each in ahead.values()] == [0, 1, 2]
        await begin(log, "a0")
        assert await log.leave("a1", "server 1", CALLED_OFF) is False  # `tend` made "server" follow it too
        assert await log.leave("a1", "server", CALLED_OFF)
        assert await log.begin("a1", "worker", Lane.LIVE) is None
        for number in range(2):
            assert await log.open(order(f"a{number + 3}", "greedy"), "server", caps)


async def test_queue_is_round_robin_by_client(redis: Redis) -> None:
    async with opened(redis) as log:
        for run_id in ("g1", "g2", "g3", "m1", "m2", "l1"):
            await log.open(order(run_id, {"g": "greedy", "m": "modest", "l": "late"}[run_id[0]]), "server", ROOM)
        fair = ["g1", "m1", "l1", "g2", "m2", "g3"]
        ahead = {run_id: told.jobs_ahead for run_id, told in (await log.tend(fair, "server")).items()}
        assert sorted(fair, key=lambda run_id: ahead[run_id]) == fair
        assert [await taken(log, "g3") for _ in range(2)] == fair[:2]
        await log.open(order("n1", "new"), "server", ROOM)
        await log.open(order("f1", "greedy", Lane.BATCH), "server", ROOM)
        rest = ["l1", "n1", "g2", "m2", "g3"]
        assert [await taken(log, "g1") for _ in rest] == rest
        assert await log.begin("f1", "worker", Lane.LIVE) is None
        assert await taken(log, "g1", Lane.BATCH) == "f1"


async def test_a_run_whose_worker_died_keeps_its_turn_and_one_that_nobody_follows_begins_by_its_message(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(redis) as log:
        monkeypatch.setattr(runlog, "BEAT_MS", -1)
        await log.open(order("a", "greedy"), "server", ROOM)
        await begin(log, "a")
        for number in range(3):
            await log.open(order(f"b{number}", "modest"), "server", ROOM)
        assert await condition(log, "a") == "lost"
        assert (await begin(log, "a")).tries == 2
        assert (await begin(log, "a")).tries == 3


async def test_runs_that_the_shared_server_forgot_take_no_room(redis: Redis) -> None:
    async with opened(redis) as log:
        caps = Caps(waiting_max=2, client_waiting_max=2)
        for number in range(2):
            await log.open(order(f"a{number}", "client"), "server", caps)
        with pytest.raises(BusyError):
            await log.open(order("b", "other"), "server", caps)
        with redis.client() as client:
            client.delete("gradwalk:run:a0")
        assert await log.open(order("b", "client"), "server", caps)
        assert (await log.counts())[1][Lane.LIVE] == 2
