"""Whose turn it is: everybody gets an equal share, whatever one client sends."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, Protocol, TypeVar

from gradwalk.engine.engine import Lane

_HALF_LIFE_SECONDS = 30.0
_FORGOTTEN_SECONDS = 0.05
_CLIENTS_MAX = 4_096


class Waiting(Protocol):
    """What a queue has to know of a job."""

    @property
    def lane(self) -> Lane: ...

    @property
    def client(self) -> str: ...

    @property
    def number(self) -> int:
        """Grows with each job that came."""


W = TypeVar("W", bound=Waiting)


class Usage:
    """Seconds that each client had of late: what is half a minute old counts half."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seconds: dict[str, tuple[float, float]] = {}

    def note(self, client: str, seconds: float) -> None:
        """The client had this much more."""
        self._seconds[client] = (self.of(client) + seconds, self._clock())
        if len(self._seconds) > _CLIENTS_MAX:
            self._seconds = {
                name: (self.of(name), self._clock())
                for name in self._seconds
                if name == client or self.of(name) > _FORGOTTEN_SECONDS
            }

    def of(self, client: str) -> float:
        """What counts of it now."""
        seconds, noted = self._seconds.get(client, (0.0, 0.0))
        return float(seconds * 0.5 ** ((self._clock() - noted) / _HALF_LIFE_SECONDS))


class FairQueue(Generic[W]):
    """Jobs in the order in which they are to start.

    First by lane, then round-robin: a client's second job comes after everybody's first. Among equals, who has used
    less of late comes first (in whole seconds), then who came first.
    """

    def __init__(self, usage: Usage) -> None:
        self._usage = usage
        self._jobs: list[W] = []

    def __len__(self) -> int:
        return len(self._jobs)

    def count_of(self, client: str) -> int:
        """How many jobs of this client wait."""
        return sum(job.client == client for job in self._jobs)

    def count_in(self, lane: Lane) -> int:
        """How many jobs of this lane wait."""
        return sum(job.lane is lane for job in self._jobs)

    def push(self, job: W) -> None:
        """One more."""
        self._jobs.append(job)

    def pop(self, running: Mapping[str, int]) -> W:
        """Whose turn it is, given how many jobs of each client run; the queue must not be empty."""
        first = self.in_order(running)[0]
        self._jobs.remove(first)
        return first

    def take_all(self) -> list[W]:
        """Every job; the queue is empty afterwards."""
        taken, self._jobs = self._jobs, []
        return taken

    def in_order(self, running: Mapping[str, int]) -> list[W]:
        """The order in which they would start if nothing else came."""
        rounds = Counter(running)
        ranks = {}
        for job in sorted(self._jobs, key=lambda job: (job.lane, job.number)):
            ranks[job.number] = (job.lane, rounds[job.client], int(self._usage.of(job.client)), job.number)
            rounds[job.client] += 1
        return sorted(self._jobs, key=lambda job: ranks[job.number])


def count_by_client(jobs: Iterable[Waiting]) -> Counter[str]:
    """How many of these jobs each client has."""
    return Counter(job.client for job in jobs)
