"""What is checked on every request and said on every answer. Plain ASGI: the usual base class costs more than a route.

Even on a server that only listens to its own machine, any web page in the same browser can send requests
here. So the Host must be one of ours (or a name could be re-bound to this address), what changes something
must come from our own page, and bodies must be JSON (which no plain form can send across origins).
"""

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwalk.api.clients import client_of
from gradwalk.api.errors import error_answer, fact_answer, too_long_answer
from gradwalk.api.memory import MemoryCap
from gradwalk.api.settings import Settings
from gradwalk.api.turns import Turns
from gradwalk.engine.engine import BusyError
from gradwalk.engine.rates import OwnRate
from gradwalk.protocol.facts import fact

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})
_Header = tuple[bytes, bytes]
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_BUILT_ASSETS = ("/assets/", "/kit/chunks/")
_OPEN_TO_ALL = ("/kit/", "/api/traces/", "/embed/")
"""What any page may read, without cookies: the player's module, kept programs and, by content address, traces."""

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "worker-src 'self' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
SECURITY = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"strict-origin-when-cross-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_CACHE_CONTROL = b"cache-control"
_KEPT = b"public, max-age=31536000, immutable"
_WORKED_OUT = ("/api/traces/", "/embed/", "/noscript/", "/t/")
"""What is read, but has to be unpacked, drawn or followed first."""
_SMALL_BYTES = 2 << 10
"""Of a body or a part of one: what is longer is sent when it is its client's turn."""
_PIECE_BYTES = 128 << 10
"""What is longer takes several turns: a megabyte at once is two milliseconds of the event loop."""
_ROOMS = "/api/rooms"
ROOM_BODY_BYTES_MAX = 4 << 10
"""Of one request to a room: the longest prompt of a question takes half of it."""
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked by machines, and by whatever address these know; what they tell is no secret of a user."""


class Guard:
    """Refuses what did not come from here, and adds the security headers."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._body_bytes_max = settings.body_bytes_max
        self._bodies = OwnRate(settings.body_rate, fact("api-busy-bytes"))
        self._memory = MemoryCap(settings.memory_bytes_max)
        self._names = _LOOPBACK_NAMES | {host.lower() for host in settings.allowed_hosts}
        self._turns = Turns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            # Answered as a GET; uvicorn leaves its body out.
            scope = {**scope, "method": "GET"}
        path, method = scope["path"], scope["method"]
        refusal = None if path in _PROBES and method == "GET" else await self._refusal(scope)
        answering = self._app if refusal is None else refusal

        client = await client_of(HTTPConnection(scope))

        async def send_in_turn(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _complete(list(message["headers"]), path, method, message["status"])
            elif len(body := message.get("body", b"")) > _SMALL_BYTES:
                for begin in range(0, len(body) - _PIECE_BYTES, _PIECE_BYTES):
                    await self._turns.wait(client)
                    await send({**message, "body": body[begin : begin + _PIECE_BYTES], "more_body": True})
                message["body"] = body[-(len(body) % _PIECE_BYTES or _PIECE_BYTES) :]
                await self._turns.wait(client)
            await send(message)

        await answering(scope, receive, send_in_turn)

    async def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        # More than one is none of ours: which of them a proxy believed, nobody knows.
        host = ",".join(headers.getlist("host"))
        if not self._names & {"*", _name_of(host)}:
            return error_answer(scope, HTTPStatus.MISDIRECTED_REQUEST, fact("api-host", host=host[:100]))
        if scope["method"] not in _CHANGING:
            return self._busy(scope) if scope["path"].startswith(_WORKED_OUT) else None
        if _is_foreign(headers, host):
            return error_answer(scope, HTTPStatus.FORBIDDEN, fact("api-other-site"))
        if not _is_json(headers):
            return error_answer(scope, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, fact("api-not-json"))
        is_room = scope["path"].startswith(_ROOMS)
        most = min(self._body_bytes_max, ROOM_BODY_BYTES_MAX) if is_room else self._body_bytes_max
        length = _length_of(headers, most)
        if length > most:
            return too_long_answer(scope)
        try:
            # Of this server alone: what is paid for is its own time, before any of it is spent.
            await self._bodies.take(await client_of(HTTPConnection(scope)), length)
        except BusyError as busy:
            return fact_answer(scope, busy)
        return self._busy(scope)

    def _busy(self, scope: Scope) -> ASGIApp | None:
        if not self._memory.is_reached:
            return None
        headers = {"Retry-After": "5"}
        return error_answer(scope, HTTPStatus.SERVICE_UNAVAILABLE, fact("api-full"), kind="busy", headers=headers)


def _length_of(headers: Headers, most: int) -> int:
    """Of the body, in bytes; `most` where the request does not say."""
    said = headers.get("content-length", "" if "transfer-encoding" in headers else "0")
    return int(said) if said.isdecimal() else most


def _complete(headers: list[_Header], path: str, method: str, status: int) -> list[_Header]:
    """With everything that an answer has to say; plain lists, since this is done for every request of a crowd."""
    said = {name for name, _ in headers}
    headers += [header for header in SECURITY if header[0] not in said]
    if path.startswith(_OPEN_TO_ALL) and method not in _CHANGING:
        headers.append((b"access-control-allow-origin", b"*"))
        if _CACHE_CONTROL not in said:
            headers.append((_CACHE_CONTROL, b"no-cache"))
    if status == HTTPStatus.OK and path.startswith(_BUILT_ASSETS):
        headers = [header for header in headers if header[0] != _CACHE_CONTROL]
        headers.append((_CACHE_CONTROL, _KEPT))
    return headers


def _is_foreign(headers: Headers, host: str) -> bool:
    """Whether a page of another site sent it."""
    origin = headers.get("origin")
    is_ours = origin is None or origin.partition("://")[2] == host
    return not is_ours or headers.get("sec-fetch-site") == "cross-site"


def _is_json(headers: Headers) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def _name_of(host: str) -> str:
    """Without the port, in small letters."""
    if host.startswith("["):
        return host.partition("]")[0].lower() + "]"
    return host.partition(":")[0].lower()
