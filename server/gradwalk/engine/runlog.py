"""Runs that several machines share: who may write, what was said so far, who still listens; kept in Redis or Valkey.

The shared counterpart of `Run.log`: an append-only stream per run that any number of servers read with a cursor. Each
method is one script of `scripts.py`, so that nothing is half done whoever is killed.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import redis.asyncio
from redis.exceptions import TimeoutError as NoAnswer  # noqa: N813 (Python has one of that name)

from gradwalk.cluster.connection import answer_of, name_key
from gradwalk.engine import scripts
from gradwalk.engine.engine import BusyError, Lane, Order
from gradwalk.engine.job import JOB, Job, Outcome
from gradwalk.protocol.facts import fact

BEAT_MS = 4_000
"""A worker that has not been heard of for so long is dead."""
WATCH_MS = 10_000
"""A server that has not been heard of for so long follows nothing any more."""
PATIENCE_MS = 5_000
"""A message to the workers that is nowhere after so long is lost."""
RETAIN_MS = 60_000
_LIFETIME_MS = 3_600_000
_ENTRIES_MAX = 256
_BLOCK_MS = 5_000
WORKERS = name_key("workers")
VERSIONS = name_key("versions")
STARTED = name_key("started")
TURNS = name_key("turns")
_WORKER_SECONDS = 6


class FencedError(RuntimeError):
    """This attempt is not the newest any more: somebody else carries the run out."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A worker's right to write a run's log, until a newer attempt has it."""

    run_id: str
    number: str
    job: Job
    count: int
    """Results that earlier attempts have written."""
    tries: int
    """How often this run was begun, this time included."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a log: results, how far a file is, that a worker has begun, or how it ended."""

    first: int = 0
    """Number of the first result in `batch`."""
    batch: tuple[bytes, ...] = ()
    progress: tuple[int, int] | None = None
    """Pages that are done, and all of them."""
    has_begun: bool = False
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """Of a run that is followed."""

    state: str
    """queued, running or done; lost: it has to be sent to the workers again; gone: the shared server forgot it."""
    jobs_ahead: int


@dataclass(frozen=True, slots=True)
class Caps:
    """How many runs may wait."""

    waiting_max: int
    client_waiting_max: int


class RunLog:
    """Used by servers and workers alike, each on its own event loop.

    Raises:
        redis.exceptions.RedisError: by every method, when the shared server does not answer in time.
    """

    def __init__(self, connection: redis.asyncio.Redis) -> None:
        self._connection = connection
        self._open = connection.register_script(scripts.OPEN)
        self._begin = connection.register_script(scripts.BEGIN)
        self._append = connection.register_script(scripts.APPEND)
        self._beat = connection.register_script(scripts.BEAT)
        self._finish = connection.register_script(scripts.FINISH)
        self._tend = connection.register_script(scripts.TEND)
        self._leave = connection.register_script(scripts.LEAVE)

    async def open(self, order: Order, server: str, caps: Caps) -> bool:
        """Makes a run, or joins the one of that id: the same id is never run twice at once. True for a new one.

        Raises:
            BusyError: a new one was needed and there is no room for it.
        """
        said = await self._open(
            keys=_keys(order.run_id),
            args=[
                server,
                WATCH_MS,
                _LIFETIME_MS,
                order.job.model_dump_json(),
                order.lane.name.lower(),
                order.client,
                caps.waiting_max,
                caps.client_waiting_max,
            ],
        )
        if said == b"full":
            raise BusyError(_seconds_for(caps.waiting_max))
        if said == b"client full":
            raise BusyError(_seconds_for(caps.client_waiting_max), fact("api-busy-client-queue"))
        return bool(said == b"new")

    async def find(self, run_id: str) -> Order | None:
        """What is run under this id, or was until a minute ago."""
        found = await answer_of(self._connection.hmget(_run_key(run_id), ["job", "lane", "client"]))
        if None in found:
            return None
        job, lane, client = found
        return Order(run_id, JOB.validate_json(job), Lane[lane.decode().upper()], client.decode())

    async def wake(self, server: str) -> None:
        """Lets the server's reader look again which runs it reads."""
        async with self._connection.pipeline(transaction=False) as pipeline:
            pipeline.xadd(_wake_key(server), {"wake": 1}, maxlen=1, approximate=False)
            pipeline.pexpire(_wake_key(server), _LIFETIME_MS)
            await pipeline.execute()

    async def begin(self, ticket: str, worker: str, lane: Lane) -> Attempt | None:
        """The right to carry out whichever run of this lane is next; None when no run waits.

        `ticket` is the run whose message came; its turn may be later.
        """
        arguments: list[Any] = [BEAT_MS, _LIFETIME_MS, worker, lane.name.lower(), ticket]
        found = await self._begin(keys=_keys(ticket), args=arguments)
        if not found:
            return None
        run_id, number, job, count, tries = found
        return Attempt(run_id.decode(), number.decode(), JOB.validate_json(job), int(count), int(tries))

    async def results(self, run_id: str) -> list[bytes]:
        """Everything that was written so far."""
        entries = [read_entry(fields) for _, fields in await self._connection.xrange(_log_key(run_id))]
        return [result for entry in entries for result in entry.batch]

    async def append(self, attempt: Attempt, first: int, batch: list[bytes]) -> None:
        """Writes results number `first` and following; once, however often it is repeated.

        Raises:
            FencedError: a newer attempt has begun, or the log is not where this attempt believes it to be.
        """
        arguments: list[Any] = [attempt.number, first, len(batch), b"\n".join(batch)]
        if not await self._append(keys=_keys(attempt.run_id), args=arguments):
            raise FencedError(attempt.run_id)

    async def beat(self, attempt: Attempt, progress: tuple[int, int] | None = None) -> bool:
        """Says that the worker lives, and how far it is where that is new.

        False when it should stop: nobody listens, or somebody else has begun.
        """
        told = "" if progress is None else json.dumps(progress)
        return bool(await self._beat(keys=_keys(attempt.run_id), args=[attempt.number, BEAT_MS, told]))

    async def finish(self, attempt: Attempt, outcome: Outcome) -> None:
        """Writes how it ended; the log can be read for another minute.

        Raises:
            FencedError: a newer attempt has begun.
        """
        arguments: list[Any] = [attempt.number, _encode_outcome(outcome), int(outcome.lasting), RETAIN_MS]
        if not await self._finish(keys=_keys(attempt.run_id), args=arguments):
            raise FencedError(attempt.run_id)

    async def tend(self, followed: Sequence[str], server: str) -> dict[str, Condition]:
        """Says that `server` still follows these runs, and how each of them is."""
        async with self._connection.pipeline(transaction=False) as pipeline:
            for run_id in followed:
                arguments: list[Any] = [server, WATCH_MS, _LIFETIME_MS, PATIENCE_MS]
                await self._tend(keys=_keys(run_id), args=arguments, client=pipeline)
            found = await pipeline.execute()
        return {
            run_id: Condition(state.decode(), int(ahead))
            for run_id, (state, ahead) in zip(followed, found, strict=True)
        }

    async def leave(self, run_id: str, server: str, outcome: Outcome) -> bool:
        """`server` follows no longer; True when nobody does, and the run is called off with this outcome."""
        arguments: list[Any] = [server, _encode_outcome(outcome), RETAIN_MS]
        return bool(await self._leave(keys=_keys(run_id), args=arguments))

    async def announce(self, name: str, worker: Mapping[str, Any]) -> None:
        """A worker says what it is; believed for a few seconds."""
        async with self._connection.pipeline(transaction=True) as pipeline:
            pipeline.set(_worker_key(name), json.dumps(worker), ex=_WORKER_SECONDS)
            pipeline.sadd(WORKERS, name)
            pipeline.set(VERSIONS, json.dumps(worker["versions"]))
            await pipeline.execute()

    async def withdraw(self, name: str) -> None:
        """A worker says goodbye."""
        await self._connection.delete(_worker_key(name))
        await answer_of(self._connection.srem(WORKERS, name))

    async def workers(self) -> list[dict[str, Any]]:
        """Those that were heard of lately."""
        names = sorted(await answer_of(self._connection.smembers(WORKERS)))
        if not names:
            return []
        found = await self._connection.mget([_worker_key(name.decode()) for name in names])
        absent = [name for name, worker in zip(names, found, strict=True) if worker is None]
        if absent:
            await answer_of(self._connection.srem(WORKERS, *absent))
        return [json.loads(worker) for worker in found if worker is not None]

    async def counts(self) -> tuple[int, dict[Lane, int]]:
        """How many runs have begun since ever, and how many wait in each lane."""
        async with self._connection.pipeline(transaction=False) as pipeline:
            pipeline.get(STARTED)
            for lane in Lane:
                pipeline.zcard(_waiting_key(lane))
            started, *waiting = await pipeline.execute()
        return int(started or 0), dict(zip(Lane, map(int, waiting), strict=True))

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
        """(run, cursor after it, entry) for what came after each run's cursor; waits, until `RunLog.wake`."""
        streams: dict[Any, Any] = {_log_key(run_id): cursor for run_id, cursor in cursors.items()}
        try:
            # Also where the other machine is gone without a word.
            async with asyncio.timeout(2 * _BLOCK_MS / 1_000):
                found = await self._connection.xread(
                    streams | {self._wake: self._woken}, count=_ENTRIES_MAX, block=_BLOCK_MS
                )
        except TimeoutError as error:
            raise NoAnswer("no answer to a question that was bounded in time") from error
        news = []
        names = {_log_key(run_id).encode(): run_id for run_id in cursors}
        for key, entries in found or ():
            if key == self._wake.encode():
                self._woken = entries[-1][0].decode()
                continue
            news += [(names[key], cursor.decode(), read_entry(fields)) for cursor, fields in entries]
        return news


def read_entry(fields: Mapping[bytes, bytes]) -> Entry:
    """One line of a log."""
    if b"end" in fields:
        said = json.loads(fields[b"end"])
        return Entry(outcome=Outcome(lasting=said["lasting"], problem=said["problem"]))
    if b"state" in fields:
        return Entry(has_begun=True)
    if b"progress" in fields:
        done, of = json.loads(fields[b"progress"])
        return Entry(progress=(done, of))
    size, payload = int(fields[b"size"]), fields[b"batch"]
    # Several results are JSON, which has no line breaks as we write it; one alone may be any bytes.
    return Entry(int(fields[b"from"]), (payload,) if size == 1 else tuple(payload.split(b"\n")))


def _keys(run_id: str) -> list[str]:
    waiting = [_waiting_key(lane) for lane in Lane]
    of_client, messages = name_key("waiting-of", ""), name_key("")
    of_run = [_run_key(run_id), _log_key(run_id), name_key("watchers", run_id)]
    return [*of_run, *waiting, of_client, messages, STARTED, TURNS]


def _run_key(run_id: str) -> str:
    return name_key("run", run_id)


def _log_key(run_id: str) -> str:
    return name_key("log", run_id)


def _waiting_key(lane: Lane) -> str:
    return name_key("waiting", lane.name.lower())


def _worker_key(name: str) -> str:
    return name_key("worker", name)


def _wake_key(server: str) -> str:
    return name_key("wake", server)


def _encode_outcome(outcome: Outcome) -> str:
    return json.dumps({"lasting": outcome.lasting, "problem": outcome.problem})


def _seconds_for(waiting: int) -> int:
    return max(1, min(30, waiting // 50))
