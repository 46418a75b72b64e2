"""The trace of an example, made in this process."""

from functools import cache
from typing import Any

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from gradwalk.protocol.document import assemble_document
from gradwalk.protocol.events import Event
from gradwalk.protocol.requests import SERVER_LIMITS, TraceRequest
from gradwalk.tracer.run import trace_program

BY_SLUG = {example.slug: example for example in EXAMPLES}


def trace_example(example: Example) -> dict[str, Any]:
    """The document as the server would make it; once per example, so do not change it."""
    return _trace(example.slug)


@cache
def _trace(slug: str) -> dict[str, Any]:
    example = BY_SLUG[slug]
    request = TraceRequest.model_validate({"source": example.source, "options": example.options})
    events: list[Event] = []
    trace_program(request, events.append, SERVER_LIMITS)
    return dict(assemble_document(events))
