"""One function per step of the format version, so that every old trace still opens."""

import math
from array import array
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from gradwalk.protocol.document import DOCUMENT, FORMAT, TraceDocument
from gradwalk.protocol.wire import read_document

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]


def _without_sentences(raw: dict[str, Any]) -> dict[str, Any]:
    """Format 1 carried sentences and DOT; since 2 whoever shows a trace makes them, of its facts and its graph."""
    return {**raw, "format": 2, "events": [_event_without_sentences(event) for event in raw.get("events", [])]}


def _event_without_sentences(event: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in event.items() if name not in ("narration", "phases")}
    if event.get("type") == "started":
        # The names of options and inputs are the program's own.
        return {**kept, "format": 2, **({"inputs": _with_facts(kept["inputs"])} if "inputs" in kept else {})}
    kept = {name: _with_facts(value) for name, value in kept.items()}
    if "graph" in kept:
        groups = [_without_dot(group) for group in kept["graph"]["groups"]]
        kept["graph"] = {**_without_dot(kept["graph"]), "groups": groups}
    if "notes" in kept:
        kept["notes"] = [_told(text) for text in kept["notes"]]
    if "findings" in kept:
        kept["findings"] = [_finding(one) for one in kept["findings"]]
    return _with_fact(kept) if kept["type"] == "problem" else kept


def _without_dot(drawn: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in drawn.items() if name != "dot"}


def _with_facts(value: Any) -> Any:
    """With the reasons of gradients, values and nodes as facts, all the way down."""
    if isinstance(value, list):
        return [_with_facts(one) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {name: one if name == "data" else _with_facts(one) for name, one in value.items() if name != "pooled"}
    for name in ("because", "note", "unavailable"):
        if isinstance(kept.get(name), str):
            kept[name] = _told(kept[name])
    if "special_cases" in kept:
        kept["special_cases"] = [_told(text) for text in kept["special_cases"]]
    if "thumbnail" in kept:
        kept["thumbnail"] = _with_cells(kept["thumbnail"])
    if "cause" in kept:
        kept["line"] = kept.pop("cause")["line"]
    if "is_input" in kept and "version" in kept and not isinstance(kept["value"], dict | None):
        kept["option"] = kept.pop("value")
        kept["value"] = None
    if isinstance(kept.get("batch"), dict):
        kept["batch"] = {"kind": kept["batch"]["kind"], "size": kept["batch"]["size"]}
    return kept


def _with_cells(thumbnail: Any) -> dict[str, Any]:
    """A thumbnail of decimals as one of cells."""
    numbers = [float(one) for one in thumbnail["data"]]
    largest = max((abs(one) for one in numbers if math.isfinite(one)), default=0.0) or 1.0
    cells = array("b", [_cell(one, largest) for one in numbers])
    return {"shape": thumbnail["shape"], "cells": b64encode(cells).decode()}


def _cell(number: float, largest: float) -> int:
    if math.isnan(number):
        return -128
    if math.isinf(number):
        return 127 if number > 0 else -127
    share = round(abs(number) / largest * 126)
    return int(math.copysign(max(share, number != 0), number))


def _finding(one: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in one.items() if name != "message"}
    operands = {"text": one["message"], "title": one["kind"].replace("_", " ")}
    return {**kept, "fact": {"kind": "problem-told", "operands": operands}}


def _told(text: str) -> dict[str, Any]:
    """What an older version wrote out in English, as a fact."""
    return {"kind": "told", "operands": {"text": text}}


def _with_fact(problem: dict[str, Any]) -> dict[str, Any]:
    """A problem whose sentences an older version wrote out."""
    rest = dict(problem)
    operands = {"title": rest.pop("title"), "text": rest.pop("message"), "hint": rest.pop("hint")}
    if operands["hint"] is None:
        del operands["hint"]
    return {
        **rest,
        "fact": {"kind": "problem-told-hint" if "hint" in operands else "problem-told", "operands": operands},
    }


UPGRADES: dict[int, Upgrade] = {1: _without_sentences}
"""From version n to n + 1, in memory: values stand where they belong. See README.md beside this file."""


def load_document(raw: dict[str, Any]) -> TraceDocument:
    """A document of any known version, brought to the newest one and validated.

    Raises:
        ValueError: not a trace, from a newer format, or an object that breaks the format.
    """
    version = raw.get("format")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError("not a gradwalk trace: it has no format version")
    if version > FORMAT:
        raise ValueError(f"this trace has format {version}; this gradwalk reads up to {FORMAT}: upgrade gradwalk")
    if version == FORMAT:
        return read_document(raw)
    while version < FORMAT:
        raw = UPGRADES[version](raw)
        version += 1
    return DOCUMENT.validate_python(raw)
