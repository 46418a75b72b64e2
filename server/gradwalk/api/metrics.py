"""What is counted, in the names under which it is read at /metrics."""

import asyncio
import json
import time
from contextlib import AbstractContextManager
from http import HTTPStatus

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.process_collector import ProcessCollector
from starlette.responses import PlainTextResponse, Response

from gradwalk.api.made_once import MadeOnce
from gradwalk.engine.engine import EngineStatus, Lane
from gradwalk.engine.export import ExportJob
from gradwalk.engine.runs import Run
from gradwalk.sandbox.jobs import TraceJob

router = APIRouter(tags=["health"])

KILLING_KINDS = frozenset({"timeout", "memory", "crashed", "forbidden"})
"""Problems after which a child was ended, or had ended itself."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})
_TRACE_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_HTTP_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


class Metrics:
    """The counters of one server process."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._traces = Counter("traces", "Traces that ended, by how.", ["status"], registry=registry)
        self._files = Counter(
            "files", "Files with many pages that ended, by how.", ["format", "status"], registry=registry
        )
        self._seconds = Histogram(
            "trace_seconds", "From the request to the last event.", buckets=_TRACE_SECONDS, registry=registry
        )
        self._queue_depth = Gauge("queue_depth", "Jobs that wait.", ["lane"], registry=registry)
        self._running = Gauge("jobs_running", "Jobs that run.", registry=registry)
        self._workers = Gauge("workers", "Processes that run jobs; all that servers share.", registry=registry)
        self.cache_hits = Counter("cache_hits", "Questions that a kept trace answered.", registry=registry)
        self.cache_misses = Counter("cache_misses", "Questions that no kept trace answered.", registry=registry)
        self._streams = Gauge("sse_connections", "Open streams.", ["kind"], registry=registry)
        self._rooms = Gauge("rooms", "Rooms with somebody in them here.", registry=registry)
        self._room_participants = Gauge("room_participants", "Who follows a room.", registry=registry)
        self._kills = Counter("sandbox_kills", "Children that did not end well.", ["reason"], registry=registry)
        self._http = Histogram(
            "http_request_seconds",
            "Requests, but for streams.",
            ["method", "route", "status"],
            buckets=_HTTP_SECONDS,
            registry=registry,
        )
        self.written = MadeOnce[None, bytes](0, lambda *_: 1)
        """Once for all who wait; nothing of it is kept."""

    def stream(self, kind: str) -> AbstractContextManager[None]:
        """One more stream is open inside."""
        return self._streams.labels(kind).track_inprogress()

    def note_levels(self, engine: EngineStatus, rooms: int, participants: int) -> None:
        """What is not counted as it happens."""
        for lane in Lane:
            self._queue_depth.labels(lane.name.lower()).set(engine.waiting.get(lane, 0))
        self._running.set(engine.running)
        self._workers.set(engine.workers)
        self._rooms.set(rooms)
        self._room_participants.set(participants)

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request that was answered; `route` must be one of few."""
        self._http.labels(method if method in _METHODS else "other", route, str(status)).observe(seconds)

    def count_run(self, run: Run) -> None:
        """A run that has its outcome."""
        status = _status_of(run)
        if isinstance(run.job, ExportJob):
            self._files.labels(run.job.name, status).inc()
            return
        if status in KILLING_KINDS:
            self._kills.labels(status).inc()
        if isinstance(run.job, TraceJob):
            self._traces.labels(status).inc()
            self._seconds.observe(time.monotonic() - run.began)


def _status_of(run: Run) -> str:
    """`done`, `problem` (the program's own), `called_off`, or the kind of what stopped it."""
    assert run.outcome is not None
    if run.cancellation.is_wished:
        return "called_off"
    if run.outcome.problem is not None:
        return run.outcome.problem["kind"]
    if run.outcome.lasting:
        return "problem" if isinstance(run.job, TraceJob) and json.loads(run.log[-1])["problems"] else "done"
    kinds = [event["kind"] for event in map(json.loads, run.log[-2:]) if event["type"] == "problem"]
    return kinds[-1] if kinds else "internal"


@router.get("/metrics", response_class=PlainTextResponse, responses={200: {"description": "Counters and gauges."}})
async def read_metrics(request: Request) -> Response:
    """Counters and gauges in Prometheus' text format."""
    metrics: Metrics = request.app.state.metrics
    service = request.app.state.service
    metrics.note_levels(service.engine.status(), *service.rooms.counts())
    text = await metrics.written.ask(None, lambda: asyncio.to_thread(generate_latest, metrics.registry))
    return Response(text, HTTPStatus.OK, {"Cache-Control": "no-store"}, CONTENT_TYPE_LATEST)
