"""One backward from live tensors: there is no program, only a graph."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from gradwalk.protocol.requests import ResolvedLimits
from gradwalk.tracer.collection import paused_collection
from gradwalk.tracer.explanation import explain_error
from gradwalk.tracer.recorder import Recorder
from gradwalk.tracer.stream import EventStream


class LiveRecording:
    """One backward that was recorded. Tell it before anything that took part in it is changed; then explain it."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def tell(self) -> None:
        """Emits the events, all but what explains them and the last."""
        with paused_collection():
            self._recorder.tell_passes()

    def explain(self) -> None:
        """Emits the rest: formulas, whether they held, and `finished`."""
        with paused_collection():
            self._recorder.explain()
            self._recorder.stream.finish()


def record_backward(  # noqa: PLR0913 (one backward call's own arguments)
    outputs: Sequence[torch.Tensor],
    grad_outputs: Sequence[torch.Tensor | None] | None,
    emit: Callable[[Any], None],
    limits: ResolvedLimits,
    variables: Mapping[str, Any],
    *,
    retain_graph: bool,
) -> LiveRecording:
    """Runs `torch.autograd.backward`, recorded. The header is the caller's business.

    `variables` are read for names. An error of the engine becomes a problem.
    """
    stream = EventStream(emit, limits.stdout_characters)
    recorder = Recorder(stream, limits, None, lambda: variables)
    stream.explain_last()
    recorder.tells_later = True
    recorder.hooks.install()
    recorder.passes.install()
    try:
        with paused_collection():
            torch.autograd.backward(outputs, grad_outputs, retain_graph)
    except BaseException as error:
        if not recorder.was_explained(error):
            recorder.explain_once(error, explain_error(error, recorder.culprits()))
        if not isinstance(error, Exception):
            raise
    finally:
        recorder.passes.remove()
        recorder.hooks.remove()
        recorder.log.chains.release_later()
    return LiveRecording(recorder)
