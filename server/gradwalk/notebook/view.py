"""What a notebook shows: one object that says in every form a host may understand how a backward pass went."""

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import torch

from gradwalk.exports.exporter import LAST_FORWARD_PHASE, LAST_PHASE, Selection
from gradwalk.notebook.document import Trace
from gradwalk.notebook.forms import DEFAULT_HEIGHT_PX, Bundle, Forms
from gradwalk.notebook.grads import grads_kept
from gradwalk.notebook.recording import LimitsLike, trace_tensors
from gradwalk.words.catalogue import say


def show(
    shown: torch.Tensor | Sequence[torch.Tensor] | Trace,
    grad_outputs: torch.Tensor | Sequence[torch.Tensor | None] | None = None,
    *,
    params: Mapping[str, torch.Tensor] | Iterable[tuple[str, torch.Tensor]] | None = None,
    step: str = "1.3",
    height: int = DEFAULT_HEIGHT_PX,
    limits: LimitsLike = None,
) -> "View":
    """Shows a trace, or the backward pass of live tensors, in whatever runs this cell. No server, no network.

    Live tensors are walked through by one real backward whose graph is retained; every `.grad` is afterwards what it
    was before, so `loss.backward()` can follow. `params` takes what `model.named_parameters()` gives, as torchviz's
    `make_dot` does; without it leaves are called by the caller's variables. `step` is where the player opens: `7.3` is
    step 7, phase 3.

    Raises:
        ValueError: `step` is not of that form.
    """
    if isinstance(shown, Trace):
        return View(shown, step, height)
    caller = sys._getframe(1)  # noqa: SLF001 (the only way to the caller's names)
    names = {**caller.f_globals, **caller.f_locals} if params is None else dict(params)
    outputs = [shown] if isinstance(shown, torch.Tensor) else list(shown)
    with grads_kept(outputs):
        trace = trace_tensors(outputs, grad_outputs, retain_graph=True, limits=limits, params=names)
    return View(trace, step, height)


class View:
    """A trace on show. Its last word in a cell is enough; a host picks the richest form it knows."""

    def __init__(self, trace: Trace, step: str = "1.3", height: int = DEFAULT_HEIGHT_PX) -> None:
        self.trace = trace
        self.selection = _read_step(step)
        self.height = height

    def widget(self) -> Any:
        """The same as a live widget, whose `step` follows the walk and can be set from Python.

        Raises:
            ImportError: anywidget is not installed here.
        """
        try:
            widgets = import_module("gradwalk.notebook.widget")
        except ImportError as error:
            raise ImportError(say("notebook-needs-anywidget")) from error
        return widgets.WalkWidget.of(self.trace, self.selection.place, self.height)

    @property
    def _forms(self) -> Forms:
        return Forms(self.trace.document, self.selection, self.height)

    def __repr__(self) -> str:
        return self._forms.text()

    def _repr_html_(self) -> str:
        return self._forms.html()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> Bundle:
        return self._forms.bundle(include, exclude)


def _read_step(text: str) -> Selection:
    is_forward = str(text).startswith("f")
    step, _, phase = str(text).removeprefix("f").partition(".")
    last = LAST_FORWARD_PHASE if is_forward else LAST_PHASE
    if not step.isdecimal() or not (phase or "3").isdecimal() or not 1 <= int(phase or 3) <= last:
        raise ValueError(say("notebook-place", text=str(text)))
    return Selection(int(step), int(phase or 3), direction="forward" if is_forward else "backward")
