"""Requests that somebody else's code made up from our OpenAPI description: no 5xx, no hang, no undocumented answer.

Bytes that are hardly HTTP never reach our code: uvicorn answers them. The schema is changed in one place: programs are
drawn from a handful, because made-up text is refused by the parser and would never reach the engine.
"""

import json
import re
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.world.stream import trace_events

EXAMPLES = 8
SECONDS = 60.0
DOCUMENTED = [status_code_conformance, content_type_conformance, response_schema_conformance]
CHECKS = [not_a_server_error, *DOCUMENTED]
QUIET = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
PROGRAMS = ["x * x", "sin(x * y) + x", "x = (", "import os", "", "print('x')\nraise ValueError"]


def test_made_up_requests_get_documented_answers(server: Any) -> None:
    description = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    operations = [(path, method) for path, methods in description.raw_schema["paths"].items() for method in methods]
    assert len(operations) >= 25
    for path, method in operations:

        @QUIET
        @given(
            case=description[path][method.upper()].as_strategy(),
            is_there=st.booleans(),
            program=st.sampled_from(PROGRAMS),
        )
        def ask(case: Any, is_there: bool, program: str) -> None:
            places = case.path_parameters or {}
            if case.path == "/api/traces" and isinstance(case.body, dict):
                case.body["source"] = program
            elif "trace" in places and is_there:
                places["trace"] = a_trace(server)
            elif "code" in places and is_there and not case.path.endswith("/events"):
                places["code"] = a_room(server)
            answer = case.call(timeout=SECONDS)
            # The oEmbed specification itself answers another format than ours with 501.
            case.validate_response(answer, checks=DOCUMENTED if answer.status_code == 501 else CHECKS)
            assert answer.status_code != 501 or case.path == "/oembed"

        ask()


def test_any_bytes_anywhere_are_no_server_error(server: Any) -> None:
    ids = (a_trace(server), "0" * 40)
    traces = [f"/api/traces/{each}{part}" for each in ids for part in ("", "/events")]
    paths = st.sampled_from(["/api/traces", *traces, "/t/x", "/api/server"])

    @settings(QUIET, max_examples=60)
    @given(
        method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE"]),
        path=paths,
        query=st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), max_size=20),
        body=st.binary(max_size=200),
        last=st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20).map(str.strip),
    )
    def ask(method: str, path: str, query: str, body: bytes, last: str) -> None:
        headers = {"Content-Type": "application/json", "Last-Event-ID": last, "Accept-Encoding": last}
        answer = server.client.request(method, path, params={"q": query}, content=body, headers=headers)
        assert answer.status_code < 500
        assert answer.headers["x-content-type-options"] == "nosniff"

    ask()


def test_every_status_has_a_shape_and_every_stream_its_messages(server: Any) -> None:
    description = server.client.get("/openapi.json").json()
    named = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(description)))
    assert named <= description["components"]["schemas"].keys()
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            for status, answer in operation["responses"].items():
                for told in answer.get("content", {}).values():
                    assert told.get("schema") or told.get("itemSchema") or "/export/" in path, (method, path, status)
                assert int(status) < 400 or "application/problem+json" in answer["content"]
    (batch, status, done) = description["paths"]["/api/traces/{trace}/events"]["get"]["responses"]["200"]["content"][
        "text/event-stream"
    ]["itemSchema"]["oneOf"]
    assert [each["properties"]["event"]["const"] for each in (batch, status, done)] == ["batch", "status", "done"]
    assert "#/components/schemas/Step" in json.dumps(batch)
    posted = description["paths"]["/api/traces"]["post"]["requestBody"]["content"]["application/json"]["examples"]
    for example in posted.values():
        assert server.client.post("/api/traces", json=example["value"]).status_code in (200, 202)


def a_trace(server: Any) -> str:
    """A finished trace; the same one every time."""
    return str(trace_events(server.client, "x * x + 7")[0]["id"])


def a_room(server: Any) -> str:
    """An open room; nobody made up its secret."""
    return str(server.client.post("/api/rooms", json={}).json()["code"])
