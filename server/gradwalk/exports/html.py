"""One file that holds the player and the trace: opens without a network, now and in ten years."""

import json
import re
from html import escape
from typing import Any

from gradwalk.exports.exporter import Selection
from gradwalk.exports.kit import read_bakers, read_module, with_baked
from gradwalk.exports.walk import Walk
from gradwalk.protocol.document import TraceDocument
from gradwalk.words.catalogue import LANGUAGE, language_spoken, read_catalogue, say

POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="gradwalk {version}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
html, body {{ height: 100%; margin: 0; }}
body {{ background: light-dark(#f5f7f9, #10161c); color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }}
grad-walk {{ height: 100dvh; }}
noscript {{ display: block; padding: 1rem 2rem; }}
</style>
</head>
<body>
<!-- Made of gradwalk and Svelte (MIT); places by Graphviz (EPL), formulas by Temml (MIT). -->
<grad-walk page offline heading="{title}"{step}>
<noscript><h1>{title}</h1><p>{lead}</p>
<ol>{sentences}</ol></noscript>
<script type="application/json">{data}</script>
</grad-walk>
{catalogue}{bakers}<script type="module">{module}</script>
</body>
</html>
"""

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
    step = "" if selection.place is None else f' step="{selection.place}"'
    language, module = language_spoken(), read_module()
    shown = with_baked(document)
    is_baked = "baked" in shown
    page = _PAGE.format(
        language=language,
        policy=POLICY.format(scripts="'unsafe-inline'" if is_baked else "'unsafe-inline' 'wasm-unsafe-eval'"),
        version=escape(document["versions"]["gradwalk"]),
        title=escape(heading_of(document["source"])),
        step=step,
        lead=escape(say("export-sentences")),
        sentences="".join(f"<li>{escape(sentence)}</li>" for sentence in Walk(document).sentences) if is_baked else "",
        data=script_json(shown),
        catalogue="" if language == LANGUAGE else _catalogue(language, module),
        bakers="" if is_baked else "".join(f"<script>{script_code(one)}</script>\n" for one in read_bakers()),
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
    text = script_json("".join(one for one in messages if one.partition(" ")[0] + " =" in module))
    return f'<script type="application/json" data-catalogue="{language}">{text}</script>\n'


def mark_up(text: str) -> str:
    """A sentence, with what stands between backticks as code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element, whatever strings are in it."""
    return inside_script(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def inside_script(text: str) -> str:
    """Written JSON, so that nothing in it ends the script element."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def script_code(source: str) -> str:
    """JavaScript that may stand inside a script element: what would end it or open a comment only occurs in strings."""
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")
