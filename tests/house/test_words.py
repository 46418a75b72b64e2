"""No file is a box for odds and ends, and none names the machine on which it was written."""

import os
import re

from tests.house.tree import ROOT, TRACKED

ODDS_AND_ENDS = {"util", "utils", "helper", "helpers", "common", "manager", "managers", "misc"}
# Put together from pieces, so that this file does not contain what it forbids.
MACHINE_PATHS = re.compile(
    "|".join(f"(?<![\\w.]){re.escape('/' + name)}/" for name in ("work", "root", "home/\\w+", "Users"))
)
PACKAGE_HOSTS = re.compile(
    "|".join(("registry" + r"\.npmjs", "files" + r"\.pythonhosted", "(?<!on )pypi" + r"\.org/simple"))
)
BINARY = {".png", ".woff2", ".woff", ".ico", ".ttf"}


def test_no_file_is_a_box_for_odds_and_ends() -> None:
    assert [path for path in TRACKED if set(re.split(r"\W|_", path.stem.lower())) & ODDS_AND_ENDS] == []


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
