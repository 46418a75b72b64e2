"""Events as server-sent events: batches, status, done.

    id: 63                      the last `seq` in the batch; what a reader sends back as Last-Event-ID
    event: batch
    data: [{"seq": 32, ...}, ..., {"seq": 63, ...}]

Status messages (queued, running, bye) have no id, since they are not part of the trace. The stream ends with
`event: done`; without it, the reader should ask again.
"""

import random
from collections.abc import AsyncGenerator
from typing import Any

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

from gradwalk.api.event_stream import EventStream
from gradwalk.api.service import Service
from gradwalk.engine.runs import Run, Runs, RunState, take_batch
from gradwalk.protocol.document import encode

PING_SECONDS = 15.0
QUEUE_NEWS_SECONDS = 1.0
_RETRY_MS = (300, 900)


def stream_run(service: Service, run: Run, after: int) -> EventStream:
    """A run's events after the one numbered `after`, as they come."""
    return EventStream(_follow(service.runs, run, after + 1), service.metrics.stream("trace"), service.pieces)


def stream_events(service: Service, stored: bytes, trace: str, after: int, client: str) -> EventStream:
    """The events of a finished trace, as it is kept, after the one numbered `after`."""
    return EventStream(
        _replay(service, stored, trace, after + 1, client), service.metrics.stream("trace"), service.pieces
    )


def read_last_event_id(text: str | None) -> int:
    """The number of the last event a reader has; -1 for none, and for garbage, which must not end its retries."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else -1


async def _follow(runs: Runs, run: Run, count: int) -> AsyncGenerator[bytes]:
    yield retry_frame()
    told: dict[str, Any] = {}
    with run.follower():
        while not runs.is_stopping:
            patience = QUEUE_NEWS_SECONDS if run.state is RunState.QUEUED else PING_SECONDS
            batch = await run.news_after(count, patience)
            if batch:
                count += len(batch)
                yield _batch(batch, count - 1)
            elif run.state is RunState.DONE:
                yield message("done", {"id": run.id})
                return
            else:
                state = _describe(run)
                yield message("status", state) if state != told else KEEPALIVE_COMMENT
                told = state
    yield message("status", {"state": "bye"})


async def _replay(service: Service, stored: bytes, trace: str, count: int, client: str) -> AsyncGenerator[bytes]:
    yield retry_frame()
    # Asked for anew each time: a reader who takes minutes must not hold all events until then.
    while batch := take_batch(await service.events_of(trace, stored, client), count):
        count += len(batch)
        yield _batch(batch, count - 1)
    yield message("done", {"id": trace})


def _describe(run: Run) -> dict[str, Any]:
    if run.state is RunState.QUEUED:
        return {"state": run.state.value, "ahead": run.jobs_ahead()}
    return {"state": run.state.value}


def _batch(events: list[bytes], last: int) -> bytes:
    # Encoded JSON has no line breaks, so the frame can be put together from bytes that all readers share.
    return b"id: %d\nevent: batch\ndata: [%b]\n\n" % (last, b",".join(events))


def message(name: str, data: dict[str, Any]) -> bytes:
    """One message of a stream, without an id."""
    return format_sse_event(event=name, data_str=encode(data).decode())


def retry_frame() -> bytes:
    """When to come back after a broken connection."""
    # Random, so that a hall full of readers does not come back in the same instant.
    return format_sse_event(comment="gradwalk", retry=random.randint(*_RETRY_MS))
