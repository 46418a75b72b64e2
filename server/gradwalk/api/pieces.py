"""Streams, compressed frame by frame: each is sent at once, and costs its compression once for all readers.

A frame is compressed by itself: two thousand readers of one run would otherwise need two thousand compressors of half a
megabyte. Both codings allow it, zstd as one frame after another (RFC 8878, 3.1), gzip as blocks of one member that do
not look back.
"""

import asyncio
import struct
import zlib

from gradwalk.api.made_once import MadeOnce
from gradwalk.store.compression import Coding, compress

_BYTES_MAX = 16 << 20
_SHARED_FROM_BYTES = 2 << 10
_GZIP_LEVEL = 6
_GZIP_HEAD = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
_GZIP_LAST_BLOCK = b"\x03\x00"


class Pieces:
    """The frames that were compressed last. Lives on the event loop."""

    def __init__(self) -> None:
        self._made = MadeOnce[tuple[Coding, bytes], bytes](_BYTES_MAX, lambda key, piece: len(key[1]) + len(piece))

    async def of(self, coding: Coding, frame: bytes) -> bytes:
        """A frame, compressed so that it can follow any other."""
        if len(frame) < _SHARED_FROM_BYTES:
            return _make_piece(coding, frame)
        return await self._made.ask((coding, frame), lambda: asyncio.to_thread(_make_piece, coding, frame))


class Packing:
    """One stream's body: `pack` each frame, then `end`."""

    def __init__(self, pieces: Pieces, coding: Coding) -> None:
        self._coding = coding
        self._pieces = pieces
        self._checksum = 0
        self._length = 0

    async def pack(self, frame: bytes) -> bytes:
        """What is sent for a frame; the reader can read all of it at once."""
        piece = await self._pieces.of(self._coding, frame)
        if self._coding == "zstd":
            return piece
        head = b"" if self._length else _GZIP_HEAD
        self._checksum = zlib.crc32(frame, self._checksum)
        self._length += len(frame)
        return head + piece

    def end(self) -> bytes:
        """What is sent after the last frame."""
        if self._coding != "gzip" or not self._length:
            return b""
        return _GZIP_LAST_BLOCK + struct.pack("<II", self._checksum, self._length & 0xFFFF_FFFF)


def _make_piece(coding: Coding, frame: bytes) -> bytes:
    if coding == "zstd":
        return compress(frame)
    deflate = zlib.compressobj(_GZIP_LEVEL, wbits=-zlib.MAX_WBITS)
    return deflate.compress(frame) + deflate.flush(zlib.Z_FULL_FLUSH)
