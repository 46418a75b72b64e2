"""A program behind a link: its trace, its title, and the addresses of its pages."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

import orjson
from fastapi import Depends, Query, Request

from gradwalk.api.errors import FactAnswer
from gradwalk.api.service import Service
from gradwalk.api.snippets import SnippetId
from gradwalk.api.traces import Client, Language, ServiceOf
from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.exports.exporter import Direction, Selection
from gradwalk.protocol.document import join_document
from gradwalk.protocol.facts import fact
from gradwalk.protocol.requests import TraceRequest
from gradwalk.store.compression import compress
from gradwalk.words.catalogue import LANGUAGE, say, tell_attribute

RUN_SECONDS_MAX = 60.0
TITLE_CHARACTERS_MAX = 110
_ROOM_FOR_WORDS = 22
_TITLE_SOUGHT_CHARACTERS = 2_000
"""Of a program, which may be one of a hundred thousand lines: the event loop waits for this."""
PLACE = r"^(f(0|[1-9]\d{0,8})(\.[1-3])?|(0|[1-9]\d{0,8})(\.[1-5])?)$"

Place = Annotated[
    str | None,
    Query(alias="s", description="`step.phase`, with an `f` before it in the forward walk; a step alone is its first."),
]


def read_place(text: str | None) -> str | None:
    """`7.3` as it is, None for nothing and for what is no place: a damaged link still opens."""
    return text if text is not None and re.fullmatch(PLACE, text) else None


def selection_of(place: str | None, language: str = LANGUAGE) -> Selection:
    """The still that a place names; the last one without a place."""
    if place is None:
        return Selection(lang=language)
    step, _, phase = place.removeprefix("f").partition(".")
    direction: Direction = "forward" if place.startswith("f") else "backward"
    return Selection(int(step), int(phase) if phase else 1, direction=direction, lang=language)


class Kept(NamedTuple):
    """A finished trace."""

    trace: str
    stored: bytes
    """Compressed."""


@dataclass(frozen=True)
class Link:
    """A program that is kept, as one request asks for it."""

    service: Service
    client: str
    language: str
    base: str
    """The address under which the reader reached this server."""
    snippet: str
    program: TraceRequest
    place: str | None

    @property
    def title(self) -> str:
        """Of its pages."""
        return title_of(self.program.source, self.language)

    @property
    def addresses(self) -> dict[str, str]:
        """Of everything that it can lead to; a place such as `7.3` goes along."""
        at = f"?s={self.place}" if self.place else ""
        page = f"{self.base}/t/{self.snippet}{at}"
        return {
            "page": page,
            "embed": f"{self.base}/embed/{self.snippet}{at}",
            "noscript": f"{self.base}/noscript/{self.snippet}",
            "preview": f"{self.base}/t/{self.snippet}/preview.png{at}",
            "oembed": f"{self.base}/oembed?{urlencode({'url': page})}",
        }

    async def find_stored(self) -> Kept | None:
        """The trace where it is known already; None also where nobody can say what its name would be."""
        if self.service.engine.status().versions is None:
            return None
        trace = await self.service.identify(self.program)
        stored = await self.service.find_trace(trace)
        return None if stored is None else Kept(trace, stored)

    async def find_trace(self) -> Kept:
        """The trace; an upgrade since the link was made means that the program runs once more.

        Raises:
            BusyError: there is no room for a run, or links ran too much for this client.
            FactAnswer: 504, it took too long.
        """
        trace = await self.service.identify(self.program)
        stored = await self.service.find_trace(trace)
        if stored is not None:
            return Kept(trace, stored)
        await self.service.rates.links.take(self.client)
        run = await self.service.start_trace(trace, self.program, self.client)
        try:
            async with asyncio.timeout(RUN_SECONDS_MAX):
                outcome = await self.service.runs.outcome_of(run)
        except TimeoutError:
            outcome = None
        if outcome is None:
            raise FactAnswer(HTTPStatus.GATEWAY_TIMEOUT, fact("api-program-waits"))
        return Kept(trace, await asyncio.to_thread(lambda: compress(join_document(run.log))))

    async def make(self, kind: str, kept: Kept, work: Callable[..., bytes], *arguments: object) -> bytes:
        """What `work`, a function of `api.reading`, makes of the trace: once for all who ask."""
        address = "/".join(map(str, (kind, kept.trace, *arguments)))
        return await self.service.make_quickly(address, self.client, work, kept.stored, *arguments)


async def open_link(
    snippet: SnippetId, request: Request, service: ServiceOf, client: Client, language: Language, place: Place = None
) -> Link:
    """What was kept under a snippet's address.

    Raises:
        FactAnswer: 404, nothing was.
    """
    body = await service.store.get_snippet(snippet)
    if body is None:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-program"))
    try:
        program = TraceRequest.model_validate(orjson.loads(body))
    except ValueError as error:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-program-unreadable")) from error
    return Link(service, client, language, str(request.base_url).rstrip("/"), snippet, program, read_place(place))


LinkOf = Annotated[Link, Depends(open_link)]


def title_of(source: str, language: str) -> str:
    """The question of a shipped example, else the program's first comment, else what it is."""
    text = source.strip()
    for example in EXAMPLES:
        if example.source.strip() == text:
            return (tell_attribute(example.fact, "question", language) or "").replace("`", "")
    for line in text[:_TITLE_SOUGHT_CHARACTERS].splitlines():
        comment = re.fullmatch(r"\s*#(?!@)\s*(\S.*)", line)
        if comment:
            return comment[1].strip()[:TITLE_CHARACTERS_MAX]
    last = text.rpartition("\n")[2].strip()
    if not last:
        return say("api-title", language)
    return say("api-title-of", language, line=last[: TITLE_CHARACTERS_MAX - _ROOM_FOR_WORDS])
