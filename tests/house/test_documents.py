"""What the documents promise is there."""

import re
from collections import Counter
from pathlib import Path

from gradwalk.api.settings import Settings, settings_table
from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.protocol.format_tables import format_tables
from tests.house.tree import ROOT, TRACKED

DOCUMENTS = [path for path in TRACKED if path.suffix == ".md"]
WRITTEN_BY_HAND = {".py", ".ts", ".svelte", ".mjs", ""}
# Folders of one kind of thing, described where they are listed.
DESCRIBED_ABOVE = {ROOT / "server/gradwalk/examples/programs", ROOT / ".ci"}


def crowded_folders() -> list[Path]:
    counts = Counter(
        path.parent for path in TRACKED if path.suffix in WRITTEN_BY_HAND and path.name not in ("__init__.py", ".npmrc")
    )
    described = [ROOT / "server", ROOT / "frontend", ROOT / "scripts"]
    return sorted(
        folder
        for folder, count in counts.items()
        if count > 3 and folder not in DESCRIBED_ABOVE and any(folder.is_relative_to(top) for top in described)
    )


def test_a_folder_of_more_than_three_files_says_what_is_in_it() -> None:
    assert [folder for folder in crowded_folders() if not (folder / "README.md").is_file()] == []


def test_every_setting_is_explained() -> None:
    assert settings_table() in (ROOT / "server" / "README.md").read_text(), "run `make fix`"


def test_the_page_of_the_trace_format_says_what_the_models_say() -> None:
    page = ROOT / "server" / "gradwalk" / "protocol" / "FORMAT.md"
    assert page.read_text().endswith(f"\n{format_tables()}\n"), "run `make fix`"


def test_every_setting_that_is_explained_exists() -> None:
    known = {f"GRADWALK_{field}".upper() for field in Settings.model_fields} | {
        "GRADWALK_SKIP_FRONTEND",
        "GRADWALK_API",
    }
    named = {name for document in DOCUMENTS for name in re.findall(r"GRADWALK_[A-Z_]*[A-Z]", document.read_text())}
    assert named <= known


def test_links_between_documents_lead_somewhere() -> None:
    links = [(path, target) for path in DOCUMENTS for target in re.findall(r"\]\(([^)#\s]+)", path.read_text())]
    inside = [(path, target) for path, target in links if not re.match(r"[a-z]+:", target)]
    assert [(path.name, target) for path, target in inside if not (path.parent / target).exists()] == []


def test_every_promise_of_security_names_a_test_that_exists() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    promised = text[text.index("## What is promised") : text.index("## What is not promised")]
    rows = [
        line for line in promised.splitlines() if line.startswith("| ") and not line.startswith(("| promise", "| ---"))
    ]
    assert len(rows) >= 20
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row)
        assert named, row
        for file, test in named:
            assert re.search(rf"^(?:async )?def {test}\(", (ROOT / file).read_text(), re.MULTILINE), f"{file}::{test}"


def test_make_targets_and_folders_of_tests_that_are_named_exist_and_none_is_forgotten() -> None:
    declared = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {name for document in DOCUMENTS for name in re.findall(r"`make ([a-z-]+)", document.read_text())}
    assert "test-all" in named
    assert named <= declared
    folders = {path.parent.name for path in TRACKED if path.match("tests/*/*.py")}
    listed = set(re.findall(r"`(\w+)`", (ROOT / "tests/README.md").read_text()))
    assert folders <= listed
    packages = {path.parent.name for path in TRACKED if path.match("server/gradwalk/*/__init__.py")}
    drawn = (ROOT / "server/README.md").read_text()
    assert [name for name in packages if not re.search(rf"\b{name}\b", drawn)] == []


def test_the_examples_in_the_readme_are_counted_right() -> None:
    (count,) = re.findall(r"(\d+) examples", (ROOT / "README.md").read_text())
    assert int(count) == len(EXAMPLES)
