"""Where plain numbers can go in a program, by its text alone: from what one line computes into what another reads.

Tensors are followed while the program runs (`sources`); a number that was read out of one is followed by the names that
can hold it. An attribute is known by its name with a dot in front, whatever has it. The order of statements is left
out.
"""

import ast
import builtins
from collections.abc import Iterable
from copy import deepcopy
from typing import Final

import torch

Names = frozenset[str]
_UNNAMED: Final = "()"
"""What a call gives whose function is not known by its name: of a module, of a Function, of a variable."""
_CHANGED: Final = "!"
"""After a name: what is put into the thing that it names, and is found under its other names, too."""
_KEEPS_NOTHING: Final = frozenset({"print"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_KNOWN: Final = frozenset(
    name for owner in (torch, torch.Tensor, torch.nn.functional, list, dict, builtins) for name in dir(owner)
)


class Flow:
    """What flows where in one program."""

    def __init__(self, tree: ast.Module) -> None:
        tree = deepcopy(tree)
        functions = [node for node in ast.walk(tree) if isinstance(node, _Function)]
        names = {function.name for function in functions}
        for function in functions:
            _set_apart(function, names)
        owners = {id(node): function for function in functions for node in ast.walk(function)}
        self._statements = [
            (*_lines(node), *_names(node, owners.get(id(node)), names))
            for node in ast.walk(tree)
            if isinstance(node, ast.stmt) and not isinstance(node, _Function | ast.ClassDef | ast.Try)
        ]
        self._links = [(given, taken) for _, _, given, taken in self._statements]
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute | ast.Subscript):
                for held in _loaded(node.value):
                    self._links.append((_changed({held}), frozenset(name + _CHANGED for name in _stored(node))))
            elif isinstance(node, ast.Call):
                for function in functions:
                    if _name_called(node) == function.name or (_is_unnamed(function) and _calls_unnamed(node, names)):
                        self._link(node, function)

    def reaches(self, line: int, other: int) -> bool:
        """Whether a number that `line` computes can be in what the `other` line reads."""
        begins = [one for one in self._statements if one[0] <= line <= one[1]]
        ends = [one for one in self._statements if one[0] <= other <= one[1]]
        if not begins or any(one in ends for one in begins):
            return True
        held: Names = frozenset()
        further = _union(given for _, _, given, _ in begins) | {_in_line(line)}
        while further != held:
            held = further
            further = held | _union(given for given, taken in self._links if taken & held)
        return any(taken & held for _, _, _, taken in ends)

    def _link(self, call: ast.Call, function: "_Function") -> None:
        """A parameter holds what a call passes, and what is put into it is put into that."""
        parameters = [one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)]
        given = _union(map(_loaded, [*call.args, *call.keywords]))
        self._links.append((frozenset(parameters), given | {_in_line(call.lineno)}))
        self._links.append((_changed(_named(call)), frozenset(name + _CHANGED for name in parameters)))


def _in_line(line: int) -> str:
    """Stands for what the calls that begin in a line are passed without any name."""
    return f"@{line}"


def _set_apart(function: "_Function", functions: set[str]) -> None:
    """Gives the variables of a function names of their own: an `x` in one is not the `x` outside it."""
    inside = [*ast.walk(function)]
    elsewhere = {name for one in inside if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names}
    own = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    own |= {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    for one in inside:
        name = one.id if isinstance(one, ast.Name) else one.arg if isinstance(one, ast.arg) else ""
        if name in own - elsewhere - functions and ":" not in name:
            setattr(one, "id" if isinstance(one, ast.Name) else "arg", f"{function.lineno}:{name}")


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """The first and the last line of what runs before its body."""
    return statement.lineno, max(getattr(part, "end_lineno", None) or statement.lineno for part in _head(statement))


def _head(statement: ast.stmt) -> list[ast.AST]:
    """What of a statement runs before its body; all of it where it has none."""
    parts = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt | ast.excepthandler)]
    return parts if hasattr(statement, "body") else [statement]


def _names(statement: ast.stmt, owner: "_Function | None", functions: set[str]) -> tuple[Names, Names]:
    """The names that the head of a statement gives something to, and those that it reads."""
    parts = _head(statement)
    given, taken = _union(map(_stored, parts)), _union(map(_loaded, parts))
    calls = [node for part in parts for node in ast.walk(part) if isinstance(node, ast.Call)]
    if any(_calls_unnamed(call, functions) for call in calls):
        taken |= {_UNNAMED}
    if isinstance(statement, ast.If | ast.While):
        # What a condition decides depends on it.
        given |= _stored(statement)
    if owner is not None and any(
        isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) for part in parts for node in ast.walk(part)
    ):
        given |= {owner.name, f".{owner.name}", *((_UNNAMED,) if _is_unnamed(owner) else ())}
    match statement:
        case ast.Expr(value=ast.Call() as call) if _name_called(call) not in functions | _KEEPS_NOTHING:
            # `losses.append(x)`, `setattr(box, "h", x)`: a bare call may put something into its receiver or arguments.
            given |= _changed(_named(call))
    return given, taken


def _is_unnamed(function: "_Function") -> bool:
    return function.name == "forward" or function.name.startswith("__")


def _calls_unnamed(call: ast.Call, functions: set[str]) -> bool:
    return _name_called(call) not in functions | _KNOWN


def _name_called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _named(call: ast.Call) -> Names:
    """The things that a call gets as they are, its receiver among them."""
    receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return _union(_thing(one) for one in (*call.args, *(keyword.value for keyword in call.keywords), *receiver))


def _thing(node: ast.AST) -> Names:
    """What a name, an attribute or an entry of one of them is known by."""
    while isinstance(node, ast.Subscript | ast.Starred):
        node = node.value
    match node:
        case ast.Name(id=name):
            return frozenset({name})
        case ast.Attribute(attr=name):
            return frozenset({f".{name}"})
    return frozenset()


def _changed(names: Iterable[str]) -> Names:
    return frozenset(names) | {name + _CHANGED for name in names}


def _stored(part: ast.AST) -> Names:
    """Names and attributes that are bound, and those of which entries are."""
    return _union(
        _changed(_thing(node)) if isinstance(node, ast.Subscript) else _thing(node)
        for node in ast.walk(part)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
    )


def _loaded(part: ast.AST) -> Names:
    return _union(
        _thing(node)
        for node in ast.walk(part)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    )


def _union(parts: Iterable[Names]) -> Names:
    return frozenset().union(*parts)
