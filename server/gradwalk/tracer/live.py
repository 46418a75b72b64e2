"""One backward from live tensors: there is no program, only a graph."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from gradwalk.protocol.requests import ResolvedLimits
from gradwalk.tracer.explanation import explain_error
from gradwalk.tracer.recorder import Recorder
from gradwalk.tracer.stream import EventStream


def record_backward(  # noqa: PLR0913 (one backward call's own arguments)
    outputs: Sequence[torch.Tensor],
    grad_outputs: Sequence[torch.Tensor | None] | None,
    emit: Callable[[Any], None],
    limits: ResolvedLimits,
    variables: Mapping[str, Any],
    *,
    retain_graph: bool,
) -> None:
    """Runs `torch.autograd.backward` and emits its events, `finished` last. The header is the caller's business.

    `variables` are read for names. An error of the engine becomes a problem.
    """
    stream = EventStream(emit, limits.stdout_characters)
    recorder = Recorder(stream, limits, None, lambda: variables)
    recorder.hooks.install()
    recorder.passes.install()
    try:
        torch.autograd.backward(outputs, grad_outputs, retain_graph)
    except BaseException as error:
        if not recorder.was_explained(error):
            recorder.explain_once(error, explain_error(error, recorder.culprits()))
        if not isinstance(error, Exception):
            raise
    finally:
        recorder.passes.remove()
        recorder.hooks.remove()
    stream.finish()
