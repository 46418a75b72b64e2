"""The shapes of answers, for the description of the API; the fuzz tests hold every answer against them."""

from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from gradwalk.protocol.facts import Fact


@with_config(ConfigDict(extra="forbid"))
class _Whole(TypedDict):
    """What has these fields and no others."""


class Refusal(_Whole):
    """RFC 9457; `kind` and `hint` mean what they mean in a `problem` event."""

    type: str
    title: str
    status: int
    detail: str
    kind: str
    hint: NotRequired[str]
    fact: Fact
    """What `title`, `detail` and `hint` say, in the language of `Content-Language`."""


class Links(_Whole):
    """Where to go from here."""

    self: str
    events: str


class RoomLinks(Links):
    """Where to go from here."""

    page: str


class ProgramLinks(_Whole):
    """Where to go from here."""

    self: str
    page: str
    embed: str


class KeptProgram(_Whole):
    """A program that is kept for its permalink."""

    id: str
    links: ProgramLinks


class UnderWay(_Whole):
    """A trace that is not finished."""

    id: str
    status: Literal["queued", "running", "done"]


class Receipt(UnderWay):
    """A trace that was asked for."""

    links: Links


class OpenedRoom(_Whole):
    """A new room: the code is for everybody, the secret for the presenter."""

    code: str
    secret: str
    links: RoomLinks


class Seat(_Whole):
    """A follower's name in a room."""

    participant: str


class Revision(_Whole):
    """Of the state that was set."""

    revision: int


class Health(_Whole):
    """The process answers."""

    status: Literal["ok"]


class Readiness(TypedDict):
    """What readiness is made of."""

    status: Literal["ready", "not ready"]
    store: str
    """`ok`, or what is the matter."""
    started: int
    running: int
    waiting: int
    protection: dict[str, Any] | None
    layers: dict[str, Any]
    versions: dict[str, str] | None


class AboutServer(TypedDict):
    """What the page has to know."""

    protection: dict[str, Any] | None
    versions: dict[str, str] | None


class ExportKind(_Whole):
    """One form in which a trace can be had."""

    name: str
    media_type: str
    suffix: str
    summary: str
    fact: Fact
    """What the summary says."""
    is_still: bool
    has_pages: bool


class ListedExample(_Whole):
    """A shipped program; `title`, `question` and `learning_goal` say its `fact`."""

    slug: str
    title: str
    question: str
    learning_goal: str
    fact: Fact
    source: str
    options: dict[str, Any]
    stop: str
    follows: dict[str, str]
    seed_files: list[str]


class ExportKinds(_Whole):
    """In the order of the menu."""

    exports: list[ExportKind]


class RunStatus(TypedDict):
    """Of a run, and `bye` when the server goes down; `ahead` counts the runs that come first."""

    state: Literal["queued", "running", "done", "bye"]
    ahead: NotRequired[int]


class TraceDone(TypedDict):
    """The stream is whole; the trace can be fetched."""

    id: str


class ExportProgress(TypedDict):
    """Pages drawn so far, and jobs that come first while it waits."""

    done: int
    of: int
    ahead: int


class ExportDone(TypedDict):
    """Where the file is."""

    address: str


class ExportProblem(TypedDict):
    """Why there is no file."""

    detail: str
    fact: Fact


class OEmbed(_Whole):
    """A rich answer of oEmbed 1.0; the picture only where it fits."""

    version: Literal["1.0"]
    type: Literal["rich"]
    title: str
    provider_name: str
    provider_url: str
    cache_age: int
    html: str
    width: int
    height: int
    thumbnail_url: NotRequired[str]
    thumbnail_width: NotRequired[int]
    thumbnail_height: NotRequired[int]
