"""The OpenAPI description made whole: the shape of every answer, the messages of every stream, examples to try.

FastAPI describes requests from the routes. Answers here are bytes that exist already, so their shapes are told in this
table; what is not in it is a problem or has no body. FastAPI's own page to read loads its scripts from another host,
which our Content-Security-Policy forbids; this one needs none.
"""

import asyncio
import json
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request
from pydantic import TypeAdapter
from starlette.responses import HTMLResponse, Response

from gradwalk.api import answers
from gradwalk.exports.markup import render
from gradwalk.protocol.answers import GradcheckReport
from gradwalk.protocol.document import TraceDocument, encode
from gradwalk.protocol.events import Event, LocalJacobian
from gradwalk.protocol.requests import TraceRequest
from gradwalk.protocol.rooms import RoomView
from gradwalk.protocol.schema import DescribedSchema, trace_schema
from gradwalk.protocol.values import TensorValue

_JSON, _PROBLEM, _STREAM = "application/json", "application/problem+json", "text/event-stream"
_REFERENCE = "#/components/schemas/{model}"

BODIES: Final[dict[tuple[str, str, str], Any]] = {
    ("post", "/api/traces", "200"): answers.Receipt,
    ("post", "/api/traces", "202"): answers.Receipt,
    ("get", "/api/traces/{trace}", "200"): TraceDocument,
    ("get", "/api/traces/{trace}", "202"): answers.UnderWay,
    ("post", "/api/traces/{trace}/passes/{number}", "200"): answers.Receipt,
    ("post", "/api/traces/{trace}/passes/{number}", "202"): answers.Receipt,
    ("post", "/api/traces/{trace}/steps/{index}/jacobian", "200"): list[LocalJacobian],
    ("post", "/api/traces/{trace}/steps/{index}/gradcheck", "200"): list[GradcheckReport],
    ("post", "/api/traces/{trace}/gradcheck", "200"): list[GradcheckReport],
    ("post", "/api/traces/{trace}/values/{number}", "200"): TensorValue,
    ("post", "/api/snippets", "201"): answers.KeptProgram,
    ("get", "/api/snippets/{snippet}", "200"): TraceRequest,
    ("post", "/api/rooms", "201"): answers.OpenedRoom,
    ("get", "/api/rooms/{code}", "200"): RoomView,
    ("post", "/api/rooms/{code}/participants", "201"): answers.Seat,
    ("put", "/api/rooms/{code}/state", "200"): answers.Revision,
    ("get", "/api/examples", "200"): list[answers.ListedExample],
    ("get", "/api/exports", "200"): answers.ExportKinds,
    ("get", "/api/server", "200"): answers.AboutServer,
    ("get", "/oembed", "200"): answers.OEmbed,
    ("get", "/healthz", "200"): answers.Health,
    ("get", "/readyz", "200"): answers.Readiness,
    ("get", "/readyz", "503"): answers.Readiness,
}
"""What an answer holds."""

_TRACE_MESSAGES: Final[dict[str, Any]] = {
    "batch": list[Event],
    "status": answers.RunStatus,
    "done": answers.TraceDone,
}
MESSAGES: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("post", "/api/traces"): _TRACE_MESSAGES,
    ("get", "/api/traces/{trace}/events"): _TRACE_MESSAGES,
    ("post", "/api/traces/{trace}/passes/{number}"): _TRACE_MESSAGES,
    ("get", "/api/traces/{trace}/export/{name}/progress"): {
        "progress": answers.ExportProgress,
        "done": answers.ExportDone,
        "problem": answers.ExportProblem,
    },
    ("get", "/api/rooms/{code}/events"): {"room": RoomView, "closed": dict[str, None]},
}
"""What a stream says: the name of each message and what its `data` holds, encoded as JSON."""

_SHOWN = {"trace": None, "position": "7.3", "speed": 1.0, "question": None, "revealed": False}
EXAMPLES: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("post", "/api/traces"): {
        "an expression": {"source": "sin(x*y) + x", "options": {"inputs": {"x": 1.0, "y": 2.0}}},
        "a program": {"source": "import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()\n"},
    },
    ("post", "/api/rooms"): {"at a step": {"shown": _SHOWN}},
    ("put", "/api/rooms/{code}/state"): {
        "a question": {"shown": {**_SHOWN, "question": {"id": "7.3", "prompt": "What is v times J?"}}}
    },
    ("put", "/api/rooms/{code}/answers/{question}"): {
        "six": {"participant": "0123456789abcdef" * 2 + "01234567", "answer": "6"}
    },
    ("put", "/api/rooms/{code}/participants/{participant}"): {"wandered off": {"following": False}},
}
"""Bodies that can be sent as they are."""


router = APIRouter(include_in_schema=False)


@router.get("/openapi.json")
async def read_description(request: Request) -> Response:
    """The description, for programs."""
    return Response((await _made(request.app))[0], media_type="application/json")


@router.get("/docs")
async def read_docs(request: Request) -> Response:
    """The same as a page to read."""
    return HTMLResponse((await _made(request.app))[1])


async def _made(app: FastAPI) -> tuple[bytes, bytes]:
    """Both, made when one of them is first asked for, and once."""
    if app.state.description is None:
        app.state.description = asyncio.ensure_future(asyncio.to_thread(_write, app))
    made: tuple[bytes, bytes] = await asyncio.shield(app.state.description)
    return made


def _write(app: FastAPI) -> tuple[bytes, bytes]:
    description = _complete(app.openapi())
    return encode(description), render("docs.html", description=description).encode()


def _complete(description: dict[str, Any]) -> dict[str, Any]:
    told = [answers.Refusal, *BODIES.values(), *(each for told in MESSAGES.values() for each in told.values())]
    kinds = [kind for kind in told if kind not in (TraceDocument, list[Event])]
    adapters = [(str(kind), "serialization", TypeAdapter(kind)) for kind in kinds]
    shapes, definitions = TypeAdapter.json_schemas(
        adapters,  # type: ignore[arg-type]
        ref_template=_REFERENCE,
        schema_generator=DescribedSchema,
    )
    schemas = {str(kind): shapes[str(kind), "serialization"] for kind in kinds}
    written = _written()
    schemas, full = _apart_from(written, schemas, definitions["$defs"])
    schemas[str(TraceDocument)] = {"$ref": _reference(TraceDocument.__name__)}
    schemas[str(list[Event])] = written[TraceDocument.__name__]["properties"]["events"]
    components = description["components"]["schemas"]
    components |= full | written
    for name in ("HTTPValidationError", "ValidationError"):
        components.pop(name, None)
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            _tell_answers(operation["responses"], method, path, schemas)
            if named := EXAMPLES.get((method, path)):
                body = operation["requestBody"]["content"][_JSON]
                body["examples"] = {name: {"value": value} for name, value in named.items()}
    return description


def _written() -> dict[str, Any]:
    """The document as it is kept and sent, and what it is made of."""
    document: dict[str, Any] = json.loads(json.dumps(trace_schema()).replace('"#/$defs/', f'"{_reference("")}'))
    del document["$schema"]
    return {**document.pop("$defs"), TraceDocument.__name__: document}


def _apart_from(
    written: dict[str, Any], schemas: dict[str, Any], definitions: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """With other names for what holds values here, and in a document their numbers."""
    names = {name: f"{name}InFull" for name, one in definitions.items() if written.get(name, one) != one}
    text = json.dumps([schemas, {names.get(name, name): one for name, one in definitions.items()}])
    for name, other in names.items():
        text = text.replace(f'"{_reference(name)}"', f'"{_reference(other)}"')
    schemas, definitions = json.loads(text)
    return schemas, definitions


def _reference(model: str) -> str:
    return _REFERENCE.format(model=model)


def _tell_answers(responses: dict[str, Any], method: str, path: str, schemas: dict[str, Any]) -> None:
    for status, response in responses.items():
        content = response.setdefault("content", {})
        body = BODIES.get((method, path, status))
        if int(status) >= 400:
            content.pop(_JSON, None)
            content[_PROBLEM] = {"schema": schemas[str(answers.Refusal)]}
        if body is not None:
            content[_JSON] = {"schema": schemas[str(body)]}
        if status == "200" and (method, path) in MESSAGES:
            if body is None:
                content.pop(_JSON, None)
            content[_STREAM] = {"itemSchema": _message(MESSAGES[method, path], schemas)}
        if not content:
            del response["content"]


def _message(told: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """As OpenAPI 3.2 describes a message of a stream: its fields, with the JSON inside of `data`."""
    kinds = [
        {
            "type": "object",
            "required": ["event", "data"],
            "properties": {
                "event": {"const": name},
                "data": {"type": "string", "contentMediaType": _JSON, "contentSchema": schemas[str(kind)]},
                "id": {"type": "string"},
            },
        }
        for name, kind in told.items()
    ]
    return {"oneOf": kinds}
