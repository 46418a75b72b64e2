"""One word per idea, no rooms for odds and ends, and nothing about the machine this was written on."""

import io
import os
import re
import tokenize
from pathlib import Path

import pytest

from tests.house.tree import ROOT, TRACKED

ODDS_AND_ENDS = {"util", "utils", "helper", "helpers", "common", "manager", "managers", "misc"}
# Where PyTorch has a word of its own, ours is PyTorch's: grad_output, output, leaf.
FORBIDDEN_WORDS = {"delta", "upstream"}
# "root" means "output" in autograd papers; elsewhere it is a user, a folder or a page's top element.
ROOMS_ABOUT_AUTOGRAD = ("protocol", "tracer", "exports", "model", "scene", "layout")
# Mathematics has square roots, and torch calls a parameter of the Huber loss delta.
MATHEMATICS = "formulas"


def words_of(identifier: str) -> set[str]:
    """`gradOutput`, `grad_output` and `GradOutput` are the words grad and output."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier)}


def python_identifiers(text: str) -> set[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def typescript_identifiers(text: str) -> set[str]:
    code = re.sub(r"/\*.*?\*/|//[^\n]*|`[^`]*`|\"[^\"\n]*\"|'[^'\n]*'", " ", text, flags=re.DOTALL)
    return set(re.findall(r"[A-Za-z_$][\w$]*", code))


def forbidden_identifiers(path: Path, text: str) -> list[str]:
    """Identifiers in `text` that use a word which has a better one here."""
    rooms = path.relative_to(ROOT).parts
    if MATHEMATICS in rooms:
        return []
    forbidden = FORBIDDEN_WORDS | ({"root", "roots"} if set(rooms) & set(ROOMS_ABOUT_AUTOGRAD) else set())
    identifiers = python_identifiers(text) if path.suffix == ".py" else typescript_identifiers(text)
    return sorted(identifier for identifier in identifiers if words_of(identifier) & forbidden)


SOURCES = [
    path
    for path in TRACKED
    if path.suffix in {".py", ".ts"}
    and {"server", "src"} & set(path.relative_to(ROOT).parts)
    and not path.name.endswith(".gen.ts")
    and ".test." not in path.name
]


def test_identifiers_use_the_words_of_the_field() -> None:
    found = {
        str(path.relative_to(ROOT)): identifiers
        for path in SOURCES
        if (identifiers := forbidden_identifiers(path, path.read_text()))
    }
    assert len(SOURCES) > 30
    assert found == {}


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("server/gradwalk/tracer/planted.py", "root_node = 1\n"),
        ("server/gradwalk/api/planted.py", "upstream = 1\n"),
        ("frontend/src/model/planted.ts", "const gradDelta = 1;\n"),
    ],
)
def test_a_forbidden_word_is_found(where: str, text: str) -> None:
    assert forbidden_identifiers(ROOT / where, text)


def test_words_in_text_and_longer_words_are_left_alone() -> None:
    assert (
        forbidden_identifiers(ROOT / "server/gradwalk/tracer/planted.py", "x = 'root'  # delta\ntimedelta = 1\n") == []
    )
    assert forbidden_identifiers(ROOT / "frontend/src/app/planted.ts", 'shadowRoot("delta")\n') == []


def test_no_file_is_a_box_for_odds_and_ends() -> None:
    boxes = [str(path.relative_to(ROOT)) for path in TRACKED if words_of(path.stem) & ODDS_AND_ENDS]
    assert boxes == []


# Put together from pieces, so that this file does not contain what it forbids.
MACHINE_PATHS = re.compile(
    "|".join(f"(?<![\\w.]){re.escape('/' + name)}/" for name in ("work", "root", "home/\\w+", "Users"))
)
PACKAGE_HOSTS = re.compile(
    "|".join(("registry" + r"\.npmjs", "files" + r"\.pythonhosted", "(?<!on )pypi" + r"\.org/simple"))
)
BINARY = {".png", ".woff2", ".woff", ".ico", ".ttf"}


def machine_words(text: str) -> list[str]:
    """What in `text` only makes sense on one machine."""
    own = [str(ROOT) + os.sep, *([os.environ["HOME"] + os.sep] if len(os.environ.get("HOME", "")) > 1 else [])]
    found = [*MACHINE_PATHS.findall(text), *PACKAGE_HOSTS.findall(text)]
    return found + [path for path in own if path in text]


def test_no_tracked_file_names_this_machine_or_a_package_host() -> None:
    found = {
        str(path.relative_to(ROOT)): words
        for path in TRACKED
        if path.suffix not in BINARY and (words := machine_words(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_a_machine_path_is_found() -> None:
    assert machine_words("see /" + "work/main")
    assert machine_words("https://" + "registry" + ".npmjs.org")
    assert not machine_words("see server/work/ and https://pytorch.org")
