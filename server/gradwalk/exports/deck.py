"""Decks and pages for the hosts that lecturers use, as folders that run; and what of such a folder needs a network."""

import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

from markupsafe import escape

from gradwalk.exports.exporter import Selection
from gradwalk.exports.html import heading_of
from gradwalk.exports.kit import PLUGIN, read_module, read_part, with_baked, write_kit
from gradwalk.exports.markup import script_code, script_json
from gradwalk.exports.walk import Walk, write_svg
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.facts import Fact, fact

_TEMPLATES = Path(__file__).with_name("decks")
HOSTS: Final = {
    "jupyter": "jupyter lab lesson.ipynb",
    "myst": "myst start",
    "quarto": "quarto preview lesson.qmd",
    "reveal": "npm install",
    "slidev": "npm install && npm run dev",
}
"""What to run next in the folder of each."""
_FIRST_PRODUCT = Selection(step=1, phase=3)


def _draw(document: TraceDocument) -> bytes:
    return write_svg(document, _FIRST_PRODUCT)


_BESIDE: Final[dict[str, dict[str, Callable[[TraceDocument], bytes]]]] = {
    "myst": {"gradwalk.js": lambda _: read_module().encode(), "lesson.svg": _draw},
    "reveal": {"lesson.svg": _draw},
    "slidev": {
        "public/gradwalk.js": lambda _: read_module().encode(),
        "public/lesson.kit.json": lambda document: write_kit(document, Selection()),
        "public/lesson.svg": _draw,
    },
}
"""What is made for a host beside its templates and the program."""
_FILLED: Final[dict[str, Callable[[TraceDocument], str]]] = {
    # It stands in HTML, in YAML and in JSON.
    "title": lambda document: re.sub(r'[<>&"\\]', "", heading_of(document["source"])),
    "trace": lambda document: script_json(with_baked(document)),
    "stops": lambda document: str(len(Walk(document).stops(Selection(every="phase")))),
    "said": lambda document: escape(Walk(document).stop(_FIRST_PRODUCT).said),
    "cell": lambda document: json.dumps(f"%%gradwalk 1.3\n{document['source']}"),
    "player": lambda _: script_code(read_module()),
    "plugin": lambda _: script_code(read_part(PLUGIN)),
}
"""What stands in a template for `@@name@@`."""


def write_deck(host: str, document: TraceDocument, folder: Path) -> list[Path]:
    """Writes a folder that shows a trace in one of `HOSTS`; the files, in order.

    Raises:
        FileExistsError: one of them is there already and is another; nothing is written then.
        ExportUnavailable: the player or a picture cannot be had.
    """
    files = {"lesson.py": document["source"].encode()}
    root = _TEMPLATES / host
    for template in sorted(path for path in root.rglob("*") if path.is_file()):
        text = re.sub("@@(\\w+)@@", lambda name: _FILLED[name[1]](document), template.read_text("utf-8"))
        files[template.relative_to(root).as_posix()] = text.encode()
    files |= {name: make(document) for name, make in _BESIDE.get(host, {}).items()}
    paths = [folder / name for name in files]
    for path, body in zip(paths, files.values(), strict=True):
        if path.exists() and path.read_bytes() != body:
            raise FileExistsError(path)
    for path, body in zip(paths, files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    return paths


_PAGES: Final = (".html", ".md", ".qmd", ".ipynb")
_NOT_OURS: Final = ("node_modules", "_extensions", "_build", "_site", "dist")
_MARKDOWN: Final = re.compile(
    r"!\[[^]]*\]\(\s*<?([^)\s>]+)|^:::+\{(?:iframe|image|figure)\}\s+(\S+)|\"src\":\s*\"([^\"]+)\"", re.M
)
_LOADS: Final = {"src", "data-src", "poster", "srcset", "data-background-image", "data-background-iframe", "picture"}
_ELSEWHERE: Final = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_MODULE_IMPORT: Final = re.compile(r"""\bimport\s*(?:[\w${},*\s]+from\s*)?\(?\s*["'](https?://[^"']+)""")


def look_at_deck(folder: Path) -> list[tuple[str, Fact]]:
    """What of the pages in a folder would fail on a machine without a network: the page, and why.

    Addresses of other machines, files that are not there, and what a page that is opened from a folder may not load.
    """
    found: list[tuple[str, Fact]] = []
    for page in sorted(folder.rglob("*")):
        name = page.relative_to(folder)
        if page.suffix not in _PAGES or not page.is_file() or set(_NOT_OURS) & set(name.parts[:-1]):
            continue
        text = page.read_text("utf-8", "replace")
        for address, is_fetched in dict(_addresses(text)).items():
            why = _why_it_fails(folder, page, address, is_fetched=is_fetched)
            if why is not None:
                found.append((str(name), why))
    return found


def _why_it_fails(folder: Path, page: Path, address: str, *, is_fetched: bool) -> Fact | None:
    if _ELSEWHERE.match(address):
        return fact("cli-deck-elsewhere", address=address)
    if re.match(r"[a-z][\w+.-]+:|#|\{|$", address):
        return None
    path = address.partition("?")[0].partition("#")[0]
    # What a host serves at its root lies in `public/`.
    places = [folder / "public" / path[1:], folder / path[1:]] if path.startswith("/") else [page.parent / path]
    if not any(place.exists() for place in places):
        return fact("cli-deck-missing", address=address)
    if is_fetched and page.suffix == ".html":
        return fact("cli-deck-fetched", address=address)
    return None


def _addresses(text: str) -> Iterator[tuple[str, bool]]:
    """Whatever a page loads, and whether by a request that a browser refuses to a page opened from a folder."""
    reader = _Reader()
    reader.feed(text)
    yield from reader.found
    for match in _MARKDOWN.finditer(text):
        yield next(group for group in match.groups() if group), False
    for match in _MODULE_IMPORT.finditer(text):
        yield match[1], True


class _Reader(HTMLParser):
    """Collects what elements load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given: dict[str, Any] = dict(attrs)
        is_fetched = tag in ("grad-walk", "gradwalk") or given.get("type") == "module"
        for name, value in given.items():
            is_loaded = name in _LOADS or (tag == "link" and name == "href" and given.get("rel") != "canonical")
            if value and is_loaded:
                self.found.append((value.strip(), is_fetched and name == "src"))
