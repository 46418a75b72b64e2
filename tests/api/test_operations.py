"""What an operator sees of a server: log lines, settings, readiness; and what a stop, a kill and a restart leave."""

import json
import logging
import signal
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import httpx
from fastapi import FastAPI

from gradwalk.api.app import create_app
from gradwalk.api.logs import configure_logs
from gradwalk.api.settings import Settings
from gradwalk.protocol.requests import TraceRequest
from tests.api.metrics import counts
from tests.world.cluster import Cluster
from tests.world.processes import command_of, is_alive, wait_until
from tests.world.server import Server
from tests.world.shared import SharedServer
from tests.world.stream import ACCEPT, trace_events

MARKER = "a_name_that_only_this_program_has"
STREAMS = 20


def lines_of(server: SharedServer) -> list[dict[str, Any]]:
    """Everything that was logged so far: each line is one JSON object."""
    return [json.loads(line) for line in server.log.read_text().splitlines(keepends=True) if line.endswith("\n")]


def test_a_request_is_one_line_with_its_trace_and_room(server: SharedServer) -> None:
    def ask(name: str, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"X-Request-ID": name, **more.pop("headers", {})}
        answer = server.client.request(method, path, headers=headers, **more)
        assert answer.headers["x-request-id"] == name
        return answer

    ask("posted-for-test", "POST", "/api/traces", json={"source": "x * x * x"}, headers=ACCEPT)
    trace = server.client.post("/api/traces", json={"source": "x * x * x"}).json()["id"]
    code = ask("opened-for-test", "POST", "/api/rooms", json={}).json()["code"]
    ask("entered-for-test", "GET", f"/api/rooms/{code}")
    said = ask("read-for-test", "GET", f"/api/traces/{trace}", headers={"Accept-Encoding": "identity"})
    names = [f"{word}-for-test" for word in ("posted", "opened", "entered", "read")]

    def lines() -> list[dict[str, Any]]:
        return [line for line in lines_of(server) if line.get("request_id") in names and line["event"] == "request"]

    wait_until(lambda: len(lines()) == len(names))
    posted, _, entered, read = sorted(lines(), key=lambda line: names.index(line["request_id"]))
    assert {"time", "level", "logger", "method", "path", "status", "bytes", "ms"} <= set(read)
    assert posted["trace_id"] == read["trace_id"] == trace
    assert (read["bytes"], entered["room"]) == (len(said.content), code)


def test_a_path_cannot_command_a_terminal_or_forge_a_line(narrow_server: SharedServer) -> None:
    forged = "/a%1b%5d0;gone%07%1b%5b2J%0a15:40:00%20info%20forged%0d%c2%9b%e2%80%ae"
    for path in (forged, "/b%1b%5b2J", "/after-the-path"):
        narrow_server.client.get(path)
    wait_until(lambda: "/after-the-path" in narrow_server.log.read_text())
    lines = narrow_server.log.read_bytes().decode().split("\n")
    assert all(line.isprintable() for line in lines)
    (line,) = [line for line in lines if "forged" in line]
    assert r"/a\x1b]0;gone\x07\x1b[2J\n15:40:00 info forged\r\x9b\u202e" in line


def test_an_error_is_its_kind_message_and_place_and_quotes_nothing_that_was_validated(monkeypatch, capsys) -> None:
    def say(log_format: str) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(logging, "root", logging.RootLogger(logging.WARNING))
            configure_logs(log_format, "info")
            try:
                try:
                    TraceRequest(source="x", surprise="hush")
                except ValueError as invalid:
                    raise RuntimeError("one\n12:00:00 forged") from invalid
            except RuntimeError:
                logging.root.exception("it %s", "went\nwrong", extra={"theirs": "hush"})
        return capsys.readouterr().err

    (line,) = say("json").splitlines()
    said = json.loads(line)
    assert (said["event"], said["level"], said["logger"]) == ("it went\nwrong", "error", "root")
    assert said["error"][0] == "RuntimeError: one\n12:00:00 forged"
    assert [each.partition(" ")[0] for each in said["error"][1:4]] == ["at", "ValidationError", "at"]
    first, *rest = say("text").splitlines()
    assert r"it went\nwrong" in first
    assert rest[0] == r"    RuntimeError: one\n12:00:00 forged"
    assert all(each.startswith("    ") for each in rest)
    assert "hush" not in "".join([line, first, *rest])


def test_no_program_ever_stands_in_the_log(server: SharedServer) -> None:
    secret = f"{MARKER} = 1\n"
    for source in (secret + "x * x", secret + "x = (", secret + "import os", secret + "while True: pass"):
        trace_events(server.client, source)
    snippet = server.client.post("/api/snippets", json={"source": secret + "x * x"}).json()["id"]
    for path in (f"/t/{snippet}", f"/embed/{snippet}", f"/noscript/{snippet}", f"/?code={MARKER}"):
        server.client.get(path)
    for body in ({"source": secret, "more": secret}, {"source": [secret]}, {"source": secret + "\ud800"}):
        server.client.post("/api/traces", content=json.dumps(body), headers={"Content-Type": "application/json"})
    server.client.post("/api/rooms", json={"shown": {"question": {"id": "1.1", "prompt": MARKER}}})
    server.client.get("/api/examples", headers={"X-Request-ID": "after-the-secret"})
    wait_until(lambda: any(line.get("request_id") == "after-the-secret" for line in lines_of(server)))
    assert MARKER not in server.log.read_text()
    after = counts(server.client)
    assert min(after["traces_total|status=timeout"], after["sandbox_kills_total|reason=timeout"]) >= 1


def test_settings_stand_in_the_log_without_their_passwords(server: SharedServer) -> None:
    (told,) = [line for line in lines_of(server) if line["event"] == "settings"]
    assert told["GRADWALK_RUN_SECONDS"] == "3.0"
    assert {f"GRADWALK_{name}".upper() for name in Settings.model_fields} <= set(told)
    shown = Settings(cluster_url="redis://user:hush@shared:6379/0").describe()
    assert shown["GRADWALK_CLUSTER_URL"] == "redis://user:***@shared:6379/0"


async def test_a_server_that_starts_goes_down_or_cannot_keep_traces_is_not_ready_and_says_why(cluster: Cluster) -> None:
    async def ask(app: FastAPI) -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.get("/readyz")

    app = create_app(Settings(data_directory=cluster.home, cluster_url=cluster.shared.url))
    async with app.router.lifespan_context(app):
        starting = await ask(app)
        app.state.service.runs.stop()
        draining = await ask(app)
        cluster.shared.stop()
        unkept = await ask(app)
    assert [answer.status_code for answer in (starting, draining, unkept)] == [503] * 3
    assert [answer.json()["store"] == "ok" for answer in (starting, draining, unkept)] == [True, True, False]
    assert [answer.json()["status"] for answer in (starting, draining)] == ["not ready", "draining"]


def post(server: Server, source: str, **headers: str) -> httpx.Response:
    return server.client.post("/api/traces", json={"source": source}, headers=headers)


def test_a_killed_server_leaves_its_traces_and_no_process(start_server: Callable[..., Server]) -> None:
    first = start_server(client_rate="2/hour")
    events = trace_events(first.client, "x * x\n")
    receipt = post(first, "x * x\n").json()
    snippet = first.client.post("/api/snippets", json={"source": "x * x\n"}).json()["id"]
    # Without a trusted proxy the header says nothing.
    assert [
        post(first, f"while {who}: pass", **{"X-Forwarded-For": f"10.0.0.{who}"}).status_code for who in (1, 2)
    ] == [202, 429]
    # Of those as well that read finished traces.
    first.client.get(f"{receipt['links']['self']}/export/svg").raise_for_status()
    family = first.family()
    assert any("spawn_main" in command_of(pid) for pid in family)
    first.stop(signal.SIGKILL)
    wait_until(lambda: not any(map(is_alive, family)))
    second = start_server()
    assert second.client.get(receipt["links"]["self"]).json()["events"] == events
    assert post(second, "x * x\n").json() == receipt
    assert second.client.get("/readyz").json()["started"] == 0
    code = second.client.get(f"/t/{snippet}/code")
    assert (code.text, code.headers["content-type"].partition(";")[0]) == ("x * x\n", "text/plain")
    stop_with_open_streams(second)


def stop_with_open_streams(server: Server) -> None:
    """SIGTERM ends all streams whole, and every process."""
    code = server.client.post("/api/rooms", json={}).json()["code"]
    looping = post(server, "while True: pass").json()["id"]
    paths = [f"/api/rooms/{code}/events", f"/api/traces/{looping}/events"]
    seats = [server.client.post(f"/api/rooms/{code}/participants", json={}).json() for _ in range(STREAMS)]

    def is_open() -> bool:
        opened = counts(server.client)
        kinds = ("sse_connections|kind=room", "sse_connections|kind=trace", "room_participants")
        return [opened[kind] for kind in kinds] == [STREAMS / 2] * 3

    with httpx.Client(base_url=server.url, timeout=60) as client, ExitStack() as held:
        streams = [
            held.enter_context(client.stream("GET", paths[number % 2], params={"participant": seat["participant"]}))
            for number, seat in enumerate(seats)
        ]
        wait_until(is_open)
        family = server.family()
        assert server.stop() == -signal.SIGTERM
        # One that was cut off would raise RemoteProtocolError.
        said = [stream.read() for stream in streams]
    assert all(b"event: closed" in one for one in said[::2])
    assert all(b'"bye"' in one for one in said[1::2])
    wait_until(lambda: not any(map(is_alive, family)))
