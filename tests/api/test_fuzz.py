"""Requests that somebody else's code made up from our OpenAPI description: no 5xx, no hang, no undocumented answer.

The schema is changed in one place: programs are drawn from a handful, because made-up text is refused by the parser
and would never reach the engine.
"""

import json
import random
import re
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

EXAMPLES = 8
SECONDS = 60.0
RAW_REQUESTS = 300
SEED = 4
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
OPERATIONS = [
    "GET /api/examples", "GET /api/exports", "GET /api/server", "GET /oembed", "GET /healthz", "GET /readyz",
    "GET /metrics", "POST /api/traces", "GET /api/traces/{trace}", "GET /api/traces/{trace}/events",
    "GET /api/traces/{trace}/steps/{index}/jacobian", "GET /api/traces/{trace}/steps/{index}/gradcheck",
    "GET /api/traces/{trace}/passes/{number}", "GET /api/traces/{trace}/values/{number}",
    "GET /api/traces/{trace}/gradcheck", "GET /api/traces/{trace}/export/{name}",
    "GET /api/traces/{trace}/export/{name}/progress", "GET /api/snippets/{snippet}", "POST /api/rooms",
    "GET /api/rooms/{code}", "DELETE /api/rooms/{code}", "GET /api/rooms/{code}/events",
    "PUT /api/rooms/{code}/state", "PUT /api/rooms/{code}/answers/{question}",
    "PUT /api/rooms/{code}/participants/{participant}",
]  # fmt: skip
PROGRAMS = ["x * x", "sin(x * y) + x", "x = (", "import os", "", "print('x')\nraise ValueError"]


@pytest.fixture(scope="module")
def description(server: Any) -> Any:
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_made_up_requests_get_documented_answers(server: Any, description: Any, operation: str) -> None:
    method, path = operation.split()
    strategy = description[path][method].as_strategy()

    @QUIET
    @given(data=st.data())
    def ask(data: st.DataObject) -> None:
        case = data.draw(strategy)
        if path == "/api/traces" and isinstance(case.body, dict):
            case.body["source"] = data.draw(st.sampled_from(PROGRAMS))
        elif "trace" in (case.path_parameters or {}) and data.draw(st.booleans()):
            case.path_parameters["trace"] = a_trace(server)
        elif "code" in (case.path_parameters or {}) and not path.endswith("/events") and data.draw(st.booleans()):
            case.path_parameters["code"] = a_room(server)
        answer = case.call(timeout=SECONDS)
        # The oEmbed specification itself answers another format than ours with 501.
        case.validate_response(answer, checks=DOCUMENTED if answer.status_code == 501 else CHECKS)
        assert answer.status_code != 501 or path == "/oembed"

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


METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "PATCH"]
ODD_METHODS = ["CONNECT", "get", "", "G\x00T", "É" * 20]
PATHS = [
    "/", "/healthz", "/readyz", "/api/traces", "/api/traces/" + "0" * 40, "/api/traces/%00",
    "/api/traces/..%2f..%2fetc", "/api/traces/x/events?after=-1", "/api/examples", "/api/rooms", "/t/" + "a" * 9_000,
    "//evil.example/", "*", "", "http://evil.example/api/traces",
    "/\u202e", "/%ff%fe", "/api/exports?x=" + "%" * 99, "/static/../../../etc/passwd",
    "/api/traces/" + "0" * 40 + "/steps/99999999999999999999/jacobian", "/oembed?url=javascript:alert(1)", "/metrics",
]  # fmt: skip
HEADERS = [
    "Host: 127.0.0.1", "Host: evil.example", "Host:", "Host: 127.0.0.1\r\nHost: localhost",
    "Content-Type: application/json", "Content-Type: text/plain",
    "Content-Length: 5", "Content-Length: -1", "Content-Length: 99999999999999999999",
    "Content-Length: 3\r\nContent-Length: 4", "Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked",
    "Origin: null", "Origin: http://127.0.0.1", "Expect: 100-continue", "Upgrade: websocket\r\nConnection: Upgrade",
    "Range: bytes=0-,5-4,-1", "Accept-Encoding: \x7f", "Last-Event-ID: \u0661", "Last-Event-ID: 9" + "9" * 300,
    "If-None-Match: W/\"", "Cookie: " + "a=b; " * 500, " folded: yes", "No colon", "X: " + "y" * 70_000,
    "Accept: text/event-stream",
]  # fmt: skip
BODIES = [
    b"", b"{}", b"[", b'{"source": "x * x"}', b'{"source": "x', b"\xff\xfe\x00", b"5\r\nhello\r\n0\r\n\r\n", b"zz\r\n",
    b"FFFFFFFFFFFFFFFFF\r\n", b'{"source": 1e999}', b"\x00" * 1_000, b'{"source": "\\ud800"}',
    b"GET / HTTP/1.1\r\n\r\n",
]  # fmt: skip


def make_request(chance: random.Random, *, is_whole: bool) -> bytes:
    """One that is odd but whole, which must be answered, or what might have been a request."""
    body = chance.choice(BODIES)
    if is_whole:
        lines = [f"{chance.choice(METHODS)} {chance.choice(PATHS[:10])} HTTP/1.1", "Host: 127.0.0.1"]
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close"]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
    version = chance.choice(["HTTP/1.1"] * 6 + ["HTTP/1.0", "HTTP/9.9", "HTTP/2.0", "", "ICY"])
    lines = [f"{chance.choice(METHODS + ODD_METHODS)} {chance.choice(PATHS)} {version}"]
    lines += ["Host: 127.0.0.1"] if chance.random() < 0.7 else []
    lines += chance.sample(HEADERS, chance.randrange(5))
    text = chance.choice(["\r\n"] * 8 + ["\n", "\r"]).join(lines).encode("utf-8", "replace")
    request = bytearray(text + b"\r\n\r\n" + body)
    for _ in range(chance.choice([0, 0, 0, 1, 4])):
        request[chance.randrange(len(request))] = chance.randrange(256)
    return bytes(request[: chance.choice([len(request)] * 6 + [chance.randrange(len(request))])])


def send(url: str, request: bytes, *, is_all: bool) -> str:
    """The status of the first answer, or `closed`; raises TimeoutError when neither came.

    `is_all` tells the server that nothing more will come: it would rightly wait for the rest of half a request.
    """
    place = urlsplit(url)
    with socket.create_connection((place.hostname or "", place.port or 0), timeout=SECONDS) as connection:
        try:
            connection.sendall(request)
            if is_all:
                connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(4_096)
        except ConnectionError:
            return "closed"
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    assert found or not answer, answer[:80]
    return found[1].decode() if found else "closed"


def test_bytes_that_are_hardly_http_are_no_server_error_and_no_hang(server: Any) -> None:
    chance = random.Random(SEED)  # noqa: S311 (made-up requests need no secrets)
    seen = set()
    for _ in range(RAW_REQUESTS):
        is_whole = chance.random() < 0.4
        seen.add(send(server.url, make_request(chance, is_whole=is_whole), is_all=not is_whole))
    assert not [status for status in seen if status.startswith("5") and status != "501"], seen
    assert {"200", "400", "404", "421"} <= set(seen)
    assert server.client.get("/healthz").status_code == 200


def test_the_list_of_fuzzed_operations_is_the_whole_description(server: Any) -> None:
    paths = server.client.get("/openapi.json").json()["paths"]
    described = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert described == set(OPERATIONS)


def test_every_status_has_a_shape_and_every_stream_its_messages(server: Any) -> None:
    description = server.client.get("/openapi.json").json()
    shapes = set(description["components"]["schemas"])
    assert {"Refusal", "TraceRequest", "Step", "Receipt", "RoomView"} <= shapes
    said = json.dumps(description)
    assert set(re.findall(r"#/components/schemas/(\w+)", said)) <= shapes
    assert "HTTPValidationError" not in said
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
    answer = server.client.post("/api/traces", json={"source": "x * x + 7"}, headers={"Accept": "text/event-stream"})
    assert answer.status_code == 200
    return str(server.client.post("/api/traces", json={"source": "x * x + 7"}).json()["id"])


def a_room(server: Any) -> str:
    """An open room; nobody made up its secret."""
    return str(server.client.post("/api/rooms", json={}).json()["code"])
