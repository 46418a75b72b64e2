"""The formats' own readers, as the tests use them."""

import io
import json
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

from PIL import Image
from pypdf import PdfReader

from gradwalk.exports.catalogue import find_exporter
from gradwalk.exports.exporter import Selection
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.upgrades import load_document

GOLDEN = Path(__file__).parents[1] / "golden"
SVG = "{http://www.w3.org/2000/svg}"


def golden(name: str) -> TraceDocument:
    """A kept trace."""
    return load_document(json.loads((GOLDEN / f"{name}.json").read_text()))


def export(name: str, document: TraceDocument, selection: Selection | None = None) -> bytes:
    """The file that an exporter makes of a trace."""
    return find_exporter(name).make(document, selection or Selection())


def words_of(svg: bytes) -> str:
    """All text of a drawing, with plain spaces."""
    texts = ET.fromstring(svg).iter(f"{SVG}text")
    return " ".join("".join(text.itertext()) for text in texts).replace("\N{NO-BREAK SPACE}", " ")


def ink_of(picture: bytes | Path) -> float:
    """The share of pixels that differ from the paper, which is the most frequent grey."""
    with Image.open(io.BytesIO(picture) if isinstance(picture, bytes) else picture) as image:
        counts = image.convert("L").histogram()
    paper = max(range(256), key=counts.__getitem__)
    return 1 - sum(counts[max(0, paper - 10) : paper + 11]) / sum(counts)


def drawn_by_graphviz(dot: bytes) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The nodes with their labels and the edges that Graphviz's own program reads."""
    done = subprocess.run(["dot", "-Tjson0"], input=dot, capture_output=True, check=True)
    read = json.loads(done.stdout)
    names = {each["_gvid"]: each["name"] for each in read["objects"]}
    nodes = {each["name"]: each["label"] for each in read["objects"] if not each["name"].startswith("cluster")}
    return nodes, [(names[edge["tail"]], names[edge["head"]]) for edge in read.get("edges", [])]


def pages_of(pdf: bytes) -> list[str]:
    """The selectable text of every page."""
    return [page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages]
