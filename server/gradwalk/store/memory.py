"""Bodies that were asked for lately, in this process: what a whole hall asks for is read from the store once."""

from collections import OrderedDict

_BODIES_MAX = 256
_BYTES_MAX = 64 << 20


class Memory:
    """Bounded by number and bytes; what was not asked for longest goes first."""

    def __init__(self) -> None:
        self._bodies: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    def recall(self, name: str) -> bytes | None:
        """What is remembered under this name."""
        body = self._bodies.get(name)
        if body is not None:
            self._bodies.move_to_end(name)
        return body

    def remember(self, name: str, body: bytes) -> None:
        """Keeps a body, unless there is one of that name or it is larger than everything that fits."""
        if name in self._bodies or len(body) > _BYTES_MAX:
            return
        self._bodies[name] = body
        self._bytes += len(body)
        while len(self._bodies) > _BODIES_MAX or self._bytes > _BYTES_MAX:
            _, dropped = self._bodies.popitem(last=False)
            self._bytes -= len(dropped)
