"""Where plain numbers can go in a program, by its text: from what one line computes into what another reads.

Tensors are followed while the program runs (`sources`); a number that was read out of one is followed by the names that
can hold it. An attribute is known by its name with a dot in front, whatever has it. The order of statements is left
out. A place is the lines of all calls that are open there: what one call passes to a function, another does not read.
"""

import ast
import builtins
from collections.abc import Iterable
from copy import deepcopy
from itertools import pairwise
from typing import Final, NamedTuple

import torch

from gradwalk.tracer.frames import Lines

Names = frozenset[str]
_CHANGED: Final = "!"
"""After a name: what is put into the thing that it names, and is found under its other names, too."""
_KEEPS_NOTHING: Final = frozenset({"print"})
_BY_ENGINE: Final = frozenset({"backward"})
"""Functions that no call of their name calls."""
_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_KNOWN: Final = frozenset(
    name for owner in (torch, torch.Tensor, torch.nn.functional, list, dict, builtins) for name in dir(owner)
)


class _Function(NamedTuple):
    name: str
    of: str
    """The class that it is a method of, if that inherits nothing of the program's."""
    own: str
    """What the names of its variables begin with: an `x` in one function is not the `x` outside it."""
    parameters: Names
    defaults: Names
    is_apart: bool
    """Whether nothing but what it returns or puts elsewhere is left of a call, and it runs where it is called."""

    @property
    def is_unnamed(self) -> bool:
        """Whether calls do not name it: of a module, of a Function, of a variable."""
        return self.name == "forward" or self.name.startswith("__")

    @property
    def passed(self) -> str:
        """Stands for what calls pass to it."""
        return self.own + ">"

    @property
    def result(self) -> str:
        """Stands for what it returns."""
        return self.own + "()"

    @property
    def change(self) -> str:
        """Stands for what it puts into its arguments."""
        return self.own + _CHANGED

    @property
    def left(self) -> Names:
        """Stand for what is left of a call."""
        return frozenset({self.result, self.change})


class _Statement(NamedTuple):
    first: int
    last: int
    owner: _Function | None
    mark: str
    """Stands for what is computed in it without any name."""
    given: Names
    taken: Names
    called: list[_Function]
    """What it may call."""
    put: Names
    """What these may put something into."""


class Flow:
    """What flows where in one program."""

    def __init__(self, tree: ast.Module) -> None:
        tree = deepcopy(tree)
        definitions = [node for node in ast.walk(tree) if isinstance(node, _Definition)]
        names = {node.name for node in definitions}
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        known = {one.name for one in classes}
        alone = [one for one in classes if known.isdisjoint(name for base in one.bases for name in _loaded(base))]
        methods = {id(node): one.name for one in alone for node in one.body}
        functions = [_set_apart(node, methods.get(id(node), ""), names) for node in definitions]
        owners = {
            id(node): function
            for definition, function in zip(definitions, functions, strict=True)
            for node in ast.walk(definition)
        }
        self._statements = [
            _read(node, owners.get(id(node)), functions)
            for node in ast.walk(tree)
            if isinstance(node, ast.stmt) and not isinstance(node, _Definition | ast.ClassDef | ast.Try)
        ]
        self._links = [(one.given, one.taken) for one in self._statements]
        apart = [one for one in functions if one.is_apart]
        self._apart_names = tuple(one.own for one in apart)
        self._passed = frozenset(one.passed for one in apart)
        self._left = _union(one.left for one in apart)
        for one in self._statements:
            for function in one.called:
                self._links.append((frozenset({function.passed}), one.taken))
                self._links.append((one.put, frozenset({function.change})))
        for function in functions:
            self._links.append((function.parameters, function.defaults | {function.passed}))
            changed = frozenset(name + _CHANGED for name in function.parameters)
            self._links.append((frozenset({function.change}), changed))
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute | ast.Subscript):
                for held in _loaded(node.value):
                    self._links.append((_changed({held}), frozenset(name + _CHANGED for name in _stored(node))))

        pending = apart
        while changing := [one for one in pending if one.change in self._spread(one.parameters, self._passed)]:
            pending = [one for one in pending if one not in changing]
            for one in self._statements:
                if any(function in changing for function in one.called):
                    self._links.append((one.put, one.taken))

    def reaches(self, start: Lines, end: Lines) -> bool:
        """Whether a number that is computed at one place can be in what another reads."""
        if not (self._at(start[-1]) and self._at(end[-1])):
            return True
        inside: dict[Lines, Names] = {}
        held = frozenset(one.mark for one in self._at(start[-1]))
        for depth in range(len(start) - 1, 0, -1):
            function = self._apart(start[depth])
            if function is not None:
                held, _ = self._closed(held, function.left)
                inside[start[:depth]] = _of(function, held)
                for caller in self._at(start[depth - 1]):
                    held |= {caller.mark} if function.result in held else frozenset()
                    held |= caller.put if function.change in held else frozenset()
                held -= _of(function, held)
        outside, everything = self._closed(held)
        held = everything
        for depth, (line, inner) in enumerate(pairwise(end), 1):
            function = self._apart(inner)
            if function is None:
                held = everything
                continue
            passed = function.parameters if any(one.taken & held for one in self._at(line)) else frozenset()
            held = outside - _of(function, outside) | passed | inside.get(end[:depth], frozenset())
            held, _ = self._closed(held, function.left | {function.passed})
        return any(one.taken & held for one in self._at(end[-1]))

    def _at(self, line: int) -> list[_Statement]:
        return [one for one in self._statements if one.first <= line <= one.last]

    def _apart(self, line: int) -> _Function | None:
        """The function around a line, if its calls can be told apart."""
        function = next((one.owner for one in self._at(line)), None)
        return function if function is not None and function.is_apart else None

    def _closed(self, held: Names, kept: Names = frozenset()) -> tuple[Names, Names]:
        """All names that can hold something of these, without and with what is passed on to functions.

        What is passed to a function is in what a call gives, if that is asked here; it leaves by no other call of it.
        """
        while True:
            outside = self._spread(held, kept | self._passed)
            everything = self._spread(outside, kept | self._left)
            held = outside | {name for name in everything if not name.startswith(self._apart_names)}
            if held == outside:
                return outside, everything - (self._left - outside)

    def _spread(self, held: Names, kept: Names) -> Names:
        """All names that can hold something of these; nothing goes further from those that are `kept`."""
        while True:
            further = held | _union(given for given, taken in self._links if taken & (held - kept))
            if further == held:
                return held
            held = further


def _of(function: _Function, names: Names) -> Names:
    return frozenset(name for name in names if name.startswith(function.own))


def _set_apart(node: _Definition, of: str, functions: set[str]) -> _Function:
    """Gives the variables of a function names of their own."""
    parameters = [one for one in ast.walk(node.args) if isinstance(one, ast.arg)]
    body = [one for part in node.body for one in ast.walk(part)]
    elsewhere = {name for one in body if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names}
    own = {one.arg for one in parameters}
    own |= {one.id for one in body if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    for one in (*parameters, *body):
        name = one.id if isinstance(one, ast.Name) else one.arg if isinstance(one, ast.arg) else ""
        if name in own - elsewhere - functions and ":" not in name:
            setattr(one, "id" if isinstance(one, ast.Name) else "arg", f"{node.lineno}:{name}")
    is_apart = not any(isinstance(one, ast.Yield | ast.YieldFrom | ast.Await | _Definition) for one in body)
    is_apart = is_apart and node.name not in {name.removeprefix(".") for part in node.body for name in _loaded(part)}
    names = frozenset(one.arg for one in parameters)
    return _Function(node.name, of, f"{node.lineno}:", names, _loaded(node.args), is_apart)


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """The first and the last line of what runs before its body."""
    return statement.lineno, max(getattr(part, "end_lineno", None) or statement.lineno for part in _head(statement))


def _head(statement: ast.stmt) -> list[ast.AST]:
    """What of a statement runs before its body; all of it where it has none."""
    parts = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt | ast.excepthandler)]
    return parts if hasattr(statement, "body") else [statement]


def _read(node: ast.stmt, owner: _Function | None, functions: list[_Function]) -> _Statement:
    """What the head of a statement does."""
    first, last = _lines(node)
    parts = _head(node)
    given, taken = _union(map(_stored, parts)), _union(map(_loaded, parts))
    calls = [one for part in parts for one in ast.walk(part) if isinstance(one, ast.Call)]
    names = {one.name for one in functions}
    unnamed = {_class_called(call) for call in calls if _name_called(call) not in names | _KNOWN}
    is_unknown = bool(unnamed - {one.of for one in functions})
    named = {name.removeprefix(".") for name in taken} - _BY_ENGINE
    called = [one for one in functions if one.name in named or (one.is_unnamed and (is_unknown or one.of in unnamed))]
    if isinstance(node, ast.If | ast.While):
        # What a condition decides depends on it.
        given |= _stored(node)
    if owner is not None and any(
        isinstance(one, ast.Return | ast.Yield | ast.YieldFrom) for part in parts for one in ast.walk(part)
    ):
        given |= {owner.result}
    match node:
        case ast.Expr(value=ast.Call() as call) if _name_called(call) not in names | _KEEPS_NOTHING and not (
            called and _class_called(call)
        ):
            # `losses.append(x)`, `setattr(box, "h", x)`: a bare call may put something into its receiver or arguments.
            given |= _changed(_named(call))
    mark = f"{'' if owner is None else owner.own}@{first}"
    taken |= {mark, *(one.result for one in called)}
    return _Statement(first, last, owner, mark, given, taken, called, _changed(_union(map(_named, calls))))


def _name_called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _class_called(call: ast.Call) -> str:
    """`F` of `F(x)` and of `F.apply(x)`."""
    function = getattr(call.func, "value", None) if _name_called(call) == "apply" else call.func
    return function.id if isinstance(function, ast.Name) else ""


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
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner.endswith("ctx"):
            # What forward keeps there goes to backward alone.
            return frozenset()
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
