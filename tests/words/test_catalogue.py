"""One catalogue: both languages read the same from it, and every message in it is used."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from py_mini_racer import MiniRacer

from gradwalk.exports.kit import BAKE_SCRIPT, MODULE
from gradwalk.words.catalogue import say, tell, tell_attribute
from tests.words.messages import COUNTS, messages_of, operands_of

ROOT = Path(__file__).parents[2]
MESSAGES = messages_of()


@pytest.fixture(scope="module")
def engine() -> MiniRacer:
    engine = MiniRacer()
    engine.eval(BAKE_SCRIPT.read_text("utf-8"))
    return engine


@pytest.mark.parametrize("key", MESSAGES)
def test_both_languages_say_the_same(key: str, engine: MiniRacer) -> None:
    names = operands_of(MESSAGES[key], MESSAGES)
    for count in (1, 2, 3, 1234):
        operands = {name: count if name in COUNTS else f"<{name} {count}>" for name in names}
        said = say(key, **operands)
        assert engine.call("gradwalk.say", key, json.dumps(operands)) == said
        fact = {"kind": key, "operands": operands}
        assert engine.call("gradwalk.tellFact", json.dumps(fact)) == tell(fact)
        assert not re.search("[\u2066-\u2069]", said)
        whole = said + "".join(tell_attribute(fact, attribute) or "" for attribute in ("title", "hint", "question"))
        assert all(str(value) in whole or name in COUNTS for name, value in operands.items())


def facts_in(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Every `fact("kind", name=...)` and `why("kind", "name")` of a module: the kind and the names of the operands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("fact", "why"):
            kind, *symbols = [one.value if isinstance(one, ast.Constant) else None for one in node.args]
            assert kind is not None, f"{path}:{node.lineno}: the kind is computed"
            yield kind, {*symbols, *(keyword.arg or "**" for keyword in node.keywords)}


def test_every_fact_has_a_message_that_takes_just_its_operands() -> None:
    known = {key: operands_of(message, MESSAGES) for key, message in MESSAGES.items()}
    found = [(path.name, *each) for path in (ROOT / "server/gradwalk").rglob("*.py") for each in facts_in(path)]
    assert len(found) > 3
    assert [(name, kind, given) for name, kind, given in found if known.get(kind) != given] == []


def test_the_viewer_has_words_for_facts_and_none_for_the_page() -> None:
    viewer = MODULE.read_text("utf-8")
    tracing = ("engine", "formulas", "protocol", "sandbox", "tracer")
    paths = [path for name in tracing for path in (ROOT / "server/gradwalk" / name).glob("*.py")]
    kinds = {kind for path in paths for kind, _ in facts_in(path)}
    # What is special about an operation is told on the page alone.
    shown = {kind for kind in kinds if not kind.startswith("case-")}
    assert {kind for kind in shown if f"{kind} = " not in viewer} == set()
    assert "player-play = " in viewer
    assert "ask-sum = " not in viewer
    assert "case-" not in viewer


def test_every_message_is_used_and_every_message_that_is_used_exists() -> None:
    sources = [
        *(ROOT / "frontend/src").rglob("*.ts"),
        *(ROOT / "frontend/src").rglob("*.svelte"),
        *(ROOT / "server/gradwalk").rglob("*.py"),
    ]
    generated = (".gen.ts", ".test.ts", "fact_kinds.py")
    text = "\n".join(path.read_text() for path in sources if not path.name.endswith(generated))
    assert {key for key in MESSAGES if f'"{key}"' not in text and f"'{key}'" not in text} == set()
    assert set(re.findall(r'\bsay\(\s*"([^"]+)"', text)) <= MESSAGES.keys()


def test_a_missing_message_and_a_missing_operand_are_refused() -> None:
    with pytest.raises(LookupError, match="no message"):
        say("no-such-key")
    with pytest.raises(LookupError, match="rule-custom"):
        say("rule-custom")
