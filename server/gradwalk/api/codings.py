"""Which coding an answer has, by what its reader takes and by what it is; and answers put into it.

Whole answers and the page's own files are. Streams (`event_stream.py`) and kept traces see to it themselves.
"""

import asyncio
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwalk.api.made_once import MadeOnce
from gradwalk.store.compression import Coding, compress

PREFERRED: Final[tuple[Coding, ...]] = ("zstd", "gzip")
"""The first one among equals."""
_BYTES_MIN = 1_000
"""What is shorter fits into one packet as it is."""
_ON_THE_LOOP_BYTES_MAX = 32 << 10
"""What is longer is compressed in a thread: it would take the event loop more than half a millisecond."""
_FILES_BYTES_MAX = 32 << 20
_WITHOUT_BODY_OR_PART = frozenset({204, 206, 304})
_WEIGHT = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")
_COMPRESSIBLE = re.compile(
    r"text/(?!event-stream)|(application|image)/([\w.-]+\+)?(json|xml|javascript|wasm)\b|font/(ttf|otf)"
)


def coding_for(scope: Scope) -> Coding | None:
    """The coding of the answer to a request; None for plain bytes."""
    return choose_coding(",".join(Headers(scope=scope).getlist("accept-encoding")))


@lru_cache(maxsize=256)
def choose_coding(accepted: str) -> Coding | None:
    """What `Accept-Encoding` prefers (RFC 9110, 12.5.3); None for plain bytes, also where it takes nothing at all."""
    weights = dict(map(_read_weight, accepted.lower().split(",")))
    weight_of: Callable[[Coding], float] = lambda coding: weights.get(coding, weights.get("*", 0.0))  # noqa: E731
    best = max(PREFERRED, key=weight_of)
    return best if weight_of(best) > 0 and weight_of(best) >= weights.get("identity", 0.0) else None


def _read_weight(item: str) -> tuple[str, float]:
    """A coding and its weight; 0 for a weight that is none."""
    coding, separator, weight = (part.strip() for part in item.partition(";"))
    if not separator:
        return coding, 1.0
    found = _WEIGHT.fullmatch(weight)
    return coding, float(found[1]) if found else 0.0


class Compression:
    """Plain ASGI. What has a coding already, is a stream or comes in parts goes on as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start: Message | None = None

        async def send_compressed(message: Message) -> None:
            """Holds the head back until the whole body is there."""
            nonlocal start
            if message["type"] == "http.response.start" and _may_be_compressed(message):
                start = message
                return
            if start is not None:
                head, start = start, None
                headers = MutableHeaders(raw=head["headers"])
                _note_choice(headers)
                coding, body = coding_for(scope), message.get("body", b"")
                if coding is not None and len(body) >= _BYTES_MIN and not message.get("more_body"):
                    message = {**message, "body": await _compress(body, coding)}
                    _note_coding(headers, coding, len(message["body"]))
                await send(head)
            await send(message)

        await self._app(scope, receive, send_compressed)


class PageFiles(StaticFiles):
    """Files of a directory, compressed when they are first asked for. A range is one of the plain bytes."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory=directory)
        self._made = MadeOnce[tuple[Coding, str, str], bytes](_FILES_BYTES_MAX, lambda _, body: len(body))

    async def get_response(self, path: str, scope: Scope) -> Response:
        plain = await super().get_response(path, scope)
        if not isinstance(plain, FileResponse) or not _is_compressible(plain.headers):
            return plain
        _note_choice(plain.headers)
        coding = coding_for(scope)
        if coding is None or "range" in Headers(scope=scope) or int(plain.headers["content-length"]) < _BYTES_MIN:
            return plain
        file = Path(plain.path)
        key = (coding, str(file), plain.headers["etag"])
        body = await self._made.ask(key, lambda: asyncio.to_thread(lambda: compress(file.read_bytes(), coding)))
        answer = Response(body, headers=plain.headers)
        _note_coding(answer.headers, coding, len(body))
        del answer.headers["accept-ranges"]
        return answer


async def _compress(body: bytes, coding: Coding) -> bytes:
    if len(body) <= _ON_THE_LOOP_BYTES_MAX:
        return compress(body, coding)
    return await asyncio.to_thread(compress, body, coding)


def _may_be_compressed(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    return (
        "content-encoding" not in headers and start["status"] not in _WITHOUT_BODY_OR_PART and _is_compressible(headers)
    )


def _is_compressible(headers: Headers) -> bool:
    """Whether it is worth while; pictures, videos, WOFF2 fonts and archives are compressed already."""
    return _COMPRESSIBLE.match(headers.get("content-type", "")) is not None


def _note_choice(headers: MutableHeaders) -> None:
    if "accept-encoding" not in headers.get("vary", "").lower():
        headers.add_vary_header("Accept-Encoding")


def _note_coding(headers: MutableHeaders, coding: Coding, length: int) -> None:
    """The same entity in another coding is only weakly the same (RFC 9110, 8.8.3)."""
    headers["Content-Encoding"] = coding
    headers["Content-Length"] = str(length)
    etag = headers.get("etag", "W/")
    if not etag.startswith("W/"):
        headers["ETag"] = f"W/{etag}"
