"""An open stream of server-sent events: bytes out until they end or the reader hangs up.

Starlette's own response makes a group of two tasks and several cancel scopes for each reader; for thousands of readers
that costs more than what they are sent. Here the request's own task listens for the hang-up, and another one sends.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gradwalk.api.codings import coding_for
from gradwalk.api.pieces import Packing, Pieces


class EventStream(Response):
    """Sends frames as they come, inside of `opened`. Whatever ends it, `frames` is closed at once.

    With `pieces` they are compressed, where the reader takes that.
    """

    media_type = "text/event-stream"
    _HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

    def __init__(
        self, frames: AsyncGenerator[bytes], opened: AbstractContextManager[None], pieces: Pieces | None = None
    ) -> None:
        super().__init__(headers=self._HEADERS)
        del self.headers["content-length"]
        self._frames = frames
        self._opened = opened
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        packing = self._choose_packing(scope)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        listening = asyncio.current_task()
        assert listening is not None
        sending = asyncio.create_task(self._send_frames(send, packing))
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

    def _choose_packing(self, scope: Scope) -> Packing | None:
        if self._pieces is None:
            return None
        self.headers.add_vary_header("Accept-Encoding")
        coding = coding_for(scope)
        if coding is None:
            return None
        self.headers["Content-Encoding"] = coding
        return Packing(self._pieces, coding)

    async def _send_frames(self, send: Send, packing: Packing | None) -> None:
        with self._opened:
            async with aclosing(self._frames) as frames:
                async for frame in frames:
                    body = frame if packing is None else await packing.pack(frame)
                    await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"" if packing is None else packing.end()})


def _has_failed(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None
