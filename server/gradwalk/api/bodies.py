"""Routes that read bodies fast, and answer nobody who has hung up.

A hundred kilobytes of numbers would keep the event loop for milliseconds, and a picture takes seconds to draw.
"""

import asyncio
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import HTTPException, Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import Message

from gradwalk.api.clients import client_of

_CONTAINER_BYTES = 16
"""What each list and object weighs besides its length: reading sixty thousand takes fifteen milliseconds."""
_NOBODY_THERE = 499
"""As nginx counts it; nobody reads it."""


class _JsonRequest(Request):
    """Read as strictly as it is written: no NaN, no half characters, nothing nested a thousand deep."""

    async def json(self) -> Any:
        body = await self.body()
        weight = len(body) + _CONTAINER_BYTES * (body.count(b"[") + body.count(b"{"))
        if weight > self.app.state.settings.body_bytes_max:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return orjson.loads(body)


Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class JsonRoute(APIRoute):
    """A route whose body is JSON."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def read_and_handle(request: Request) -> Response:
            return await handle(_JsonRequest(request.scope, request.receive))

        return read_and_handle


class WatchedRoute(APIRoute):
    """A route whose answer takes long to make: it is given up where its reader hangs up."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def handle_while_wanted(request: Request) -> Response:
            is_read = asyncio.Event()

            async def receive() -> Message:
                message = await request.receive()
                if not message.get("more_body"):
                    is_read.set()
                return message

            if request.method in {"GET", "HEAD"}:
                is_read.set()
            answering = asyncio.ensure_future(handle(Request(request.scope, receive)))
            leaving = asyncio.ensure_future(_hang_up(request, is_read))
            try:
                await asyncio.wait([answering, leaving], return_when=asyncio.FIRST_COMPLETED)
                return answering.result() if answering.done() else Response(status_code=_NOBODY_THERE)
            finally:
                answering.cancel()
                leaving.cancel()
                await asyncio.gather(answering, leaving, return_exceptions=True)

        return handle_while_wanted


async def _hang_up(request: Request, is_read: asyncio.Event) -> None:
    """Until the reader has gone. The body is the handler's: what it reads must not be taken from it."""
    await is_read.wait()
    while (await request.receive())["type"] != "http.disconnect":
        pass


class ProgramRoute(JsonRoute):
    """A route whose body is a program to run: not read where its client has used up its processor time."""

    def get_route_handler(self) -> Handler:
        read_and_handle = super().get_route_handler()

        async def handle_within_budget(request: Request) -> Response:
            if request.method == "POST":
                await request.app.state.service.rates.cpu.check(await client_of(request))
            return await read_and_handle(request)

        return handle_within_budget


class ReplayRoute(WatchedRoute, ProgramRoute):
    """A route that runs a kept program again and waits for it."""
