"""The application: routes, middleware, and what lives as long as the server does."""

import asyncio
import contextlib
import gc
import os
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI

from gradwalk.api import (
    description,
    examples,
    exports,
    health,
    metrics,
    oembed,
    pages,
    replays,
    rooms,
    snippets,
    traces,
)
from gradwalk.api.codings import Compression
from gradwalk.api.errors import ERROR_HANDLERS
from gradwalk.api.headers import ROOM_BODY_BYTES_MAX, Guard
from gradwalk.api.metrics import Metrics
from gradwalk.api.observer import Observer
from gradwalk.api.service import choose_rates, make_service
from gradwalk.api.settings import Settings
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.supervisor import Sandbox

_EVERYWHERE: dict[int | str, dict[str, Any]] = {
    421: {"description": "This server does not answer to the name in `Host`."},
    503: {"description": "Not now: the store does not answer."},
}
_RELAXED_COLLECTION = (2_000, 1, 1_000)
"""Thresholds of the garbage collector. A collection stops everybody, the longer the more young objects there are, so it
is often and short. One that walks through all is seldom: of a hall of 3,000 it takes a fifth of a second."""


def create_app(settings: Settings, sandbox: Sandbox | None = None) -> FastAPI:
    """The server as an ASGI application; children are started with its lifespan, unless `sandbox` has started."""
    app = FastAPI(
        title="gradwalk",
        version=installed_versions()["gradwalk"],
        summary="Type PyTorch, watch its real backward pass.",
        lifespan=_live,
        exception_handlers=ERROR_HANDLERS,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        telemetry=None if _is_telemetry_wished() else {"tracing": False, "metrics": False, "logs": False},
    )
    app.state.settings = settings
    app.state.metrics = Metrics()
    app.state.description = None
    app.state.sandbox = Sandbox(settings.run_limits) if sandbox is None else sandbox
    app.state.rates = choose_rates(settings)
    # The last one added is the first one asked.
    app.add_middleware(Compression)
    app.add_middleware(Guard, settings=settings)
    app.add_middleware(Observer, metrics=app.state.metrics)
    resources = traces, replays, snippets, rooms, exports, examples
    for module in (*resources, health, metrics, oembed, description, pages):
        # The guard has refused what says that it is too long; this one counts what does not say.
        most = min(settings.body_bytes_max, ROOM_BODY_BYTES_MAX) if module is rooms else settings.body_bytes_max
        app.include_router(module.router, max_body_size=most, responses=_EVERYWHERE)
    pages.mount_static(app, settings.static_directory)
    return app


def _is_telemetry_wished() -> bool:
    """FastAPI brings OpenTelemetry; it asks on every request whether it is wished, so the answer is given here."""
    return any(name.startswith(("OTEL_", "FASTAPI_OTEL_")) for name in os.environ)


@contextlib.asynccontextmanager
async def _live(app: FastAPI) -> AsyncIterator[None]:
    service = app.state.service = make_service(
        app.state.settings, app.state.sandbox, app.state.metrics, app.state.rates
    )
    service.engine.start()
    # What was imported stays: the collector need not walk through it again for every few hundred requests.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_RELAXED_COLLECTION)
    yield
    await service.close()
    await asyncio.to_thread(app.state.sandbox.close)
