"""Bodies of requests, read once and fast: a hundred kilobytes of numbers would keep the event loop for milliseconds."""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import HTTPException, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from gradwalk.api.clients import client_of

_CONTAINER_BYTES = 16
"""What each list and object weighs besides its length: reading sixty thousand takes fifteen milliseconds."""


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


class ProgramRoute(JsonRoute):
    """A route whose body is a program to run: not read where its client has used up its processor time."""

    def get_route_handler(self) -> Handler:
        read_and_handle = super().get_route_handler()

        async def handle_within_budget(request: Request) -> Response:
            if request.method == "POST":
                await request.app.state.service.rates.cpu.check(await client_of(request))
            return await read_and_handle(request)

        return handle_within_budget
