"""Bytes that no client library would send: broken request lines, headers, lengths and chunks, straight into a socket.

Used by `test_fuzz.py` with a fixed seed.
"""

import random
import re
import socket
from collections import Counter
from urllib.parse import urlsplit

SECONDS = 20.0
"""Of silence before a connection counts as hanging."""

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


def make_whole_request(chance: random.Random) -> bytes:
    """A request that is odd, but whole: it must be answered."""
    body = chance.choice(BODIES)
    lines = [f"{chance.choice(METHODS)} {chance.choice(PATHS[:10])} HTTP/1.1", "Host: 127.0.0.1"]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def make_broken_request(chance: random.Random) -> bytes:
    """What might have been a request."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.randrange(400))
    version = chance.choice(["HTTP/1.1"] * 6 + ["HTTP/1.0", "HTTP/9.9", "HTTP/2.0", "", "ICY"])
    lines = [f"{chance.choice(METHODS + ODD_METHODS)} {chance.choice(PATHS)} {version}"]
    lines += ["Host: 127.0.0.1"] if chance.random() < 0.7 else []
    lines += chance.sample(HEADERS, chance.randrange(5))
    text = chance.choice(["\r\n"] * 8 + ["\n", "\r"]).join(lines).encode("utf-8", "replace")
    request = bytearray(text + b"\r\n\r\n" + chance.choice(BODIES))
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
        except (ConnectionError, BrokenPipeError):
            return "closed"
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    assert found or not answer, answer[:80]
    return found[1].decode() if found else "closed"


def storm(url: str, count: int, seed: int) -> Counter[str]:
    """What came of `count` requests, by status."""
    chance = random.Random(seed)  # noqa: S311 (made-up requests need no secrets)
    seen: Counter[str] = Counter()
    for _ in range(count):
        if chance.random() < 0.4:
            seen[send(url, make_whole_request(chance), is_all=False)] += 1
        else:
            seen[send(url, make_broken_request(chance), is_all=True)] += 1
    return seen
