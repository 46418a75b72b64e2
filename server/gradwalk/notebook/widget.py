"""The player as an anywidget, which keeps Python and page in step. Imported only where anywidget is installed."""

import anywidget
import traitlets

from gradwalk.exports.exporter import Selection
from gradwalk.exports.kit import read_module, write_kit
from gradwalk.protocol.document import TraceDocument


class WalkWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """`step` ("7.3") follows the walk, and walks when it is set."""

    _esm = traitlets.Unicode().tag(sync=True)
    trace = traitlets.Unicode().tag(sync=True)
    step = traitlets.Unicode("1.3").tag(sync=True)
    height = traitlets.Int(560).tag(sync=True)
    offline = traitlets.Unicode("on").tag(sync=True)

    @classmethod
    def of(cls, document: TraceDocument, step: str, height: int) -> "WalkWidget":
        """The widget of a trace, with layouts and formulas baked in."""
        baked = write_kit(document, Selection()).decode()
        return cls(_esm=read_module(), trace=baked, step=step, height=height)
