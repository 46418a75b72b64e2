"""One room: what is shown, who is there, what they answered. No waiting and no network here."""

import hmac
import secrets
from collections import Counter

from gradwalk.protocol.document import encode
from gradwalk.protocol.rooms import RoomView, Shown, Tally
from gradwalk.rooms.rooms import Audience, NotAsked, NotThePresenter, RoomsFull

LETTERS = "BCDFGHJKMNPQRSTVWXZ"
CODE_LENGTH = 6
ANSWERS_TOLD = 12
"""Different answers that are listed; the others are counted together."""
OTHERS = "other answers"


def new_code() -> str:
    """A code that can be read out in a hall."""
    return "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))


class Room:
    """The state of one lecture."""

    def __init__(self, code: str, shown: Shown, places_max: int) -> None:
        self.code = code
        self.secret = secrets.token_urlsafe(24)
        self.shown = shown
        self.revision = 1
        self._places_max = places_max
        self._connections: Counter[str] = Counter()
        self._away: set[str] = set()
        self._answers: dict[str, str] = {}
        self._encoded: dict[Audience, bytes] = {}

    def check_secret(self, secret: str) -> None:
        """Raises NotThePresenter for another one."""
        if not hmac.compare_digest(secret.encode(), self.secret.encode()):
            raise NotThePresenter("Only who opened this room can steer it.")

    def present(self, shown: Shown) -> int:
        """The next state; a new question starts without answers."""
        before, after = self.shown.question, shown.question
        if (before and before.id) != (after and after.id) or shown.trace != self.shown.trace:
            self._answers = {}
        self.shown = shown
        self.revision += 1
        self._encoded.clear()
        return self.revision

    def answer(self, question: str, participant: str, answer: str) -> None:
        """Counts it; the last answer of a participant is the one that counts."""
        asked = self.shown.question
        if asked is None or asked.id != question:
            raise NotAsked("This question is not open any more.")
        if self.shown.revealed:
            raise NotAsked("The answers are on show already.")
        if participant not in self._answers and len(self._answers) >= self._places_max:
            raise RoomsFull("This room has no place for another answer.")
        self._answers[participant] = answer
        self._encoded.clear()

    def enter(self, participant: str) -> None:
        """One more connection of a participant."""
        if participant not in self._connections and len(self._connections) >= self._places_max:
            raise RoomsFull("Every place of this room is taken.")
        self._connections[participant] += 1
        self._encoded.pop(Audience.PRESENTER, None)

    def leave(self, participant: str) -> None:
        """One connection less."""
        self._connections[participant] -= 1
        if self._connections[participant] <= 0:
            del self._connections[participant]
            self._away.discard(participant)
        self._encoded.pop(Audience.PRESENTER, None)

    @property
    def participants(self) -> int:
        """Who is connected, following or away."""
        return len(self._connections)

    def note_presence(self, participant: str, *, following: bool) -> None:
        """Only of who is connected: whoever is not there is neither following nor away."""
        if following:
            self._away.discard(participant)
        elif participant in self._connections:
            self._away.add(participant)
        self._encoded.pop(Audience.PRESENTER, None)

    def view(self, audience: Audience) -> bytes:
        """What this audience sees now; the same bytes for all of them."""
        if audience not in self._encoded:
            self._encoded[audience] = encode(self._view(audience))
        return self._encoded[audience]

    def _view(self, audience: Audience) -> RoomView:
        presents = audience is Audience.PRESENTER
        return {
            "revision": self.revision,
            "shown": self.shown.model_dump(),
            "answered": len(self._answers) if presents or self.shown.revealed else 0,
            "tally": self._tally() if presents or self.shown.revealed else None,
            "followers": len(self._connections) - len(self._away) if presents else None,
            "away": len(self._away) if presents else None,
        }

    def _tally(self) -> list[Tally]:
        counts = Counter(self._answers.values())
        ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        told: list[Tally] = [{"answer": answer, "count": count} for answer, count in ordered[:ANSWERS_TOLD]]
        rest = sum(count for _, count in ordered[ANSWERS_TOLD:])
        return [*told, {"answer": OTHERS, "count": rest}] if rest else told
