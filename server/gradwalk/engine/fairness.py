"""Whose turn it is: everybody gets an equal share, whatever one client sends."""

import time
from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from gradwalk.engine.engine import Lane

_HALF_LIFE_SECONDS = 30.0
_FORGOTTEN_SECONDS = 0.05
_CLIENTS_MAX = 4_096


@dataclass(eq=False, slots=True)
class Waiting:
    """What a queue has to know of a job."""

    lane: Lane
    client: str
    number: int
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
        self._lanes: dict[Lane, dict[str, list[W]]] = {lane: {} for lane in Lane}
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._counts.total()

    def count_of(self, client: str) -> int:
        """How many jobs of this client wait."""
        return self._counts[client]

    def count_in(self, lane: Lane) -> int:
        """How many jobs of this lane wait."""
        return sum(len(jobs) for jobs in self._lanes[lane].values())

    def push(self, job: W) -> None:
        """One more."""
        # By number, since a job that was postponed comes back later than it came.
        insort(self._lanes[job.lane].setdefault(job.client, []), job, key=lambda one: one.number)
        self._counts[job.client] += 1

    def first(self, running: Mapping[str, int]) -> W:
        """Whose turn it is, given how many jobs of each client run; the queue must not be empty."""
        clients = next(self._lanes[lane] for lane in sorted(self._lanes) if self._lanes[lane])
        # Of each client only the first can be next, so a crowd from one address costs no more than one job.
        rank = {
            client: (running.get(client, 0), int(self._usage.of(client)), jobs[0].number)
            for client, jobs in clients.items()
        }
        return clients[min(rank, key=rank.__getitem__)][0]

    def pop(self, running: Mapping[str, int]) -> W:
        """As `first`, which leaves the queue."""
        first = self.first(running)
        self.remove(first)
        return first

    def remove(self, job: W) -> None:
        """It leaves the queue, whenever its turn would have been."""
        client, clients = job.client, self._lanes[job.lane]
        clients[client].remove(job)
        if not clients[client]:
            del clients[client]
        self._counts[client] -= 1
        if not self._counts[client]:
            del self._counts[client]

    def take_all(self) -> list[W]:
        """Every job; the queue is empty afterwards."""
        taken = self.in_order({})
        self._lanes = {lane: {} for lane in Lane}
        self._counts.clear()
        return taken

    def in_order(self, running: Mapping[str, int]) -> list[W]:
        """The order in which they would start if nothing else came."""
        rounds = Counter(running)
        usage = {client: int(self._usage.of(client)) for client in self._counts}
        ranks = {}
        jobs = [job for clients in self._lanes.values() for jobs in clients.values() for job in jobs]
        for job in sorted(jobs, key=lambda job: (job.lane, job.number)):
            ranks[job.number] = (job.lane, rounds[job.client], usage[job.client], job.number)
            rounds[job.client] += 1
        return sorted(jobs, key=lambda job: ranks[job.number])


def count_by_client(jobs: Iterable[Waiting]) -> Counter[str]:
    """How many of these jobs each client has."""
    return Counter(job.client for job in jobs)
