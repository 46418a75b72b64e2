"""Compresses answers that come in one piece; streams, kept traces and the page's files see to it themselves."""

import asyncio
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwalk.api.codings import ON_THE_LOOP_BYTES_MAX, coding_for, is_compressible
from gradwalk.store.compression import Coding, compress

_Header = tuple[bytes, bytes]
_BYTES_MIN = 1_000
"""What is shorter fits into one packet as it is."""
_WITHOUT_BODY_OR_PART = frozenset({204, 206, 304})


class Compression:
    """Plain ASGI. What has a coding already, is a stream or comes in parts goes on as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        await self._app(scope, receive, _Answer(scope, send).send)


class _Answer:
    """One answer: its head is held back until the whole body is there."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if not _may_be_compressed(message):
                await self._send(message)
                return
            self._start = {**message, "headers": _varied(message["headers"])}
            return
        start, self._start = self._start, None
        if start is not None:
            coding = coding_for(self._scope)
            body = message.get("body", b"")
            if coding is not None and len(body) >= _BYTES_MIN and not message.get("more_body"):
                body = await _compress(body, coding)
                message = {**message, "body": body}
                start["headers"] = [_as_compressed(header, len(body)) for header in start["headers"]]
                start["headers"].append((b"content-encoding", coding.encode()))
            await self._send(start)
        await self._send(message)


async def _compress(body: bytes, coding: Coding) -> bytes:
    if len(body) <= ON_THE_LOOP_BYTES_MAX:
        return compress(body, coding)
    return await asyncio.to_thread(compress, body, coding)


def _may_be_compressed(start: Message) -> bool:
    said: dict[bytes, bytes] = dict(start["headers"])
    return (
        b"content-encoding" not in said
        and start["status"] not in _WITHOUT_BODY_OR_PART
        and is_compressible(said.get(b"content-type", b"").decode("latin-1"))
    )


def _varied(headers: Iterable[_Header]) -> list[_Header]:
    said = b",".join(value for name, value in headers if name == b"vary")
    return [*headers] if b"accept-encoding" in said.lower() else [*headers, (b"vary", b"Accept-Encoding")]


def _as_compressed(header: _Header, length: int) -> _Header:
    """The length is another; the same entity in another coding is only weakly the same (RFC 9110, 8.8.3)."""
    name, value = header
    if name == b"content-length":
        return name, b"%d" % length
    return name, weaken(value) if name == b"etag" else value


def weaken(etag: bytes) -> bytes:
    """A validator that stands for all codings of a body."""
    return etag if etag.startswith(b"W/") else b"W/" + etag
