"""Every request seen once: a number for it, one line in the log, and how long it took. Plain ASGI."""

import itertools
import logging
import re
import secrets
import time
from http import HTTPStatus
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwalk.api.logs import fields, log_context
from gradwalk.api.metrics import Metrics

log = logging.getLogger(__name__)

_REQUEST_ID = re.compile(rb"[\w.-]{8,64}")
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
"""What machines ask every few seconds is told at level debug."""
_PATH_CHARACTERS_MAX = 120


class Observer:
    """Outermost, so that what is refused is seen as well. A proxy's `X-Request-ID` is taken over."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._start = secrets.token_hex(4)
        self._numbers = itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = self._number(scope)
        seen = _Seen(send, request_id.encode())
        context: dict[str, Any] = {"request_id": request_id}
        with log_context(context):
            try:
                await self._app(scope, receive, seen.send)
            except Exception:
                seen.status = HTTPStatus.INTERNAL_SERVER_ERROR
                raise
            finally:
                self._tell(scope, seen)

    def _number(self, scope: Scope) -> str:
        for name, value in scope["headers"]:
            if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
                given: bytes = value
                return given.decode()
        return f"{self._start}-{next(self._numbers):x}"

    def _tell(self, scope: Scope, seen: "_Seen") -> None:
        seconds = time.perf_counter() - seen.began
        route = getattr(scope.get("route"), "path", "other")
        if seen.status and not seen.is_stream:
            self._metrics.count_request(scope["method"], route, seen.status, seconds)
        level = logging.DEBUG if route in _QUIET else logging.INFO
        if not log.isEnabledFor(level):
            return
        # Never the query: a link may carry a program in it.
        known = {"method": scope["method"], "path": scope["path"][:_PATH_CHARACTERS_MAX], "status": seen.status}
        parameters = scope.get("path_params", {})
        for name, parameter in (("trace_id", "trace"), ("room", "code")):
            if parameter in parameters:
                known[name] = str(parameters[parameter])[:_PATH_CHARACTERS_MAX]
        log.log(level, "request", extra=fields(**known, bytes=seen.sent, ms=round(seconds * 1e3, 2)))


class _Seen:
    """What went out."""

    def __init__(self, send: Send, request_id: bytes) -> None:
        self._send = send
        self._request_id = request_id
        self.began = time.perf_counter()
        self.status = 0
        self.sent = 0
        self.is_stream = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message["headers"])
            self.is_stream = any(value.startswith(b"text/event-stream") for _, value in headers)
            headers.append((b"x-request-id", self._request_id))
            message["headers"] = headers
        elif message["type"] == "http.response.body":
            self.sent += len(message.get("body", b""))
        await self._send(message)
