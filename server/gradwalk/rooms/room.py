"""What holds for every room: its names and secrets, its state, and what of it each audience may see."""

import hmac
import secrets
from collections import Counter
from typing import NamedTuple

from gradwalk.protocol.facts import fact
from gradwalk.protocol.rooms import RoomView, Shown, Tally
from gradwalk.rooms.rooms import Audience, NotAParticipant, NotAsked, NotThePresenter

LETTERS = "BCDFGHJKMNPQRSTVWXZ"
CODE_LENGTH = 6
ANSWERS_TOLD = 12
"""Different answers that are listed; the others are counted together."""

NOT_THE_PRESENTER = fact("api-room-steered")
NOT_OPEN = fact("api-room-not-asked")
REVEALED = fact("api-room-revealed")
NO_PLACE_FOR_ANSWER = fact("api-room-answers-full")
NO_PLACE = fact("api-room-full")
NO_SEAT = fact("api-room-no-seat")
NO_ROOM_LEFT = fact("api-rooms-full")
NO_ROOM_FOR_CLIENT = fact("api-rooms-client")
NO_SUCH_ROOM = fact("api-room-none")


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
        raise NotAsked(NOT_OPEN)
    if shown.revealed:
        raise NotAsked(REVEALED)


def begins_anew(before: Shown, after: Shown) -> bool:
    """Whether the answers so far belong to something that is not asked any more."""
    return (before.question and before.question.id) != (after.question and after.question.id) or (
        before.trace != after.trace
    )


def _tally(answers: Counter[str]) -> list[Tally]:
    ordered = sorted(answers.items(), key=lambda each: (-each[1], each[0]))
    told: list[Tally] = [{"answer": answer, "count": count} for answer, count in ordered[:ANSWERS_TOLD]]
    rest = sum(count for _, count in ordered[ANSWERS_TOLD:])
    return [*told, {"answer": None, "count": rest}] if rest else told
