"""What an address can hold open, and for how long: asked with sockets, as no client library would."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPResponse
from urllib.parse import urlsplit

import pytest

from tests.api.metrics import counts
from tests.world.processes import wait_until
from tests.world.server import Server
from tests.world.shared import PROFILES, SharedServer

MINE, OTHER, HALF, CROWDED = (f"127.0.0.{number}" for number in range(2, 6))
MOST = PROFILES["narrow"]["client_connections_max"]
RESET = b"\1\0\0\0\0\0\0\0"
PROBE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@contextmanager
def connected(server: SharedServer, address: str) -> Iterator[socket.socket]:
    """A connection from that address."""
    with socket.create_connection(("127.0.0.1", urlsplit(server.url).port), 60, (address, 0)) as found:
        yield found


def status_of(connection: socket.socket, request: bytes = PROBE) -> int:
    """Of the answer, which is read to its end; 0 where the server has hung up."""
    try:
        connection.sendall(request)
        answer = HTTPResponse(connection)
        answer.begin()
        assert b"Invalid HTTP" not in answer.read()
    except ConnectionError:
        return 0
    return answer.status


def is_let_in(server: SharedServer, address: str) -> bool:
    with connected(server, address) as connection:
        return status_of(connection) == 200


def answered(server: SharedServer, address: str, held: ExitStack) -> socket.socket:
    """A connection that stays open for the next request; it had its first answer before its time was over."""
    connection = held.enter_context(connected(server, address))
    assert status_of(connection) == 200
    return connection


def test_one_address_has_its_part_of_the_connections(narrow_server: SharedServer) -> None:
    with ExitStack() as held:
        for _ in range(MOST):
            answered(narrow_server, MINE, held)
        assert [is_let_in(narrow_server, each) for each in (MINE, OTHER)] == [False, True]
        held.close()
        wait_until(lambda: is_let_in(narrow_server, MINE))


POST = b"POST /api/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
HALVES = {
    "nothing": b"",
    "head": PROBE[:-2] + b"X-More: ",
    "body": POST + b'Content-Length: 1000\r\n\r\n{"source": ',
    "second head": PROBE + b"GET /he",
}


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_a_request_that_does_not_end_is_ended(narrow_server: SharedServer, half: bytes) -> None:
    with connected(narrow_server, HALF) as connection:
        connection.sendall(half)
        told = []
        with suppress(ConnectionResetError):
            told += iter(lambda: connection.recv(65_536), b"")
        assert b"".join(told).count(b"HTTP/1.1 200") == half.count(PROBE)


LONG = {
    "head without end": PROBE[:-2] + b"X-More: and more\r\n" * 100_000,
    "headers": PROBE[:-2] + b"A:\r\n" * 1_000 + b"\r\n",
    "list": PROBE[:-2] + b"Cookie: " + b"a=1;" * 1_000 + b"\r\n\r\n",
    "query": PROBE.replace(b" HTTP", b"?" + b"a&" * 1_000 + b" HTTP"),
    "folders": PROBE.replace(b" HTTP", b"/x%2F" * 400 + b" HTTP"),
    "pieces": POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 1_000 + b"0\r\n\r\n",
    "pipeline": PROBE * 100,
    "names": PROBE[:-2].replace(b"healthz", b"") + b"Host: evil.example\r\n\r\n",
}


@pytest.mark.parametrize("asked", LONG.values(), ids=LONG)
def test_what_takes_long_to_read_is_refused_before_its_time(server: SharedServer, asked: bytes) -> None:
    with connected(server, MINE) as connection:
        assert status_of(connection, asked) in (0, 421 if asked == LONG["names"] else 400)
    assert is_let_in(server, MINE)


def test_a_crowd_that_hangs_up_is_no_error(narrow_server: SharedServer) -> None:
    # Answered in parts, so that many are in the middle of one.
    asked = PROBE.replace(b"/healthz", b"/third-party-licenses.txt")
    for crowd in (f"127.0.1.{number}" for number in range(1, 6)):
        with ExitStack() as held:
            for each in [answered(narrow_server, crowd, held) for _ in range(MOST)]:
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                each.sendall(asked)
    assert narrow_server.client.get("/healthz", headers={"Connection": "upgrade", "Upgrade": "websocket"}).is_success
    assert not any(text in narrow_server.log.read_text() for text in ("broke the server", "upgrade request"))


def test_who_hung_up_before_it_was_let_in_is_not_read(narrow_server: SharedServer) -> None:
    os.kill(narrow_server.pid, signal.SIGSTOP)
    try:
        with ExitStack() as held:
            for connection in [held.enter_context(connected(narrow_server, MINE)) for _ in range(3)]:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                connection.sendall(PROBE.replace(b"/healthz", b"/hung-up"))
    finally:
        os.kill(narrow_server.pid, signal.SIGCONT)
    narrow_server.client.get("/let-in")
    wait_until(lambda: "/let-in" in narrow_server.log.read_text())
    assert "/hung-up" not in narrow_server.log.read_text(), "it has no address, so nothing that it does is counted"


def test_a_crowd_of_one_address_is_served_beside_another_and_not_before_it(narrow_server: SharedServer) -> None:
    with ExitStack() as held:
        *crowd, other = (answered(narrow_server, one, held) for one in (*[CROWDED] * MOST, OTHER))
        os.kill(narrow_server.pid, signal.SIGSTOP)
        held.callback(os.kill, narrow_server.pid, signal.SIGCONT)
        for each in crowd:
            each.sendall(PROBE.replace(b"/healthz", b"/api/exports"))
        other.sendall(PROBE.replace(b"/healthz", b"/api/examples"))
        os.kill(narrow_server.pid, signal.SIGCONT)
        assert all(status_of(each, b"") == 200 for each in (*crowd, other))
    before, _, after = narrow_server.log.read_text().partition("/api/examples")
    assert before.count("/api/exports") < after.count("/api/exports")


def test_above_its_memory_a_server_begins_nothing_and_still_answers(start_server: Callable[..., Server]) -> None:
    server = start_server(memory_bytes_max=1, path="/healthz")
    run = server.client.post("/api/traces", json={"source": "x = 1"})
    for answer in (run, server.client.get(f"/embed/{'0' * 40}")):
        assert (answer.status_code, answer.json()["fact"]["kind"]) == (503, "api-full")
        assert int(answer.headers["retry-after"]) >= 1
    assert server.client.get("/").status_code == server.client.get("/healthz").status_code == 200
    assert counts(server.client)["jobs_running"] == 0
