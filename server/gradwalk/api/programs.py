"""A program behind a link: its trace, its title, and the addresses of its pages."""

import asyncio
import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

import orjson
from fastapi import Query, Request

from gradwalk.api.errors import FactAnswer
from gradwalk.api.service import Service
from gradwalk.engine.runs import RunState
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


@dataclass(frozen=True)
class Addresses:
    """Of everything that a link can lead to; absolute, without the place."""

    page: str
    embed: str
    noscript: str
    preview: str
    oembed: str


def addresses_of(request: Request, snippet: str, place: str | None = None) -> Addresses:
    """The addresses under which the reader reached this server; `place` such as `7.3` goes along."""
    base = str(request.base_url).rstrip("/")
    at = f"?s={place}" if place else ""
    page = f"{base}/t/{snippet}{at}"
    return Addresses(
        page=page,
        embed=f"{base}/embed/{snippet}{at}",
        noscript=f"{base}/noscript/{snippet}",
        preview=f"{base}/t/{snippet}/preview.png{at}",
        oembed=f"{base}/oembed?{urlencode({'url': page})}",
    )


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


async def find_program(service: Service, snippet: str) -> TraceRequest:
    """What was kept under a snippet's address.

    Raises:
        FactAnswer: 404, nothing was.
    """
    body = await service.store.get_snippet(snippet)
    if body is None:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-program"))
    try:
        return TraceRequest.model_validate(orjson.loads(body))
    except ValueError as error:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-program-unreadable")) from error


class Kept(NamedTuple):
    """A finished trace."""

    trace: str
    stored: bytes
    """Compressed."""


async def find_stored(service: Service, request: TraceRequest) -> Kept | None:
    """The trace of a program where it is known already; None also where nobody can say what its name would be."""
    if service.engine.status().versions is None:
        return None
    trace = await service.identify(request)
    stored = await service.find_trace(trace)
    return None if stored is None else Kept(trace, stored)


async def find_trace(service: Service, request: TraceRequest, client: str) -> Kept:
    """The trace of a program; an upgrade since the link was made means that it runs once more.

    Raises:
        BusyError: there is no room for a run, or links ran too much for this client.
        FactAnswer: 504, it took too long.
    """
    trace = await service.identify(request)
    stored = await service.find_trace(trace)
    if stored is not None:
        return Kept(trace, stored)
    await service.rates.links.take(client)
    run = await service.start_trace(trace, request, client)
    with run.follower():
        try:
            async with asyncio.timeout(RUN_SECONDS_MAX):
                while run.state is not RunState.DONE:
                    await run.news_after(len(run.log), RUN_SECONDS_MAX)
        except TimeoutError as error:
            raise FactAnswer(HTTPStatus.GATEWAY_TIMEOUT, fact("api-program-waits")) from error
    return Kept(trace, await asyncio.to_thread(lambda: compress(join_document(run.log))))


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
