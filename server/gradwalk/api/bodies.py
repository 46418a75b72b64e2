"""Bodies of requests, read once and fast: a hundred kilobytes of numbers would keep the event loop for milliseconds."""

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from gradwalk.api.clients import client_of


class _JsonRequest(Request):
    """Read as strictly as it is written: no NaN, no half characters, nothing nested a thousand deep."""

    async def json(self) -> Any:
        return orjson.loads(await self.body())


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
