"""A finished trace as the bytes that are kept: what a hall asks for in the same second.

Stands in front of the router, whose road costs several times what sending the bytes costs. What it does not answer
(a trace that still runs, a reader without gzip) goes on to `traces.py`.
"""

from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send

from gradwalk.store.store import StoreError

IMMUTABLE = "public, max-age=31536000, immutable"
_PREFIX = "/api/traces/"
_PATH_LENGTH = len(_PREFIX) + 40


class _Route:
    """The name under which the request is counted, the same as the router's."""

    path = "/api/traces/{trace}"


class FinishedTraces:
    """Answers `GET /api/traces/{trace}` when the trace is kept."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stored = await self._find(scope)
        accepted, known = _wishes(scope) if stored is not None else (b"", b"")
        if stored is None or b"gzip" not in accepted:
            await self._app(scope, receive, send)
            return
        trace = scope["path"][len(_PREFIX) :]
        scope["route"], scope["path_params"] = _Route, {"trace": trace}
        etag = b'"%b"' % trace.encode()
        headers = [(b"etag", etag), (b"cache-control", IMMUTABLE.encode()), (b"vary", b"Accept-Encoding")]
        if etag in known:
            await send({"type": "http.response.start", "status": HTTPStatus.NOT_MODIFIED, "headers": headers})
            await send({"type": "http.response.body"})
            return
        headers += [
            (b"content-type", b"application/json"),
            (b"content-encoding", b"gzip"),
            (b"content-length", b"%d" % len(stored)),
        ]
        await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": headers})
        await send({"type": "http.response.body", "body": stored})

    async def _find(self, scope: Scope) -> bytes | None:
        if scope["type"] != "http" or scope["method"] != "GET":
            return None
        path: str = scope["path"]
        if len(path) != _PATH_LENGTH or not path.startswith(_PREFIX):
            return None
        try:
            found: bytes | None = await scope["app"].state.service.find_trace(path[len(_PREFIX) :])
        except StoreError:
            return None  # the route says so, as every route does
        return found


def _wishes(scope: Scope) -> tuple[bytes, bytes]:
    """`Accept-Encoding` and `If-None-Match`."""
    accepted = known = b""
    for name, value in scope["headers"]:
        if name == b"accept-encoding":
            accepted = value
        elif name == b"if-none-match":
            known = value
    return accepted, known
