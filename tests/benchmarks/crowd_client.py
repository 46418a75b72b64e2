"""A crowd as light as can be: one `asyncio.Protocol` per student, no library between socket and clock."""

import asyncio
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
_REVISION = re.compile(rb'"revision":(\d+)')
_LAST_CHUNK = b"\r\n0\r\n\r\n"
_AT_ONCE = 500
"""Connections that are made together: a listening socket has room for a few thousand."""


@dataclass
class Answer:
    """What one student got."""

    head: bytes
    body: bytes
    seconds: float
    """From the start of the whole crowd to the last byte."""

    @property
    def status(self) -> int:
        """Of the answer."""
        return int(self.head[9:12])

    @property
    def is_whole_stream(self) -> bool:
        """A stream that ended as it should, with the trace's own last event."""
        return self.status == 200 and b"event: done" in self.body and b'"type":"finished"' in self.body


class _Student(asyncio.Protocol):
    def __init__(self, request: bytes, began: float) -> None:
        self._request = request
        self._began = began
        self._parts: list[bytes] = []
        self._tail = b""
        self._missing: int | None = None
        self._transport: asyncio.Transport | None = None
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        if len(self._parts) == 1:
            found = _LENGTH.search(data)
            if found is not None:
                self._missing = data.index(b"\r\n\r\n") + 4 + int(found[1])
        if self._missing is not None:
            self._missing -= len(data)
        # The last chunk may come by itself, or in pieces.
        self._tail = (self._tail + data[-len(_LAST_CHUNK) :])[-len(_LAST_CHUNK) :]
        if self._missing == 0 or (self._missing is None and self._tail == _LAST_CHUNK):
            self._finish()

    def connection_lost(self, _: Exception | None) -> None:
        if not self.answer.done():
            self._finish()

    def _finish(self) -> None:
        seconds = time.perf_counter() - self._began
        head, _, body = b"".join(self._parts).partition(b"\r\n\r\n")
        if not self.answer.done():
            self.answer.set_result(Answer(head, body, seconds))
        if self._transport is not None:
            self._transport.close()


async def ask_at_once(url: str, requests: list[bytes]) -> list[Answer]:
    """Everybody connects and asks in the same moment; answers in the order of the requests."""
    where = urlsplit(url)
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    room = asyncio.Semaphore(_AT_ONCE)

    async def ask(request: bytes) -> Answer:
        async with room:
            _, student = await loop.create_connection(lambda: _Student(request, began), where.hostname, where.port)
        return await student.answer

    return await asyncio.gather(*map(ask, requests))


def get(path: str, *headers: str) -> bytes:
    """A GET as it goes over the wire."""
    head = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Accept-Encoding: gzip, deflate, br, zstd"]
    return "\r\n".join([*head, *headers, "", ""]).encode()


def send(method: str, path: str, body: object, *headers: str) -> bytes:
    """A request with a JSON body."""
    text = json.dumps(body).encode()
    head = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
    return "\r\n".join([*head, f"Content-Length: {len(text)}", *headers, "", ""]).encode() + text


@dataclass
class Hall:
    """Followers of one room, and when each revision reached them."""

    heard: dict[int, list[float]] = field(default_factory=dict)
    followers: list["_Listener"] = field(default_factory=list)

    async def fill(self, url: str, code: str, count: int) -> None:
        """Until everybody has the first view."""
        where = urlsplit(url)
        loop = asyncio.get_running_loop()
        for start in range(0, count, _AT_ONCE):
            numbers = range(start, min(start + _AT_ONCE, count))
            requests = [get(f"/api/rooms/{code}/events?participant={number:016x}") for number in numbers]
            made = await asyncio.gather(
                *[loop.create_connection(self._listener(request), where.hostname, where.port) for request in requests]
            )
            self.followers += [listener for _, listener in made]
            await asyncio.gather(*[listener.first for _, listener in made])

    def _listener(self, request: bytes) -> Callable[[], "_Listener"]:
        return lambda: _Listener(request, self.heard)

    async def until_heard(self, revision: int) -> None:
        """Until the revision has reached all followers."""
        async with asyncio.timeout(60):
            while len(self.heard.get(revision, ())) < len(self.followers):
                await asyncio.sleep(0.002)

    def leave(self) -> None:
        """Everybody."""
        for listener in self.followers:
            listener.leave()


class _Listener(asyncio.Protocol):
    def __init__(self, request: bytes, heard: dict[int, list[float]]) -> None:
        self._request = request
        self._heard = heard
        self._transport: asyncio.Transport | None = None
        self.first: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        for revision in _REVISION.findall(data):
            self._heard.setdefault(int(revision), []).append(now)
            if not self.first.done():
                self.first.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.first.done():
            self.first.set_exception(exc or ConnectionError("the room sent nothing"))

    def leave(self) -> None:
        """Hangs up."""
        if self._transport is not None:
            self._transport.abort()
