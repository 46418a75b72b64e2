"""One run of a program, from source to events.

read      the text becomes code, or a `syntax` problem                (source.py)
seed      torch, random and numpy start from `options.seed`
play      the code runs with the recorder in place:
            each torch call is entered with its place and values      (calls.py, custom.py)
            each backward pass is caught and told step by step        (passes.py, recorder.py)
conclude  a program that made no backward gets one from its result    (implicit.py)
finish    what is broken is explained, counts are said                (explanation.py)
"""

import gc
import linecache
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stdout
from functools import reduce
from typing import Any, Final

import numpy as np
import torch

from gradwalk.protocol.document import FORMAT, canonical_request, trace_id
from gradwalk.protocol.events import Event, Input, Problem
from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.problems import problem
from gradwalk.protocol.requests import ResolvedLimits, TraceRequest
from gradwalk.protocol.versions import installed_versions
from gradwalk.tracer import originals
from gradwalk.tracer.calls import CallRecorder
from gradwalk.tracer.collection import relaxed_collection
from gradwalk.tracer.compiled import CompileWatch
from gradwalk.tracer.custom import FunctionTexts, seen_functions
from gradwalk.tracer.directions import Direction
from gradwalk.tracer.explanation import (
    comes_of_recorder,
    explain_error,
    explain_none_grad,
    explain_without_result,
    unknown_name,
    words_of,
)
from gradwalk.tracer.implicit import chosen_gradient, conclude
from gradwalk.tracer.inputs import InputError, free_variable, override, set_parameter
from gradwalk.tracer.interruption import TimeLimitError
from gradwalk.tracer.listening import Listening
from gradwalk.tracer.loops import LEAVE, LOOP, TURN
from gradwalk.tracer.names import MISSING_IMPORTS
from gradwalk.tracer.optimizers import OptimizerWatch
from gradwalk.tracer.recorder import Recorder
from gradwalk.tracer.schedule import AllRecordedError
from gradwalk.tracer.scopes import ModuleScopes
from gradwalk.tracer.source import FILENAME, INPUT, RESULT, Program, SourceProblem, nearest_name, read_program
from gradwalk.tracer.stream import EventStream, ProgramOutput
from gradwalk.tracer.surroundings import Surroundings
from gradwalk.tracer.unfinished import Unfinished
from gradwalk.tracer.warning_watch import WarningWatch

_NUMPY_SEEDS: Final = 2**32
_MODULES: Final = {"torch": torch}
_NODES_OUT_OF_TIME: Final = 500
"""Of the graph that a program had built when its time was up."""


def trace_program(
    request: TraceRequest,
    emit: Callable[[Event], None],
    limits: ResolvedLimits,
    surroundings: Surroundings | None = None,
) -> None:
    """Runs the program in this process and emits every event, `started` first and `finished` last.

    Never raises for what the program does. Without `surroundings`, the program runs with the caller's
    own rights.
    """
    run = Run(request, emit, limits, surroundings)
    run.play()
    run.release()


class Run:
    """One run; `recorder` and `namespace` can be looked at afterwards."""

    def __init__(
        self,
        request: TraceRequest,
        emit: Callable[[Event], None],
        limits: ResolvedLimits,
        surroundings: Surroundings | None = None,
        prepare: Callable[[Recorder], None] | None = None,
    ) -> None:
        self.request = request
        self.limits = limits
        self.namespace: dict[str, Any] = {}
        self.result: Any = None
        """The value of the last expression statement."""
        self.error: BaseException | None = None
        """What the program ended with."""
        self.stream = EventStream(emit, limits.stdout_characters)
        self.recorder: Recorder | None = None
        self._surroundings = surroundings
        self._prepare = prepare
        """Called with the recorder before the program starts."""

    def play(self) -> None:
        """The whole run; a program that broke the interpreter under it is told so."""
        try:
            self._play_whole()
        except Exception as fault:
            if self.recorder is None or not self.recorder.tell_damage(fault, is_over=True):
                raise
            self.stream.finish(self.recorder.notes)

    def _play_whole(self) -> None:
        options = self.request.options
        try:
            program = self._read()
        except SourceProblem as refusal:
            self._start([])
            self.stream.send_problem(refusal.problem)
        else:
            seed_everything(options.seed)
            recorder = self.recorder = Recorder(
                self.stream, self.limits, program, lambda: self.namespace, options.passes
            )
            recorder.surroundings = self._surroundings
            if self._prepare is not None:
                self._prepare(recorder)
            try:
                self._prepare_namespace(program, recorder)
            except InputError as error:
                self._start([])
                self.stream.send_problem(input_problem(error))
            else:
                self._play(program, recorder)
        if self.recorder is None:
            self.stream.finish()
        else:
            self.recorder.unrecorded.flush()
            self.stream.finish(self.recorder.notes, self.recorder.caught(self.error), self.recorder.passes.count)

    def release(self) -> None:
        """Lets go of what the program made, long graphs piece by piece; nothing can be looked at afterwards."""
        self.namespace.clear()
        self.result = self.error = None
        if self.recorder is None:
            return
        self.recorder.forget_names()
        chains = self.recorder.log.chains
        if chains.release():
            gc.collect()
            chains.release()

    def _read(self) -> Program:
        inputs = tuple(self.request.options.inputs)
        return read_program(self.request.source, inputs, self.limits.source_bytes)

    def _play(self, program: Program, recorder: Recorder) -> None:
        self._start(self._inputs(program, recorder), program.directions)
        asked = self.request.options.grad_output
        if asked is not None:
            recorder.passes.choose_seed = lambda output: chosen_gradient(output, asked)
        recorder.notes += [fact("note-input", name=name) for name in program.unused_inputs]
        recorder.notes += program.remarks()
        with recording(recorder, self.stream) as recorded, self._around(recorder):
            try:
                with recorded:
                    try:
                        exec(program.code, self.namespace)  # noqa: S102 (running the program is what this is for)
                    finally:
                        self._revive()
                        recorder.schedule.listen()
            except AllRecordedError:
                return
            except InputError as error:
                self.stream.send_problem(input_problem(error))
                return
            except BaseException as error:  # noqa: BLE001 (interrupts are results, too)
                if not ends_well(error):
                    self.error = error
                    self._explain(error, program, recorder)
                    return
            self._conclude(program, recorder, recorded)

    def _around(self, recorder: Recorder) -> AbstractContextManager[None]:
        return nullcontext() if self._surroundings is None else self._surroundings.around(recorder.notes.append)

    def _revive(self) -> None:
        if self._surroundings is not None:
            self._surroundings.revive()

    def _conclude(self, program: Program, recorder: Recorder, recorded: CallRecorder) -> None:
        asked = self.request.options.grad_output
        if recorder.passes.count and asked is not None and not recorder.passes.has_chosen:
            recorder.notes.append(fact("note-v-kept"))
        if recorder.passes.count or self.stream.truncated in ("nodes", "memory", "recursion"):
            return
        try:
            with recorded:
                conclude(program, recorder, self.namespace, self.result, asked)
        except InputError as error:
            self.stream.send_problem(input_problem(error))
        except BaseException as error:  # noqa: BLE001 (a hook or a custom backward may raise anything)
            self.error = error
            self._explain(error, program, recorder)

    def _prepare_namespace(self, program: Program, recorder: Recorder) -> None:
        options = self.request.options
        namespace: dict[str, Any] = {"__name__": "__main__"}
        if self._surroundings is not None:
            namespace = self._surroundings.namespace()
        self.namespace = namespace
        namespace[RESULT] = self._keep_result
        namespace[INPUT] = self._override_input
        schedule = recorder.schedule
        namespace |= {LOOP: schedule.start_loop, TURN: schedule.begin_turn, LEAVE: schedule.leave_loop}
        for name, path in {**program.prelude, **program.maths_names}.items():
            namespace[name] = _look_up(path)
        for name, default in program.default_inputs.items():
            namespace[name] = free_variable(name, options.inputs.get(name, default))
        lines = program.text.splitlines(keepends=True)
        linecache.cache[FILENAME] = (len(program.text), None, lines, FILENAME)

    def _keep_result(self, value: Any) -> Any:
        self.result = value
        return value

    def _override_input(self, name: str, value: Any) -> Any:
        with originals.without_torch_function():
            entry = self.request.options.inputs[name]
            owner, _, path = name.partition(".")
            return override(name, entry, value) if not path else set_parameter(name, entry, value, path)

    def _inputs(self, program: Program, recorder: Recorder) -> list[Input]:
        value_of = recorder.values.value_of
        return [{"name": name, "value": value_of(self.namespace[name])} for name in program.free_variables]

    def _start(self, inputs: list[Input], directions: Sequence[Direction] = ()) -> None:
        canonical = canonical_request(self.request)
        versions = installed_versions()
        started: dict[str, Any] = {
            "seq": 0,
            "type": "started",
            "format": FORMAT,
            "id": trace_id(self.request, versions),
            **canonical,
            "versions": versions,
            "inputs": inputs,
        }
        if directions:
            started["directions"] = [{"kind": each.kind, "text": each.text, "line": each.line} for each in directions]
        self.stream.send(started)

    def _explain(self, error: BaseException, program: Program, recorder: Recorder) -> None:
        if recorder.was_explained(error):
            return
        if isinstance(error, InputError):
            recorder.explain_once(error, input_problem(error))
            return
        if isinstance(error, NameError) and comes_of_recorder(error) and recorder.tell_damage(error, is_over=True):
            return
        try:
            explained = explain_error(error, recorder.culprits())
        except BaseException as interruption:  # noqa: BLE001 (the error's own __str__ may have run out of time)
            explained = explain_error(interruption, recorder.culprits())
        refused = None if self._surroundings is None else self._surroundings.explain(error, self.request.source)
        if refused is not None:
            explained = problem("error", refused, span=explained["span"], words=words_of(error))
        elif isinstance(error, NameError) and error.name:
            explained["fact"] = unknown_name(error, _where_from(error.name, program))
        else:
            function: Any = recorder.log.without_result
            span = None if function is None else FunctionTexts(program).span(function.forward)
            if span is not None:
                explain_without_result(error, explained, function, span)
            explain_none_grad(error, explained, recorder.places)
        self._attach_graph(error, explained, recorder)
        recorder.explain_once(error, explained)

    def _attach_graph(self, error: BaseException, explained: Problem, recorder: Recorder) -> None:
        """Adds what the program had built to a problem, as far as no pass has shown it."""
        nodes_max = self.limits.nodes
        if isinstance(error, TimeLimitError):
            # What is left until SIGKILL must do, on a busy machine too, or the problem would have no line.
            nodes_max = min(nodes_max, _NODES_OUT_OF_TIME)
        with originals.without_torch_function():
            try:
                unfinished = Unfinished(error, self.namespace)
                found = unfinished.write(recorder.writer, nodes_max)
                if found is None:
                    return
                explained["graph"], records = found
                failed = unfinished.failed_call(records, recorder.values, recorder.places)
                if failed is not None:
                    explained["failed"] = failed
            except (MemoryError, TimeLimitError):
                # Looking at a tensor may run code of the program, which may take for ever once more.
                return
            except Exception as fault:  # noqa: BLE001 (our own fault must not hide the program's)
                recorder.fail_inside(fault)


def _look_up(path: str) -> object:
    """What stands at a dotted path (`torch.sin`, `torch.nn.functional`)."""
    module, *rest = path.split(".")
    return reduce(getattr, rest, sys.modules[module])


def _where_from(name: str, program: Program) -> Fact:
    """What to do about a name that nothing gave a value."""
    line = MISSING_IMPORTS.get(name)
    if line is not None:
        return fact("problem-import-first", line=line)
    meant = nearest_name(name, program, dir(torch))
    return fact("problem-name-near", name=meant) if meant else fact("problem-assign-first")


def ends_well(error: BaseException) -> bool:
    """`sys.exit(0)`, `exit()`: the end of the program, as its last line would be."""
    return isinstance(error, SystemExit) and error.code in (None, 0)


@contextmanager
def listening(recorder: Recorder) -> Iterator[CallRecorder]:
    """Puts everything in place that listens to the forward and the backward, and takes it away again."""
    scopes = ModuleScopes(recorder.log)
    compiled = CompileWatch(recorder.places, recorder.notes.append)
    optimizers = OptimizerWatch(recorder.places, recorder.notes.append)
    with ExitStack() as stack:
        stack.enter_context(seen_functions(recorder.log, recorder.fail_inside))
        scopes.install()
        stack.callback(scopes.remove)
        for part in (recorder.hooks, recorder.writer.threads, compiled, optimizers, recorder.passes):
            stack.enter_context(part.watching())
        calls = recorder.passes.mode = CallRecorder(recorder.log, recorder.fail_inside)
        recorder.schedule.listening = Listening(recorder.log, calls, scopes)
        yield calls


@contextmanager
def recording(recorder: Recorder, stream: EventStream) -> Iterator[CallRecorder]:
    """Listens, and also takes what the program prints and is warned of."""
    heard = WarningWatch(stream.send_warning, recorder.places, recorder.fail_inside)
    with redirect_stdout(ProgramOutput(stream)), relaxed_collection(), heard.listening(), listening(recorder) as calls:
        yield calls


def seed_everything(seed: int) -> None:
    """torch, random and numpy, so that the same request gives the same numbers."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % _NUMPY_SEEDS)


def input_problem(error: InputError) -> Problem:
    """The problem for a value of the request that cannot be used."""
    return problem("error", fact("problem-input", problem=error.fact))
