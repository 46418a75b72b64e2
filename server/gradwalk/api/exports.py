"""A finished trace as a file.

What shows one moment, or the document itself, is made here while one waits; a file with a page per step is a job for
the engine, after everything that somebody looks at.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Path
from starlette.responses import JSONResponse, Response

from gradwalk.api.bodies import WatchedRoute
from gradwalk.api.errors import FactAnswer, answer_problem
from gradwalk.api.event_stream import EventStream
from gradwalk.api.languages import VARIES
from gradwalk.api.reading import make_file
from gradwalk.api.service import Service
from gradwalk.api.streams import PING_SECONDS, QUEUE_NEWS_SECONDS, message
from gradwalk.api.traces import IMMUTABLE, NOT_FOUND, REFUSALS, Client, Language, ServiceOf, TraceId
from gradwalk.engine.engine import BusyError, Lane
from gradwalk.engine.export import ExportJob, NoFileError, say_why
from gradwalk.engine.job import CALLED_OFF
from gradwalk.engine.runs import Run, RunState
from gradwalk.exports.catalogue import EXPORTERS, find_exporter
from gradwalk.exports.exporter import LAST_PHASE, Exporter, ExportUnavailable, NothingToExport, Selection
from gradwalk.protocol.document import join_document
from gradwalk.protocol.facts import Filling, code, fact
from gradwalk.protocol.problems import problem
from gradwalk.store.compression import compress
from gradwalk.store.store import StoreError
from gradwalk.words.catalogue import tell
from gradwalk.words.errors import FactError

_LOST = problem("internal", fact("problem-file-lost"))
router = APIRouter(route_class=WatchedRoute, prefix="/api", tags=["exports"])


@router.get("/exports")
async def list_exports(language: Language) -> Response:
    """What a trace can be turned into, in the order of the menu."""
    listed = [
        {
            "name": e.name,
            "media_type": e.media_type,
            "suffix": e.suffix,
            "summary": tell(e.summary, language),
            "fact": e.summary,
            "is_still": e.is_still,
            "has_pages": e.has_pages,
        }
        for e in EXPORTERS
    ]
    return JSONResponse({"exports": listed}, headers={"Content-Language": language, **VARIES})


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    409: {"description": "There is no such file of this trace; the problem says why."},
    429: REFUSALS[429],
    501: {"description": "This server cannot make such a file; the problem says what is missing."},
    **NOT_FOUND,
}
Name = Annotated[str, Path(description="One of `/api/exports`.", max_length=32)]


Wanted = Annotated[Selection, Depends()]


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
        """The file, as soon as it is made.

        Raises:
            NoFileError: there is none; the problem says why.
        """
        job = self.job
        if not self.exporter.has_pages:
            assert job.document is not None
            try:
                return await self.service.make_quickly(
                    job.address(""), self.client, make_file, job.document, job.name, job.selection
                )
            except (NothingToExport, ExportUnavailable) as refusal:
                raise NoFileError(say_why(type(refusal).__name__, refusal.fact)) from refusal
        if self.run is not None:
            outcome = await self.service.runs.outcome_of(self.run) or CALLED_OFF
            if outcome.problem is not None:
                raise NoFileError(outcome.problem)
            if self.run.log:
                return self.run.log[-1]
        with suppress(BusyError):
            body = await self.service.store.get_file(self.service.address_of_file(job))
            if body is not None:
                return body
        raise NoFileError(_LOST)


async def _begin(trace: TraceId, name: Name, service: ServiceOf, client: Client, wanted: Wanted) -> Making:
    """Before the answer, so that a refusal has its status."""
    exporter = find_exporter(name)
    if exporter is None:
        known: list[Filling] = [code(each.name) for each in EXPORTERS]
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-export", names=known))
    # A file with all pages is the same one wherever the reader stands.
    selection = replace(wanted, step=None, phase=LAST_PHASE) if exporter.has_pages else wanted
    document = await _find_finished_document(service, trace)
    job = ExportJob(trace=trace, name=exporter.name, selection=selection, document=document)
    run = None
    if exporter.has_pages and await service.store.get_file(service.address_of_file(job)) is None:
        run = await service.start(service.address_of_file(job), job, client, Lane.BATCH)
    return Making(service, exporter, job, client, run)


async def _find_finished_document(service: Service, trace: str) -> bytes:
    """Compressed."""
    stored = await service.find_trace(trace)
    if stored is not None:
        return stored
    run = await service.find_run(trace)
    if run is None or run.outcome is None or not run.log:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-trace"))
    return await asyncio.to_thread(lambda log: compress(join_document(log)), run.log)


FileOf = Annotated[Making, Depends(_begin)]


@router.get("/traces/{trace}/export/{name}", responses={200: {"description": "The file."}, **_PROBLEMS})
async def export_trace(making: FileOf, wanted: Wanted, language: Language) -> Response:
    """The whole trace, or one still of it: the last step unless `step` says another."""
    exporter = making.exporter
    try:
        body = await making.finish()
    except NoFileError as refusal:
        why = refusal.problem or _LOST
        is_unavailable = why["fact"]["kind"] == "problem-unavailable"
        return answer_problem(HTTPStatus.NOT_IMPLEMENTED if is_unavailable else HTTPStatus.CONFLICT, why, language)
    still = "" if not exporter.is_still or wanted.step is None else f"-{wanted.step}.{wanted.phase}"
    disposition = f'inline; filename="gradwalk-{making.job.trace[:8]}{still}.{exporter.suffix}"'
    headers = {"Content-Disposition": disposition, "Cache-Control": IMMUTABLE}
    return Response(body, media_type=exporter.media_type, headers=headers)


@router.get(
    "/traces/{trace}/export/{name}/progress",
    responses={
        200: {
            "description": "`progress` {done, of, ahead} while pages are drawn, then `done` {address}, or `problem`."
        },
        429: REFUSALS[429],
        **NOT_FOUND,
    },
)
async def follow_export(making: FileOf, wanted: Wanted, language: Language) -> Response:
    """Makes the same file and tells how far it is; it is then fetched from the address told at the end."""
    return EventStream(_tell(making, wanted, language), making.service.metrics.stream("export"))


async def _tell(making: Making, wanted: Selection, language: str) -> AsyncGenerator[bytes]:
    async for done, of, ahead in making.progress():
        yield message("progress", {"done": done, "of": of, "ahead": ahead})
    try:
        await making.finish()
    except (NoFileError, StoreError, FactError) as refusal:
        why = refusal.fact if isinstance(refusal, FactError) else (getattr(refusal, "problem", None) or _LOST)["fact"]
        yield message("problem", {"detail": tell(why, language), "fact": why})
    else:
        usual = asdict(Selection())
        query = urlencode({name: value for name, value in asdict(wanted).items() if value != usual[name]})
        address = f"/api/traces/{making.job.trace}/export/{making.exporter.name}?{query}"
        yield message("done", {"address": address.removesuffix("?")})
