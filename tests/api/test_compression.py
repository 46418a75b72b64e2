"""Answers in the coding that the reader takes: zstd's own decoder and Python's gzip read them, as does httpx's."""

import asyncio
import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gradwalk.api.codings import choose_coding
from gradwalk.api.made_once import MadeOnce
from tests.world.stream import events_in

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

READ = {"zstd": zstd.decompress, "gzip": gzip.decompress, "identity": bytes}
CODINGS = sorted(READ)
STATIC = Path(__file__).parents[2] / "server" / "gradwalk" / "static"
PROGRAM = "import torch\nx = torch.linspace(0, 1, 40, requires_grad=True)\n(x.sin() * x.exp()).sum().backward()\n"
ENDLESS = PROGRAM + "while True: pass\n"


def ask(server: Any, path: str, coding: str, verb: str = "GET", json: Any = None, **headers: str) -> tuple[Any, bytes]:
    """The answer, and its body as it went over the line."""
    with server.client.stream(verb, path, json=json, headers={"Accept-Encoding": coding, **headers}) as answer:
        return answer, b"".join(answer.iter_raw())


def trace(server: Any, source: str, coding: str) -> bytes:
    """The whole stream of a POST, as it went over the line."""
    answer, body = ask(server, "/api/traces", coding, "POST", {"source": source}, Accept="text/event-stream")
    assert answer.headers.get("content-encoding", "identity") == coding
    assert "accept-encoding" in answer.headers["vary"].lower()
    return body


def batches(stream: bytes) -> list[Any]:
    return list(events_in(stream.decode()))


@pytest.mark.parametrize(
    ("accepted", "chosen"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("zstd;q=0.5, gzip;q=0.8", "gzip"),
        ("zstd ; q=0.001,GZIP;q=0", "zstd"),
        ("zstd;q=0, *;q=0.1", "gzip"),
        ("identity, gzip;q=0.5", None),
        ("identity;q=0.5, gzip", "gzip"),
        (",,;;q=,\x7f,gzip;q=2, zstd;q=nan", None),
    ],
)
def test_the_coding_is_what_the_reader_likes_best(accepted: str, chosen: str | None) -> None:
    assert choose_coding(accepted) == chosen


def test_a_trace_is_the_same_in_every_coding_as_a_document_and_as_a_stream_live_and_kept(server: Any) -> None:
    source = PROGRAM + "# its own\n"
    streams = {coding: READ[coding](trace(server, source, coding)) for coding in CODINGS}
    live = READ["gzip"](trace(server, source + "# another\n", "gzip"))
    events = batches(live)
    assert len({json.dumps(batches(stream)) for stream in streams.values()}) == 1
    assert len(events) == len(batches(streams["zstd"])) > 5
    assert all(stream.endswith(b"}\n\n") and b"event: done" in stream for stream in (*streams.values(), live))
    path = f"/api/traces/{events[0]['id']}"
    # Twice: the second time nothing has to be made any more.
    for coding in CODINGS * 2:
        answer, body = ask(server, path, coding)
        assert answer.headers.get("content-encoding", "identity") == coding
        # What is not compressed is paged: how long it is is known at its end.
        assert answer.headers.get("content-length") == (None if coding == "identity" else str(len(body)))
        assert (json.loads(READ[coding](body))["events"], answer.headers["vary"]) == (events, "Accept-Encoding")
        known, nothing = ask(server, path, coding, **{"If-None-Match": answer.headers["etag"]})
        assert (known.status_code, nothing, known.headers["etag"]) == (304, b"", f'W/"{events[0]["id"]}"')
        # A reader that comes back gets the rest.
        _, body = ask(server, f"{path}/events", coding, **{"Last-Event-ID": "2"})
        assert batches(READ[coding](body)) == events[3:]


def test_what_has_happened_can_be_read_while_the_program_still_runs(server: Any) -> None:
    """In zstd a browser does: `tests/e2e/test_main_story.py`."""
    headers = {"Accept": "text/event-stream", "Accept-Encoding": "gzip"}
    with server.client.stream("POST", "/api/traces", json={"source": ENDLESS}, headers=headers) as answer:
        read = b""
        for arrived in answer.iter_bytes():
            read += arrived
            if b'"type":"step"' in read:
                break
        assert server.client.get(f"/api/traces/{batches(read)[0]['id']}").status_code == 202


def test_ordinary_answers_are_compressed_where_that_is_worth_while(server: Any) -> None:
    plain = server.client.get("/api/examples", headers={"Accept-Encoding": "identity"})
    for coding in CODINGS:
        answer, body = ask(server, "/api/examples", coding)
        assert answer.headers.get("content-encoding", "identity") == coding
        assert (READ[coding](body), answer.headers["content-length"]) == (plain.content, str(len(body)))
        assert answer.headers.get_list("vary", split_commas=True) == ["Accept-Language", "Accept-Encoding"]
    assert "content-encoding" not in ask(server, "/healthz", "zstd")[0].headers, "it is short"
    identity = batches(READ["zstd"](trace(server, PROGRAM, "zstd")))[0]["id"]
    assert "content-encoding" not in ask(server, f"/api/traces/{identity}/export/png", "zstd")[0].headers
    picture, head = (ask(server, f"/api/traces/{identity}/export/svg", "zstd", verb) for verb in ("GET", "HEAD"))
    assert [answer.headers.get("content-encoding") for answer, _ in (picture, head)] == ["zstd"] * 2
    assert (READ["zstd"](picture[1])[-7:], head[1]) == (b"</svg>\n", b"")


def test_the_pages_files_are_the_same_in_every_coding_and_a_range_is_one_of_the_plain_file(server: Any) -> None:
    module = max(STATIC.glob("assets/*.js"), key=lambda path: path.stat().st_size)
    path = f"/assets/{module.name}"
    for coding in CODINGS:
        answer, body = ask(server, path, coding)
        assert (READ[coding](body), answer.headers["content-length"]) == (module.read_bytes(), str(len(body)))
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["vary"] == "Accept-Encoding"
        head, nothing = ask(server, path, coding, "HEAD")
        kept = ("content-length", "content-encoding", "content-type", "etag", "vary")
        assert [nothing, *map(head.headers.get, kept)] == [b"", *map(answer.headers.get, kept)]
        known, nothing = ask(server, path, coding, **{"If-None-Match": answer.headers["etag"]})
        assert (known.status_code, nothing) == (304, b"")
    part, body = ask(server, path, "zstd", Range="bytes=1000-1999")
    assert (part.status_code, body, "content-encoding" in part.headers) == (206, module.read_bytes()[1000:2000], False)
    compressed, _ = ask(server, path, "zstd")
    whole, body = ask(server, path, "zstd", Range="bytes=1000-1999", **{"If-Range": compressed.headers["etag"]})
    assert (whole.status_code, body) == (200, module.read_bytes())
    font = next(STATIC.glob("assets/*.woff2"))
    answer, body = ask(server, f"/assets/{font.name}", "zstd, gzip")
    assert ("content-encoding" in answer.headers, body) == (False, font.read_bytes()), "it is compressed already"


async def test_what_many_ask_for_at_once_is_made_once_and_a_failure_is_tried_again() -> None:
    made: list[str] = []

    async def make() -> str:
        made.append("x")
        if len(made) == 1:
            raise ValueError("the first one fails")
        return "made"

    kept = MadeOnce[str, str](50, lambda key, value: len(key + value))
    first = await asyncio.gather(*[kept.ask("a", make) for _ in range(20)], return_exceptions=True)
    assert all(isinstance(each, ValueError) for each in first)
    assert await asyncio.gather(*[kept.ask("a", make) for _ in range(20)]) == ["made"] * 20
    assert len(made) == 2
    for key in ("b", "c" * 40):
        await kept.ask("a", make)
        await kept.ask(key, make)
    # Together they are more than 50 bytes: what was not asked for longest is forgotten first.
    assert [key in kept for key in ("a", "b", "c" * 40)] == [True, False, True]
