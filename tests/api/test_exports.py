"""Files made of a trace, asked for over HTTP."""

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from gradwalk.exports.catalogue import EXPORTERS

PROGRAM = "x = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()\n"


def traced(server: Any, source: str) -> str:
    with server.client.stream(
        "POST", "/api/traces", json={"source": source}, headers={"Accept": "text/event-stream"}
    ) as answer:
        found = re.search(r'"id":"([0-9a-f]{40})"', "".join(answer.iter_text()))
    assert found
    return found.group(1)


@pytest.mark.parametrize("exporter", EXPORTERS, ids=lambda exporter: exporter.name)
def test_every_export_of_the_list_is_served_and_is_the_same_twice(server: Any, exporter: Any) -> None:
    trace = traced(server, PROGRAM)
    answers = [server.client.get(f"/api/traces/{trace}/export/{exporter.name}") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].headers["content-type"].startswith(exporter.media_type)
    assert f".{exporter.suffix}" in answers[0].headers["content-disposition"]
    assert answers[0].content == answers[1].content


def test_a_step_and_phase_can_be_chosen(server: Any) -> None:
    trace = traced(server, PROGRAM)
    words = {
        phase: "".join(
            ET.fromstring(server.client.get(f"/api/traces/{trace}/export/svg?step=2&phase={phase}").content).itertext()
        )
        for phase in (1, 5)
    }
    assert ".grad not computed" in words[1]
    assert ".grad 6" in words[5]


def test_the_list_is_served(server: Any) -> None:
    listed = server.client.get("/api/exports").json()["exports"]
    assert [each["name"] for each in listed] == [exporter.name for exporter in EXPORTERS]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("export/docx", 404, "There are: json"),
        ("export/svg?phase=6", 422, "phase"),
        ("export/svg?step=-1", 422, "step"),
    ],
)
def test_what_cannot_be_exported_says_why(server: Any, path: str, status: int, words: str) -> None:
    answer = server.client.get(f"/api/traces/{traced(server, PROGRAM)}/{path}")
    assert answer.status_code == status
    assert words in answer.json()["detail"]


def test_a_trace_without_a_pass_has_nothing_to_draw(server: Any) -> None:
    answer = server.client.get(f"/api/traces/{traced(server, 'x = 1')}/export/png")
    assert answer.status_code == 409
    assert "no backward pass" in answer.json()["detail"]
