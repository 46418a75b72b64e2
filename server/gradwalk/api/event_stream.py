"""An open stream of server-sent events: bytes out until they end or the reader hangs up.

Starlette's own response makes a group of two tasks and several cancel scopes for each reader; for thousands of readers
that costs more than what they are sent. Here it is the request's own task, and one that listens for the hang-up.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class EventStream(Response):
    """Sends frames as they come, inside of `opened`. Whatever ends it, `frames` is closed at once."""

    media_type = "text/event-stream"
    _HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

    def __init__(self, frames: AsyncGenerator[bytes], opened: AbstractContextManager[None]) -> None:
        super().__init__(headers=self._HEADERS)
        del self.headers["content-length"]
        self._frames = frames
        self._opened = opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 (the interface)
        reader = _Reader(receive, asyncio.current_task())
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            with self._opened:
                async with aclosing(self._frames) as frames:
                    async for frame in frames:
                        await send({"type": "http.response.body", "body": frame, "more_body": True})
            await send({"type": "http.response.body"})
        except asyncio.CancelledError:
            if not reader.has_left or reader.serving.uncancel():
                raise
        finally:
            reader.stop()


class _Reader:
    """Ends the task that serves a reader when the reader hangs up."""

    def __init__(self, receive: Receive, serving: asyncio.Task[None] | None) -> None:
        assert serving is not None
        self.serving = serving
        self.has_left = False
        self._receive = receive
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.has_left = True
        self.serving.cancel()

    def stop(self) -> None:
        """Listens no more."""
        self._listening.cancel()
