"""The recipes of frontend/docs/hosts as they stand there: what is printed is what is run."""

import re
from pathlib import Path

from tests.world.sites import keep_program

PAGES = Path(__file__).parents[2] / "frontend" / "docs" / "hosts"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def recipe(page: str, language: str, number: int = 0, **filled: str) -> str:
    """The `number`-th block of its language on a page; `HOST` (with its https), `ID` and `TITLE` as they are given."""
    text = [body for name, body in blocks_of(page) if name == language][number]
    return re.sub(
        r"https://HOST\b|\b(?:ID|TITLE)\b", lambda word: filled.get(word[0].removeprefix("https://"), word[0]), text
    )


def filled_for(server: str, source: str) -> dict[str, str]:
    """What stands for HOST, ID and TITLE once the server has run this program."""
    return {"HOST": server, "ID": keep_program(server, source)[1], "TITLE": "A square"}


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Every fenced block of a page: its language and what is in it."""
    return _BLOCK.findall((PAGES / page).read_text("utf-8"))
