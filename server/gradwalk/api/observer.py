"""Every request seen once: a number for it, one line in the log, and how long it took. Plain ASGI."""

import itertools
import logging
import re
import secrets
import time
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, clear_contextvars

from gradwalk.api.logs import fields
from gradwalk.api.metrics import Metrics

log = logging.getLogger("gradwalk.requests")

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
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        request_id = given.decode() if _REQUEST_ID.fullmatch(given) else f"{self._start}-{next(self._numbers):x}"
        clear_contextvars()
        bind_contextvars(request_id=request_id)
        began = time.perf_counter()
        status = sent = 0
        is_stream = False

        async def send_seen(message: Message) -> None:
            nonlocal status, sent, is_stream
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
                kind = next((value for name, value in headers if name == b"content-type"), b"")
                is_stream = kind.startswith(b"text/event-stream")
            sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, send_seen)
        except Exception:
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            raise
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", "other")
            if status and not is_stream:
                self._metrics.count_request(scope["method"], route, status, seconds)
            # Never the query: a link may carry a program in it.
            known = {"method": scope["method"], "path": scope["path"][:_PATH_CHARACTERS_MAX], "status": status}
            parameters = scope.get("path_params", {})
            for name, parameter in (("trace_id", "trace"), ("room", "code")):
                if parameter in parameters:
                    known[name] = str(parameters[parameter])[:_PATH_CHARACTERS_MAX]
            known |= {"bytes": sent, "ms": round(seconds * 1e3, 2)}
            log.log(logging.DEBUG if route in _QUIET else logging.INFO, "request", extra=fields(**known))
