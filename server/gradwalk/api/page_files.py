"""The page's own files, compressed when they are first asked for."""

import asyncio
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from gradwalk.api.codings import coding_for, is_compressible
from gradwalk.api.compression import weaken
from gradwalk.api.made_once import MadeOnce
from gradwalk.store.compression import Coding, compress

_BYTES_MAX = 32 << 20
_BYTES_MIN = 1_000


class PageFiles(StaticFiles):
    """Files of a directory. Who asks for a range gets one of the plain bytes."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory=directory)
        self._made = MadeOnce[tuple[Coding, str, str], bytes](_BYTES_MAX, lambda _, body: len(body))

    async def get_response(self, path: str, scope: Scope) -> Response:
        plain = await super().get_response(path, scope)
        if not isinstance(plain, FileResponse) or not is_compressible(plain.media_type or ""):
            return plain
        plain.headers.add_vary_header("Accept-Encoding")
        coding = coding_for(scope)
        if coding is None or "range" in Headers(scope=scope) or int(plain.headers["content-length"]) < _BYTES_MIN:
            return plain
        key = (coding, str(plain.path), plain.headers["etag"])
        body = await self._made.ask(key, lambda: asyncio.to_thread(_read_compressed, Path(plain.path), coding))
        headers = {name: plain.headers[name] for name in ("content-type", "last-modified", "vary")}
        headers |= {"content-encoding": coding, "content-length": str(len(body))}
        headers["etag"] = weaken(plain.headers["etag"].encode()).decode()
        return Response(b"" if scope["method"] == "HEAD" else body, headers=headers)


def _read_compressed(path: Path, coding: Coding) -> bytes:
    return compress(path.read_bytes(), coding)
