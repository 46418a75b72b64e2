"""Length-prefixed JSON between a child and its parent: four bytes, big-endian, then that many of UTF-8 text.

The reader's side is written for hostile bytes. It bounds one frame and all of them together before it
keeps anything, and it never decodes objects (no pickle, no marshal): what a frame may mean is decided
by the validators in `answers.py`.
"""

from collections.abc import Iterator

LENGTH_BYTES = 4
FRAME_BYTES_MAX = 32 << 20
TOTAL_BYTES_MAX = 128 << 20


class FrameError(ValueError):
    """Bytes that cannot be the answer of an honest child."""


def encode_frame(payload: bytes) -> bytes:
    """A payload with its length in front."""
    return len(payload).to_bytes(LENGTH_BYTES, "big") + payload


class FrameReader:
    """Cuts a stream of bytes into payloads."""

    def __init__(self, frame_bytes_max: int = FRAME_BYTES_MAX, total_bytes_max: int = TOTAL_BYTES_MAX) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._total_bytes_left = total_bytes_max
        self._pending = bytearray()

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The payloads that are complete after `chunk`.

        Raises:
            FrameError: one frame, or all of them together, are longer than allowed.
        """
        self._total_bytes_left -= len(chunk)
        if self._total_bytes_left < 0:
            raise FrameError("the answer as a whole is too long")
        self._pending += chunk
        start = 0
        while len(self._pending) - start >= LENGTH_BYTES:
            length = int.from_bytes(self._pending[start : start + LENGTH_BYTES], "big")
            if length > self._frame_bytes_max:
                raise FrameError("one part of the answer is too long")
            end = start + LENGTH_BYTES + length
            if len(self._pending) < end:
                break
            yield bytes(self._pending[start + LENGTH_BYTES : end])
            start = end
        del self._pending[:start]
