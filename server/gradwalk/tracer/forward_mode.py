"""Forward mode: a program that pushes tangents forward and so has nothing that runs backward.

What such a call computed is read from the names that the program gave its results to. Its function is then run once
more, with what it was differentiated for as leaves: the graph on which a tangent runs forward and v runs backward.
"""

import ast
import io
import random
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, redirect_stdout
from itertools import repeat
from types import CodeType
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
import torch
from torch.autograd import forward_ad
from torch.utils import _pytree as pytree

from gradwalk.protocol.facts import Filling, Numbers, code, fact
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer.originals import equal, is_leaf, without_torch_function

_TANGENT_PLACES: Final = {"jvp": 1, "unpack_dual": 1, "jacfwd": 0}
"""Which of its results is a tangent, or is made of tangents."""
_FUNCTIONS: Final = frozenset(_TANGENT_PLACES) | {"make_dual", "linearize"}
_DEFINITIONS: Final = (ast.FunctionDef, ast.ClassDef)
_LONGEST: Final = 12
"""Entries; of more only the call is told."""


class ForwardCall(NamedTuple):
    """One call of forward mode, by the text of the program."""

    function: str
    """`jvp`, `jacfwd`, `make_dual`."""
    position: tuple[int, int, int, int]
    """(line, end line, byte column, byte end column) of the call whose results are given names."""
    statement: ast.stmt
    """The module's own that makes the call: in which it stands, or the first that names the function around it."""


def forward_calls(tree: ast.Module, namespace: Mapping[str, Any]) -> Iterator[ForwardCall]:
    """The calls whose function is torch's own, in the order of the text."""
    statements = {id(node): _running(one, tree) for one in tree.body for node in ast.walk(one)}
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    calls = sorted(called.values(), key=lambda call: (call.lineno, call.col_offset, -(call.end_col_offset or 0)))
    for call in calls:
        function = _torch_function(call.func, namespace)
        if function in _FUNCTIONS:
            # `jacfwd(f)(x)`: it is the outer call that has the result.
            whole = called.get(id(call), call) if function in ("jacfwd", "linearize") else call
            end = whole.end_lineno or whole.lineno, whole.end_col_offset or whole.col_offset
            position = (whole.lineno, end[0], whole.col_offset, end[1])
            yield ForwardCall(function, position, statements[id(call)])


def tell_calls(calls: Sequence[ForwardCall]) -> list[Filling]:
    """The functions, each once."""
    return [code(name) for name in dict.fromkeys(call.function for call in calls if call.function != "unpack_dual")]


def tell_tangents(
    calls: Sequence[tuple[ForwardCall, tuple[str | None, ...]]],
    namespace: Mapping[str, Any],
    value_of: Callable[[torch.Tensor], TensorValue | None],
) -> list[Filling]:
    """What calls computed, each with the names that its results were given; few numbers, or nothing."""
    tangents: list[Filling] = []
    for call, names in calls:
        place = _TANGENT_PLACES.get(call.function)
        name = names[place] if place is not None and place < len(names) else None
        tensor = None if name is None else namespace.get(name)
        value = value_of(tensor) if isinstance(tensor, torch.Tensor) else None
        data = None if value is None else value.get("data")
        if name is not None and value is not None and data is not None and len(data) <= _LONGEST:
            numbers: Numbers = {"numbers": [*data], "shape": value["shape"]}
            tangents.append(fact("forward-mode-tangent", name=name, value=numbers))
    return tangents


def _running(statement: ast.stmt, tree: ast.Module) -> ast.stmt:
    if not isinstance(statement, _DEFINITIONS):
        return statement
    others = (one for one in tree.body if not isinstance(one, _DEFINITIONS))
    named = (one for one in others for node in ast.walk(one) if getattr(node, "id", None) == statement.name)
    return next(named, statement)


class Reopened(NamedTuple):
    """The function of a forward-mode call, run with leaves."""

    output: torch.Tensor
    tangents: list[tuple[torch.Tensor, torch.Tensor | None]]
    """The leaves, each with the direction in which the program pushed it, if it did."""


class _Reached(BaseException):  # noqa: N818 (nothing is wrong)
    """The function has returned; what the statement does with the result was done before."""

    def __init__(self, output: Any) -> None:
        self.output = output


@contextmanager
def reopened(
    call: ForwardCall, targets: Sequence[str | None], namespace: MutableMapping[str, Any], file: str
) -> Iterator[Reopened | None]:
    """Runs the statement of a call again up to the result of its function, silently; afterwards all is as it was.

    None where it does not come to the call or fails, where it draws random numbers or computes another result.
    """
    names = dict(namespace)
    stubs = _Stubs()
    try:
        output = _run(compile(ast.Module([call.statement], []), file, "exec"), namespace, stubs)
        _forget(namespace, [leaf for leaf, _ in stubs.leaves], names)
        result = targets[0] if targets and call.function == "jvp" else None
        known = None if result is None else names.get(result)
        if output is None or (isinstance(known, torch.Tensor) and not equal(known, output)):
            yield None
            return
        if result is not None:
            namespace[result] = output
        yield Reopened(output, stubs.leaves)
    finally:
        _put_back(namespace, names)
        stubs.restore()


def _run(statement: CodeType, namespace: MutableMapping[str, Any], stubs: "_Stubs") -> torch.Tensor | None:
    before = _random_states()
    try:
        with stubs.installed(namespace), torch.enable_grad(), redirect_stdout(io.StringIO()):
            exec(statement, namespace)  # type: ignore[arg-type] # noqa: S102 (as the run did)
    except _Reached as reached:
        first = next(filter(_is_computed, pytree.tree_leaves(reached.output)), None)
        return first if before == _random_states() else None
    except (Exception, SystemExit):  # noqa: BLE001 (the program has run; only its graph cannot be shown)
        return None
    return None


def _random_states() -> tuple[Any, ...]:
    """Of the generators that programs use."""
    numbers = np.random.get_state(legacy=False)  # noqa: NPY002 (the state programs use)
    state = numbers.pop("state")
    return torch.get_rng_state().tolist(), random.getstate(), numbers, state["key"].tolist(), state["pos"]


def _forget(namespace: MutableMapping[str, Any], leaves: Sequence[torch.Tensor], names: Mapping[str, Any]) -> None:
    """Names that were given to duals, which stand for leaves that have names of their own."""
    for name, value in [*namespace.items()]:
        if value is not names.get(name) and any(value is leaf for leaf in leaves):
            del namespace[name]


def _put_back(namespace: MutableMapping[str, Any], names: Mapping[str, Any]) -> None:
    namespace.clear()
    namespace.update(names)


def _is_computed(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad and not is_leaf(value)


class _Stubs:
    """In the place of torch's functions of forward mode: they make leaves, and stop once the function has returned."""

    def __init__(self) -> None:
        self.leaves: list[tuple[torch.Tensor, torch.Tensor | None]] = []

    @contextmanager
    def installed(self, namespace: MutableMapping[str, Any]) -> Iterator[None]:
        """In torch's modules, and under the program's own names."""
        stubs: dict[tuple[Any, str], Callable[..., Any]] = {
            (torch.func, "jvp"): self._jvp,
            (torch.func, "jacfwd"): self._jacfwd,
            (torch.func, "linearize"): self._linearize,
            (forward_ad, "make_dual"): self._make_dual,
            (forward_ad, "unpack_dual"): self._unpack_dual,
        }
        theirs = {place: getattr(*place) for place in stubs}
        for name, value in [*namespace.items()]:
            for place, function in theirs.items():
                if value is function:
                    namespace[name] = stubs[place]
        try:
            for (module, name), stub in stubs.items():
                setattr(module, name, stub)
            yield
        finally:
            for (module, name), function in theirs.items():
                setattr(module, name, function)

    def restore(self) -> None:
        """The leaves are plain tensors again."""
        for leaf, _ in self.leaves:
            leaf.grad = None
            leaf.requires_grad = False

    def _make_leaves(self, values: Any, tangents: Any = None) -> None:
        pushed = pytree.tree_leaves(tangents) if tangents is not None else repeat(None)
        for value, tangent in zip(pytree.tree_leaves(values), pushed, strict=False):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                if value.requires_grad:
                    raise ValueError("pushed in two directions, which one leaf cannot show")
                with without_torch_function():
                    value.requires_grad_()
                self.leaves.append((value, tangent))

    def _jvp(self, function: Callable[..., Any], primals: Any, tangents: Any, **_: Any) -> NoReturn:
        self._make_leaves(primals, tangents)
        raise _Reached(function(*primals))

    def _jacfwd(self, function: Callable[..., Any], argnums: Any = 0, **_: Any) -> Callable[..., NoReturn]:
        def differentiate(*arguments: Any, **named: Any) -> NoReturn:
            self._make_leaves([arguments[number] for number in pytree.tree_leaves(argnums)])
            raise _Reached(function(*arguments, **named))

        return differentiate

    def _linearize(self, function: Callable[..., Any], *primals: Any) -> NoReturn:
        self._make_leaves(primals)
        raise _Reached(function(*primals))

    def _make_dual(self, tensor: torch.Tensor, tangent: torch.Tensor, **_: Any) -> torch.Tensor:
        self._make_leaves(tensor, tangent)
        return tensor

    def _unpack_dual(self, tensor: torch.Tensor, **_: Any) -> forward_ad.UnpackedDualTensor:
        if _is_computed(tensor):
            raise _Reached(tensor)
        return forward_ad.UnpackedDualTensor(tensor, None)


def _torch_function(function: ast.expr, namespace: Mapping[str, Any]) -> str | None:
    """The name of the torch function that an expression of names and dots stands for."""
    path: list[str] = []
    while isinstance(function, ast.Attribute):
        path.append(function.attr)
        function = function.value
    found = namespace.get(function.id) if isinstance(function, ast.Name) else None
    for name in reversed(path):
        found = getattr(found, name, None)
    module = getattr(found, "__module__", None) or ""
    return getattr(found, "__name__", None) if module.startswith("torch.") else None
