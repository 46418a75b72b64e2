"""What the routes share: the engine, the runs under way, the store."""

import asyncio
import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, cast

from gradwalk.api.clients import Rates, close_nothing, make_rates
from gradwalk.api.documents import Documents
from gradwalk.api.event_stream import Pieces
from gradwalk.api.made_once import MadeOnce
from gradwalk.api.metrics import Metrics
from gradwalk.api.reading import read_events, read_program, read_value
from gradwalk.api.settings import Settings
from gradwalk.engine.engine import Engine, Lane
from gradwalk.engine.export import ExportJob
from gradwalk.engine.job import Job
from gradwalk.engine.local import LocalEngine
from gradwalk.engine.rates import OwnRate
from gradwalk.engine.runs import Run, Runs
from gradwalk.protocol.document import (
    canonical_request,
    encode,
    join_document,
    snippet_id,
    trace_id,
)
from gradwalk.protocol.requests import TraceRequest, resolve_limits
from gradwalk.protocol.values import TensorValue
from gradwalk.protocol.wire import nth_value
from gradwalk.rooms.rooms import Rooms
from gradwalk.rooms.storage import MemoryStorage
from gradwalk.sandbox.jobs import GradcheckJob, JacobianJob, TraceJob, ValueJob
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.store.compression import Coding, coding_of, compress, decompress
from gradwalk.store.sqlite import SqliteStore
from gradwalk.store.store import TraceStore
from gradwalk.words.extras import import_with_extra

T = TypeVar("T")

STORE_FILE = "traces.sqlite3"
_CLUSTERED = "gradwalk.api.clustered"
_KEPT_BYTES_MAX = 64 << 20
"""Of each kind of what was made of traces lately."""
_ENTRY_BYTES = 400
"""What an entry takes besides; of a sentence it is most."""


class Service:
    """One server's parts, wired together. Lives on the event loop."""

    def __init__(
        self, settings: Settings, engine: Engine, store: TraceStore, rooms: Rooms, metrics: Metrics, rates: Rates
    ) -> None:
        self.settings = settings
        self.engine = engine
        self.store = store
        self.rooms = rooms
        self.metrics = metrics
        self.pieces = Pieces()
        self.documents = Documents(rates.cpu)
        self._quick = MadeOnce[str, bytes](
            _KEPT_BYTES_MAX, lambda address, made: len(address) + len(made) + _ENTRY_BYTES, is_stopped=True
        )
        """Files of one moment and what else is drawn or told of a trace, by an address."""
        self._events = MadeOnce[str, list[bytes]](_KEPT_BYTES_MAX, lambda _, events: sum(map(len, events)))
        self._transcoded = MadeOnce[str, bytes](_KEPT_BYTES_MAX, lambda _, body: len(body))
        """Documents for readers who do not take the coding in which they are kept."""
        self.runs = Runs(
            engine,
            self._keep,
            abandon_seconds=settings.abandon_seconds,
            retain_seconds=settings.retain_seconds,
            on_outcome=metrics.count_run,
        )
        self.rates = rates
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="writing")
        """One: writing numbers keeps the interpreter for milliseconds, and the loop would wait for each of several."""

    async def identify(self, request: TraceRequest) -> str:
        """The id of its trace."""
        versions = self.engine.versions()
        return await self._write_out(request, lambda: trace_id(request, versions))

    async def keep_program(self, request: TraceRequest, client: str) -> str:
        """Keeps a program for its permalink; gives its address.

        Raises:
            StoreError: it could not be kept.
        """
        address, written = await self._write_out(
            request, lambda: (snippet_id(request), encode(canonical_request(request)))
        )
        # So short that it stands for many addresses, and names none.
        await self.store.put_snippet(address, written, hashlib.sha256(client.encode()).hexdigest()[:6])
        return address

    async def _write_out(self, request: TraceRequest, work: Callable[[], T]) -> T:
        """What `work` gives: with numbers in the request it takes longer than the way to a thread."""
        if not request.options.inputs and request.options.grad_output is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._writing, work)

    async def start_trace(self, trace: str, request: TraceRequest, client: str) -> Run:
        """As `start`, with the limits that the request asks for."""
        return await self.start(trace, TraceJob(request=request, limits=resolve_limits(request.options.limits)), client)

    def address_of_file(self, job: ExportJob) -> str:
        """Where the store has it, once it is made.

        Raises:
            BusyError: nobody is there yet to say which version will make it.
        """
        return job.address(self.engine.versions()["gradwalk"])

    async def start(self, run_id: str, job: Job, client: str, lane: Lane = Lane.LIVE) -> Run:
        """The run of this id: the one under way or a new one of this client. Ask the store first.

        Raises:
            BusyError: there is no room for a new one.
        """
        if self.runs.find_joinable(run_id) is None:
            await self.rates.cpu.check(client)
            await self.rates.runs.take(client)
        return await self.runs.join_or_start(run_id, job, lane, client)

    async def find_trace(self, trace: str) -> bytes | None:
        """A finished document that is kept, compressed.

        Raises:
            StoreError: it cannot be looked up.
        """
        run = self.runs.find(trace)
        if run is not None and run.outcome is None:
            return None  # a whole hall asks for what is being made; each look into the store takes as long as all else
        stored = await self.store.get_trace(trace)
        (self.metrics.cache_misses if stored is None else self.metrics.cache_hits).inc()
        return stored

    async def encode_trace(self, trace: str, stored: bytes, coding: Coding) -> bytes:
        """A kept document in this coding."""
        if coding_of(stored) == coding:
            return stored
        return await self._transcoded.ask(trace, lambda: asyncio.to_thread(_transcode, stored, coding))

    async def events_of(self, trace: str, stored: bytes, client: str) -> list[bytes]:
        """The encoded events of a kept document; taken apart once, not once per reader."""
        return await self._events.ask(trace, lambda: self.documents.glance(client, read_events, stored))

    async def find_value(self, trace: str, number: int, client: str) -> TensorValue | None:
        """A value of a trace by its number, as it was written."""
        run = await self.runs.attach(trace)
        if run is not None and run.log and not isinstance(run.job, ExportJob):
            return await asyncio.to_thread(nth_value, [*run.log], number)
        stored = await self.find_trace(trace)
        return None if stored is None else await self.documents.glance(client, read_value, stored, number)

    async def find_run(self, trace: str) -> Run | None:
        """A run that may still be followed, wherever it was asked for."""
        run = await self.runs.attach(trace)
        return None if run is None or (run.outcome is None and run.cancellation.is_wished) else run

    async def find_request(self, trace: str, client: str) -> TraceRequest | None:
        """What a trace is a trace of."""
        run = await self.runs.attach(trace)
        if run is not None and not isinstance(run.job, ExportJob):
            return run.job.request
        stored = await self.find_trace(trace)
        return None if stored is None else await self.documents.glance(client, read_program, stored)

    async def make_quickly(
        self, address: str, client: str, work: Callable[..., bytes], stored: bytes, *arguments: object
    ) -> bytes:
        """What `work`, a function of `api.reading`, makes of a trace: once for all who ask under one address.

        Raises:
            BusyError: links, frames and players made too much for this client, or it has used up its time.
            Exception: that of `work`.
        """
        if address not in self._quick:
            await self.rates.cpu.check(client)
            await self.rates.links.take(client)
        return await self._quick.ask(address, lambda: self.documents.ask(client, work, stored, *arguments))

    def stop(self) -> None:
        """Says goodbye to every reader."""
        self.runs.stop()
        self.rooms.stop()

    async def close(self) -> None:
        """Ends every run, keeps what is finished."""
        self.stop()
        await self.rooms.close()
        self.documents.close()
        self._writing.shutdown(wait=False)
        await self.engine.close()
        await self.runs.settle()
        await self.store.close()
        await self.rates.close()

    async def _keep(self, run: Run) -> bool:
        if isinstance(run.job, JacobianJob | GradcheckJob | ValueJob):
            return False
        if self.engine.keeps_results:
            return True
        if isinstance(run.job, ExportJob):
            await self.store.put_file(run.id, run.log[-1])
        else:
            await self.store.put_trace(run.id, await asyncio.to_thread(join_document, run.log))
        return True


def choose_rates(settings: Settings) -> Rates:
    """Counted in this process, or over all servers."""
    if settings.cluster_url:
        return cast("Rates", import_with_extra(_CLUSTERED, "cluster").choose_rates(settings))
    return make_rates(settings, OwnRate, close_nothing)


def make_service(settings: Settings, sandbox: Sandbox, metrics: Metrics, rates: Rates) -> Service:
    """Local children, one SQLite file, rooms of its own; or workers, a store and rooms that several servers share."""
    if settings.cluster_url:
        return cast("Service", import_with_extra(_CLUSTERED, "cluster").make_service(settings, metrics, rates))
    assert isinstance(rates.cpu, OwnRate)
    engine = LocalEngine(
        sandbox, settings.running_count, settings.waiting_count, settings.client_waiting_count, cpu=rates.cpu
    )
    store = SqliteStore(settings.data_directory / STORE_FILE, settings.trace_bytes_max, settings.snippet_bytes_max)
    return Service(settings, engine, store, Rooms(MemoryStorage(settings.room_limits)), metrics, rates)


def _transcode(stored: bytes, coding: Coding) -> bytes:
    return compress(decompress(stored), coding)
