"""What every implementation of rooms offers, so that the routes do not care how many servers share them."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from gradwalk.protocol.rooms import Shown
from gradwalk.words.errors import FactError


class RoomError(FactError):
    """Something about a room that its asker is told."""


class NoSuchRoom(RoomError):
    """Closed, or never opened."""


class NotThePresenter(RoomError):
    """The secret is not this room's."""


class NotAParticipant(RoomError):
    """A name that the room did not give, or whose page is not connected."""


class NotAsked(RoomError):
    """An answer to a question that is not open."""


class RoomsFull(RoomError):
    """No more rooms, or no more followers in this one."""


class RoomsOutOfReach(RoomError):
    """What several servers share does not answer now."""


class GoElsewhere(RoomsOutOfReach):
    """This server goes down, the room does not: whoever follows comes back and lands on another."""


class Audience(Enum):
    """Who is told how much."""

    PRESENTER = "presenter"
    HALL = "hall"


@dataclass(frozen=True, slots=True)
class RoomLimits:
    """How many rooms there may be, and how long one stays open."""

    rooms_max: int
    client_rooms_max: int
    places_max: int
    """Participants of one room."""
    idle_seconds: float
    """After which a room without a presenter ends."""


class Opened(NamedTuple):
    """A new room: its code for everybody, its secret for the presenter."""

    code: str
    secret: str


class Counts(NamedTuple):
    """What this process holds, for metrics."""

    rooms: int
    participants: int
    """Who is connected here; a second tab counts once."""


class Rooms(Protocol):
    """Live rooms. Nothing of a room is kept once it is closed.

    Raises:
        NoSuchRoom: by every method that takes a code, when that room is closed.
        NotThePresenter: by those that take a secret, for another one.
        NotAParticipant: by those that take a participant, for a name that this room did not give.
    """

    async def open(self, shown: Shown, client: str) -> Opened:
        """A new room. Where all are taken, the emptiest that nobody presents makes room.

        Raises:
            RoomsFull: this client has too many, or every one is presented.
        """

    async def seat(self, code: str) -> str:
        """A new follower's own name in the room."""

    async def view(self, code: str) -> bytes:
        """What the hall sees now, encoded."""

    async def present(self, code: str, secret: str, shown: Shown) -> int:
        """Sets what everybody sees; gives the revision."""

    async def answer(self, code: str, question: str, participant: str, answer: str) -> None:
        """Counts a participant's answer, in place of an earlier one.

        Raises:
            NotAParticipant: also where its page is not connected.
            NotAsked: this question is not open, or its answers were revealed.
            RoomsFull: more participants than a room has places.
        """

    async def note_presence(self, code: str, participant: str, *, following: bool) -> None:
        """Whether a connected participant follows or went off to try something."""

    async def authorize(self, code: str, secret: str) -> None:
        """Nothing, for the presenter."""

    def follow(self, code: str, audience: Audience, participant: str | None) -> AsyncGenerator[bytes | None]:
        """The encoded view now and after every change; None when nothing has changed for a while.

        Ends when the room is closed. A slow reader misses states in between, never the last one.

        Raises:
            RoomsFull: every place is taken.
            GoElsewhere: this server goes down, and others know the room.
        """

    async def close_room(self, code: str, secret: str) -> None:
        """Ends a room and forgets all of it."""

    def counts(self) -> Counts:
        """As of now."""

    def stop(self) -> None:
        """Makes every follower leave: the server is going down."""

    async def close(self) -> None:
        """Lets go of everything, after `stop`."""
