"""Type PyTorch, watch its real backward pass.

The names below are found on first use, so that `import gradwalk` stays quick and does not import torch:
the web server, the command line and the exporters never need it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradwalk.notebook.document import Trace
    from gradwalk.notebook.magic import load_ipython_extension
    from gradwalk.notebook.matching import assert_backward_matches
    from gradwalk.notebook.recording import record, show, trace, trace_tensors, watch

__all__ = [
    "Trace",
    "assert_backward_matches",
    "load_ipython_extension",
    "record",
    "show",
    "trace",
    "trace_tensors",
    "watch",
]

_HOMES = {
    "Trace": "gradwalk.notebook.document",
    "assert_backward_matches": "gradwalk.notebook.matching",
    "load_ipython_extension": "gradwalk.notebook.magic",
    "record": "gradwalk.notebook.recording",
    "show": "gradwalk.notebook.recording",
    "trace": "gradwalk.notebook.recording",
    "trace_tensors": "gradwalk.notebook.recording",
    "watch": "gradwalk.notebook.recording",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'gradwalk' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
