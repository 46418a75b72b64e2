"""Whether a user's `backward` may be run more than once without anybody noticing.

Its Jacobian needs one run per row, and the program must not be changed by being watched. So its text is
read, and it counts as repeatable only if everything it does is on this list: computing; giving names to
values; writing into tensors that it made itself (`grad_input = grad_output.clone()`, then
`grad_input[x < 0] = 0`); printing (which is caught); calling torch, math or numpy (not their random
numbers, settings, files or engine), Python's pure built-ins, and functions of the program that are
repeatable themselves. Anything else might leave a trace: a write to an attribute, a global, a container
or somebody else's tensor, a method of an unknown object. Then the answer is no, and the Jacobian is on
demand, where the whole program runs again in a process of its own.
"""

import ast
import builtins
import inspect
import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import torch

from gradwalk.tracer.originals import innermost

FRESH_MAKERS = frozenset(
    {"abs", "addmm", "bmm", "cat", "clamp", "clone", "conv2d", "copy", "cos", "empty", "empty_like", "exp", "eye",
     "full", "full_like", "linear", "log", "matmul", "mm", "mv", "new_empty", "new_full", "new_ones", "new_tensor",
     "new_zeros", "ones", "ones_like", "sigmoid", "sign", "sin", "softmax", "sqrt", "stack", "tanh", "tensor",
     "where", "zeros", "zeros_like"}
)  # fmt: skip
"""Calls whose result shares no memory with anything."""

PURE_BUILTINS = frozenset(
    {"abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "float", "getattr", "hasattr", "int",
     "isinstance", "len", "list", "max", "min", "pow", "print", "range", "repr", "reversed", "round", "set", "slice",
     "sorted", "str", "sum", "tuple", "type", "zip"}
)  # fmt: skip

PURE_MODULES = frozenset({"torch", "math", "numpy", "operator"})
"""By the first part of the module's name."""

NOTICEABLE = frozenset(
    {"accumulate", "add_hook", "append", "apply", "backward", "clear", "discard", "enable_grad", "extend", "grad",
     "insert", "load", "manual_seed", "next", "pop", "popitem", "rand", "randint", "randn", "random", "randperm",
     "register_hook", "remove", "retain_grad", "reverse", "save", "seed", "setdefault", "sort", "update", "write"}
)  # fmt: skip
"""Attributes whose call changes something, or starts the engine; so does any `set_...`, and any `..._`."""

SAVING = frozenset(
    {"mark_dirty", "mark_non_differentiable", "save_for_backward", "save_for_forward", "set_materialize_grads"}
)
"""Methods of ctx that a forward may call."""

_NEVER = (ast.Global, ast.Nonlocal, ast.Await, ast.Yield, ast.YieldFrom, ast.AsyncFor, ast.AsyncWith, ast.Delete)
_known: WeakKeyDictionary[FunctionType, bool] = WeakKeyDictionary()


def is_repeatable(function: type) -> bool:
    """True when the `backward` of an autograd Function does only what is listed above."""
    return _is_pure(getattr(function, "backward", None), depth=0)


def is_repeatable_forward(function: type) -> bool:
    """True when the `forward` of an autograd Function does only that, besides saving things in ctx."""
    forward = getattr(function, "forward", None)
    if "setup_context" in vars(function):
        return _is_pure(forward, depth=0)
    forward = innermost(forward) if callable(forward) else forward
    return isinstance(forward, FunctionType) and _reads_pure(forward, depth=0, saves=True)


def _is_pure(function: Any, depth: int) -> bool:
    function = innermost(function) if callable(function) else function
    if not isinstance(function, FunctionType) or depth > 4:
        return False
    known = _known.get(function)
    if known is None:
        _known[function] = False  # For a function that calls itself: then it is not pure.
        known = _known[function] = _reads_pure(function, depth)
    return known


def _reads_pure(function: FunctionType, depth: int, *, saves: bool = False) -> bool:
    try:
        [definition] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, SyntaxError, ValueError, TypeError):
        return False
    if not isinstance(definition, ast.FunctionDef):
        return False
    return _Reader(function, definition, depth, saves=saves).is_pure()


class _Reader:
    """Reads one function's text."""

    def __init__(self, function: FunctionType, definition: ast.FunctionDef, depth: int, *, saves: bool) -> None:
        self._function = function
        self._definition = definition
        self._nodes = [node for statement in definition.body for node in ast.walk(statement)]
        self._depth = depth
        self._saves = saves
        """It may write attributes of its first parameter and call its methods: a forward's ctx."""
        arguments = definition.args
        self._parameters = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        names = [node for node in self._nodes if isinstance(node, ast.Name)]
        self._stores = Counter(node.id for node in names if isinstance(node.ctx, ast.Store))
        """How often each name is bound."""
        self._locals = self._parameters | self._stores.keys()
        self._augmented = [node.target.id for node in self._nodes
                           if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)]  # fmt: skip
        self._context = arguments.args[0].arg if arguments.args else ""
        self._fresh = self._fresh_names()
        self._own = self._own_parameters() if saves else set()
        """What a forward that is run again may write into: its arguments are copies."""

    def is_pure(self) -> bool:
        return not any(isinstance(node, _NEVER) or not self._is_allowed(node) for node in self._nodes)

    def _is_allowed(self, node: ast.AST) -> bool:
        match node:
            case ast.Attribute(ctx=ast.Store(), value=base):
                return self._saves and isinstance(base, ast.Name) and base.id == self._context
            case ast.Subscript(ctx=ast.Store(), value=base):
                return self._is_fresh(base)
            case ast.AugAssign(target=ast.Name() as target):
                return self._is_fresh(target)
            case ast.Call():
                return self._is_pure_call(node)
            case ast.Import(names=names):
                return all(one.name.split(".")[0] in PURE_MODULES for one in names)
            case ast.ImportFrom():
                return False
            case _:
                return True

    def _own_parameters(self) -> set[str]:
        """Those that are given no other value, and no default that every call shares."""
        given = self._definition.args
        positional = [one.arg for one in (*given.posonlyargs, *given.args)]
        defaults = [*zip(positional[::-1], given.defaults[::-1], strict=False)]
        defaults += [(one.arg, default) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
                     if default is not None]  # fmt: skip
        shared = {name for name, default in defaults if not isinstance(default, ast.Constant)}
        # `x += 1` writes into the tensor.
        stored = {name for name, count in self._stores.items() if count > self._augmented.count(name)}
        return self._parameters - stored - shared - {self._context}

    def _fresh_names(self) -> set[str]:
        """Local names that are only ever given values made on the spot; see `_makes_fresh`."""
        given: dict[str, list[bool]] = {}
        for node in self._nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for one in _pairs(target, node.value):
                        given.setdefault(one[0], []).append(_makes_fresh(one[1]))
        # A name that is also bound in another way (a loop, a with) is nobody's own.
        return {
            name for name, makers in given.items()
            if all(makers) and len(makers) == self._stores[name] - self._augmented.count(name)
            and (self._saves or name not in self._parameters)
        }  # fmt: skip

    def _is_fresh(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._fresh or node.id in self._own
        return _makes_fresh(node)

    def _is_pure_call(self, call: ast.Call) -> bool:
        if any(keyword.arg in ("out", "inplace") for keyword in call.keywords):
            return False
        match call.func:
            case ast.Name(id=name):
                return name not in self._locals and self._is_pure_global(name)
            case ast.Attribute(value=base, attr=name):
                return self._is_pure_method(base, name)
            case _:
                return False

    def _is_pure_method(self, base: ast.expr, name: str) -> bool:
        if name.endswith("_") and not name.endswith("__"):
            return self._is_fresh(base)
        if name in NOTICEABLE or name.startswith("set_"):
            return False
        owner, path = base, []
        while isinstance(owner, ast.Attribute):
            path.append(owner.attr)
            owner = owner.value
        if not isinstance(owner, ast.Name):
            return True
        if owner.id == self._context:
            # `ctx.saved.sum()` is a method of a value; `ctx.function(x)` may be anything.
            return bool(path) or (self._saves and name in SAVING)
        if owner.id in self._locals:
            return True
        if NOTICEABLE.intersection(path):
            return False
        value = self._global(owner.id)
        return isinstance(value, ModuleType) and value.__name__.split(".")[0] in PURE_MODULES

    def _is_pure_global(self, name: str) -> bool:
        value = self._global(name)
        if name in PURE_BUILTINS and value is getattr(builtins, name, None):
            return True
        if isinstance(value, BuiltinFunctionType):
            return name not in NOTICEABLE and any(getattr(one, name, None) is value for one in (torch, math))
        if isinstance(value, FunctionType) and value.__module__ != self._function.__module__:
            return value.__module__.split(".")[0] in PURE_MODULES and name not in NOTICEABLE
        return _is_pure(value, self._depth + 1)

    def _global(self, name: str) -> Any:
        enclosed = inspect.getclosurevars(self._function).nonlocals
        if name in enclosed:
            return enclosed[name]
        return self._function.__globals__.get(name, getattr(builtins, name, None))


def _makes_fresh(value: ast.expr) -> bool:
    """Whether it is a number, or a result that shares memory with nothing: of arithmetic, of `FRESH_MAKERS`."""
    if isinstance(value, ast.Constant | ast.BinOp):
        return True
    if not isinstance(value, ast.Call):
        return False
    called: Callable[..., Any] | ast.expr = value.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in FRESH_MAKERS


def _pairs(target: ast.expr, value: ast.expr) -> Iterable[tuple[str, ast.expr]]:
    """Each name on the left with its value; names taken out of something are paired with the whole of it."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        is_matched = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
        values = value.elts if isinstance(value, ast.Tuple | ast.List) and is_matched else [value] * len(target.elts)
        for one, of_one in zip(target.elts, values, strict=True):
            # What is unpacked from a fresh tensor is a view of it, and that is as good; from a call it may be anything.
            yield from _pairs(one, of_one if is_matched else ast.Name("unknown", ast.Load()))
