"""What the page has to know of the server it came from."""

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from starlette.responses import Response

from gradwalk.api.traces import ServiceOf

router = APIRouter(prefix="/api/server", tags=["server"])


@router.get("")
async def read_server(service: ServiceOf) -> Response:
    """How well programs are locked in, as measured at the start (null until then), and the versions."""
    engine = service.engine.status()
    body = {"protection": engine.protection and engine.protection.describe(), "versions": engine.versions}
    return JSONResponse(body, headers={"Cache-Control": "no-store"})
