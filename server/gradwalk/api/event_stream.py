"""An open stream, also of server-sent events: bytes out until they end or the reader hangs up.

Starlette's own response makes a group of two tasks and several cancel scopes for each reader; for thousands of readers
that costs more than what they are sent, and where one hangs up, its trace stays in a cycle of frames until the garbage
collector comes. Here the request's own task listens for the hang-up, and another one sends.

Each frame of events is compressed by itself: it is sent at once, and costs its compression once for all readers. Two
thousand readers of one run would otherwise need two thousand compressors of half a megabyte. Both codings allow it,
zstd as one frame after another (RFC 8878, 3.1), gzip as blocks of one member that do not look back.
"""

import asyncio
import struct
import zlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractContextManager, aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gradwalk.api.codings import coding_for
from gradwalk.api.made_once import MadeOnce
from gradwalk.store.compression import Coding, compress

_PIECES_BYTES_MAX = 16 << 20
_SHARED_FROM_BYTES = 2 << 10
_GZIP_LEVEL = 6
_GZIP_HEAD = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
_GZIP_LAST_BLOCK = b"\x03\x00"


class Stream(Response):
    """Sends parts as they come. Whatever ends it, `parts` is closed at once."""

    def __init__(self, parts: AsyncGenerator[bytes], headers: Mapping[str, str], media_type: str) -> None:
        super().__init__(headers=headers, media_type=media_type)
        del self.headers["content-length"]
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 (ASGI)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        listening = asyncio.current_task()
        assert listening is not None
        sending = asyncio.create_task(self._send_parts(send))
        sending.add_done_callback(lambda _: listening.cancel() if _has_failed(sending) else None)
        try:
            # Said when the reader has hung up, and when everything is sent.
            while (await receive())["type"] != "http.disconnect":
                pass
        except asyncio.CancelledError:
            if not _has_failed(sending) or listening.uncancel():
                raise
        finally:
            sending.cancel()
            await asyncio.wait([sending])
        if _has_failed(sending):
            await sending

    async def _send_parts(self, send: Send) -> None:
        async with aclosing(self._parts) as parts:
            async for part in parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


class Pieces:
    """The frames that were compressed last. Lives on the event loop."""

    def __init__(self) -> None:
        self._made = MadeOnce[tuple[Coding, bytes], bytes](
            _PIECES_BYTES_MAX, lambda key, piece: len(key[1]) + len(piece)
        )

    async def pack(self, frames: AsyncGenerator[bytes], coding: Coding) -> AsyncGenerator[bytes]:
        """One stream's body: what is sent for a frame can be read at once."""
        checksum = length = 0
        async with aclosing(frames):
            async for frame in frames:
                piece = await self._piece(coding, frame)
                if coding == "gzip":
                    piece = piece if length else _GZIP_HEAD + piece
                    checksum = zlib.crc32(frame, checksum)
                    length += len(frame)
                yield piece
        if length:
            yield _GZIP_LAST_BLOCK + struct.pack("<II", checksum, length & 0xFFFF_FFFF)

    async def _piece(self, coding: Coding, frame: bytes) -> bytes:
        if len(frame) < _SHARED_FROM_BYTES:
            return _make_piece(coding, frame)
        return await self._made.ask((coding, frame), lambda: asyncio.to_thread(_make_piece, coding, frame))


class EventStream(Stream):
    """Server-sent events, inside of `opened`. With `pieces` they are compressed, where the reader takes that."""

    _HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

    def __init__(
        self, frames: AsyncGenerator[bytes], opened: AbstractContextManager[None], pieces: Pieces | None = None
    ) -> None:
        super().__init__(frames, self._HEADERS, "text/event-stream")
        self._opened = opened
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._pieces is not None:
            self.headers.add_vary_header("Accept-Encoding")
            coding = coding_for(scope)
            if coding is not None:
                self.headers["Content-Encoding"] = coding
                self._parts = self._pieces.pack(self._parts, coding)
        with self._opened:
            await super().__call__(scope, receive, send)


def _has_failed(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


def _make_piece(coding: Coding, frame: bytes) -> bytes:
    """A frame, compressed so that it can follow any other."""
    if coding == "zstd":
        return compress(frame)
    deflate = zlib.compressobj(_GZIP_LEVEL, wbits=-zlib.MAX_WBITS)
    return deflate.compress(frame) + deflate.flush(zlib.Z_FULL_FLUSH)
