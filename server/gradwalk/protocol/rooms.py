"""What a presenter and a hall say to each other."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

CODE = r"^[BCDFGHJKMNPQRSTVWXZ]{6}$"
"""Letters that are not taken for others when read aloud; without vowels they make no words."""

TraceId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
PositionText = Annotated[str, StringConstraints(pattern=r"^f?\d{1,6}(\.\d)?$")]
QuestionId = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z.:_-]{1,64}$")]
ParticipantId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
AnswerText = Annotated[str, StringConstraints(min_length=1, max_length=80)]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Question(_Message):
    """What the hall is asked."""

    id: QuestionId
    prompt: Annotated[str, StringConstraints(max_length=500)]


class Shown(_Message):
    """What the presenter shows: a state, never a change, so that whoever missed something needs only the last one."""

    trace: TraceId | None = Field(None, description="Program, inputs and events, on this deployment.")
    position: PositionText = Field("0", description="Step and phase, as in a link: `7.3`, `f2.1`.")
    speed: float = Field(1.0, ge=0.1, le=10)
    question: Question | None = None
    revealed: bool = Field(False, description="Whether the hall may see how it answered.")


class OpenRoom(_Message):
    """Asks for a new room."""

    shown: Shown = Shown()  # type: ignore[call-arg]


class PresentState(_Message):
    """The presenter's next state."""

    shown: Shown


class Presence(_Message):
    """Whether a follower follows or tries something of its own."""

    following: bool


class GiveAnswer(_Message):
    """One participant's answer; the last one counts."""

    participant: ParticipantId
    answer: AnswerText


class Tally(TypedDict):
    """How often one answer was given."""

    answer: str | None
    """None for all those that are not listed."""
    count: int


class RoomView(TypedDict):
    """What is sent down: everything that one needs to stand where the presenter stands."""

    revision: int
    """Grows with each state that the presenter sets."""
    shown: dict[str, object]
    answered: int
    """Answers to the open question."""
    tally: list[Tally] | None
    """Most frequent first; None for the hall until the presenter reveals it."""
    followers: int | None
    """Who follows now; only for the presenter."""
    away: int | None
    """Who is there, but tries something of its own; only for the presenter."""
