"""Where plain numbers can go in a program, by its text: from what one line computes into what another reads.

Tensors are followed while the program runs (`sources`); a number that was read out of one is followed by the names that
can hold it. The order of statements is left out. A name of a function is one for each way of calls to it: what one call
passes, another does not read. Attributes, and names that several functions use, are one everywhere.
"""

import ast
import builtins
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple, Union

import torch

from gradwalk.tracer.frames import Lines

Names = frozenset[str]
_CHANGED: Final = "!"
"""After a name: what is put into the thing that it names, and is found under its other names, too."""
_KEEPS_NOTHING: Final = frozenset({"print"})
_BY_ENGINE: Final = frozenset({"backward"})
"""Functions that no call of their name calls."""
_KNOWN: Final = frozenset(
    name for owner in (torch, torch.Tensor, torch.nn.functional, list, dict, builtins) for name in dir(owner)
)
_DEEPEST: Final = 3
"""Calls that a way is told apart by."""
_FARTHEST: Final = 20_000
"""Names and statements that a number is followed to. One that goes further can be anywhere."""
_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINES: Final = _Definition | ast.ClassDef


class _Statement:
    """What runs of the statements that begin in one line, without the lines of their bodies."""

    def __init__(self, line: int, nodes: list[ast.stmt]) -> None:
        parts = [part for node in nodes for part in _head(node)]
        self.first = line
        self.last = max(getattr(part, "end_lineno", None) or line for part in parts)
        self.calls = [one for part in parts for one in ast.walk(part) if isinstance(one, ast.Call)]
        self.called: list[_Function] = []
        """What it may call, as often as it names it."""
        self.taken = _union(map(_loaded, parts))
        self.given = _union(map(_stored, parts))
        # What a condition decides depends on it.
        self.given |= _union(_stored(node) for node in nodes if isinstance(node, ast.If | ast.While))
        self.put = _changed(_union(map(_named, self.calls)))
        """What its calls may put something into."""
        self.bare = [one.value for one in nodes if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
        """Calls whose result is not kept."""
        returning = ast.Return | ast.Yield | ast.YieldFrom
        self.returns = any(isinstance(one, returning) for part in parts for one in ast.walk(part))

    def find_calls(self, functions: "list[_Function]") -> None:
        """Finds what it may call: by name; by its class; all that no call names, where something unknown is called."""
        names = {one.name for one in functions}
        classes = {_class_called(call) for call in self.calls if _name_called(call) not in names | _KNOWN}
        is_unknown = bool(classes - {one.of for one in functions})
        for name in self.taken:
            named = [one for one in functions if one.name == name.removeprefix(".") and one.name not in _BY_ENGINE]
            times = sum(_name_called(call) == name.removeprefix(".") for call in self.calls)
            self.called += named * max(times, 1)
        self.called += [one for one in functions if one.is_unnamed and (is_unknown or one.of in classes)]
        for call in self.bare:
            if _name_called(call) not in names | _KEEPS_NOTHING and not (self.called and _class_called(call)):
                self.given |= _changed(_filled(call))


class _Function:
    """A function of the program, or the program itself."""

    def __init__(self, node: _Definition | ast.Module, of: str = "") -> None:
        inside = [*_inside(node)]
        definitions = [one for one in inside if isinstance(one, _Definition)]
        self.is_program = isinstance(node, ast.Module)
        self.name, self.of = getattr(node, "name", ""), of
        """`of`: the class that it is a method of, if that inherits nothing of the program's."""
        self.lines = range(getattr(node, "lineno", 0), (getattr(node, "end_lineno", None) or 0) + 1)
        self.parameters = _parameters(node)
        running = [one for one in inside if isinstance(one, ast.stmt) and not isinstance(one, _DEFINES | ast.Try)]
        running.sort(key=attrgetter("lineno"))
        self.statements = [_Statement(line, [*nodes]) for line, nodes in groupby(running, attrgetter("lineno"))]
        self.links: list[tuple[Names, Names]] = []
        """Besides statements: what holds something, if what comes first does."""
        for one in inside:
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Name | ast.Attribute | ast.Subscript):
                held = _loaded(one.value)
                self.links.append((frozenset(name + _CHANGED for name in _stored(one)), _changed(held)))
        self.links += [(_defaults(one), _parameters(one)) for one in definitions]
        self.own: Names = frozenset()
        """Its names that nothing else uses."""
        if not self.is_program and not _defaults(node):
            self.own = _bound(node) - _union(_used(one) - _bound(one) for one in definitions)
        self.callers: list[tuple[_Way, _Statement]] = []
        """Where it may be called; each function as if there were one way to it."""

    @property
    def is_unnamed(self) -> bool:
        """Whether calls do not name it: of a module, of a Function, of a variable."""
        return self.name == "forward" or self.name.startswith("__")

    def at(self, line: int) -> _Statement | None:
        return next((one for one in reversed(self.statements) if one.first <= line <= one.last), None)


class _Way(NamedTuple):
    """A function, and the calls that led to it; without one, it stands for all ways to the function."""

    function: _Function
    call: _Statement | None = None
    before: Union["_Way", None] = None

    def into(self, call: _Statement, function: _Function) -> "_Way":
        """The way that a call on this one leads to."""
        way, depth = self, 1
        while way.before is not None:
            if way.function is function:
                return _Way(function)
            way, depth = way.before, depth + 1
        is_apart = way.function.is_program and depth <= _DEEPEST
        return _Way(function, call, self) if is_apart else _Way(function)

    def calls(self) -> "list[tuple[_Way, _Statement]]":
        """Where it goes on after what runs here has returned."""
        if self.before is None or self.call is None:
            return self.function.callers
        return [(self.before, self.call)]

    def holds(self, names: Names) -> "Iterator[_Fact]":
        """That these can hold the number."""
        for name in names:
            yield self if name.removesuffix(_CHANGED) in self.function.own else None, name

    def reads(self, statement: _Statement, but: _Function | None = None) -> "Iterator[_Fact]":
        """That a statement gets the number, and passes it to what it calls; `but` not to what has just returned it."""
        yield self, statement
        called = [*statement.called]
        if but is not None:
            called.remove(but)
        for function in called:
            yield from self.into(statement, function).holds(function.parameters)

    def after(self, name: str) -> "Iterator[_Fact]":
        """What follows if a name here can hold it."""
        for statement in self.function.statements:
            if name in statement.taken:
                yield from self.reads(statement)
        for names, given in self.function.links:
            if name in names:
                yield from self.holds(given)
        if name.endswith(_CHANGED) and name.removesuffix(_CHANGED) in self.function.parameters:
            for before, call in self.calls():
                yield from before.holds(call.put)


_Fact = tuple[_Way | None, str | _Statement]
"""A name that can hold the number, on one way or everywhere; or a statement that gets it."""


class Flow:
    """What flows where in one program."""

    def __init__(self, tree: ast.Module) -> None:
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        known = {one.name for one in classes}
        alone = [one for one in classes if known.isdisjoint(name for base in one.bases for name in _loaded(base))]
        of = {id(node): one.name for one in alone for node in one.body}
        definitions = [node for node in ast.walk(tree) if isinstance(node, _Definition)]
        self._program = _Function(tree)
        self._functions = [_Function(node, of.get(id(node), "")) for node in definitions]
        self._everything = [self._program, *self._functions]
        for caller in self._everything:
            for statement in caller.statements:
                statement.find_calls(self._functions)
                for function in statement.called:
                    function.callers.append((_Way(caller), statement))
        self._facts_from = cache(self._find_facts)

    def reaches(self, start: Lines, end: Lines) -> bool:
        """Whether a number that is computed at one place can be in what another reads."""
        begin, goal = self._place(start), self._place(end)
        if begin is None or goal is None:
            return True
        facts = self._facts_from(*begin)
        way, statement = goal
        return len(facts) > _FARTHEST or not facts.isdisjoint({(way, statement), (_Way(way.function), statement)})

    def _find_facts(self, way: _Way, statement: _Statement) -> set[_Fact]:
        facts: set[_Fact] = set()
        pending = [*way.reads(statement)]
        while pending and len(facts) <= _FARTHEST:
            fact = pending.pop()
            if fact not in facts:
                facts.add(fact)
                pending += self._facts_after(*fact)
        return facts

    def _facts_after(self, way: _Way | None, what: str | _Statement) -> Iterator[_Fact]:
        if isinstance(what, str):
            for one in [way] if way is not None else map(_Way, self._users(what)):
                yield from one.after(what)
        elif way is not None:
            yield from way.holds(what.given)
            for before, call in way.calls() if what.returns else ():
                yield from before.reads(call, way.function)

    def _users(self, name: str) -> "list[_Function]":
        """The functions that share a name with others."""
        return [one for one in self._everything if name.removesuffix(_CHANGED) not in one.own]

    def _place(self, lines: Lines) -> tuple[_Way, _Statement] | None:
        """The way and the statement; None where the text does not tell."""
        way, statement = _Way(self._program), self._program.at(lines[0])
        for line in lines[1:]:
            function = next((one for one in reversed(self._functions) if line in one.lines), None)
            if statement is None or function is None or function not in statement.called:
                return None
            way, statement = way.into(statement, function), function.at(line)
        return None if statement is None else (way, statement)


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """What runs of a function or program, with the definitions in it, without what is inside these."""
    pending = [*ast.iter_child_nodes(node)]
    while pending:
        one = pending.pop()
        yield one
        if not isinstance(one, _Definition):
            pending += ast.iter_child_nodes(one)


def _head(statement: ast.stmt) -> list[ast.AST]:
    """What of a statement runs before its body; all of it where it has none."""
    parts = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt | ast.excepthandler)]
    return parts if hasattr(statement, "body") else [statement]


def _parameters(node: _Definition | ast.Module) -> Names:
    parts = [] if isinstance(node, ast.Module) else [*ast.walk(node.args)]
    return frozenset(one.arg for one in parts if isinstance(one, ast.arg))


def _defaults(node: _Definition | ast.Module) -> Names:
    """Names that the defaults of parameters are computed from."""
    parts = [] if isinstance(node, ast.Module) else [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    return _union(map(_loaded, parts))


def _bound(node: _Definition | ast.Module) -> Names:
    """The names of a function's own variables."""
    inside = [*_inside(node)]
    elsewhere = {name for one in inside if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names}
    stored = {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return (_parameters(node) | stored) - elsewhere


def _used(node: ast.AST) -> Names:
    return frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def _name_called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _class_called(call: ast.Call) -> str:
    """`F` of `F(x)` and of `F.apply(x)`."""
    function = getattr(call.func, "value", None) if _name_called(call) == "apply" else call.func
    return function.id if isinstance(function, ast.Name) else ""


def _named(call: ast.Call) -> Names:
    """The things that a call gets as they are, its receiver among them."""
    arguments = (*call.args, *(keyword.value for keyword in call.keywords))
    return _receiver(call) | _union(map(_thing, arguments))


def _receiver(call: ast.Call) -> Names:
    return _thing(call.func.value) if isinstance(call.func, ast.Attribute) else frozenset()


def _filled(call: ast.Call) -> Names:
    """What a call may put something into: `losses` of `losses.append(x)`, `box` of `setattr(box, "h", x)`."""
    return _receiver(call) if _name_called(call) in _KNOWN and _receiver(call) else _named(call)


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
