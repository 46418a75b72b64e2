"""One file that holds the player and the trace: opens without a network, now and in ten years."""

import re

from gradwalk.exports.exporter import Selection
from gradwalk.exports.kit import read_module, read_part, with_baked
from gradwalk.exports.markup import render, script_code, script_json
from gradwalk.exports.scene import SCRIPTS
from gradwalk.exports.walk import Walk
from gradwalk.protocol.document import TraceDocument
from gradwalk.words.catalogue import LANGUAGE, language_spoken, read_catalogue, say

POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
_BAKE_THERE = """{
const data = document.querySelector("grad-walk > script");
const baked = JSON.parse(await gradwalk.bake(data.textContent));
data.textContent = JSON.stringify({ ...JSON.parse(data.textContent), baked });
}
"""
"""Goes before the player where nothing here could bake: the browser that opens the page does, with the same scripts."""


def write_html(document: TraceDocument, selection: Selection) -> bytes:
    """The page, UTF-8, in the language spoken here; it opens at the selection, else at the first step's equation.

    Without V8 it has no list of sentences for a reader without scripts, and is a megabyte larger.

    Raises:
        ExportUnavailable: the front end has not been built.
    """
    language, module = language_spoken(), read_module()
    shown = with_baked(document)
    is_baked = "baked" in shown
    page = render(
        "file.html",
        language=language,
        policy=POLICY.format(scripts="'unsafe-inline'" if is_baked else "'unsafe-inline' 'wasm-unsafe-eval'"),
        version=document["versions"]["gradwalk"],
        title=heading_of(document["source"]),
        step=selection.place,
        lead=say("export-sentences"),
        sentences=Walk(document).sentences if is_baked else (),
        data=script_json(shown),
        catalogue=None if language == LANGUAGE else script_json(_catalogue(language, module)),
        bakers=() if is_baked else map(script_code, map(read_part, SCRIPTS)),
        module=script_code(module if is_baked else _BAKE_THERE + module),
    )
    return page.encode("utf-8", "replace")


def heading_of(source: str) -> str:
    """The program's first comment, else what it is."""
    for line in source.splitlines():
        text = line.strip()
        if text.startswith("#") and not text.startswith("#@") and text.strip("# "):
            return text.strip("# ")[:110]
    return say("export-title")


def _catalogue(language: str, module: str) -> str:
    """What the player reads another language from: the messages that it has in English."""
    messages = re.split("^(?=[a-z])", read_catalogue(language), flags=re.MULTILINE)
    return "".join(one for one in messages if one.partition(" ")[0] + "=" in module)
