"""Where rooms are kept: what a storage offers, and the one of a server that shares its rooms with nobody."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gradwalk.protocol.rooms import Shown
from gradwalk.rooms.room import NO_SUCH_ROOM, NoSuchRoom, RoomState, count_answers

HEARTBEAT_SECONDS: Final = 5.0
SEAT_SECONDS: Final = 3 * HEARTBEAT_SECONDS
"""For so long a seat is kept without a sign of life."""
CHANGED: Final = "changed"
COUNTED: Final = "counted"
"""Other news than these two are the name of a participant who has left."""
Hear = Callable[[str, str], None]
"""Gets a room's code, and news of it; the empty code for news of every room."""


@dataclass(frozen=True, slots=True)
class RoomLimits:
    """How many rooms there may be, and how long one stays open."""

    rooms_max: int
    client_rooms_max: int
    places_max: int
    """Participants of one room."""
    idle_seconds: float
    """After which a room without a presenter ends."""

    @property
    def beat_seconds(self) -> float:
        """Between two signs of life of a presenter."""
        return min(HEARTBEAT_SECONDS, self.idle_seconds / 3)


class Found(NamedTuple):
    """A room, as a request needs it."""

    secret: str
    shown: Shown
    is_seated: bool
    """Whether the participant in question is connected."""


@dataclass(slots=True)
class _Room:
    secret: str
    shown: Shown
    client: str
    end: float
    revision: int = 1
    answers: dict[str, str] = field(default_factory=dict)
    seats: set[str] = field(default_factory=set)
    away: set[str] = field(default_factory=set)


class MemoryStorage:
    """Rooms of one process.

    Raises:
        NoSuchRoom: by `find`, `keep_open`, `take_seats` and `state`, when that room is closed.
        RoomsOutOfReach: by everything, when a shared server does not answer.
    """

    outlives_server = False
    """Whether another server knows these rooms too."""

    def __init__(self, limits: RoomLimits) -> None:
        self.limits = limits
        self._rooms: dict[str, _Room] = {}
        self._hear: Hear = lambda _code, _news: None

    async def create(self, code: str, secret: str, shown: Shown, client: str) -> bool:
        """Keeps a new room; False where the code is taken."""
        room = _Room(secret, shown, client, time.monotonic() + self.limits.idle_seconds)
        return self._rooms.setdefault(code, room) is room

    async def count(self, client: str | None = None) -> int:
        """Open rooms, or those that this client opened."""
        now = time.monotonic()
        self._rooms = {code: room for code, room in self._rooms.items() if room.end > now}
        return sum(client in (None, room.client) for room in self._rooms.values())

    async def idle_rooms(self) -> dict[str, int]:
        """How many sit in each room that no presenter on another server has given a sign of life of lately."""
        return {code: len(room.seats) for code, room in self._rooms.items()}

    async def find(self, code: str, participant: str = "") -> Found:
        room = self._room(code)
        return Found(room.secret, room.shown, participant in room.seats)

    async def keep_open(self, code: str) -> None:
        """A sign of life of the presenter."""
        self._room(code).end = time.monotonic() + self.limits.idle_seconds

    async def show(self, code: str, shown: Shown, *, forget_answers: bool) -> int:
        """Sets what everybody sees; gives the revision."""
        room = self._room(code)
        room.revision += 1
        room.shown = shown
        if forget_answers:
            room.answers.clear()
        return room.revision

    async def answer(self, code: str, participant: str, answer: str) -> bool:
        """Keeps the last answer of a participant; False where as many others have answered as a room has places."""
        answers = self._room(code).answers
        if participant not in answers and len(answers) >= self.limits.places_max:
            return False
        answers[participant] = answer
        return True

    async def take_seats(self, code: str, participants: Collection[str]) -> tuple[int, int]:
        """Takes or renews seats for some seconds; gives how many are new, and how many there are."""
        seats = self._room(code).seats
        before = len(seats)
        seats.update(participants)
        return len(seats) - before, len(seats)

    async def leave_seat(self, code: str, participant: str) -> None:
        if code in self._rooms:
            self._rooms[code].seats.discard(participant)
            self._rooms[code].away.discard(participant)

    async def set_away(self, code: str, participant: str, *, away: bool) -> None:
        """Whether somebody who is seated tries something else."""
        change = set.add if away else set.discard
        change(self._room(code).away, participant)

    async def state(self, code: str) -> RoomState:
        room = self._room(code)
        answers, away = count_answers(room.shown, room.answers.values()), len(room.away)
        return RoomState(room.revision, room.shown, answers, len(room.seats) - away, away)

    async def remove(self, code: str) -> None:
        """Forgets all of a room."""
        self._rooms.pop(code, None)

    async def say(self, code: str, news: str) -> None:
        """Lets every server hear that a room has changed."""
        self._hear(code, news)

    async def listen(self, hear: Hear) -> None:
        """Passes on what is said; may run as long as the server does."""
        self._hear = hear

    async def close(self) -> None:
        self._rooms.clear()

    def _room(self, code: str) -> _Room:
        room = self._rooms.get(code)
        if room is None or room.end < time.monotonic():
            raise NoSuchRoom(NO_SUCH_ROOM)
        return room
