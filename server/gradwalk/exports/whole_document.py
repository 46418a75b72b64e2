"""The document itself."""

from gradwalk.exports.exporter import Selection
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.wire import write_document


def write_json(document: TraceDocument, _selection: Selection) -> bytes:
    """The trace as it is stored and served: compact JSON, UTF-8."""
    return write_document(document)
