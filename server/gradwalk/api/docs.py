"""The description of the API as a page to read.

FastAPI's own page loads its scripts from another host, which our Content-Security-Policy forbids; this one needs none.
"""

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from gradwalk.exports.markup import render

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def read_docs(request: Request) -> Response:
    """Every route with what it takes and what it answers."""
    return HTMLResponse(await asyncio.to_thread(lambda: _write(request.app.openapi())))


def _write(description: dict[str, Any]) -> str:
    operations = [
        _describe(method, path, operation)
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
    ]
    return render("docs.html", title=description["info"]["title"], operations=operations)


def _describe(method: str, path: str, operation: dict[str, Any]) -> dict[str, Any]:
    terms = [
        (f"{one['name']} ({one['in']}{', required' if one['required'] else ''})", one.get("description", ""))
        for one in operation.get("parameters", ())
    ]
    terms += [(status, answer["description"]) for status, answer in operation["responses"].items()]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return {
        "method": method,
        "path": path,
        "description": operation["description"],
        "examples": body.get("examples", {}),
        "terms": terms,
    }
