"""The list of exporters that the API, the command line, the menu and the tests read."""

from gradwalk.exports.exporter import Exporter
from gradwalk.exports.film import FILMS
from gradwalk.exports.html import write_html
from gradwalk.exports.kit import write_kit
from gradwalk.exports.pages import PAGES
from gradwalk.exports.picture import write_dot
from gradwalk.exports.raster import STILLS
from gradwalk.exports.slides import SLIDES
from gradwalk.exports.whole_document import write_json
from gradwalk.protocol.facts import fact

EXPORTERS: list[Exporter] = [
    Exporter("json", "application/json", "json", fact("export-json"), False, write_json),
    Exporter("dot", "text/vnd.graphviz", "dot", fact("export-dot"), True, write_dot),
    *STILLS,
    Exporter("html", "text/html", "html", fact("export-html"), False, write_html),
    Exporter("kit", "application/json", "kit.json", fact("export-kit"), False, write_kit),
    *PAGES,
    *SLIDES,
    *FILMS,
]


def find_exporter(name: str) -> Exporter | None:
    """The exporter of that name, None where there is none."""
    return next((exporter for exporter in EXPORTERS if exporter.name == name), None)
