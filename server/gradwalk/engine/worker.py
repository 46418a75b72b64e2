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
from gradwalk.engine.engine import Lane
from gradwalk.engine.export import LONGEST_SECONDS, ExportJob
from gradwalk.engine.job import OUR_FAULT, PASSING_KINDS, Job, Outcome, execute
from gradwalk.engine.runlog import Attempt, FencedError, RunLog
from gradwalk.protocol.document import encode, join_document, trace_id
from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.problems import problem
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.answers import EventAnswer, expected_header
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.jobs import TraceJob
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.store.compression import compress
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
    progress: tuple[int, int] | None = None
    told: tuple[int, int] | None = None
    """What readers know of the progress."""

    def note_progress(self, done: int, of: int) -> None:
        """So many pages are done; told with the next beat."""
        self.progress = (done, of)


class Worker:
    """Carries out runs; each call of `carry_out` in a thread of its own."""

    def __init__(self, url: str, store: TraceStore, sandbox: Sandbox, run_seconds: float, sign_of_life: Path) -> None:
        self._log = RunLog(connect(url, patience_seconds=PATIENCE_SECONDS))
        self._store = store
        self._sandbox = sandbox
        self._run_seconds = run_seconds
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

    def carry_out(self, ticket: str, lane: Lane) -> None:
        """Runs what is next in this lane, if anything is; `ticket` is the id that came with the message."""
        attempt = self._wait_for(self._log.begin(ticket, self._name, lane))
        if attempt is None:
            return
        work = _Work(attempt, time.monotonic() + self._longest(attempt))
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

    def _longest(self, attempt: Attempt) -> float:
        """Seconds after which nobody beats for it any more, so that somebody else takes over: all fences around it."""
        own = LONGEST_SECONDS if isinstance(attempt.job, ExportJob) else 4 * self._run_seconds
        return own + 2 * PATIENCE_SECONDS

    def _run(self, work: _Work) -> Outcome:
        job = work.attempt.job
        if not isinstance(job, TraceJob):
            return self._execute_once(work)
        answer = EventAnswer(expected_header(job.request, installed_versions()))
        if work.attempt.count:
            # Another attempt got so far; programs are deterministic, so this one goes on from there.
            work.results = self._wait_for(self._log.results(work.attempt.run_id))
            answer.pass_over([json.loads(event) for event in work.results])
        refusal = self._refusal(work.attempt)
        if refusal is None:
            return self._execute(work, answer)
        rest = answer.end_with(problem("internal", refusal), "crashed")
        if rest:
            self._append(work, [encode(event) for event in rest])
        return Outcome(lasting=False)

    def _refusal(self, attempt: Attempt) -> Fact | None:
        """Why this run is not to be carried out."""
        if attempt.tries > TRIES_MAX:
            return fact("problem-given-up", count=TRIES_MAX)
        if not isinstance(attempt.job, TraceJob):
            return None
        if trace_id(attempt.job.request, installed_versions()) != attempt.run_id:
            return fact("problem-upgraded")
        return None

    def _execute_once(self, work: _Work) -> Outcome:
        refusal = self._refusal(work.attempt)
        if refusal is not None:
            return Outcome(lasting=False, problem=problem("internal", refusal))
        return self._execute(work, None)

    def _execute(self, work: _Work, answer: EventAnswer | None) -> Outcome:
        had_passing_problem = any(json.loads(event).get("kind") in PASSING_KINDS for event in work.results)
        try:
            outcome = execute(
                self._complete(work.attempt.job),
                lambda batch: self._append(work, batch),
                sandbox=self._sandbox,
                cancellation=work.cancellation,
                answer=answer,
                report=work.note_progress,
            )
        except (FencedError, RedisError):
            raise
        except Exception:  # noqa: BLE001 (a bug of ours must not take the message with it)
            log.exception("a job broke the worker")
            return OUR_FAULT
        return Outcome(outcome.lasting and not had_passing_problem, outcome.problem)

    def _complete(self, job: Job) -> Job:
        """With the document that a file is made of; of a trace that is not kept, what its log says for a minute."""
        if not isinstance(job, ExportJob):
            return job
        document = self._wait_for(self._store.get_trace(job.trace))
        if document is None:
            events = self._wait_for(self._log.results(job.trace))
            document = compress(join_document(events)) if events else None
        return job.model_copy(update={"document": document})

    def _append(self, work: _Work, batch: list[bytes]) -> None:
        # A file goes into the store alone: the log is read over one connection, by everybody's readers.
        if not isinstance(work.attempt.job, ExportJob):
            self._wait_for(self._log.append(work.attempt, len(work.results), batch))
        work.results += batch

    def _keep(self, work: _Work, outcome: Outcome) -> Outcome:
        """Puts what lasts where every server finds it, before anybody is told that it is done."""
        if not outcome.lasting:
            return outcome
        run_id, job = work.attempt.run_id, work.attempt.job
        try:
            if isinstance(job, TraceJob):
                self._wait_for(self._store.put_trace(run_id, join_document(work.results)))
            elif isinstance(job, ExportJob):
                self._wait_for(self._store.put_file(run_id, work.results[-1]))
                self._wait_for(self._log.beat(work.attempt, work.progress))
        except StoreError as error:
            log.exception("a finished run could not be kept")
            lost = problem("internal", fact("problem-file-not-kept", error=str(error)))
            return Outcome(lasting=False, problem=lost if isinstance(job, ExportJob) else outcome.problem)
        return outcome

    async def _keep_beating(self) -> None:
        while not self._is_closed:
            for work in list(self._working):
                if time.monotonic() > work.deadline:
                    continue
                try:
                    fresh = work.progress if work.progress != work.told else None
                    goes_on = await self._log.beat(work.attempt, fresh)
                    work.told = fresh or work.told
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
