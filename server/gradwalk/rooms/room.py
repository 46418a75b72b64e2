"""What holds for one room: its names and secrets, its state, what of it each audience may see, and what is refused."""

import hmac
import secrets
from collections import Counter
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from gradwalk.protocol.facts import fact
from gradwalk.protocol.rooms import RoomView, Shown, Tally
from gradwalk.words.errors import FactError

LETTERS = "BCDFGHJKMNPQRSTVWXZ"
CODE_LENGTH = 6
ANSWERS_TOLD = 12
"""Different answers that are listed; the others are counted together."""

NOT_THE_PRESENTER = fact("api-room-steered")
NO_SEAT = fact("api-room-no-seat")
NO_SUCH_ROOM = fact("api-room-none")


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


def new_code() -> str:
    """A code that can be read out in a hall."""
    return "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))


class RoomState(NamedTuple):
    """Everything that a view is made of."""

    revision: int
    shown: Shown
    answers: Counter[str]
    """How often each answer was given."""
    followers: int
    away: int


def new_secret() -> str:
    """The presenter's."""
    return secrets.token_urlsafe(24)


def check_secret(said: str, secret: str) -> None:
    """Raises NotThePresenter for another one."""
    if not hmac.compare_digest(said.encode(), secret.encode()):
        raise NotThePresenter(NOT_THE_PRESENTER)


def new_participant(secret: str) -> str:
    """A follower's own name in the room of this secret, which nobody else can make up."""
    number = secrets.token_hex(8)
    return number + _sign(number, secret)


def check_participant(said: str, secret: str) -> None:
    """Raises NotAParticipant for a name that this room did not give."""
    if not hmac.compare_digest(said[16:], _sign(said[:16], secret)):
        raise NotAParticipant(NO_SEAT)


def _sign(number: str, secret: str) -> str:
    return hmac.digest(secret.encode(), number.encode(), "sha256").hex()[:24]


def view_of(state: RoomState, audience: Audience) -> RoomView:
    """What this audience may see of it."""
    presents = audience is Audience.PRESENTER
    knows_answers = presents or state.shown.revealed
    return {
        "revision": state.revision,
        "shown": state.shown.model_dump(),
        "answered": state.answers.total() if knows_answers else 0,
        "tally": _tally(state.answers) if knows_answers else None,
        "followers": state.followers if presents else None,
        "away": state.away if presents else None,
    }


def check_open(shown: Shown, question: str) -> None:
    """Raises NotAsked unless this question may be answered now."""
    if shown.question is None or shown.question.id != question:
        raise NotAsked(fact("api-room-not-asked"))
    if shown.revealed:
        raise NotAsked(fact("api-room-revealed"))


def begins_anew(before: Shown, after: Shown) -> bool:
    """Whether the answers so far belong to something that is not asked any more."""
    return _asked(before) != _asked(after)


def keep_answer(shown: Shown, answer: str) -> str:
    """An answer as it is kept: with what was asked, since it may come when that is not asked any more."""
    return f"{_asked(shown)} {answer}"


def count_answers(shown: Shown, kept: Iterable[str]) -> Counter[str]:
    """How often each answer was given to what is asked now."""
    asked = keep_answer(shown, "")
    return Counter(answer.removeprefix(asked) for answer in kept if answer.startswith(asked))


def _asked(shown: Shown) -> str:
    return f"{shown.trace}/{shown.question and shown.question.id}"


def _tally(answers: Counter[str]) -> list[Tally]:
    ordered = sorted(answers.items(), key=lambda each: (-each[1], each[0]))
    told: list[Tally] = [{"answer": answer, "count": count} for answer, count in ordered[:ANSWERS_TOLD]]
    rest = sum(count for _, count in ordered[ANSWERS_TOLD:])
    return [*told, {"answer": None, "count": rest}] if rest else told
