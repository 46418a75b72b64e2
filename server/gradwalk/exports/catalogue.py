"""The list of exporters that the API, the command line, the menu and the tests read."""

from collections.abc import Callable
from functools import partial
from typing import cast

from gradwalk.exports.dot import write_dot
from gradwalk.exports.exporter import Exporter, ExportUnavailable, Selection
from gradwalk.exports.html import write_html
from gradwalk.exports.kit import write_json, write_kit
from gradwalk.exports.walk import write_svg
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.facts import fact
from gradwalk.words.extras import ExtraMissingError, import_with_extra

Write = Callable[[TraceDocument, Selection], bytes]


def _from(module: str, function: str, *first: str, extra: str = "files") -> Write:
    """A function of a module that needs an extra, imported when a file is asked for."""

    def write(document: TraceDocument, selection: Selection) -> bytes:
        try:
            found = getattr(import_with_extra(module, extra), function)
        except ExtraMissingError as missing:
            raise ExportUnavailable(missing.fact) from missing
        return cast("bytes", found(*first, document, selection))

    return write


_PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_PAGES, _SLIDES, _FILM = (f"gradwalk.exports.{name}" for name in ("pages", "slides", "film"))
_video = partial(_from, _FILM, "write_video", extra="video")

EXPORTERS: list[Exporter] = [
    Exporter("json", "application/json", "json", fact("export-json"), False, write_json),
    Exporter("dot", "text/vnd.graphviz", "dot", fact("export-dot"), True, write_dot),
    Exporter("svg", "image/svg+xml", "svg", fact("export-svg"), True, write_svg),
    Exporter("png", "image/png", "png", fact("export-png"), True, _from(_PAGES, "write_still_png")),
    Exporter("pdf", "application/pdf", "pdf", fact("export-pdf"), True, _from(_PAGES, "write_still_pdf")),
    Exporter("html", "text/html", "html", fact("export-html"), False, write_html),
    Exporter("kit", "application/json", "kit.json", fact("export-kit"), False, write_kit),
    Exporter("pages", "application/pdf", "pdf", fact("export-pages"), False, _from(_PAGES, "write_pages"), True),
    Exporter("tex", "application/zip", "zip", fact("export-tex"), False, _from(_PAGES, "write_beamer_set"), True),
    Exporter("pptx", _PPTX, "pptx", fact("export-pptx"), False, _from(_SLIDES, "write_slides"), True),
    Exporter("gif", "image/gif", "gif", fact("export-gif"), False, _from(_FILM, "write_gif"), True),
    Exporter("mp4", "video/mp4", "mp4", fact("export-mp4"), False, _video("mp4"), True),
    Exporter("webm", "video/webm", "webm", fact("export-webm"), False, _video("webm"), True),
]


def find_exporter(name: str) -> Exporter | None:
    """The exporter of that name, None where there is none."""
    return next((exporter for exporter in EXPORTERS if exporter.name == name), None)
