"""Server-sent events as a client reads them."""

import json
from collections.abc import Iterator
from typing import Any

import httpx

ACCEPT = {"Accept": "text/event-stream"}


def events_in(text: str) -> Iterator[dict[str, Any]]:
    """The events of a stream or of a part of it, in order; other messages are left out."""
    for line in text.split("\n"):
        if line.startswith("data: ["):
            yield from json.loads(line[len("data: ") :])


def trace_events(client: httpx.Client, source: str, **options: Any) -> list[dict[str, Any]]:
    """Posts a program and reads its stream to the end."""
    body = {"source": source, "options": options}
    answer = client.post("/api/traces", json=body, headers=ACCEPT)
    answer.raise_for_status()
    return list(events_in(answer.text))


def kind_of(events: list[Any]) -> str:
    """How a whole stream says that the run went: the kind of its first problem, or `ok`."""
    assert_whole(events)
    return next((event["kind"] for event in events if event["type"] == "problem"), "ok")


def assert_whole(events: list[Any]) -> None:
    """Every event once, in order, from the first to the last."""
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "started"
    assert events[-1]["type"] == "finished"
