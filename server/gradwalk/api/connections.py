"""Connections, counted before anything is read from them: how many one address has, and how long a request may take.

uvicorn ends what is idle between two requests; a head that never ends, or a body, would stay for ever. And it reads
from every connection that has something, three thousand of one address before the one of another: here they take turns.
"""

import asyncio
import resource
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import ClassVar

from uvicorn._types import ASGI3Application
from uvicorn.middleware.proxy_headers import _TrustedHosts
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from gradwalk.api.clients import name_client
from gradwalk.api.settings import Settings
from gradwalk.api.turns import Turns

HEAD_BYTES_MAX = 16 << 10
_PART_BYTES = 32
"""What each header, item of a list in one, folder, field of a query and small piece of a body weighs besides its
length: it is read by itself. HTTP/2 counts a header so (RFC 9113, 6.5.2)."""
_SMALL_PIECE_BYTES = 256
"""Of a body: what is longer costs no more than its bytes, which are counted elsewhere."""
_PAUSE_SECONDS = 0.01
"""Between two requests of a crowd: a hundred a second of one address beside others."""
_PIPELINED_MAX = 16
"""Requests of one connection that came before the answer to an earlier one; browsers send none."""
_DESCRIPTORS_MAX = 1 << 16
_DESCRIPTORS_ANYWHERE = 10_240
"""What macOS gives, which calls its limit infinite and refuses more."""
_DESCRIPTORS_FOR_THE_REST = 256
"""Children, files, the store."""
_CONNECTIONS_MIN = 64
"""Where the system gives so few that the rest would have none left."""


def raise_descriptor_limit() -> int:
    """As many descriptors as the system lets a process have; how many connections that is room for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS_ANYWHERE if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS_MAX)
    if resource.RLIM_INFINITY != soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    given = wanted if soft == resource.RLIM_INFINITY else soft
    return max(_CONNECTIONS_MIN, given - _DESCRIPTORS_FOR_THE_REST)


class Doorkeeper:
    """How many connections each address has; one address has at most half of all there is room for."""

    def __init__(self, settings: Settings, connections_max: int) -> None:
        self.settings = settings
        self._client_max = min(settings.client_connections_max, connections_max // 2)
        self._open: Counter[str] = Counter()
        # The same addresses as those whose `X-Forwarded-For` uvicorn believes.
        self._proxies = _TrustedHosts(settings.trusted_proxies)

    def enter(self, address: str) -> str | None:
        """The client of a new connection, to be given back; None for a proxy, which stands for many."""
        if address in self._proxies:
            return None
        client = name_client(address)
        self._open[client] += 1
        return client

    def is_full(self, client: str | None) -> bool:
        """Whether this client has more than it may."""
        return client is not None and self._open[client] > self._client_max

    def leave(self, client: str | None) -> None:
        """One of the client's connections has ended."""
        if client is not None:
            self._open[client] -= 1
            if not self._open[client]:
                del self._open[client]


class CountedProtocol(HttpToolsProtocol):
    """uvicorn's, with a keeper before it."""

    doorkeeper: ClassVar[Doorkeeper]
    turns: ClassVar[Turns]
    _client: str | None = None
    _answering: RequestResponseCycle | None = None
    _late: asyncio.TimerHandle | None = None
    _is_in_head = True
    _head_bytes = 0
    _weight = 0
    _refusal = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.client is None:
            # It has hung up already, so nobody can say whose turn it would take to read what it left there.
            transport.abort()
            return
        self._client = self.doorkeeper.enter(self.client[0])
        if self.doorkeeper.is_full(self._client):
            transport.abort()
        else:
            self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self.doorkeeper.leave(self._client)
        if self._answering is not None:
            # At once: what is still sent meanwhile would be an error.
            self._answering.disconnected = True
        if self._client is None:
            self._end(exc)
        else:
            # A crowd that hangs up together takes turns, too.
            self.turns.take(self._client, partial(self._end, exc))

    def _end(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._answering is not None:
            # uvicorn tells the request that came last, which may wait behind the one that is being answered.
            self._answering.message_event.set()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def data_received(self, data: bytes) -> None:
        if self._is_in_head:
            self._head_bytes += len(data)
            # A part that comes at once may have the whole body in it.
            if self._head_bytes > HEAD_BYTES_MAX + self.doorkeeper.settings.body_bytes_max:
                self.send_400_response("The head of this request is too long.")
                return
        if self._client is None:
            super().data_received(data)
        elif not self.turns.take(self._client, partial(self._read, data)):
            # No more than this one part is in memory until then.
            self.transport.pause_reading()

    def _read(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if not self.flow.read_paused:
            self.transport.resume_reading()

    def on_message_begin(self) -> None:
        # A quarter of a megabyte, read in one turn, has room for ten thousand requests.
        if len(self.pipeline) >= _PIPELINED_MAX:
            self._refuse("Too many requests of one connection at once.")
        super().on_message_begin()
        self._weight = 0
        self._expect_request()

    def on_url(self, url: bytes) -> None:
        # Each folder is looked up: four thousand take 18 ms.
        self._weigh(len(url), sum(map(url.lower().count, (b"&", b"/", b"%2f"))))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._weigh(len(name) + len(value), 1 + value.count(b",") + value.count(b";"))
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        if len(body) < _SMALL_PIECE_BYTES:
            self._weigh(0, 1)
        super().on_body(body)

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()

    def _weigh(self, length: int, parts: int) -> None:
        """Adds to what this request costs, a millisecond at most."""
        self._weight += length + parts * _PART_BYTES
        if self._weight > HEAD_BYTES_MAX:
            self._refuse("This request is too long, or has too many parts.")

    def _refuse(self, why: str) -> None:
        """Ends the connection with 400: the parser, in the middle of which this is called, passes nothing else on."""
        self._refusal = why
        raise ValueError(why)

    def send_400_response(self, msg: str) -> None:
        super().send_400_response(self._refusal or msg)

    def _unsupported_upgrade_warning(self) -> None:
        """None: it would tell whoever reads the log to install what nothing here needs."""

    def _expect_request(self) -> None:
        self._is_in_head, self._head_bytes = True, 0
        if self._late is None:
            self._late = self.loop.call_later(self.doorkeeper.settings.request_seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def counted_protocol(settings: Settings, connections_max: int) -> type[CountedProtocol]:
    """What uvicorn speaks with each connection."""
    parts = {"doorkeeper": Doorkeeper(settings, connections_max), "turns": Turns(_PAUSE_SECONDS)}
    return type("CountedProtocol", (CountedProtocol,), parts)
