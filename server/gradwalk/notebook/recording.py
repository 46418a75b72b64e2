"""Tracing in the caller's own process, with the caller's own rights."""

import hashlib
import linecache
import random
import sys
import warnings
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ContextDecorator, contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch

from gradwalk.notebook.document import Trace, View
from gradwalk.notebook.forms import DEFAULT_HEIGHT_PX
from gradwalk.notebook.grads import grads_kept
from gradwalk.protocol.document import ADDRESS_HEX_DIGITS, FORMAT, TraceDocument, assemble_document, encode
from gradwalk.protocol.events import Event
from gradwalk.protocol.requests import Limits, Options, ResolvedLimits, TraceRequest, resolve_limits
from gradwalk.protocol.versions import installed_versions, untested_torch
from gradwalk.tracer.live import AlreadyRecordingError, Stretch, record_backward
from gradwalk.tracer.run import trace_program
from gradwalk.words.catalogue import say, tell

_untested = untested_torch()
if _untested is not None:
    warnings.warn(tell(_untested), stacklevel=2)

LimitsLike = Limits | Mapping[str, int] | None


def trace(
    source: str,
    inputs: Mapping[str, Any] | None = None,
    grad_output: Any = None,
    seed: int = 0,
    limits: LimitsLike = None,
) -> Trace:
    """Runs a program here and records its backward passes.

    `inputs` sets free variables and named leaves: a number, nested lists, or `{"value", "requires_grad", "dtype"}`.
    `grad_output` is the external gradient for a program that makes no backward call itself. The caller's random
    states are the same afterwards. What is wrong with the program becomes `Trace.problems`.

    >>> gradwalk.trace("sin(x*y) + x", inputs={"x": 1.0, "y": 2.0}).leaf_grads["y"]
    tensor(-0.4161)

    Raises:
        TypeError: `source` is no text.
        pydantic.ValidationError: arguments that no program could be run with.
    """
    if not isinstance(source, str):
        raise TypeError(say("notebook-no-text", given=type(source).__name__))
    asked = _limits(limits)
    options = Options(inputs=dict(inputs or {}), grad_output=grad_output, seed=seed, limits=asked)
    request = TraceRequest(source=source, options=options)
    events: list[Event] = []
    with _random_states_kept():
        trace_program(request, events.append, resolve_limits(asked, None))
    return Trace.from_events(events)


def trace_tensors(
    outputs: torch.Tensor | Sequence[torch.Tensor],
    grad_outputs: torch.Tensor | Sequence[torch.Tensor | None] | None = None,
    retain_graph: bool = False,
    limits: LimitsLike = None,
    params: Mapping[str, torch.Tensor] | None = None,
) -> Trace:
    """Runs one backward from live tensors, as `torch.autograd.backward` would, and records it.

    There is no source, so spans are null. Leaves are called by `params` where it names them, else by the caller's
    variables. An error of the engine becomes `Trace.problems`. Formulas are written when the trace is first read.
    As `backward` does, it adds to `.grad` and, unless `retain_graph`, frees the graph. `grad_outputs` have the shapes
    of `outputs`; None stands for ones, of an output with one entry.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> gradwalk.trace_tensors((w * w).sum()).steps[1].grad_inputs
    (tensor([1., 2.]), tensor([1., 2.]))

    Raises:
        TypeError: `outputs` are no tensors.
    """
    caller = sys._getframe(1)  # noqa: SLF001 (the only way to the caller's names)
    named = {**caller.f_globals, **caller.f_locals} if params is None else dict(params)
    asked = _limits(limits)
    several = _tensors(outputs, "trace_tensors")
    seeds = [grad_outputs] if isinstance(grad_outputs, torch.Tensor) else grad_outputs
    resolved: ResolvedLimits = resolve_limits(asked, None)
    recorded: list[dict[str, Any]] = []
    recording = record_backward(several, seeds, recorded.append, resolved, named, retain_graph=retain_graph)
    recording.tell()

    def document() -> TraceDocument:
        recording.explain()
        return assemble_document(_with_header(recorded, asked))

    return Trace(document)


def show(
    shown: torch.Tensor | Sequence[torch.Tensor] | Trace,
    grad_outputs: torch.Tensor | Sequence[torch.Tensor | None] | None = None,
    *,
    params: Mapping[str, torch.Tensor] | Iterable[tuple[str, torch.Tensor]] | None = None,
    step: str = "1.3",
    height: int = DEFAULT_HEIGHT_PX,
    limits: LimitsLike = None,
) -> View:
    """Shows a trace, or the backward pass of live tensors, in whatever runs this cell. No server, no network.

    Live tensors are walked through by one real backward whose graph is retained; every `.grad` is afterwards what it
    was before, so `loss.backward()` can follow. `params` takes what `model.named_parameters()` gives, as torchviz's
    `make_dot` does; without it leaves are called by the caller's variables. `step` is where the player opens: `7.3` is
    step 7, phase 3; `height` is in pixels.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> gradwalk.show((w * w).sum())
    Backward pass of 3 steps
       1  sum: 1 came in; [1, 1] goes to the result of mul.
       2  mul: [1, 1] came in; [1, 2] and [1, 2] go to w.
       3  w.grad was None, now it is [2, 4].
    >>> w.grad is None
    True

    Raises:
        TypeError: `shown` is something else.
        ValueError: `step` is not of that form, or there is no such step.
    """
    if isinstance(shown, Trace):
        return shown.show(step, height)
    caller = sys._getframe(1)  # noqa: SLF001 (the only way to the caller's names)
    names = {**caller.f_globals, **caller.f_locals} if params is None else dict(params)
    outputs = _tensors(shown, "show")
    with grads_kept(outputs):
        trace = trace_tensors(outputs, grad_outputs, retain_graph=True, limits=limits, params=names)
    return trace.show(step, height)


def record(*, passes: Sequence[int] | None = None, limits: LimitsLike = None) -> "Recording":
    """Records a stretch of the caller's own script: `with gradwalk.record() as trace:`, or as a decorator.

    Inside, every backward of the process is recorded, with the calls of this thread that made its graph, their lines
    in the caller's file, modules and values, and with what it prints and is warned of, which goes where it went.
    Results, random states, `.grad` and hooks are what they are without it.
    `passes` chooses backward passes by number, from 0; of a long loop, a sample is recorded.

    The trace can be read when the block has ended. An error goes on to the caller and is one of `Trace.problems`.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with gradwalk.record() as trace:
    ...     (w * w).sum().backward()
    >>> trace.passes[-1].leaf_grads["w"]
    tensor([2., 4.])

    Raises:
        RuntimeError: on entering, when another recording runs.
    """
    caller = sys._getframe(1)  # noqa: SLF001 (the only way to the caller's file)
    return Recording(caller.f_code.co_filename, caller.f_globals, passes, limits)


def watch(model: torch.nn.Module, *, passes: Sequence[int] | None = None, limits: LimitsLike = None) -> Trace:
    """Records the training loop that follows, with no block round it; reading the trace ends the recording.

    What is recorded, and what stays as it is, `record` says. Leaves are called by the model's own names. With `passes`,
    backward passes by number, from 0, of the others only the first two of each place are listened to.

    >>> model = torch.nn.Linear(2, 1)
    >>> trace = gradwalk.watch(model, passes=[2])
    >>> for _ in range(3):
    ...     model(torch.ones(2)).backward()
    >>> trace.leaf_grads["model.weight"]
    tensor([[3., 3.]])

    Raises:
        TypeError: `model` is no module.
        RuntimeError: another recording runs.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(say("notebook-no-module", given=type(model).__name__))
    caller = sys._getframe(1)  # noqa: SLF001 (the only way to the caller's file)
    name = next((name for name, one in caller.f_locals.items() if one is model), "model")
    recording = Recording(caller.f_code.co_filename, ChainMap({name: model}, caller.f_globals), passes, limits)
    trace = recording.__enter__()

    def document() -> TraceDocument:
        recording.__exit__(None, None, None)
        return trace.document

    return Trace(document)


class Recording(ContextDecorator):
    """What `record` gives; `trace` is that of the latest stretch."""

    def __init__(
        self,
        filename: str,
        variables: Mapping[str, Any],
        passes: Sequence[int] | None = None,
        limits: LimitsLike = None,
    ) -> None:
        """Of what runs in that file, whose globals `variables` are."""
        self.trace: Trace | None = None
        self._filename = filename
        self._variables = variables
        self._passes = passes
        self._limits = _limits(limits)
        # All that `exec` runs is called so; from Python 3.13 on, this is to `linecache` the text of `python -c`.
        self._source = "" if filename == "<string>" else "".join(linecache.getlines(filename, {**variables}))
        self._stretch: Stretch | None = None

    def __enter__(self) -> Trace:
        events: list[dict[str, Any]] = []
        limits = resolve_limits(self._limits, None)
        stretch = Stretch(self._filename, self._source, self._variables, events.append, limits, self._passes)
        try:
            stretch.start()
        except AlreadyRecordingError as error:
            raise RuntimeError(say("notebook-recording-twice")) from error
        self._stretch = stretch
        self.trace = Trace(partial(self._document, stretch, events))
        return self.trace

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if self._stretch is not None:
            stretch, self._stretch = self._stretch, None
            stretch.stop(error)

    def _document(self, stretch: Stretch, events: list[dict[str, Any]]) -> TraceDocument:
        if self._stretch is stretch:
            raise RuntimeError(say("notebook-recording"))
        return assemble_document(_with_header(events, self._limits, self._source))


def _with_header(recorded: list[dict[str, Any]], asked: Limits, source: str = "") -> list[Any]:
    """There was no request to be addressed by, so the address is that of what was recorded."""
    started = {
        "seq": 0,
        "type": "started",
        "format": FORMAT,
        "id": hashlib.sha256(encode(recorded)).hexdigest()[:ADDRESS_HEX_DIGITS],
        "source": source,
        "options": _default_options(asked),
        "versions": installed_versions(),
        "inputs": [],
    }
    return [started, *recorded]


def _default_options(asked: Limits) -> dict[str, Any]:
    options = Options(inputs={}, grad_output=None, seed=0, limits=asked)
    return options.model_dump(mode="json", exclude_none=True)


def _tensors(given: Any, function: str) -> list[torch.Tensor]:
    if isinstance(given, torch.Tensor):
        return [given]
    if isinstance(given, Sequence) and given and all(isinstance(one, torch.Tensor) for one in given):
        return [*given]
    raise TypeError(say("notebook-no-tensors", function=function, given=type(given).__name__))


def _limits(limits: LimitsLike) -> Limits:
    return limits if isinstance(limits, Limits) else Limits(**(limits or {}))


@contextmanager
def _random_states_kept() -> Iterator[None]:
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()  # noqa: NPY002 (the state programs use)
    try:
        yield
    finally:
        torch.set_rng_state(states[0])
        random.setstate(states[1])
        np.random.set_state(states[2])  # noqa: NPY002
