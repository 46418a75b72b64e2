"""The interpreter that the recorder shares with the program: what a program removed or replaced in it, and its repair.

A program may delete `builtins.len` or replace a function of torch. Where nothing fails, that is its own affair. Where
recording fails, the difference from what was there before the program started says whose fault it is.
"""

import builtins
import sys
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final, NamedTuple

import torch

_CLASSES: Final = (torch.Tensor, torch.autograd.Function, torch.nn.Module)
_KEPT: Final = (FunctionType, BuiltinFunctionType, type, ModuleType)
"""Other values of a module change while honest programs run: caches, counters, settings."""
_EMPTY_STACK: Final = "trying to pop from empty mode stack"


class _Owner(NamedTuple):
    """A module or a class, and what it had."""

    name: str
    owner: Any
    had: dict[str, Any]

    def path(self, name: str) -> str:
        """How a message calls it; a module that lost its own name lost all."""
        return self.name if name == "__name__" else f"{self.name}.{name}"

    def differences(self, found: Mapping[str, Any]) -> Iterator[str]:
        """The names that are missing, or mean something else, but for what the recorder has in their place."""
        for name, value in self.had.items():
            other = found.get(name, self)
            is_kept = isinstance(value, _KEPT) or isinstance(self.owner, type)
            if other is self or (is_kept and other is not value and not _is_recorders(other)):
                yield name


class Interpreter:
    """As it was when this was made."""

    def __init__(self) -> None:
        modules = {name: one for name, one in sys.modules.items() if not _is_ours(name)}
        # From a module's dict: asked for an attribute, it may import.
        self._owners = [_Owner(name, one, dict(vars(one))) for name, one in modules.items() if type(one) is ModuleType]
        self._owners += [_Owner(f"{one.__module__}.{one.__name__}", one, _members(one)) for one in _CLASSES]
        self._modules = modules
        self._loaded = sys.modules
        self._builtins = _Owner("builtins", builtins, dict(vars(builtins)))
        self._builtins_at_end: dict[str, Any] | None = None
        self._recursion_limit = sys.getrecursionlimit()
        # Bound now, because neither `sys` nor a builtin may be there when they are needed.
        self._copy_builtins = vars(builtins).copy
        self._fill_builtins = vars(builtins).update
        self._read_recursion_limit = sys.getrecursionlimit
        self._set_recursion_limit = sys.setrecursionlimit

    def revive(self) -> None:
        """Brings back the builtins that are missing, without using any, once the program has ended."""
        found = self._builtins_at_end = self._copy_builtins()
        self._fill_builtins({**self._builtins.had, **found})

    def mend(self, error: BaseException, *, is_over: bool) -> str | None:
        """Names the first thing that the program took away; None where there is nothing.

        What no code can do without comes back at once, all else when the program is over: it may use what it replaced.
        """
        found = self._copy_builtins() if self._builtins_at_end is None else self._builtins_at_end
        self._fill_builtins(self._builtins.had)
        if self._read_recursion_limit() < self._recursion_limit:
            self._set_recursion_limit(self._recursion_limit)
            return "sys.setrecursionlimit"
        if isinstance(error, MemoryError | RecursionError):
            return None
        if str(error) == _EMPTY_STACK:
            return "torch._C._pop_torch_function_stack"
        damage = [self._builtins.path(name) for name in self._builtins.differences(found)]
        if any(name not in self._loaded for name in self._modules):
            self._loaded.update(self._modules)
            damage.append("sys.modules")
        for owner in self._owners:
            is_class = isinstance(owner.owner, type)
            for name in [*owner.differences(_members(owner.owner) if is_class else vars(owner.owner))]:
                damage.append(owner.path(name))
                if is_over and is_class:
                    setattr(owner.owner, name, owner.had[name])
                elif is_over:
                    vars(owner.owner)[name] = owner.had[name]
        return damage[0] if damage else None


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] == "gradwalk" or name == "__main__"


def _members(one: type) -> dict[str, Any]:
    """What a class has, its bases' included, so that a name put in front of theirs is seen."""
    return {name: value for base in reversed(one.__mro__) for name, value in vars(base).items()}


def _is_recorders(value: Any) -> bool:
    inner = getattr(value, "__func__", value)
    home = inner.__globals__.get("__name__") if isinstance(inner, FunctionType) else getattr(inner, "__module__", "")
    return str(home).startswith("gradwalk.")
