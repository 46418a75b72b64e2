"""An open stream, also of server-sent events: bytes out until they end or the reader hangs up.

Starlette's own response makes a group of two tasks and several cancel scopes for each reader; for thousands of readers
that costs more than what they are sent, and where one hangs up, its trace stays in a cycle of frames until the garbage
collector comes. Here the request's own task listens for the hang-up, and another one sends.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractContextManager, aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gradwalk.api.codings import coding_for
from gradwalk.api.pieces import Packing, Pieces


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
                self._parts = _pack(self._parts, Packing(self._pieces, coding))
        with self._opened:
            await super().__call__(scope, receive, send)


async def _pack(frames: AsyncGenerator[bytes], packing: Packing) -> AsyncGenerator[bytes]:
    async with aclosing(frames):
        async for frame in frames:
            yield await packing.pack(frame)
    yield packing.end()


def _has_failed(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None
