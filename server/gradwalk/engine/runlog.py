"""Runs that several machines share: one append-only log each, kept in Redis or Valkey and read with a cursor.

Programs are deterministic: a run that is carried out twice writes the same results. So plain commands are enough, and
what comes twice is refused. The keys, each with a time to live:

    order:<run>     the name of the run's log, and its order: the server that sets it starts the run, others join. Those
                    who follow the run keep it there; without it the run is stopped, or not begun
    ended:<run>     the same, for a minute, where the result does not last: the next request starts a new run
    log:<log>       what it said so far; an entry's id is `<results up to here>-0`: what is there is refused
    beat:<log>      the attempt that runs now, expires when its worker is dead; kept for a minute after the end
    tries:<log>     how often it was begun
    waiting         lane, client and id of each run that waits, and when a server last said so
"""

import asyncio
import json
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import redis.asyncio
from redis.exceptions import TimeoutError as NoAnswer  # noqa: N813 (Python has one of that name)

from gradwalk.cluster.connection import ask_at_once, name_key
from gradwalk.engine.broker import PRIORITIES
from gradwalk.engine.engine import BusyError, Lane, Order
from gradwalk.engine.job import JOB, Outcome
from gradwalk.protocol.facts import fact

BEAT_MS = 4_000
"""A worker that has not been heard of for so long is dead."""
FOLLOW_MS = 10_000
"""A server that has not been heard of for so long follows nothing any more."""
LEAVE_MS = 2_000
"""So long a run that a server has left goes on; another one that follows says so in this time."""
RETAIN_MS = 60_000
_LIFETIME_MS = 6 * 3_600_000
_ENTRIES_MAX = 256
_BLOCK_MS = 5_000
_WORKER_SECONDS = 6
_END: Final = 2**64 - 1
"""The largest number of an entry: Redis refuses all that come after it."""
_NAME: Final = 32
"""Characters of a log's name."""
_STARTED, _WAITING, _WORKERS, _VERSIONS = map(name_key, ("started", "waiting", "workers", "versions"))


class FencedError(RuntimeError):
    """Another attempt has begun, or the shared server has lost what this one wrote: it may write no more."""


@dataclass(frozen=True, slots=True)
class SharedRun:
    """An order, and the name of the log that its results are written to."""

    order: Order
    log: str

    @property
    def order_key(self) -> str:
        return name_key("order", self.order.run_id)

    @property
    def log_key(self) -> str:
        return name_key("log", self.log)

    @property
    def beat_key(self) -> str:
        return name_key("beat", self.log)


@dataclass(frozen=True, slots=True)
class Place:
    """In the queue, of a run that is new."""

    priority: int
    turn: int
    """About so many runs will have begun, since ever, before it does."""


@dataclass(eq=False, slots=True)
class Attempt:
    """A worker's right to carry out a run."""

    run: SharedRun
    name: bytes
    tries: int
    """How often this run was begun, this time included."""
    results: list[bytes]
    """All that is in the log, that of earlier attempts included."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a log: results, how far a file is, or how it ended."""

    number: int
    """How many results there are with it; of a file, one more than pages are done."""
    batch: tuple[bytes, ...] = ()
    progress: tuple[int, ...] | None = None
    """Pages that are done, and all of them."""
    outcome: Outcome | None = None

    def after(self, count: int) -> tuple[bytes, ...]:
        """Its results for one who has so many: another attempt may have written some of them once more."""
        return self.batch[count - self.number + len(self.batch) :]


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
        self, order: Order, waiting_max: int = sys.maxsize, client_waiting_max: int = sys.maxsize
    ) -> tuple[SharedRun, Place | None]:
        """Starts a run or joins the one of that id; with the place of a new one.

        Raises:
            BusyError: a new one was needed, and so many wait already, or so many of its client.
        """
        run = SharedRun(order, uuid.uuid4().hex)
        key, told = run.order_key, _encode(run)
        known, _ = await self._ask(
            lambda ask: ask.set(key, told, px=FOLLOW_MS, nx=True, get=True).pexpire(key, FOLLOW_MS, gt=True)
        )
        found = run if known is None else _decode(order.run_id, known)
        if found.log != run.log:  # a command that is repeated after a lost answer finds its own value
            return found, None
        _, _, started, _, members = await self._ask(lambda ask: _list_waiting(_wait(ask, order).get(_STARTED)))
        waiting = _read_waiting(members)
        of_client = [lane for lane, client in waiting if client == order.client]
        if len(waiting) > waiting_max or len(of_client) > client_waiting_max:
            await self._ask(lambda ask: ask.delete(key).zrem(_WAITING, _member(order)))
            if len(waiting) > waiting_max:
                raise BusyError(_seconds_for(waiting_max))
            raise BusyError(_seconds_for(client_waiting_max), fact("api-busy-client-queue"))
        rank = min(of_client.count(order.lane), PRIORITIES) - 1
        ahead = sum(lane <= order.lane for lane, _ in waiting) - 1
        return found, Place(order.lane * PRIORITIES + rank, int(started or 0) + ahead)

    async def find(self, run_id: str) -> SharedRun | None:
        """The run of this id, or the one that ended within a minute."""
        found = await self._connection.mget(name_key("order", run_id), name_key("ended", run_id))
        return next((_decode(run_id, value) for value in found if value is not None), None)

    async def tend(self, followed: Sequence[tuple[SharedRun, bool, bool]]) -> list[tuple[bool, bool]]:
        """Says that runs with a first True are followed, and those with a second one still wait.

        Gives of each whether a worker runs it, or did within a minute, and whether its order is there.
        """

        def write(ask: Any) -> None:
            for run, is_followed, waits in followed:
                if is_followed:
                    ask.pexpire(run.order_key, FOLLOW_MS, gt=True)
                if is_followed and waits:
                    _wait(ask, run.order, xx=True)
            for run, *_ in followed:
                ask.exists(run.beat_key).getrange(run.order_key, 0, _NAME - 1)

        found = (await self._ask(write))[-2 * len(followed) :]
        return [
            (bool(beats), log == run.log.encode())
            for (run, *_), beats, log in zip(followed, found[::2], found[1::2], strict=True)
        ]

    async def leave(self, run: SharedRun) -> None:
        """A server follows no longer: unless another one does, the run is stopped, or not begun."""
        await self._ask(lambda ask: ask.pexpire(run.order_key, LEAVE_MS).zrem(_WAITING, _member(run.order)))

    async def wake(self, server: str) -> None:
        """Lets the server's reader look again which logs it reads."""
        key = _wake_key(server)
        await self._ask(lambda ask: ask.xadd(key, {"wake": 1}, maxlen=1, approximate=False).pexpire(key, _LIFETIME_MS))

    async def begin(self, run_id: str) -> Attempt | None:
        """The right to carry out a run; None where it is in other hands, over, or followed by no server."""
        known = await self._connection.get(name_key("order", run_id))
        if known is None:
            return None
        run, name = _decode(run_id, known), uuid.uuid4().hex.encode()
        holder, said, _ = await self._ask(
            lambda ask: (
                ask.set(run.beat_key, name, px=BEAT_MS, nx=True, get=True)
                .xrange(run.log_key)
                .zrem(_WAITING, _member(run.order))
            )
        )
        if holder not in (None, name):
            return None
        key = name_key("tries", run.log)
        _, tries, _ = await self._ask(lambda ask: ask.incr(_STARTED).incr(key).pexpire(key, _LIFETIME_MS))
        return Attempt(run, name, tries, _results_of(said))

    async def results(self, run: SharedRun) -> list[bytes]:
        """Everything that was written so far."""
        return _results_of(await self._connection.xrange(run.log_key))

    async def append(self, attempt: Attempt, batch: list[bytes]) -> None:
        """Writes the next results; JSON, which has no line breaks as we write it."""
        creates = not attempt.results
        attempt.results += batch
        await self._write(attempt, len(attempt.results), {"batch": b"\n".join(batch)}, creates=creates)

    async def tell(self, attempt: Attempt, done: int, of: int) -> None:
        """Writes how far a file is."""
        await self._write(attempt, done + 1, {"progress": json.dumps([done, of])}, creates=True)

    async def beat(self, attempt: Attempt) -> bool:
        """Says that the worker lives; False when no server follows the run, or another attempt has it."""
        run, beat = attempt.run, attempt.run.beat_key
        # It may have expired while the shared server was away.
        holder, _, log = await self._ask(
            lambda ask: (
                ask.set(beat, attempt.name, px=BEAT_MS, nx=True, get=True)
                .pexpire(beat, BEAT_MS, gt=True)
                .getrange(run.order_key, 0, _NAME - 1)
            )
        )
        return holder in (None, attempt.name) and log == run.log.encode()

    async def finish(self, attempt: Attempt, outcome: Outcome) -> None:
        """Writes how it ended; the log can be read for another minute."""
        run, log, beat, order = attempt.run, attempt.run.log_key, attempt.run.beat_key, attempt.run.order_key
        kept = order if outcome.lasting else name_key("ended", run.order.run_id)
        holder, is_there, current = await self._ask(lambda ask: ask.get(beat).exists(log).getrange(order, 0, _NAME - 1))
        if holder not in (None, attempt.name) or (attempt.results and not is_there):
            raise FencedError(run.order.run_id)
        async with self._connection.pipeline() as ask:
            end = json.dumps({"lasting": outcome.lasting, "problem": outcome.problem})
            ask.xadd(log, {"end": end}, id=f"{_END}-0").pexpire(log, RETAIN_MS).set(beat, attempt.name, px=RETAIN_MS)
            if current == run.log.encode():
                ask.rename(order, kept).pexpire(kept, RETAIN_MS)
            _raise_but_for_what_is_there(await ask.execute(raise_on_error=False))

    async def _write(self, attempt: Attempt, number: int, fields: dict[str, Any], *, creates: bool) -> None:
        """One more entry, unless it is there already."""
        log = attempt.run.log_key
        async with self._connection.pipeline() as ask:
            ask.xadd(log, fields, id=f"{number}-0", nomkstream=not creates).pexpire(log, _LIFETIME_MS)
            answers = await ask.execute(raise_on_error=False)
        if answers[0] is None:
            raise FencedError(attempt.run.order.run_id)
        _raise_but_for_what_is_there(answers)

    async def announce(self, name: str, worker: Mapping[str, Any]) -> None:
        """A worker says what it is; believed for a few seconds."""
        key, told, versions = name_key("worker", name), json.dumps(worker), json.dumps(worker["versions"])
        await self._ask(
            lambda ask: ask.set(key, told, ex=_WORKER_SECONDS).sadd(_WORKERS, name).set(_VERSIONS, versions)
        )

    async def workers(self) -> list[dict[str, Any]]:
        """Those that were heard of lately."""
        names = sorted(await self._connection.smembers(_WORKERS))
        found = await self._connection.mget([name_key("worker", name.decode()) for name in names]) if names else []
        absent = [name for name, worker in zip(names, found, strict=True) if worker is None]
        if absent:
            await self._connection.srem(_WORKERS, *absent)
        return [json.loads(worker) for worker in found if worker is not None]

    async def counts(self) -> tuple[int, dict[Lane, int], dict[str, str] | None]:
        """How many runs have begun since ever, how many wait, and the versions of the worker that spoke last."""
        started, versions, _, members = await self._ask(lambda ask: _list_waiting(ask.get(_STARTED).get(_VERSIONS)))
        lanes = [lane for lane, _ in _read_waiting(members)]
        return int(started or 0), {lane: lanes.count(lane) for lane in Lane}, versions and json.loads(versions)


class Reader:
    """One connection that waits for news of every run its server follows."""

    def __init__(self, connection: redis.asyncio.Redis, server: str) -> None:
        self._connection = connection
        self._wake = _wake_key(server)
        self._woken = "0"

    async def news(self, known: Mapping[str, int]) -> list[tuple[str, Entry]]:
        """(log, entry) for what came after so many results of each log; waits, until `RunLog.wake`."""
        names = {name_key("log", log): log for log in known}
        streams: dict[Any, Any] = {key: f"{known[log]}-0" for key, log in names.items()} | {self._wake: self._woken}
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
                news += [(names[key.decode()], read_entry(*entry)) for entry in entries]
        return news


def read_entry(entry_id: bytes, fields: Mapping[bytes, bytes]) -> Entry:
    """One line of a log."""
    progress = tuple(json.loads(fields[b"progress"])) if b"progress" in fields else None
    outcome = Outcome(**json.loads(fields[b"end"])) if b"end" in fields else None
    batch = tuple(fields[b"batch"].split(b"\n")) if b"batch" in fields else ()
    return Entry(int(entry_id.partition(b"-")[0]), batch, progress, outcome)


def _results_of(entries: list[Any]) -> list[bytes]:
    results: list[bytes] = []
    for entry in entries:
        results += read_entry(*entry).after(len(results))
    return results


def _raise_but_for_what_is_there(answers: list[Any]) -> None:
    if isinstance(answers[0], Exception) and "equal or smaller" not in str(answers[0]):
        raise answers[0]


def _member(order: Order) -> str:
    return json.dumps([order.lane, order.client, order.run_id])


def _wait(pipeline: Any, order: Order, *, xx: bool = False) -> Any:
    """Says that it waits; with `xx`, only if no worker has begun it meanwhile."""
    return pipeline.zadd(_WAITING, {_member(order): time.time()}, xx=xx).pexpire(_WAITING, FOLLOW_MS)


def _list_waiting(pipeline: Any) -> Any:
    """What no server follows takes no room."""
    return pipeline.zremrangebyscore(_WAITING, "-inf", time.time() - FOLLOW_MS / 1_000).zrange(_WAITING, 0, -1)


def _read_waiting(members: list[bytes]) -> list[tuple[Lane, str]]:
    """Lane and client of each run."""
    return [(Lane(lane), client) for lane, client, _ in map(json.loads, members)]


def _encode(run: SharedRun) -> str:
    return run.log + json.dumps([run.order.lane, run.order.client, run.order.job.model_dump_json()])


def _decode(run_id: str, value: bytes) -> SharedRun:
    lane, client, job = json.loads(value[_NAME:])
    return SharedRun(Order(run_id, JOB.validate_json(job), Lane(lane), client), value[:_NAME].decode())


def _wake_key(server: str) -> str:
    return name_key("wake", server)


def _seconds_for(waiting: int) -> int:
    return max(1, min(30, waiting // 50))
