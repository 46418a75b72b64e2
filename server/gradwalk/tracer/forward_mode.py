"""Forward mode: a program that pushes tangents forward and so has nothing that runs backward.

What such a call computed is read from the names that the program gave its results to; nothing is run again.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import torch

from gradwalk.protocol.facts import Fact, Filling, Numbers, code, fact
from gradwalk.protocol.values import TensorValue

_TANGENT_PLACES: Final = {"jvp": 1, "unpack_dual": 1, "jacfwd": 0}
"""Which of its results is a tangent, or is made of tangents."""
_FUNCTIONS: Final = frozenset(_TANGENT_PLACES) | {"make_dual", "linearize"}
_LONGEST: Final = 12
"""Entries; of more only the call is told."""


class ForwardCall(NamedTuple):
    """One call of forward mode, by the text of the program."""

    function: str
    """`jvp`, `jacfwd`, `make_dual`."""
    position: tuple[int, int, int, int]
    """(line, end line, byte column, byte end column) of the call whose results are given names."""


def forward_calls(tree: ast.Module, namespace: Mapping[str, Any]) -> Iterator[ForwardCall]:
    """The calls whose function is torch's own, in the order of the text."""
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    calls = sorted(called.values(), key=lambda call: (call.lineno, call.col_offset, -(call.end_col_offset or 0)))
    for call in calls:
        function = _torch_function(call.func, namespace)
        if function in _FUNCTIONS:
            # `jacfwd(f)(x)`: it is the outer call that has the result.
            whole = called.get(id(call), call) if function in ("jacfwd", "linearize") else call
            end = whole.end_lineno or whole.lineno, whole.end_col_offset or whole.col_offset
            yield ForwardCall(function, (whole.lineno, end[0], whole.col_offset, end[1]))


def tell_forward_mode(
    calls: Sequence[ForwardCall],
    targets: Callable[[ForwardCall], tuple[str | None, ...]],
    namespace: Mapping[str, Any],
    value_of: Callable[[torch.Tensor], TensorValue | None],
) -> Fact:
    """What ran forward, and its tangents where the program has names for them and they are few."""
    named: list[Filling] = [code(name) for name in dict.fromkeys(call.function for call in calls)]
    tangents: list[Filling] = []
    for call in calls:
        place, names = _TANGENT_PLACES.get(call.function), targets(call)
        name = names[place] if place is not None and place < len(names) else None
        tensor = None if name is None else namespace.get(name)
        value = value_of(tensor) if isinstance(tensor, torch.Tensor) else None
        data = None if value is None else value.get("data")
        if name is not None and value is not None and data is not None and len(data) <= _LONGEST:
            numbers: Numbers = {"numbers": [*data], "shape": value["shape"]}
            tangents.append(fact("forward-mode-tangent", name=name, value=numbers))
    if not tangents:
        return fact("problem-forward-mode", calls=named)
    return fact("problem-forward-mode-tangents", calls=named, tangents=tangents)


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
