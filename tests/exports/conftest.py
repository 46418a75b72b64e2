"""What exports are tried on: a process that draws, and a small trace."""

from collections.abc import Iterator

import pytest

from gradwalk.exports.scene import Scene
from gradwalk.protocol.document import TraceDocument
from tests.exports.readers import golden


@pytest.fixture
def scene() -> Iterator[Scene]:
    """V8 that nobody has asked before."""
    made = Scene()
    yield made
    made.end()


@pytest.fixture
def square() -> TraceDocument:
    """y = x * x at 3, with a leaf of an odd name and None on its second edge."""
    document = golden("x-times-x")
    for event in document["events"]:
        if event["type"] == "pass_started":
            event["graph"]["nodes"][1] |= {"leaf": "x<&>", "label": "x<&>"}
        elif event["type"] == "step" and event["accumulate"]:
            event["accumulate"]["leaf"] = "x<&>"
        elif event["type"] == "step":
            event["grad_inputs"] = [event["grad_inputs"][0], {"missing": "returned_none"}]
    return document
