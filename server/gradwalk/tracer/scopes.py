"""Scopes of the forward pass: calls of modules and of the program's own functions become groups."""

import weakref
from collections import Counter
from typing import Any

import torch
from torch.nn.modules import module as torch_module

from gradwalk.formulas.letters import SUBSCRIPTS
from gradwalk.tracer.calls import CallLog, Scope
from gradwalk.tracer.frames import calls_directly, snippet_frame
from gradwalk.tracer.originals import frame_at


class ModuleScopes:
    """Global module hooks that open and close a scope around every module call."""

    def __init__(self, log: CallLog) -> None:
        self._log = log
        self._open: list[Scope] = []
        self._handles: list[Any] = []
        self._named: dict[int, weakref.ref[torch.nn.Module]] = {}
        """The outermost modules that were called, by `id`."""
        self._names: Counter[str] = Counter()

    def install(self) -> None:
        """Starts listening."""
        self._handles = [
            torch_module.register_module_forward_pre_hook(self._enter),
            torch_module.register_module_forward_hook(self._leave, always_call=True),
        ]

    def remove(self) -> None:
        """Stops listening."""
        for handle in self._handles:
            handle.remove()

    def _enter(self, module: torch.nn.Module, _inputs: Any) -> None:
        if self._log.is_own_thread:
            if not self._open:
                self._note_parameters(module)
            scope = self._log.open("module", type(module).__name__, frame_at(1))
            scope.module = weakref.ref(module)
            self._open.append(scope)

    def _note_parameters(self, module: torch.nn.Module) -> None:
        """A module made in a call, or in a function that has returned, has no name any more when the pass starts."""
        known = self._named.get(id(module))
        if known is None or known() is not module:
            self._named[id(module)] = weakref.ref(module)
            frame = snippet_frame(frame_at(2))
            variables = {} if frame is None else frame.f_locals
            name = next((name for name, value in list(variables.items()) if value is module), type(module).__name__)
            self._names[name] += 1
            number = str(self._names[name]).translate(SUBSCRIPTS) if self._names[name] > 1 else ""
            self._log.note_parameters(f"{name}{number}", module)

    def _leave(self, module: torch.nn.Module, _inputs: Any, output: Any) -> None:
        opened = self._open[-1].module if self._log.is_own_thread and self._open else None
        if opened is not None and opened() is module:
            scope = self._open.pop()
            self._log.close(scope)
            if calls_directly(frame_at(1), ""):
                self._log.note_value(output, scope.place)
