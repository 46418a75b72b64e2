"""What the documents promise is there, a test reads every recipe, and no file names the machine it is written on."""

import os
import re
from collections import Counter

from gradwalk.api.settings import Settings
from gradwalk.protocol.format_tables import format_tables
from scripts.write_settings_table import settings_table
from tests.hosts.recipes import PAGES, blocks_of
from tests.house.tree import ROOT, TRACKED

DOCUMENTS = [path for path in TRACKED if path.suffix == ".md"]
WRITTEN_BY_HAND = {".py", ".ts", ".svelte", ".mjs", ""}
# Folders of one kind of thing, described where they are listed.
DESCRIBED_ABOVE = {ROOT / "server/gradwalk/examples/programs", ROOT / ".ci"}


def test_a_folder_of_more_than_three_files_says_what_is_in_it() -> None:
    by_hand = [path for path in TRACKED if path.suffix in WRITTEN_BY_HAND]
    counts = Counter(path.parent for path in by_hand if path.name not in ("__init__.py", ".npmrc"))
    tops = [ROOT / "server", ROOT / "frontend", ROOT / "scripts"]
    crowded = {one for one, count in counts.items() if count > 3 and any(one.is_relative_to(top) for top in tops)}
    assert [one for one in crowded - DESCRIBED_ABOVE if not (one / "README.md").is_file()] == []


def test_settings_and_the_trace_format_are_explained_as_they_are() -> None:
    assert settings_table() in (ROOT / "server" / "README.md").read_text(), "run `make fix`"
    page = ROOT / "server" / "gradwalk" / "protocol" / "FORMAT.md"
    assert page.read_text().endswith(f"\n{format_tables()}\n"), "run `make fix`"
    known = {f"GRADWALK_{field}".upper() for field in (*Settings.model_fields, "skip_frontend", "api")}
    named = {name for document in DOCUMENTS for name in re.findall(r"GRADWALK_[A-Z_]*[A-Z]", document.read_text())}
    assert named <= known


def test_links_between_documents_lead_somewhere() -> None:
    links = [(path, target) for path in DOCUMENTS for target in re.findall(r"\]\(([^)#\s]+)", path.read_text())]
    inside = [(path, target) for path, target in links if not re.match(r"[a-z]+:", target)]
    assert [(path.name, target) for path, target in inside if not (path.parent / target).exists()] == []


def test_every_promise_of_security_names_a_test_that_exists() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    promised = text[text.index("## What is promised") : text.index("## What is not promised")]
    rows = [line for line in promised.splitlines() if re.match(r"\| (?!promise|---)", line)]
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


# Written so that this file does not contain what it forbids.
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users)/")
PACKAGE_HOSTS = re.compile(r"registry[.]npmjs|files[.]pythonhosted|(?<!on )pypi[.]org/simple")
BINARY = {".gif", ".png", ".woff2", ".woff", ".ico", ".ttf"}


def machine_words(text: str) -> list[str]:
    """What in `text` only makes sense on one machine."""
    own = [str(ROOT) + os.sep, *([os.environ["HOME"] + os.sep] if len(os.environ.get("HOME", "")) > 1 else [])]
    found = [*MACHINE_PATHS.findall(text), *PACKAGE_HOSTS.findall(text)]
    return found + [path for path in own if path in text]


def test_no_tracked_file_names_this_machine_or_a_package_host() -> None:
    assert machine_words("see /" + "work/main")
    assert machine_words("https://" + "registry" + ".npmjs.org")
    assert not machine_words("see server/work/ and https://pytorch.org")
    found = {
        str(path.relative_to(ROOT)): words
        for path in TRACKED
        if path.suffix not in BINARY and (words := machine_words(path.read_text(encoding="utf-8")))
    }
    assert found == {}


READ = re.compile(r"""\brecipe\(\s*["']([\w.]+)["'],\s*["'](\w+)["'](?:,\s*(\d))?""")


def test_every_block_of_every_page_is_run_by_a_test() -> None:
    written = set()
    for page in PAGES.glob("*.md"):
        counts = Counter(language for language, _ in blocks_of(page.name))
        written |= {(page.name, language, number) for language, count in counts.items() for number in range(count)}
    calls = [call for file in (ROOT / "tests").rglob("*.py") for call in READ.findall(file.read_text("utf-8"))]
    assert len(written) > 20
    assert {(page, language, int(number or 0)) for page, language, number in calls} == written
