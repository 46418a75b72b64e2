"""Files of traces: the quick ones made here while one waits, those with a page per step by the engine's batch lane."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus

from gradwalk.api.errors import FactAnswer
from gradwalk.api.reading import make_file
from gradwalk.api.service import Service
from gradwalk.api.streams import PING_SECONDS, QUEUE_NEWS_SECONDS
from gradwalk.engine.engine import BusyError, Lane
from gradwalk.engine.export import ExportJob, NoFileError, say_why
from gradwalk.engine.job import CALLED_OFF
from gradwalk.engine.runs import Run, RunState
from gradwalk.exports.exporter import Exporter, ExportUnavailable, NothingToExport
from gradwalk.protocol.document import join_document
from gradwalk.protocol.facts import fact
from gradwalk.protocol.problems import problem
from gradwalk.store.compression import compress

LOST = problem("internal", fact("problem-file-lost"))


async def find_finished_document(service: Service, trace: str) -> bytes:
    """A finished trace, compressed.

    Raises:
        FactAnswer: there is none.
    """
    stored = await service.find_trace(trace)
    if stored is not None:
        return stored
    run = await service.find_run(trace)
    if run is None or run.outcome is None or not run.log:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-trace"))
    return await asyncio.to_thread(lambda log: compress(join_document(log)), run.log)


@dataclass(frozen=True, slots=True)
class Making:
    """A file that is being made for a client."""

    service: Service
    exporter: Exporter
    job: ExportJob
    client: str
    run: Run | None
    """None where it is quick to make, or made already."""

    async def progress(self) -> AsyncGenerator[tuple[int, int, int]]:
        """Pages done, all of them, and jobs that come first: at once, then whenever it may have changed, to the end."""
        run = self.run
        if run is None:
            yield 0, 0, 0
            return
        with run.follower():
            while True:
                yield *run.progress, run.jobs_ahead()
                if run.state is RunState.DONE or self.service.runs.is_stopping:
                    return
                await run.change(QUEUE_NEWS_SECONDS if run.state is RunState.QUEUED else PING_SECONDS)

    async def finish(self) -> bytes:
        """The file, after `progress`.

        Raises:
            NoFileError: there is none; the problem says why.
        """
        if not self.exporter.has_pages:
            return await self._make_here()
        if self.run is not None:
            outcome = self.run.outcome or CALLED_OFF
            if outcome.problem is not None:
                raise NoFileError(outcome.problem)
            if self.run.log:
                return self.run.log[-1]
        with suppress(BusyError):
            body = await self.service.store.get_file(self.service.address_of_file(self.job))
            if body is not None:
                return body
        raise NoFileError(LOST)

    async def _make_here(self) -> bytes:
        job = self.job
        assert job.document is not None
        try:
            return await self.service.make_quickly(
                job.address(""), self.client, make_file, job.document, job.name, job.selection
            )
        except (NothingToExport, ExportUnavailable) as refusal:
            raise NoFileError(say_why(type(refusal).__name__, refusal.fact)) from refusal


async def begin_file(service: Service, exporter: Exporter, job: ExportJob, client: str) -> Making:
    """Orders it from the engine, unless it is quick to make, or made already.

    Raises:
        BusyError: there is no room for it.
    """
    run = None
    if exporter.has_pages and await service.store.get_file(service.address_of_file(job)) is None:
        run = await service.start(service.address_of_file(job), job, client, Lane.BATCH)
    return Making(service, exporter, job, client, run)
