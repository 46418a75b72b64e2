"""What every store offers."""

from typing import Protocol

from gradwalk.recent import Recent

FILE_BYTES_MAX = 64 << 20
"""Of one file made of a trace."""
_REMEMBERED_BYTES_MAX = 65 << 20
"""The largest file fits."""
_ENTRY_BYTES = 500
"""Of a body's name and its place in the table."""


class StoreError(RuntimeError):
    """The store cannot take or give anything now (disk full, file damaged); the message says which."""


class TraceStore(Protocol):
    """Finished traces by their id, and requests by their snippet id. The first writer of an id wins.

    Raises:
        StoreError: by every method; where something cannot be written, what was kept before is still served.
    """

    async def get_trace(self, trace_id: str) -> bytes | None:
        """The document, compressed (`compression.py`); None when it is not here (any more)."""

    async def put_trace(self, trace_id: str, document: bytes) -> None:
        """Keeps a document, compressing it; may evict those that were not used for longest."""

    async def get_snippet(self, snippet_id: str) -> bytes | None:
        """The request's canonical JSON."""

    async def put_snippet(self, snippet_id: str, request: bytes, client: str) -> None:
        """Keeps a request, for longer than any trace of it. Where there is no room, a client loses its own first."""

    async def pin_snippet(self, snippet_id: str) -> bool:
        """Keeps a request for good: it makes room for nothing and does not age. False when it is not here."""

    async def get_file(self, address: str) -> bytes | None:
        """A file made of a trace; None when it was never made, or has gone: it can be made again."""

    async def put_file(self, address: str, body: bytes) -> None:
        """Keeps a file of at most `FILE_BYTES_MAX` for a while, so that who waited for it can fetch it."""

    async def check(self) -> None:
        """Raises StoreError when nothing can be written."""

    async def close(self) -> None:
        """Finishes what is being written."""


def refuse_too_large(body: bytes) -> None:
    """Raises StoreError for a file that is larger than what is kept."""
    if len(body) > FILE_BYTES_MAX:
        raise StoreError(f"a file of {len(body) >> 20} MiB is not kept; the most is {FILE_BYTES_MAX >> 20} MiB")


def remember_bodies() -> Recent[str, bytes]:
    """Bodies that this process was asked for lately: what a whole hall asks for is read from the store once."""
    return Recent(_REMEMBERED_BYTES_MAX, lambda _, body: len(body) + _ENTRY_BYTES)
