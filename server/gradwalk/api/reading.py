"""What is read out of finished traces for a server, in processes of their own: parsing one takes the GIL for long.

Each function takes the document as it is kept, compressed, and gives bytes or something small.
Those that draw or tell what a step does raise NothingToExport and ExportUnavailable, as exporters do.
"""

import json

import orjson

from gradwalk.exports.catalogue import find_exporter
from gradwalk.exports.exporter import Selection
from gradwalk.exports.kit import with_baked
from gradwalk.exports.pages import write_preview
from gradwalk.exports.walk import Walk
from gradwalk.protocol.document import TraceDocument, encode, split_document
from gradwalk.protocol.requests import TraceRequest
from gradwalk.protocol.upgrades import load_document
from gradwalk.protocol.values import TensorValue
from gradwalk.protocol.wire import nth_value
from gradwalk.store.compression import decompress
from gradwalk.words.catalogue import speaking
from gradwalk.words.problems import tell_problem


def load(stored: bytes) -> TraceDocument:
    """The document in memory."""
    return load_document(json.loads(decompress(stored)))


def make_file(stored: bytes, name: str, selection: Selection) -> bytes:
    """A file by an exporter's name."""
    exporter = find_exporter(name)
    assert exporter is not None
    return exporter.make(load(stored), selection)


def bake(stored: bytes) -> bytes:
    """The document with everything worked out that its viewer would work out on sight."""
    return encode(with_baked(load(stored)))


def draw_preview(stored: bytes, selection: Selection, width: int, height: int) -> bytes:
    """One stop as a PNG of exactly that size."""
    with speaking(selection.lang):
        return write_preview(load(stored), selection, width, height)


def describe_stop(stored: bytes, selection: Selection) -> bytes:
    """JSON: which step it is, and what is said there."""
    with speaking(selection.lang):
        stop = Walk(load(stored)).stop(selection)
    return encode([stop.step, stop.said])


def tell_all(stored: bytes, language: str) -> bytes:
    """JSON, for a reader without scripts: a sentence for each backward step, and what went wrong."""
    document = load(stored)
    with speaking(language):
        sentences = Walk(document).sentences
    problems = [tell_problem(event, language) for event in document["events"] if event["type"] == "problem"]
    return encode({"sentences": sentences, "problems": [f"{told.title}: {told.message}" for told in problems]})


def read_events(stored: bytes) -> list[bytes]:
    """The encoded events."""
    return split_document(decompress(stored))


def read_value(stored: bytes, number: int) -> TensorValue | None:
    """A value by its number; None where there are not so many."""
    return nth_value(read_events(stored), number)


def read_program(stored: bytes) -> TraceRequest:
    """What it is a trace of."""
    document = orjson.loads(decompress(stored))
    return TraceRequest.model_validate({"source": document["source"], "options": document["options"]})
