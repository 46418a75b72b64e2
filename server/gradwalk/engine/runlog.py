"""Runs that several machines share: one append-only log each, kept in Redis or Valkey and read with a cursor.

Each change is one command or one transaction, so nothing is half done, whatever is killed. The keys:

    order:<run>     the name of the run's log, and its order: the server that sets it starts the run, others join
    ended:<run>     the same, for a minute, where the result does not last: the next request starts a new run
    watched:<run>   the servers that follow it
    log:<log>       what it said so far; an entry's id is `<results so far>-<attempt>`
    written:<log>   the id of the log's last entry, which Redis itself gives only together with its content
    beat:<log>      the attempt that runs now; expires when its worker is dead
    waiting         runs that wait, in the order in which they start; `waiting-of:<client>` has those of a client

Times to live are measured by Redis, so the clocks of the machines need not agree. Attempts are numbered: the first
entry of a newer one fences the older ones off.
"""

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

import redis.asyncio
from redis.exceptions import TimeoutError as NoAnswer  # noqa: N813 (Python has one of that name)

from gradwalk.cluster.connection import name_key
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
END: Final = b"%d-%d" % (2**64 - 1, 2**64 - 1)
"""The largest id: Redis refuses every entry after it."""
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
    """How often this run was begun, this time included."""
    count: int
    """Results in the log, those of earlier attempts included."""
    is_fenced: bool = False
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a log: results, how far a file is, that a worker has begun, or how it ended."""

    first: int = 0
    """Number of the first result in `batch`."""
    batch: tuple[bytes, ...] = ()
    progress: tuple[int, ...] | None = None
    """Pages that are done, and all of them."""
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """Of a run that is followed."""

    state: str
    """queued, running or done; lost with its worker; unsent: the first in the queue, but messages are missing; gone."""
    jobs_ahead: int
    is_stopping: bool
    """It still runs, and no server follows it: the end of its log comes soon."""


@dataclass(frozen=True, slots=True)
class Caps:
    """How many runs may wait."""

    waiting_max: int
    client_waiting_max: int


class RunLog:
    """Used by servers and workers alike, each on its own event loop.

    Raises:
        redis.exceptions.RedisError: by every method, when the shared server does not answer in time.
        FencedError: by those that write for an attempt, when another has begun, or the log is not where it should be.
    """

    def __init__(self, connection: redis.asyncio.Redis) -> None:
        self._connection: Any = connection  # its types cannot tell an answer from the promise of one

    async def open(self, order: Order, server: str, caps: Caps) -> tuple[SharedRun, int | None]:
        """Starts a run or joins the one of that id, followed by `server`; with the priority of a new one, else None.

        Raises:
            BusyError: a new one was needed and there is no room for it.
        """
        run = SharedRun(order, uuid.uuid4().hex)
        async with self._connection.pipeline() as pipeline:
            _watch(pipeline, order.run_id, server)
            pipeline.set(name_key("order", order.run_id), _encode(run), px=_LIFETIME_MS, nx=True, get=True)
            *_, known = await pipeline.execute()
        # A command that is repeated after a lost answer finds its own value.
        found = run if known is None else _decode(order.run_id, known)
        return found, await self._enqueue(order, caps) if found.log == run.log else None

    async def _enqueue(self, order: Order, caps: Caps) -> int:
        """Gives a new run its priority: how many runs of its client wait already in this lane."""
        of_client, lane = name_key("waiting-of", order.client), int(order.lane)
        async with self._connection.pipeline() as pipeline:
            pipeline.zadd(of_client, {order.run_id: lane}).pexpire(of_client, _LIFETIME_MS)
            pipeline.zcount(of_client, lane, lane).zcard(of_client).incr(_ARRIVALS)
            *_, of_lane, waiting_of_client, arrival = await pipeline.execute()
            rank: int = min(of_lane, PRIORITIES) - 1
            pipeline.zadd(WAITING, {order.run_id: lane * _ROUND + rank * 2**40 + arrival})
            pipeline.pexpire(WAITING, _LIFETIME_MS).zcard(WAITING)
            *_, waiting = await pipeline.execute()
        is_full = await self._is_full(WAITING, waiting, caps.waiting_max)
        if is_full or await self._is_full(of_client, waiting_of_client, caps.client_waiting_max):
            async with self._connection.pipeline() as pipeline:
                _remove(pipeline, order)
                await pipeline.execute()
            if is_full:
                raise BusyError(_seconds_for(caps.waiting_max))
            raise BusyError(_seconds_for(caps.client_waiting_max), fact("api-busy-client-queue"))
        return lane * PRIORITIES + rank

    async def _is_full(self, queue: str, count: int, most: int) -> bool:
        return count > most and count - await self._drop_unwatched(queue) > most

    async def _drop_unwatched(self, queue: str, last: int = -1) -> int:
        """Runs that no server follows take no room, whatever has become of their messages."""
        waiting = await self._connection.zrange(queue, 0, last)
        async with self._connection.pipeline() as pipeline:
            for run_id in waiting:
                pipeline.exists(name_key("watched", run_id.decode()))
            watched = await pipeline.execute()
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
        async with self._connection.pipeline() as pipeline:
            pipeline.xadd(_wake_key(server), {"wake": 1}, maxlen=1, approximate=False)
            pipeline.pexpire(_wake_key(server), _LIFETIME_MS)
            await pipeline.execute()

    async def begin(self, run_id: str, worker: str) -> Attempt | None:
        """The right to carry out a run; None where it is in other hands, over, or followed by no server."""
        known = await self._connection.get(name_key("order", run_id))
        if known is None:
            await self._connection.zrem(WAITING, run_id)
            return None
        run = _decode(run_id, known)
        name, beat, written = f"{worker}/{uuid.uuid4().hex}".encode(), _beat_key(run), _written_key(run)
        if await self._drop(run):
            return None
        if await self._connection.set(beat, name, px=BEAT_MS, nx=True, get=True) not in (None, name):
            return None

        async def write(pipeline: Any) -> Attempt | None:
            last = await pipeline.get(written)
            pipeline.multi()
            if last == END:
                pipeline.delete(beat)
                return None
            count, number = _decode_id(last)
            if last is None:
                # Where memory ran out, Redis may have thrown out the one key without the other.
                pipeline.delete(name_key("log", run.log))
            _put(pipeline, run, f"{count}-{number + 1}", {"begun": worker})
            pipeline.pexpire(name_key("log", run.log), _LIFETIME_MS).incr(STARTED)
            _leave_queue(pipeline, run.order)
            return Attempt(run, name, number + 1, count)

        return await self._change(write, written)

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
        entries = [read_entry(*each) for each in await self._connection.xrange(name_key("log", run.log))]
        return [result for entry in entries for result in entry.batch]

    async def append(self, attempt: Attempt, batch: list[bytes]) -> None:
        """Writes the next results; once, however often the command is repeated."""
        await self._write(attempt, len(batch), {"size": len(batch), "batch": b"\n".join(batch)})

    async def beat(self, attempt: Attempt, progress: tuple[int, int] | None = None) -> bool:
        """Says that the worker lives, and how far it is where that is new.

        False when it should stop: no server follows the run, or another attempt has begun.
        """
        async with self._connection.pipeline() as pipeline:
            # It may have expired while the shared server was away.
            pipeline.set(_beat_key(attempt.run), attempt.name, px=BEAT_MS, nx=True)
            pipeline.getex(_beat_key(attempt.run), px=BEAT_MS).exists(name_key("watched", attempt.run.order.run_id))
            _, name, is_watched = await pipeline.execute()
        attempt.is_fenced = name != attempt.name
        if attempt.is_fenced or (not is_watched and await self._drop(attempt.run)):
            return False
        if progress is not None:
            await self._write(attempt, 1, {"progress": json.dumps(progress)})
        return True

    async def finish(self, attempt: Attempt, outcome: Outcome, progress: tuple[int, int] | None = None) -> None:
        """Writes how it ended; the log can be read for another minute."""
        fields = {} if progress is None else {"progress": json.dumps(progress)}
        fields["end"] = json.dumps({"lasting": outcome.lasting, "problem": outcome.problem})
        await self._write(attempt, 0, fields, outcome)

    async def _write(self, attempt: Attempt, size: int, fields: dict[str, Any], outcome: Outcome | None = None) -> None:
        """One entry: the next `size` results, or with an outcome the last one."""
        run, written, order = attempt.run, _written_key(attempt.run), name_key("order", attempt.run.order.run_id)

        async def write(pipeline: Any) -> None:
            before = b"%d-%d" % (attempt.count, attempt.number)
            after = b"%d-%d" % (attempt.count + size, attempt.number) if outcome is None else END
            last = await pipeline.get(written)
            is_current = outcome is not None and await _is_current(pipeline, run)
            pipeline.multi()
            if attempt.is_fenced or last not in (before, after):
                raise FencedError(run.order.run_id)
            if last != after:
                _put(pipeline, run, after, fields)
            if outcome is None or last == after:
                return
            kept = order if outcome.lasting else name_key("ended", run.order.run_id)
            if is_current and not outcome.lasting:
                pipeline.rename(order, kept)
            for key in (written, name_key("log", run.log), *[kept] * is_current):
                pipeline.pexpire(key, RETAIN_MS)
            pipeline.delete(_beat_key(run))

        async with attempt.writing:
            await self._change(write, written, order)
            attempt.count += size

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
                pipeline.getrange(name_key("order", run.order.run_id), 0, _NAME - 1).get(_written_key(run))
                pipeline.zrank(WAITING, run.order.run_id)
            found = iter((await pipeline.execute())[-5 * len(followed) :])
        for (run, _), is_watched, beats, log, written, place in zip(followed, *[found] * 5, strict=False):
            if written == END:
                state = "done"
            elif log != run.log.encode():
                state = "gone"
            elif beats:
                state = "running"
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
        async with self._connection.pipeline() as pipeline:
            pipeline.set(name_key("worker", name), json.dumps(worker), ex=_WORKER_SECONDS)
            pipeline.sadd(_WORKERS, name).set(VERSIONS, json.dumps(worker["versions"]))
            await pipeline.execute()

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
        async with self._connection.pipeline() as pipeline:
            pipeline.get(STARTED)
            for lane in Lane:
                pipeline.zcount(WAITING, lane * _ROUND, f"({(lane + 1) * _ROUND}")
            for messages in MESSAGE_LISTS:
                pipeline.llen(messages)
            started, *found = await pipeline.execute()
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
                news += [(names[key.decode()], cursor.decode(), read_entry(cursor, said)) for cursor, said in entries]
        return news


def read_entry(entry_id: bytes, fields: Mapping[bytes, bytes]) -> Entry:
    """One line of a log."""
    progress = tuple(json.loads(fields[b"progress"])) if b"progress" in fields else None
    if b"end" in fields:
        return Entry(progress=progress, outcome=Outcome(**json.loads(fields[b"end"])))
    if b"batch" not in fields:
        return Entry(progress=progress)
    size, payload = int(fields[b"size"]), fields[b"batch"]
    # Several results are JSON, which has no line breaks as we write it; one alone may be any bytes.
    batch = (payload,) if size == 1 else tuple(payload.split(b"\n"))
    return Entry(_decode_id(entry_id)[0] - size, batch)


def _watch(pipeline: Any, run_id: str, server: str) -> None:
    pipeline.sadd(name_key("watched", run_id), server).pexpire(name_key("watched", run_id), WATCH_MS)


def _leave_queue(pipeline: Any, order: Order) -> None:
    pipeline.zrem(WAITING, order.run_id).zrem(name_key("waiting-of", order.client), order.run_id)


def _remove(pipeline: Any, order: Order) -> None:
    pipeline.delete(name_key("order", order.run_id))
    _leave_queue(pipeline, order)


def _put(pipeline: Any, run: SharedRun, entry_id: str | bytes, fields: dict[str, Any]) -> None:
    pipeline.xadd(name_key("log", run.log), fields, id=entry_id)
    pipeline.set(_written_key(run), entry_id, px=_LIFETIME_MS)


async def _is_current(pipeline: Any, run: SharedRun) -> bool:
    """Whether its order is there, and not that of a newer run."""
    log = await pipeline.getrange(name_key("order", run.order.run_id), 0, _NAME - 1)
    return bool(log == run.log.encode())


def _encode(run: SharedRun) -> str:
    return run.log + json.dumps([run.order.lane, run.order.client, run.order.job.model_dump_json()])


def _decode(run_id: str, value: bytes) -> SharedRun:
    lane, client, job = json.loads(value[_NAME:])
    return SharedRun(Order(run_id, JOB.validate_json(job), Lane(lane), client), value[:_NAME].decode())


def _decode_id(entry_id: bytes | None) -> tuple[int, int]:
    """Results so far and the attempt; of an empty log 0 and 0."""
    count, _, attempt = (entry_id or b"0-0").partition(b"-")
    return int(count), int(attempt)


def _written_key(run: SharedRun) -> str:
    return name_key("written", run.log)


def _beat_key(run: SharedRun) -> str:
    return name_key("beat", run.log)


def _wake_key(server: str) -> str:
    return name_key("wake", server)


def _seconds_for(waiting: int) -> int:
    return max(1, min(30, waiting // 50))
