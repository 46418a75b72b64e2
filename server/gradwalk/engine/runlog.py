"""Runs that several machines share: one append-only log each, kept in Redis or Valkey and read with a cursor.

Each change is one command or one transaction, so nothing is half done, whatever is killed. The keys:

    order:<run>     the name of the run's log, and its order: the server that sets it starts the run, others join
    ended:<run>     the same, for a minute, where the result does not last: the next request starts a new run
    watched:<run>   the servers that follow it
    log:<log>       what it said so far; an entry's id is `<attempt>-<its number there>`
    beat:<log>      the attempt that runs now, expires when its worker is dead; or that the log has ended
    waiting         runs that wait, in the order in which they start; `waiting-of:<client>` has those of a client

Times to live are measured by Redis, so the clocks of the machines need not agree. Attempts of all runs are numbered by
one counter, and Redis refuses an entry whose id is not larger than the last one: the first entry of a newer attempt
fences the older ones off, and a command that is repeated after a lost answer changes nothing.
"""

import asyncio
import json
import sys
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar, cast

import redis.asyncio
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as NoAnswer  # noqa: N813 (Python has one of that name)

from gradwalk.cluster.connection import ask_at_once, name_key
from gradwalk.engine.broker import MESSAGE_LISTS, PRIORITIES
from gradwalk.engine.engine import BusyError, Lane, Order
from gradwalk.engine.job import JOB, Outcome
from gradwalk.protocol.facts import fact

T = TypeVar("T")

BEAT_MS = 4_000
"""A worker that has not been heard of for so long is dead."""
WATCH_MS = 10_000
"""A server that has not been heard of for so long follows nothing any more."""
RETAIN_MS = 60_000
_LIFETIME_MS = 6 * 3_600_000
_ENTRIES_MAX = 256
_BLOCK_MS = 5_000
_WORKER_SECONDS = 6
_END: Final = f"{2**64 - 1}-{2**64 - 1}"
"""The largest id: Redis refuses every entry after it."""
_ENDED: Final = b"ended"
_NAME: Final = 32
"""Characters of a log's name."""
_ROUND: Final = 2**40 * PRIORITIES
"""In `waiting`, those of a lane lie between two multiples of it."""
WAITING, STARTED, VERSIONS = name_key("waiting"), name_key("started"), name_key("versions")
_ARRIVALS, _WORKERS = name_key("arrivals"), name_key("workers")


class FencedError(RuntimeError):
    """Another attempt has begun, or the shared server has lost the end of the log: this attempt may write no more."""


@dataclass(frozen=True, slots=True)
class SharedRun:
    """An order, and the name of the log that its results are written to."""

    order: Order
    log: str


@dataclass(eq=False, slots=True)
class Attempt:
    """A worker's right to write a run's log, until a newer attempt has it."""

    run: SharedRun
    name: bytes
    number: int
    """Larger than that of every earlier attempt, of whichever run."""
    tries: int
    """How often this run was begun, this time included."""
    results: list[bytes]
    """All that is in the log, that of earlier attempts included."""
    entries: int = 0
    """Written by this attempt."""
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a log: results, how far a file is, that a worker has begun, or how it ended."""

    first: int = 0
    """Number of the first result in `batch`."""
    batch: tuple[bytes, ...] = ()
    begun: str = ""
    """The worker, where this is the first entry of its attempt."""
    progress: tuple[int, ...] | None = None
    """Pages that are done, and all of them."""
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """Of a run that is followed."""

    state: str
    """queued; running, or over; lost with its worker; gone; unsent: the next to start, but messages are missing."""
    jobs_ahead: int
    is_stopping: bool
    """It still runs, and no server follows it: the end of its log comes soon."""


class RunLog:
    """Used by servers and workers alike, each on its own event loop.

    Raises:
        redis.exceptions.RedisError: by every method, when the shared server does not answer in time.
        FencedError: by those that write for an attempt, when another has begun, or the log is not where it should be.
    """

    def __init__(self, connection: redis.asyncio.Redis) -> None:
        self._connection: Any = connection  # its types cannot tell an answer from the promise of one
        self._ask = partial(ask_at_once, connection)

    async def open(
        self, order: Order, server: str, waiting_max: int = sys.maxsize, client_waiting_max: int = sys.maxsize
    ) -> tuple[SharedRun, int | None]:
        """Starts a run or joins the one of that id, followed by `server`; with the priority of a new one, else None.

        Raises:
            BusyError: a new one was needed, and so many wait already, or so many of its client.
        """
        run, key = SharedRun(order, uuid.uuid4().hex), name_key("order", order.run_id)
        *_, known = await self._ask(
            lambda ask: _watch(ask, order.run_id, server).set(key, _encode(run), px=_LIFETIME_MS, nx=True, get=True)
        )
        # A command that is repeated after a lost answer finds its own value.
        found = run if known is None else _decode(order.run_id, known)
        is_new = found.log == run.log
        return found, await self._enqueue(order, waiting_max, client_waiting_max) if is_new else None

    async def _enqueue(self, order: Order, waiting_max: int, client_waiting_max: int) -> int:
        """Gives a new run its priority: how many runs of its client wait already in this lane."""
        of_client, lane = name_key("waiting-of", order.client), int(order.lane)
        *_, of_lane, waiting_of_client, arrival = await self._ask(
            lambda ask: (
                ask.zadd(of_client, {order.run_id: lane})
                .pexpire(of_client, _LIFETIME_MS)
                .zcount(of_client, lane, lane)
                .zcard(of_client)
                .incr(_ARRIVALS)
            )
        )
        rank: int = min(of_lane, PRIORITIES) - 1
        place = {order.run_id: lane * _ROUND + rank * 2**40 + arrival}
        *_, waiting = await self._ask(
            lambda ask: ask.zadd(WAITING, place).pexpire(WAITING, _LIFETIME_MS).zcard(WAITING)
        )
        is_full = await self._is_full(WAITING, waiting, waiting_max)
        if is_full or await self._is_full(of_client, waiting_of_client, client_waiting_max):
            await self._ask(lambda ask: _remove(ask, order))
            if is_full:
                raise BusyError(_seconds_for(waiting_max))
            raise BusyError(_seconds_for(client_waiting_max), fact("api-busy-client-queue"))
        return lane * PRIORITIES + rank

    async def _is_full(self, queue: str, count: int, most: int) -> bool:
        return count > most and count - await self._drop_unwatched(queue) > most

    async def _drop_unwatched(self, queue: str, last: int = -1) -> int:
        """Runs that no server follows take no room, whatever has become of their messages."""
        waiting = await self._connection.zrange(queue, 0, last)
        watched = await self._ask(lambda ask: [ask.exists(name_key("watched", run_id.decode())) for run_id in waiting])
        unwatched = [run_id for run_id, is_watched in zip(waiting, watched, strict=True) if not is_watched]
        dropped: int = await self._connection.zrem(queue, *unwatched) if unwatched else 0
        return dropped

    async def enqueue_again(self, order: Order) -> bool:
        """Puts a lost run before all others of its lane; False where another server has done so."""
        return bool(await self._connection.zadd(WAITING, {order.run_id: order.lane * _ROUND}, nx=True))

    async def find(self, run_id: str) -> SharedRun | None:
        """The run of this id, or the one that ended within a minute."""
        found = await self._connection.mget(name_key("order", run_id), name_key("ended", run_id))
        return next((_decode(run_id, value) for value in found if value is not None), None)

    async def wake(self, server: str) -> None:
        """Lets the server's reader look again which logs it reads."""
        key = _wake_key(server)
        await self._ask(lambda ask: ask.xadd(key, {"wake": 1}, maxlen=1, approximate=False).pexpire(key, _LIFETIME_MS))

    async def begin(self, run_id: str, worker: str) -> Attempt | None:
        """The right to carry out a run; None where it is in other hands, over, or followed by no server."""
        known = await self._connection.get(name_key("order", run_id))
        if known is None:
            await self._connection.zrem(WAITING, run_id)
            return None
        run = _decode(run_id, known)
        name = f"{worker}/{uuid.uuid4().hex}".encode()
        if await self._drop(run):
            return None
        if await self._connection.set(_beat_key(run), name, px=BEAT_MS, nx=True, get=True) not in (None, name):
            return None
        said = await self._entries(run)
        if said and said[-1].outcome is not None:
            return None
        tries = 1 + sum(bool(entry.begun) for entry in said)
        attempt = Attempt(run, name, await self._connection.incr(STARTED), tries, _results_of(said))
        await self._write(attempt, {"begun": worker}, is_first=True)
        await self._ask(lambda ask: _leave_queue(ask, run.order))
        return attempt

    async def _drop(self, run: SharedRun) -> bool:
        """Lets the next request start a new run, unless a server follows this one."""

        async def drop(pipeline: Any) -> bool:
            is_watched = await pipeline.exists(name_key("watched", run.order.run_id))
            is_current = await _is_current(pipeline, run)
            pipeline.multi()
            if is_current and not is_watched:
                _remove(pipeline, run.order)
            return not is_watched

        return await self._change(drop, name_key("watched", run.order.run_id), name_key("order", run.order.run_id))

    async def results(self, run: SharedRun) -> list[bytes]:
        """Everything that was written so far."""
        return _results_of(await self._entries(run))

    async def _entries(self, run: SharedRun) -> list[Entry]:
        return [read_entry(fields) for _, fields in await self._connection.xrange(_log_key(run))]

    async def append(self, attempt: Attempt, batch: list[bytes]) -> None:
        """Writes the next results; JSON, which has no line breaks as we write it."""
        await self._write(attempt, {"first": len(attempt.results), "batch": b"\n".join(batch)})
        attempt.results += batch

    async def beat(self, attempt: Attempt, progress: tuple[int, int] | None = None) -> bool:
        """Says that the worker lives, and how far it is where that is new.

        False when it should stop: no server follows the run, or another attempt has begun.
        """
        beat, watched = _beat_key(attempt.run), name_key("watched", attempt.run.order.run_id)
        # It may have expired while the shared server was away.
        _, name, is_watched = await self._ask(
            lambda ask: ask.set(beat, attempt.name, px=BEAT_MS, nx=True).getex(beat, px=BEAT_MS).exists(watched)
        )
        if name != attempt.name or (not is_watched and await self._drop(attempt.run)):
            return False
        if progress is not None:
            await self._write(attempt, {"progress": json.dumps(progress)})
        return True

    async def finish(self, attempt: Attempt, outcome: Outcome, progress: tuple[int, int] | None = None) -> None:
        """Writes how it ended; the log can be read for another minute."""
        run, log, beat = attempt.run, _log_key(attempt.run), _beat_key(attempt.run)
        order = name_key("order", run.order.run_id)
        fields = {} if progress is None else {"progress": json.dumps(progress)}
        fields["end"] = json.dumps({"lasting": outcome.lasting, "problem": outcome.problem})

        async def write(pipeline: Any) -> None:
            holder, is_there = await pipeline.get(beat), await pipeline.exists(log)
            is_current = await _is_current(pipeline, run)
            pipeline.multi()
            if holder == _ENDED:
                return  # the answer was lost
            if holder not in (attempt.name, None) or not is_there:
                raise FencedError(run.order.run_id)
            pipeline.xadd(log, fields, id=_END).pexpire(log, RETAIN_MS).set(beat, _ENDED, px=RETAIN_MS)
            if is_current and outcome.lasting:
                pipeline.pexpire(order, RETAIN_MS)
            elif is_current:
                ended = name_key("ended", run.order.run_id)
                pipeline.rename(order, ended).pexpire(ended, RETAIN_MS)

        async with attempt.writing:
            await self._change(write, beat, log, order)

    async def _write(self, attempt: Attempt, fields: dict[str, Any], *, is_first: bool = False) -> None:
        """The attempt's next entry; once, however often the command is repeated."""
        log = _log_key(attempt.run)
        async with attempt.writing, self._connection.pipeline() as pipeline:
            entry_id = f"{attempt.number}-{attempt.entries}"
            pipeline.xadd(log, fields, id=entry_id, nomkstream=not is_first).pexpire(log, _LIFETIME_MS)
            written, _ = await pipeline.execute(raise_on_error=False)
            is_refused = isinstance(written, ResponseError)
            if written is None or (is_refused and not await self._connection.xrange(log, entry_id, entry_id)):
                raise FencedError(attempt.run.order.run_id)
            attempt.entries += 1

    async def _change(self, change: Callable[[Any], Awaitable[T]], *watched: str) -> T:
        """One transaction, repeated where one of these keys changes meanwhile; gives what `change` returns."""
        return cast("T", await self._connection.transaction(change, *watched, value_from_callable=True))

    async def tend(self, followed: Sequence[tuple[SharedRun, bool]], server: str) -> list[Condition]:
        """How each run is; `server` still follows those with True, and no longer the others."""
        await self._drop_unwatched(WAITING, 0)
        _, waiting, messages = await self.counts()
        is_short = messages < max(1, sum(waiting.values()))
        conditions = []
        async with self._connection.pipeline() as pipeline:
            for run, is_wanted in followed:
                if is_wanted:
                    _watch(pipeline, run.order.run_id, server)
                else:
                    pipeline.srem(name_key("watched", run.order.run_id), server)
            for run, _ in followed:
                pipeline.exists(name_key("watched", run.order.run_id)).exists(_beat_key(run))
                pipeline.getrange(name_key("order", run.order.run_id), 0, _NAME - 1)
                pipeline.zrank(WAITING, run.order.run_id)
            found = iter((await pipeline.execute())[-4 * len(followed) :])
        for (run, _), is_watched, beats, log, place in zip(followed, *[found] * 4, strict=False):
            if beats:
                state = "running"
            elif log != run.log.encode():
                state = "gone"
            elif place is None:
                state = "lost"
            else:
                state = "unsent" if is_short and place == 0 else "queued"
            conditions.append(Condition(state, place or 0, bool(beats and not is_watched)))
        return conditions

    async def leave(self, run_id: str, server: str) -> None:
        """`server` follows no longer; a run that no server follows is stopped, or not begun."""
        await self._connection.srem(name_key("watched", run_id), server)

    async def announce(self, name: str, worker: Mapping[str, Any]) -> None:
        """A worker says what it is; believed for a few seconds."""
        key, told, versions = name_key("worker", name), json.dumps(worker), json.dumps(worker["versions"])
        await self._ask(lambda ask: ask.set(key, told, ex=_WORKER_SECONDS).sadd(_WORKERS, name).set(VERSIONS, versions))

    async def withdraw(self, name: str) -> None:
        """A worker says goodbye."""
        await self._connection.delete(name_key("worker", name))
        await self._connection.srem(_WORKERS, name)

    async def workers(self) -> list[dict[str, Any]]:
        """Those that were heard of lately."""
        names = sorted(await self._connection.smembers(_WORKERS))
        found = await self._connection.mget([name_key("worker", name.decode()) for name in names]) if names else []
        absent = [name for name, worker in zip(names, found, strict=True) if worker is None]
        if absent:
            await self._connection.srem(_WORKERS, *absent)
        return [json.loads(worker) for worker in found if worker is not None]

    async def counts(self) -> tuple[int, dict[Lane, int], int]:
        """How many runs have begun since ever, how many wait in each lane, how many messages no worker has taken."""
        started, *found = await self._ask(
            lambda ask: [
                ask.get(STARTED),
                *(ask.zcount(WAITING, lane * _ROUND, f"({(lane + 1) * _ROUND}") for lane in Lane),
                *map(ask.llen, MESSAGE_LISTS),
            ]
        )
        return int(started or 0), dict(zip(Lane, found, strict=False)), sum(found[len(Lane) :])

    async def versions(self) -> dict[str, str] | None:
        """Of the workers that announced themselves last; None when there never was one."""
        found = await self._connection.get(VERSIONS)
        return None if found is None else json.loads(found)


class Reader:
    """One connection that waits for news of every run its server follows."""

    def __init__(self, connection: redis.asyncio.Redis, server: str) -> None:
        self._connection = connection
        self._wake = _wake_key(server)
        self._woken = "0"

    async def news(self, cursors: Mapping[str, str]) -> list[tuple[str, str, Entry]]:
        """(log, cursor after it, entry) for what came after each log's cursor; waits, until `RunLog.wake`."""
        names = {name_key("log", log): log for log in cursors}
        streams: dict[Any, Any] = {key: cursors[log] for key, log in names.items()} | {self._wake: self._woken}
        try:
            # Also where the other machine is gone without a word.
            async with asyncio.timeout(2 * _BLOCK_MS / 1_000):
                found = await self._connection.xread(streams, count=_ENTRIES_MAX, block=_BLOCK_MS)
        except TimeoutError as error:
            raise NoAnswer("no answer to a question that was bounded in time") from error
        news = []
        for key, entries in found or ():
            if key == self._wake.encode():
                self._woken = entries[-1][0].decode()
            else:
                news += [(names[key.decode()], cursor.decode(), read_entry(fields)) for cursor, fields in entries]
        return news


def read_entry(fields: Mapping[bytes, bytes]) -> Entry:
    """One line of a log."""
    progress = tuple(json.loads(fields[b"progress"])) if b"progress" in fields else None
    outcome = Outcome(**json.loads(fields[b"end"])) if b"end" in fields else None
    batch = tuple(fields[b"batch"].split(b"\n")) if b"batch" in fields else ()
    return Entry(int(fields.get(b"first", 0)), batch, fields.get(b"begun", b"").decode(), progress, outcome)


def _results_of(entries: list[Entry]) -> list[bytes]:
    """Without what a later attempt has written once more: programs are deterministic."""
    results: list[bytes] = []
    for entry in entries:
        results += entry.batch[len(results) - entry.first :]
    return results


def _watch(pipeline: Any, run_id: str, server: str) -> Any:
    return pipeline.sadd(name_key("watched", run_id), server).pexpire(name_key("watched", run_id), WATCH_MS)


def _leave_queue(pipeline: Any, order: Order) -> None:
    pipeline.zrem(WAITING, order.run_id).zrem(name_key("waiting-of", order.client), order.run_id)


def _remove(pipeline: Any, order: Order) -> None:
    pipeline.delete(name_key("order", order.run_id))
    _leave_queue(pipeline, order)


async def _is_current(pipeline: Any, run: SharedRun) -> bool:
    """Whether its order is there, and not that of a newer run."""
    log = await pipeline.getrange(name_key("order", run.order.run_id), 0, _NAME - 1)
    return bool(log == run.log.encode())


def _encode(run: SharedRun) -> str:
    return run.log + json.dumps([run.order.lane, run.order.client, run.order.job.model_dump_json()])


def _decode(run_id: str, value: bytes) -> SharedRun:
    lane, client, job = json.loads(value[_NAME:])
    return SharedRun(Order(run_id, JOB.validate_json(job), Lane(lane), client), value[:_NAME].decode())


def _log_key(run: SharedRun) -> str:
    return name_key("log", run.log)


def _beat_key(run: SharedRun) -> str:
    return name_key("beat", run.log)


def _wake_key(server: str) -> str:
    return name_key("wake", server)


def _seconds_for(waiting: int) -> int:
    return max(1, min(30, waiting // 50))
