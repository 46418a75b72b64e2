"""The worker's side of the cluster: takes runs from the shared log and carries them out with `execute`.

Celery's threads wait on pipes, as the local pool's do; the children do the work. Beside them one thread with an event
loop beats for each run four times a second, stops those that no server follows, and talks to the store.
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
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from redis.exceptions import RedisError

from gradwalk.cluster.connection import connect
from gradwalk.engine.engine import BusyError, Order
from gradwalk.engine.export import LONGEST_SECONDS, ExportJob
from gradwalk.engine.job import OUR_FAULT, PASSING_KINDS, Job, Outcome, execute, refuse
from gradwalk.engine.rates import Rate
from gradwalk.engine.runlog import Attempt, FencedError, RunLog
from gradwalk.protocol.document import join_document, trace_id
from gradwalk.protocol.events import Problem
from gradwalk.protocol.facts import fact
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
    """When its beats end, so that another worker takes over: outside of every other limit."""
    cancellation: Cancellation = field(default_factory=Cancellation)
    file: bytes = b""
    """It goes into the store alone: the log is read over one connection, by everybody's readers."""

    @property
    def order(self) -> Order:
        return self.attempt.run.order


class Worker:
    """Carries out runs; each call of `carry_out` in a thread of its own. What they use is counted in `cpu`."""

    def __init__(
        self, url: str, store: TraceStore, cpu: Rate, sandbox: Sandbox, run_seconds: float, sign_of_life: Path
    ) -> None:
        self._log = RunLog(connect(url, patience_seconds=PATIENCE_SECONDS))
        self._store = store
        self._cpu = cpu
        self._sandbox = sandbox
        self._run_seconds = run_seconds
        self._sign_of_life = sign_of_life
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._working: set[_Work] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="worker-keeper", daemon=True)

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
        """Runs it, if it still waits and a server follows it."""
        attempt = self._wait_for(self._log.begin(run_id))
        if attempt is None:
            return
        is_file = isinstance(attempt.run.order.job, ExportJob)
        longest = (LONGEST_SECONDS if is_file else 4 * self._run_seconds) + 2 * PATIENCE_SECONDS
        work = _Work(attempt, time.monotonic() + longest)
        self._working.add(work)
        try:
            outcome = self._keep(work, self._run(work))
            self._wait_for(self._log.finish(attempt, outcome))
        except FencedError:
            log.warning("a run was taken over by another worker")
        finally:
            self._working.discard(work)

    def close(self) -> None:
        """Stops what runs."""
        for work in list(self._working):
            work.cancellation.cancel()
        if self._thread.is_alive():
            with contextlib.suppress(TimeoutError):
                self._later(self._leave()).exception(_CLOSING_SECONDS)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_CLOSING_SECONDS)
        self._sandbox.close()

    def _run(self, work: _Work) -> Outcome:
        job, answer, had_passing_problem = work.order.job, None, False
        append = partial(self._append, work)
        if isinstance(job, TraceJob):
            answer = EventAnswer(expected_header(work.order.run_id, job.request, installed_versions()))
            said = [json.loads(event) for event in work.attempt.results]
            # Programs are deterministic: this attempt goes on where an earlier one ended.
            answer.pass_over(said)
            had_passing_problem = any(event.get("kind") in PASSING_KINDS for event in said)
        refusal = self._refusal(work)
        if refusal is not None:
            return refuse(refusal, append, answer)
        try:
            outcome = execute(
                self._complete(job),
                append,
                sandbox=self._sandbox,
                cancellation=work.cancellation,
                answer=answer,
                report=lambda done, of: self._wait_for(self._log.tell(work.attempt, done, of)),
                charge=partial(self._charge, work),
            )
        except (FencedError, RedisError):
            raise
        except Exception:  # noqa: BLE001 (a bug of ours must not take the message with it)
            log.exception("a job broke the worker")
            return OUR_FAULT
        return Outcome(outcome.lasting and not had_passing_problem, outcome.problem)

    def _refusal(self, work: _Work) -> Problem | None:
        """Why this run is not to be carried out."""
        job = work.order.job
        if work.attempt.tries > TRIES_MAX:
            return problem("internal", fact("problem-given-up", count=TRIES_MAX))
        if isinstance(job, TraceJob) and trace_id(job.request, installed_versions()) != work.order.run_id:
            return problem("internal", fact("problem-upgraded"))
        try:
            # It may have been asked for long before the client's others had used up their time.
            self._wait_for(self._cpu.check(work.order.client))
        except BusyError as busy:
            return problem("busy", busy.fact)
        return None

    def _charge(self, work: _Work, seconds: float) -> None:
        with contextlib.suppress(BusyError):
            self._wait_for(self._cpu.take(work.order.client, seconds))

    def _complete(self, job: Job) -> Job:
        """With the document that a file is made of; of a trace that is not kept, what its log says for a minute."""
        if not isinstance(job, ExportJob):
            return job
        document = self._wait_for(self._store.get_trace(job.trace))
        if document is None:
            run = self._wait_for(self._log.find(job.trace))
            events = self._wait_for(self._log.results(run)) if run else []
            document = compress(join_document(events)) if events else None
        return job.model_copy(update={"document": document})

    def _append(self, work: _Work, batch: list[bytes]) -> None:
        if isinstance(work.order.job, ExportJob):
            work.file = batch[-1]
        else:
            self._wait_for(self._log.append(work.attempt, batch))

    def _keep(self, work: _Work, outcome: Outcome) -> Outcome:
        """Puts what lasts where every server finds it, before anybody is told that it is done."""
        if not outcome.lasting:
            return outcome
        job = work.order.job
        try:
            if isinstance(job, TraceJob):
                self._wait_for(self._store.put_trace(work.order.run_id, join_document(work.attempt.results)))
            elif isinstance(job, ExportJob):
                self._wait_for(self._store.put_file(work.order.run_id, work.file))
        except StoreError as error:
            log.exception("a finished run could not be kept")
            lost = problem("internal", fact("problem-file-not-kept", error=str(error)))
            return Outcome(lasting=False, problem=lost if isinstance(job, ExportJob) else outcome.problem)
        return outcome

    async def _keep_beating(self) -> None:
        while True:
            for work in list(self._working):
                if time.monotonic() > work.deadline:
                    continue
                try:
                    if not await self._log.beat(work.attempt):
                        work.cancellation.cancel()
                except (RedisError, FencedError) as error:
                    log.warning("a run's beat was not sent: %s", error)
            await asyncio.sleep(_BEAT_SECONDS)

    async def _keep_announcing(self) -> None:
        while True:
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

    def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        return self._later(work).result()

    def _later(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)
