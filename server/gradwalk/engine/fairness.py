"""Whose turn it is: everybody gets an equal share, whatever one client sends."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

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


def in_order(waiting: Sequence[W], running: Mapping[str, int], usage: Usage) -> list[W]:
    """The order in which they start if nothing else comes, given how many jobs of each client run.

    First by lane, then round-robin: a client's second job comes after everybody's first. Among equals, who has used
    less of late comes first (in whole seconds), then who came first.
    """
    rounds = Counter(running)
    used = {client: int(usage.of(client)) for client in {job.client for job in waiting}}
    ranked = []
    for job in sorted(waiting, key=attrgetter("lane", "number")):
        ranked.append((job.lane, rounds[job.client], used[job.client], job.number, job))
        rounds[job.client] += 1
    return [job for *_, job in sorted(ranked)]


def count_by_client(jobs: Iterable[Waiting]) -> Counter[str]:
    """How many of these jobs each client has."""
    return Counter(job.client for job in jobs)
