"""Files made of a trace, asked for over HTTP."""

import json
from typing import Any

import pytest

from gradwalk.exports.catalogue import EXPORTERS
from tests.exports.readers import words_of
from tests.world.stream import trace_events

PROGRAM = "x = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()\n"


def traced(server: Any, source: str) -> str:
    return str(trace_events(server.client, source)[0]["id"])


def test_a_step_and_phase_can_be_chosen_and_a_long_export_tells_how_far_it_is(server: Any) -> None:
    listed = server.client.get("/api/exports").json()["exports"]
    assert [each["name"] for each in listed] == [exporter.name for exporter in EXPORTERS]
    trace = traced(server, PROGRAM)
    for phase, name in ((1, "collect"), (5, "land")):
        picture = server.client.get(f"/api/traces/{trace}/export/svg?step=2&phase={phase}")
        assert f"Step 2 of 2, {name}" in words_of(picture.content)
        assert picture.headers["content-type"].startswith("image/svg+xml")
        assert ".svg" in picture.headers["content-disposition"]
    path = f"/api/traces/{trace}/export/pages"
    with server.client.stream("GET", f"{path}/progress?every=phase&direction=forward") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        frames = [frame.splitlines() for frame in "".join(answer.iter_text()).strip().split("\n\n")]
    told = [(kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for kind, data in frames]
    progress = [(data["done"], data["of"]) for kind, data in told if kind == "progress"]
    assert progress == sorted(progress)
    assert progress[-1] == (3, 3)
    kind, last = told[-1]
    assert kind == "done"
    assert server.client.get(last["address"]).content.startswith(b"%PDF")
    with server.client.stream("GET", f"/api/traces/{traced(server, 'x = 1')}/export/pages/progress") as answer:
        assert '"problem-nothing-to-draw"' in "".join(answer.iter_text())


@pytest.mark.parametrize(
    ("source", "path", "status", "kind"),
    [
        (PROGRAM, "export/docx", 404, "api-no-export"),
        (PROGRAM, "export/svg?phase=6", 422, "api-invalid"),
        (PROGRAM, "export/svg?step=-1", 422, "api-invalid"),
        ("x = 1", "export/png", 409, "problem-nothing-to-draw"),
    ],
)
def test_what_cannot_be_exported_says_why(server: Any, source: str, path: str, status: int, kind: str) -> None:
    answer = server.client.get(f"/api/traces/{traced(server, source)}/{path}")
    assert (answer.status_code, answer.json()["fact"]["kind"]) == (status, kind)
