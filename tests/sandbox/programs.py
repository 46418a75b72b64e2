"""Reading the collections.

A `.txt` file holds programs under lines `### name` or `### name: outcome outcome`. A `.lines` file holds one
program a line, `outcome outcome | program`, with a visible arrow for every line end. `«"[" * 3000»`
is text too long to write down; `E_VICTIM` stands for a file that a program tries to change.
"""

import re
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

FOLDER = Path(__file__).parent


class Listed(NamedTuple):
    """One program of a collection."""

    name: str
    """`introspection/walk the subclasses`."""
    outcomes: frozenset[str]
    """Kinds of outcome that are right: `harmless`, `error`, `forbidden`, `timeout`, ...; `undefined`: any."""
    source: str


LINE_END = "\u21b5"
LONG = re.compile("«(.+?)»")


def read_collection(folder: str | Path) -> list[Listed]:
    """Every program of a folder beside this file, or anywhere else, in the order of the files."""
    found: list[Listed] = []
    for path in sorted((FOLDER / folder).iterdir()):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".txt":
            for part in ("\n" + text).split("\n### ")[1:]:
                head, _, source = part.partition("\n")
                name, _, outcomes = head.partition(": ")
                found.append(_listed(f"{path.stem}/{name}", outcomes, source.rstrip("\n")))
        elif path.suffix == ".lines":
            for number, line in enumerate(text.split("\n")[:-1], 1):
                outcomes, _, source = line.partition(" | ")
                found.append(_listed(f"{path.stem}/{number}", outcomes, source.replace(LINE_END, "\n")))
    return found


def stratify(programs: list[Listed], *, by_outcome: bool, each: int) -> list[Listed]:
    """A sample: `each` programs of every file, or of every file and outcome; chosen by their names alone."""

    def stratum(listed: Listed) -> tuple[str, list[str]]:
        return listed.name.partition("/")[0], sorted(listed.outcomes) if by_outcome else []

    def chance(listed: Listed) -> int:
        return crc32(listed.name.encode())

    strata = groupby(sorted(programs, key=stratum), key=stratum)
    return [listed for _, members in strata for listed in sorted(members, key=chance)[:each]]


def _listed(name: str, outcomes: str, source: str) -> Listed:
    return Listed(name, frozenset(outcomes.split()), LONG.sub(lambda text: eval(text[1]), source) + "\n")  # noqa: S307
