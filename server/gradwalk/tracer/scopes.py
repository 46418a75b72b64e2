"""Scopes of the forward pass: calls of modules and of the program's own functions become groups."""

import inspect
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

import torch
from torch.nn.modules import module as torch_module

from gradwalk.tracer.calls import CallLog, Place, Scope, snippet_place
from gradwalk.tracer.originals import SNIPPET, frame_at

_IS_FUNCTION: Final = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
_IS_SUSPENDED: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class ScopeRecorder:
    """Global module hooks, and a trace function that sees the program's frames only."""

    def __init__(self, log: CallLog) -> None:
        self._log = log
        self._modules: list[Scope] = []
        self._functions: list[tuple[FrameType, Scope]] = []
        self._handles: list[Any] = []
        self._previous_trace: Any = None

    def install(self) -> None:
        """Starts listening."""
        self._handles = [
            torch_module.register_module_forward_pre_hook(self._enter_module),
            torch_module.register_module_forward_hook(self._leave_module, always_call=True),
        ]
        self._previous_trace = sys.gettrace()
        sys.settrace(self._on_call)

    def remove(self) -> None:
        """Stops listening."""
        sys.settrace(self._previous_trace)
        for handle in self._handles:
            handle.remove()

    def _enter_module(self, module: torch.nn.Module, _inputs: Any) -> None:
        log = self._log
        if not log.is_own_thread:
            return
        scope = log.open("module", type(module).__name__, snippet_place(frame_at(1)))
        scope.module = id(module)
        self._modules.append(scope)

    def _leave_module(self, module: torch.nn.Module, _inputs: Any, _output: Any) -> None:
        if self._log.is_own_thread and self._modules and self._modules[-1].module == id(module):
            self._log.close(self._modules.pop())

    def _on_call(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename != SNIPPET:
            return None
        name = code.co_name
        is_plain = code.co_flags & _IS_FUNCTION == _IS_FUNCTION and not code.co_flags & _IS_SUSPENDED
        if not is_plain or (name[0] == "<" and name != "<lambda>"):
            return None
        log = self._log
        around = log.scope
        if name == "forward" and around is not None and around.kind == "module" and around.code is None:
            # The module's own box is there already.
            around.code = code
            return None
        caller = frame.f_back
        place: Place | None = None if caller is None else snippet_place(caller)
        scope = log.open("function", name.strip("<>"), place)
        scope.code = code
        self._functions.append((frame, scope))
        frame.f_trace_lines = False
        return self._on_event

    def _on_event(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "return":
            functions = self._functions
            while functions:
                known, scope = functions.pop()
                if known is frame:
                    self._log.close(scope)
                    break
        return self._on_event
