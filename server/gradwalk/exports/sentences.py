"""What is said of a trace: the page's own words, made by the page's own code."""

from typing import NamedTuple

from gradwalk.exports.exporter import ExportUnavailable
from gradwalk.exports.kit import tell, what_is_missing
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.wire import write_document


class StepWords(NamedTuple):
    """What is said of one backward step."""

    whole: str
    phases: list[str]
    """In order: collect, local rule, multiply, send, land; where a step does not stop, what its stop before says."""
    stops: list[int]
    """At which of them the step stops, from 1."""
    operands: list[str]
    """What the page calls them, in the order of the node's inputs."""


class Words(NamedTuple):
    """What is said of the backward walk."""

    start: str
    """Before the first step."""
    steps: list[StepWords]


def find_words(document: TraceDocument) -> Words:
    """The sentences of all backward steps, in order.

    Raises:
        ExportUnavailable: there is no engine here for the page's code, or that code is not built.
    """
    told = tell(write_document(document))
    if told is None:
        raise ExportUnavailable(what_is_missing())
    return Words(
        told["start"],
        [StepWords(each["whole"], each["phases"], each["stops"], each["operands"]) for each in told["backward"]],
    )
