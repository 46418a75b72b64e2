"""Probes: alive, and ready to trace; and what the page has to know of the server it came from."""

from http import HTTPStatus

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from starlette.responses import Response

from gradwalk.api.traces import ServiceOf
from gradwalk.store.store import StoreError

router = APIRouter()


@router.get("/api/server", tags=["server"])
async def read_server(service: ServiceOf) -> Response:
    """How well programs are locked in, as measured at the start (null until then), and the versions."""
    engine = service.engine.status()
    body = {"protection": engine.protection and engine.protection.describe(), "versions": engine.versions}
    return JSONResponse(body, headers={"Cache-Control": "no-store"})


@router.get("/healthz", tags=["health"])
async def read_health() -> dict[str, str]:
    """The event loop turns; nothing else is claimed."""
    return {"status": "ok"}


@router.get("/readyz", tags=["health"], responses={503: {"description": "Programs cannot be traced now."}})
async def read_readiness(service: ServiceOf) -> Response:
    """Children can be had at once and were tried out, the store takes a write, and the server is not going down."""
    engine = service.engine.status()
    try:
        await service.store.check()
        store = "ok"
    except StoreError as error:
        store = str(error)
    ready = engine.ready and store == "ok" and not service.runs.is_stopping
    body = {
        "status": "draining" if service.runs.is_stopping else "ready" if ready else "not ready",
        "store": store,
        "started": engine.started,
        "running": engine.running,
        "waiting": sum(engine.waiting.values()),
        "protection": engine.protection and engine.protection.describe(),
        "layers": engine.layers,
        "versions": engine.versions,
    }
    return JSONResponse(body, HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE, {"Cache-Control": "no-store"})
