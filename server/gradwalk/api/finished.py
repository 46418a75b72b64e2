"""A finished trace as the bytes that are kept: what a hall asks for in the same second.

Answered before the middleware and the router, whose road costs several times what sending the bytes costs; so what
they would check, say and count is done here as well. Whatever is out of the ordinary (a trace that this process does
not remember in the reader's coding, a foreign name in `Host`) goes on to them.
"""

import logging
import time
from typing import Any, Protocol

from starlette.types import Scope, Send

from gradwalk.api.codings import choose_coding
from gradwalk.api.headers import SECURITY, Hosts
from gradwalk.api.logs import RequestLines
from gradwalk.api.metrics import Metrics
from gradwalk.api.observer import RequestNumbers
from gradwalk.store.compression import Coding

IMMUTABLE = "public, max-age=31536000, immutable"
ROUTE = "/api/traces/{trace}"
"""The name under which the request is counted, the same as the router's."""
_PREFIX = "/api/traces/"
_PATH_LENGTH = len(_PREFIX) + 40
_KEPT = [
    (b"cache-control", IMMUTABLE.encode()),
    (b"vary", b"Accept-Encoding"),
    *SECURITY,
    (b"access-control-allow-origin", b"*"),
]
_WHOLE = [*_KEPT, (b"content-type", b"application/json")]
_OK, _NOT_MODIFIED = 200, 304


class Recalls(Protocol):
    """The service, as far as it is asked here."""

    def recall_trace(self, trace: str, coding: Coding) -> bytes | None:
        """A kept document in this coding, where that takes no waiting."""


class FinishedTraces:
    """Answers `GET /api/traces/{trace}` where that takes no waiting."""

    def __init__(self, hosts: Hosts, numbers: RequestNumbers, metrics: Metrics, lines: RequestLines) -> None:
        self._hosts = hosts
        self._numbers = numbers
        self._metrics = metrics
        self._lines = lines
        self.service: Recalls | None = None
        """Set when the server has one."""

    async def answer(self, scope: Scope, send: Send) -> bool:
        """Whether the request was one of these and has its answer now."""
        if scope["type"] != "http" or self.service is None or scope["method"] != "GET":
            return False
        path: str = scope["path"]
        if len(path) != _PATH_LENGTH or not path.startswith(_PREFIX):
            return False
        began = time.perf_counter()
        said = dict(reversed(scope["headers"]))  # of two with one name the first, as the router reads them
        coding = choose_coding(said.get(b"accept-encoding", b"").decode("latin-1"))
        if coding is None or said.get(b"host", b"") not in self._hosts:
            return False
        trace = path[len(_PREFIX) :]
        stored = self.service.recall_trace(trace, coding)
        if stored is None:
            return False
        self._metrics.cache_hits.inc()
        number = self._numbers.of(said.get(b"x-request-id"))
        etag = f'"{trace}"'.encode()
        own = [(b"etag", b"W/" + etag), (b"x-request-id", number.encode())]
        if etag in said.get(b"if-none-match", b""):
            status, sent = _NOT_MODIFIED, 0
            await send({"type": "http.response.start", "status": status, "headers": _KEPT + own})
            await send({"type": "http.response.body"})
        else:
            status, sent = _OK, len(stored)
            own += [(b"content-encoding", coding.encode()), (b"content-length", b"%d" % sent)]
            await send({"type": "http.response.start", "status": status, "headers": _WHOLE + own})
            await send({"type": "http.response.body", "body": stored})
        self._tell(path, trace, number, status, sent, time.perf_counter() - began)
        return True

    def _tell(self, path: str, trace: str, number: str, status: int, sent: int, seconds: float) -> None:
        self._metrics.count_request("GET", ROUTE, status, seconds)
        known: dict[str, Any] = {"request_id": number, "method": "GET", "path": path, "status": status}
        known |= {"trace_id": trace, "bytes": sent, "ms": round(seconds * 1e3, 2)}
        self._lines.add(logging.INFO, known)
