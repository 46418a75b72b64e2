"""The description of the API as a page to read.

FastAPI's own page loads its scripts from another host, which our Content-Security-Policy forbids; this one needs none.
"""

import asyncio
import json
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from gradwalk.exports.html import mark_up

router = APIRouter(include_in_schema=False)

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; font: 1rem/1.55 system-ui, sans-serif; }}
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
summary, dt {{ font-weight: 600; }}
pre {{ overflow: auto; padding: 0.75rem; border: 1px solid; border-radius: 8px; }}
</style></head>
<body><main><h1>{title}</h1>
<p>What each field means is in <a href="/openapi.json">the whole description</a>, in OpenAPI's format.</p>
{operations}
</main></body></html>
"""


@router.get("/docs")
async def read_docs(request: Request) -> Response:
    """Every route with what it takes and what it answers."""
    return HTMLResponse(await asyncio.to_thread(lambda: _write(request.app.openapi())))


def _write(description: dict[str, Any]) -> str:
    operations = [
        _write_operation(method, path, operation)
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
    ]
    return _PAGE.format(title=escape(description["info"]["title"]), operations="\n".join(operations))


def _write_operation(method: str, path: str, operation: dict[str, Any]) -> str:
    terms = [
        (f"{one['name']} ({one['in']}{', required' if one['required'] else ''})", one.get("description", ""))
        for one in operation.get("parameters", ())
    ]
    terms += [(status, answer["description"]) for status, answer in operation["responses"].items()]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    examples = "".join(
        f"<p>Body, {escape(name)}:</p><pre>{escape(json.dumps(example['value'], indent=2))}</pre>"
        for name, example in body.get("examples", {}).items()
    )
    listed = "".join(f"<dt>{escape(term)}</dt><dd>{mark_up(said)}</dd>" for term, said in terms)
    return (
        f"<details open><summary><code>{method.upper()} {escape(path)}</code></summary>"
        f"<p>{mark_up(operation['description'])}</p>{examples}<dl>{listed}</dl></details>"
    )
