"""Recording in a process that is somebody else's: one backward of live tensors, or a stretch of a running script."""

import ast
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import torch

from gradwalk.protocol.facts import fact
from gradwalk.protocol.problems import problem
from gradwalk.protocol.requests import ResolvedLimits
from gradwalk.tracer.collection import paused_collection
from gradwalk.tracer.explanation import explain_error
from gradwalk.tracer.originals import PROGRAM_FILES
from gradwalk.tracer.passes import RecordingEngine
from gradwalk.tracer.recorder import Recorder
from gradwalk.tracer.run import ends_well, listening
from gradwalk.tracer.source import Program
from gradwalk.tracer.stream import EventStream, overheard
from gradwalk.tracer.warning_watch import PassingWarningWatch


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
    stream = EventStream(emit, limits.stdout_characters, first_seq=1)
    recorder = Recorder(stream, limits, None, lambda: variables)
    stream.order.explains_last = True
    recorder.tells_later = True
    try:
        with recorder.hooks.watching(), recorder.passes.watching(), paused_collection():
            torch.autograd.backward(outputs, grad_outputs, retain_graph)
    except BaseException as error:
        if not recorder.was_explained(error):
            recorder.explain_once(error, explain_error(error, recorder.culprits()))
        if not isinstance(error, Exception):
            raise
    finally:
        recorder.log.chains.release_later()
    return LiveRecording(recorder)


class Stretch:
    """A stretch of a running script, recorded from `start` to `stop`. The header is the caller's business."""

    def __init__(
        self,
        filename: str,
        text: str,
        variables: Mapping[str, Any],
        emit: Callable[[Any], None],
        limits: ResolvedLimits,
        passes: Sequence[int] | None = None,
    ) -> None:
        """Of the file with that name and text, and its globals. `passes` chooses backward passes by number, from 0."""
        self._filename = filename
        self._stream = EventStream(emit, limits.stdout_characters, first_seq=1)
        self._recorder = Recorder(self._stream, limits, _program(text), lambda: variables, passes)
        self._recorder.schedule.looks_ahead = True
        self._stack = ExitStack()

    def start(self) -> None:
        """Begins to listen, to this thread's calls and to every backward."""
        if isinstance(torch.autograd.Variable._execution_engine, RecordingEngine):
            raise AlreadyRecordingError
        PROGRAM_FILES.add(self._filename)
        recorder = self._recorder
        heard = PassingWarningWatch(self._stream.send_warning, recorder.places, recorder.fail_inside)
        self._stack.enter_context(heard.listening())
        self._stack.enter_context(overheard(self._stream, recorder.fail_inside))
        self._stack.enter_context(self._stack.enter_context(listening(recorder)))

    def stop(self, error: BaseException | None) -> None:
        """Ends it, explains the error that ended it, and sends the last event."""
        self._stack.close()
        recorder = self._recorder
        if error is not None and ends_well(error):
            error = None
        if error is not None and not recorder.was_explained(error):
            recorder.explain_once(error, explain_error(error, recorder.culprits()))
        elif error is None and recorder.passes.count == 0:
            self._stream.send_problem(problem("not_differentiable", fact("problem-no-pass")))
        recorder.unrecorded.flush()
        self._stream.finish(recorder.notes, recorder.caught(error), recorder.passes.count)
        PROGRAM_FILES.discard(self._filename)
        recorder.forget_names()
        recorder.log.chains.release_later()


class AlreadyRecordingError(RuntimeError):
    """Something else in this process records."""


def _program(text: str) -> Program | None:
    """For lines and names; None where the text is not known, or is more than Python (cells with magics)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Program(text, ast.parse(text), ()) if text else None
    except (SyntaxError, RecursionError, MemoryError):
        return None
