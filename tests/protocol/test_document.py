"""Addresses, limits and the round trip of a document."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gradwalk.protocol.document import (
    FORMAT,
    canonical_request,
    encode,
    join_document,
    snippet_id,
    split_document,
    trace_id,
)
from gradwalk.protocol.events import EVENT
from gradwalk.protocol.requests import SERVER_LIMITS, Limits, TraceRequest, resolve_limits
from gradwalk.protocol.upgrades import load_document
from gradwalk.protocol.wire import Writer

VERSIONS = {"gradwalk": "0.1.0", "torch": "2.13.0"}


def request(source: str = "x = 1", **options: object) -> TraceRequest:
    return TraceRequest.model_validate({"source": source, "options": options})


def started(**more: object) -> dict:
    header = {"format": FORMAT, "id": "a" * 40, "source": "x = 1", "options": {"seed": 0}, "versions": VERSIONS}
    return {"seq": 0, "type": "started", **header, **more}


def finished(seq: int = 1) -> dict:
    return {"seq": seq, "type": "finished", "passes": 0, "steps": 0, "problems": 0, "truncated": None}


def test_spelling_does_not_change_an_address_and_a_difference_does() -> None:
    assert snippet_id(request("a\nb")) == snippet_id(request("a\r\nb")) == snippet_id(request("a\rb"))
    assert snippet_id(request()) == snippet_id(request(seed=0, inputs={}, limits={}))
    variants = [request(), request(seed=1), request(inputs={"x": 2.0}), request(grad_output=[1.0, 0.0]), request("y")]
    assert len({snippet_id(variant) for variant in variants}) == len(variants)
    assert trace_id(request(), VERSIONS) != trace_id(request(), {**VERSIONS, "torch": "2.14.0"})


@settings(max_examples=25)
@given(st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False, allow_infinity=False), max_size=4))
def test_addresses_do_not_depend_on_the_order_of_inputs(inputs: dict[str, float]) -> None:
    turned = dict(reversed(inputs.items()))
    assert snippet_id(request(inputs=inputs)) == snippet_id(request(inputs=turned))


def test_a_document_comes_apart_into_the_bytes_it_was_made_of() -> None:
    told = started(source='x = "events\\":[]}"  # \u03c0 \U0001f600', options={"inputs": {"events": [1.0, 2.0]}})
    events = [encode(told), encode({"seq": 1, "numbers": [1e-05, 1.0, -0.0]}), encode(finished(2))]
    document = join_document(events)
    assert split_document(document) == events
    assert json.loads(document)["events"] == [json.loads(event) for event in events]


def test_limits_are_only_ever_lowered() -> None:
    lowered = resolve_limits(Limits(steps=3, elements=10**9))
    assert lowered.steps == 3
    assert lowered.elements == SERVER_LIMITS.elements
    assert resolve_limits(Limits(elements=10**9), ceiling=None).elements == 10**9


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", 0.1, -0.0, 5e-324, True, [1.0, "NaN"]])
def test_numbers_keep_their_spelling(number: object) -> None:
    text = encode(started(inputs=[{"name": "x", "value": {"shape": [1], "dtype": "float64", "data": [number]}}]))
    assert encode(EVENT.validate_json(text)) == text


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_bare_number_without_a_json_form_is_refused_and_never_becomes_null(number: float) -> None:
    for value in (number, {"x": [1.0, number]}, {"NaN": "Infinity", "x": number}):
        with pytest.raises(ValueError, match="not JSON compliant"):
            encode(value)
    given = [{"name": "x", "value": {"shape": [], "dtype": "float32", "data": [number]}}]
    for broken in (started(options={"seed": number}), started(inputs=given)):
        with pytest.raises(ValueError, match="JSON compliant"):
            Writer().write(broken)


def test_half_a_character_becomes_a_question_mark_wherever_it_stands() -> None:
    value = {"a\ud800": ["\udfff\u00e9", ("b",), {"c": 1e-05}], "d": "\U0001f600"}
    assert json.loads(encode(value)) == {"a?": ["?\u00e9", ["b"], {"c": 1e-05}], "d": "\U0001f600"}


BROKEN = [
    started(surprise=1), started(seq="0"), {"seq": 0, "type": "nonsense"}, {"seq": 0}, {**finished(), "truncated": 7},
]  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_what_breaks_the_format_is_refused(broken: dict) -> None:
    with pytest.raises(ValidationError):
        EVENT.validate_python(broken)


@pytest.mark.parametrize("version", [None, "1", True, 0, -1, FORMAT + 1])
def test_a_document_of_no_known_format_is_refused(version: object) -> None:
    with pytest.raises(ValueError, match="upgrade gradwalk" if version == FORMAT + 1 else "not a gradwalk trace"):
        load_document({"format": version})


def test_non_finite_inputs_from_python_are_spelled_as_in_values() -> None:
    given = request("x", inputs={"x": [float("nan"), 1.0], "y": {"value": float("-inf")}}, grad_output=float("inf"))
    spelled = request("x", inputs={"x": ["NaN", 1.0], "y": {"value": "-Infinity"}}, grad_output="Infinity")
    assert canonical_request(given) == canonical_request(spelled)
    assert trace_id(given, VERSIONS) == trace_id(spelled, VERSIONS)
    json.loads(encode(canonical_request(given)), parse_constant=pytest.fail)
    # What a child is sent is the same request.
    sent = TraceRequest.model_validate_json(given.model_dump_json())
    assert sent.options.inputs == spelled.options.inputs
