"""The document itself."""

from gradwalk.exports.exporter import Selection
from gradwalk.protocol.document import TraceDocument, encode
from gradwalk.protocol.wire import write_document


def write_json(document: TraceDocument, _selection: Selection) -> bytes:
    """The trace as it is stored and served: compact JSON, UTF-8."""
    return encode(write_document(document))
