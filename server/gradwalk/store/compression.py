"""How bodies are compressed: zstd, at rest and for whoever reads it; gzip for everybody else."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from typing import Literal

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Coding = Literal["zstd", "gzip"]
"""As HTTP names them."""
_LEVEL = 6
"""Of both: what a higher one saves of a trace is less than a hundredth, and it takes twice as long."""
_PART_BYTES = 64 << 10
_GZIP_WRAPPER = 16
"""As zlib wants it to be asked for."""
_GZIP_MAGIC = b"\x1f\x8b"


def compress(body: bytes, coding: Coding = "zstd") -> bytes:
    """The body in this coding; the same bytes for the same body."""
    return zstd.compress(body, _LEVEL) if coding == "zstd" else gzip.compress(body, _LEVEL, mtime=0)


def decompress(compressed: bytes) -> bytes:
    """The body again, whichever coding it is in."""
    return zstd.decompress(compressed) if coding_of(compressed) == "zstd" else gzip.decompress(compressed)


def length_of(compressed: bytes) -> int:
    """Of the body, as what `compress` gave tells it."""
    if coding_of(compressed) == "gzip":
        return int.from_bytes(compressed[-4:], "little")
    return zstd.get_frame_info(compressed).decompressed_size or 0


def unpack(compressed: bytes) -> Iterator[bytes]:
    """The body in parts: no more of it is in memory than a reader takes at once."""
    if coding_of(compressed) == "zstd":
        unpacking = zstd.ZstdDecompressor()
        part = unpacking.decompress(compressed, _PART_BYTES)
        while part:
            yield part
            part = b"" if unpacking.eof else unpacking.decompress(b"", _PART_BYTES)
        return
    inflating = zlib.decompressobj(wbits=zlib.MAX_WBITS + _GZIP_WRAPPER)
    rest = compressed
    while rest and (part := inflating.decompress(rest, _PART_BYTES)):
        yield part
        rest = inflating.unconsumed_tail


def coding_of(compressed: bytes) -> Coding:
    """The coding of what `compress` gave."""
    return "gzip" if compressed.startswith(_GZIP_MAGIC) else "zstd"
