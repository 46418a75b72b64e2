"""Files of traces: the quick ones made here while one waits, those with a page per step by the engine's batch lane."""

import asyncio
from collections.abc import AsyncGenerator
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


async def begin_file(service: Service, exporter: Exporter, job: ExportJob, client: str) -> Run | None:
    """The run that makes it; None where it is quick to make, or made already.

    Raises:
        BusyError: there is no room for it.
    """
    if not exporter.has_pages or await service.store.get_file(service.address_of_file(job)) is not None:
        return None
    return await service.start(service.address_of_file(job), job, client, Lane.BATCH)


async def follow_file(service: Service, run: Run | None) -> AsyncGenerator[tuple[int, int, int]]:
    """Pages done, all of them, and jobs that come first: at once, and whenever that may have changed, to the end."""
    if run is None:
        yield 0, 0, 0
        return
    with run.follower():
        while True:
            yield *run.progress, run.jobs_ahead()
            if run.state is RunState.DONE or service.runs.is_stopping:
                return
            await run.change(QUEUE_NEWS_SECONDS if run.state is RunState.QUEUED else PING_SECONDS)


async def finish_file(service: Service, exporter: Exporter, job: ExportJob, run: Run | None, client: str) -> bytes:
    """The file, after `follow_file`.

    Raises:
        NoFileError: there is none; the problem says why.
    """
    if not exporter.has_pages:
        return await _make_here(service, job, client)
    if run is not None:
        if run.outcome is None:
            raise NoFileError(CALLED_OFF.problem)
        if run.outcome.problem is not None:
            raise NoFileError(run.outcome.problem)
        if run.log:
            return run.log[-1]
    try:
        body = await service.store.get_file(service.address_of_file(job))
    except BusyError:
        body = None
    if body is None:
        raise NoFileError(LOST)
    return body


async def _make_here(service: Service, job: ExportJob, client: str) -> bytes:
    assert job.document is not None
    try:
        return await service.make_quickly(job.address(""), client, make_file, job.document, job.name, job.selection)
    except (NothingToExport, ExportUnavailable) as refusal:
        raise NoFileError(say_why(type(refusal).__name__, refusal.fact)) from refusal
