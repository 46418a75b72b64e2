"""What every engine offers, so that the rest of the house does not care where a job runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from gradwalk.engine.job import Job, Outcome
from gradwalk.protocol.events import Versions
from gradwalk.protocol.facts import Fact, fact
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.selftest import Protection
from gradwalk.words.errors import FactError


class Lane(IntEnum):
    """Who goes first: somebody is looking at a LIVE job, nobody at a BATCH job."""

    LIVE = 0
    BATCH = 1


@dataclass(frozen=True, slots=True)
class Order:
    """A job, under the id by which everybody who wants it finds its run, and for whom it is first."""

    run_id: str
    job: Job
    lane: Lane
    client: str = ""


FULL = fact("api-busy-queue")


class BusyError(FactError):
    """No room for one more job; `retry_after_seconds` is when there probably is, `why` whose fault it is."""

    def __init__(self, retry_after_seconds: int, why: Fact = FULL) -> None:
        super().__init__(fact("api-busy", why=why, count=retry_after_seconds))
        self.retry_after_seconds = retry_after_seconds


class Sink(Protocol):
    """Where a job's results go. Called from the engine's own threads, in this order."""

    def started(self) -> None:
        """The job has left the queue."""

    def append(self, batch: list[bytes]) -> None:
        """More encoded results, in order."""

    def page_done(self, done: int, of: int) -> None:
        """How many pages of a file are done; not each of them need be told."""

    def finished(self, outcome: Outcome) -> None:
        """Nothing more comes; called exactly once, also when the job was called off."""


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """For readiness and metrics."""

    ready: bool
    """Jobs can start at once."""
    started: int
    """Jobs that have left the queue since the engine began."""
    running: int
    waiting: Mapping[Lane, int]
    layers: dict[str, object]
    """What locks children in, as reported by whoever makes them."""
    protection: Protection | None = None
    """What the self-test found; None until it has run."""
    versions: Versions | None = None
    """Those that enter the address of a trace that is made now; None until somebody is there to say so."""
    workers: int = 1
    """Processes that run jobs; in a cluster, those that were heard of lately."""


Follow = Callable[[Sink, Cancellation], None]
"""Follows a run that another server started, from its first result on."""


class Engine(Protocol):
    """Runs jobs, a bounded number at a time."""

    keeps_results: bool
    """True when a finished trace is in the store before its sink hears `finished`."""

    def start(self) -> None:
        """Makes ready, without blocking."""

    async def submit(self, order: Order, sink: Sink, cancellation: Cancellation) -> None:
        """Queues a job of a client, with whom all others get an equal share.

        Raises:
            BusyError: the queue is full, or this client's part of it.
        """

    async def find(self, run_id: str) -> tuple[Job, Follow] | None:
        """A run under way, or just over, that this server does not follow yet."""

    def jobs_ahead_of(self, sink: Sink) -> int:
        """How many waiting jobs come first; 0 for one that is not waiting."""

    def versions(self) -> Versions:
        """Those that enter the address of a trace that is made now.

        Raises:
            BusyError: nobody is there yet to say so.
        """

    def status(self) -> EngineStatus:
        """As of now."""

    async def close(self) -> None:
        """Ends everything that runs or waits here; every sink still hears `finished`."""
