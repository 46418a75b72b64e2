"""The worker's side of the cluster: takes runs from the shared log and carries them out with `execute`.

Celery's threads wait on pipes, as the local pool's do; the children do the work. Beside them one thread with an event
loop says four times a second that each run is still in good hands, hears who should stop, and talks to the store.
"""

import asyncio
import contextlib
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from redis.exceptions import RedisError

from gradwalk.cluster.connection import connect
from gradwalk.engine.job import OUR_FAULT, PASSING_KINDS, Outcome, execute
from gradwalk.engine.runlog import Attempt, FencedError, RunLog
from gradwalk.protocol.document import encode, join_document, trace_id
from gradwalk.protocol.events import EVENT
from gradwalk.protocol.problems import problem
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.answers import EventAnswer, expected_header
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.jobs import TraceJob
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.store.store import StoreError, TraceStore

log = logging.getLogger(__name__)

T = TypeVar("T")

TRIES_MAX = 3
"""A run that takes its worker with it, again and again, is given up."""
PATIENCE_SECONDS = 60.0
_BEAT_SECONDS = 0.25
_ANNOUNCE_SECONDS = 2.0
_CLOSING_SECONDS = 3.0


@dataclass(eq=False, slots=True)
class _Work:
    attempt: Attempt
    deadline: float
    cancellation: Cancellation = field(default_factory=Cancellation)
    results: list[bytes] = field(default_factory=list)


class Worker:
    """Carries out runs; each call of `carry_out` in a thread of its own."""

    def __init__(self, url: str, store: TraceStore, sandbox: Sandbox, run_seconds: float, sign_of_life: Path) -> None:
        self._log = RunLog(connect(url, patience_seconds=PATIENCE_SECONDS))
        self._store = store
        self._sandbox = sandbox
        # A job that takes longer than all the fences around it is not beaten for any more: somebody else takes over.
        self._work_seconds = 4 * run_seconds + 2 * PATIENCE_SECONDS
        self._sign_of_life = sign_of_life
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._working: set[_Work] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="worker-keeper", daemon=True)
        self._is_closed = False

    def start(self) -> None:
        """Waits until children can be had and were tried out, then says that this worker is here.

        Raises:
            LauncherGoneError: children cannot be made here.
        """
        self._sandbox.start()
        if self._sandbox.protection is None:
            self._sandbox.measure()
        self._thread.start()
        self._later(self._keep_beating())
        self._later(self._keep_announcing())

    def carry_out(self, run_id: str) -> None:
        """Runs what is waiting under this id, unless it is in somebody's hands."""
        attempt = self._wait_for(self._log.begin(run_id, self._name))
        if attempt is None:
            return
        work = _Work(attempt, time.monotonic() + self._work_seconds)
        self._working.add(work)
        try:
            outcome = self._keep(work, self._run(work))
            self._wait_for(self._log.finish(attempt, outcome))
        except FencedError:
            log.warning("a run was taken over by another worker")
        finally:
            self._working.discard(work)

    def close(self) -> None:
        """Says goodbye. Idempotent."""
        if self._is_closed:
            return
        self._is_closed = True
        for work in list(self._working):
            work.cancellation.cancel()
        if self._thread.is_alive():
            with contextlib.suppress(TimeoutError):
                self._later(self._leave()).exception(_CLOSING_SECONDS)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_CLOSING_SECONDS)
        self._sandbox.close()

    def _run(self, work: _Work) -> Outcome:
        job = work.attempt.job
        if not isinstance(job, TraceJob):
            return self._execute(work, None)
        answer = EventAnswer(expected_header(job.request, installed_versions()))
        if work.attempt.count:
            # Another attempt got so far; programs are deterministic, so this one goes on from there.
            work.results = self._wait_for(self._log.results(work.attempt.run_id))
            answer.pass_over([EVENT.validate_json(event) for event in work.results])
        refusal = self._refusal(work.attempt)
        if refusal is None:
            return self._execute(work, answer)
        rest = answer.end_with(problem("internal", *refusal), "crashed")
        if rest:
            self._append(work, [encode(event) for event in rest])
        return Outcome(lasting=False)

    def _refusal(self, attempt: Attempt) -> tuple[str, str] | None:
        """Title and message where this run is not to be carried out."""
        if attempt.tries > TRIES_MAX:
            return "This run was given up", f"It was begun {TRIES_MAX} times, and each time its worker was lost."
        if trace_id(attempt.job.request, installed_versions()) != attempt.run_id:
            return "This server is being upgraded", "Its parts are of different versions at the moment. Run it again."
        return None

    def _execute(self, work: _Work, answer: EventAnswer | None) -> Outcome:
        had_passing_problem = any(json.loads(event).get("kind") in PASSING_KINDS for event in work.results)
        try:
            outcome = execute(
                work.attempt.job,
                lambda batch: self._append(work, batch),
                sandbox=self._sandbox,
                cancellation=work.cancellation,
                answer=answer,
            )
        except (FencedError, RedisError):
            raise
        except Exception:  # noqa: BLE001 (a bug of ours must not take the message with it)
            log.exception("a job broke the worker")
            return OUR_FAULT
        return Outcome(outcome.lasting and not had_passing_problem, outcome.problem)

    def _append(self, work: _Work, batch: list[bytes]) -> None:
        self._wait_for(self._log.append(work.attempt, len(work.results), batch))
        work.results += batch

    def _keep(self, work: _Work, outcome: Outcome) -> Outcome:
        """Puts a lasting trace where every server finds it, before anybody is told that it is done."""
        if not outcome.lasting or not isinstance(work.attempt.job, TraceJob):
            return outcome
        try:
            self._wait_for(self._store.put_trace(work.attempt.run_id, join_document(work.results)))
        except StoreError:
            log.exception("a finished run could not be kept")
            return Outcome(lasting=False, problem=outcome.problem)
        return outcome

    async def _keep_beating(self) -> None:
        while not self._is_closed:
            for work in list(self._working):
                if time.monotonic() > work.deadline:
                    continue
                try:
                    goes_on = await self._log.beat(work.attempt)
                except RedisError as error:
                    log.warning("the shared server does not answer: %s", error)
                    break
                if not goes_on:
                    work.cancellation.cancel()
            await asyncio.sleep(_BEAT_SECONDS)

    async def _keep_announcing(self) -> None:
        while not self._is_closed:
            protection = self._sandbox.protection
            try:
                await self._log.announce(
                    self._name,
                    {
                        "versions": installed_versions(),
                        "protection": protection and protection.describe(),
                        "layers": self._sandbox.layers,
                        "running": len(self._working),
                    },
                )
                self._sign_of_life.touch()
            except (RedisError, OSError) as error:
                log.warning("this worker cannot say that it is here: %s", error)
            await asyncio.sleep(_ANNOUNCE_SECONDS)

    async def _leave(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._log.withdraw(self._name)

    def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        return self._later(work).result()

    def _later(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)
