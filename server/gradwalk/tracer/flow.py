"""Whether something of what one statement computes can be in what another reads, by the text of a program alone.

Values and the order of statements are left out, but for plain assignments that give a variable one value after the
other. What cannot be followed is taken to go anywhere: where `reaches` says False, nothing of the one statement gets
into the other.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any, Final

import torch

Names = frozenset[str]
_ANYWHERE: Final = "*"
"""Stands for every name: where what is raised goes, or returned by a function that no text calls, such as `forward`."""
_KEEPS_NOTHING: Final = frozenset({"print"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Flow:
    """What flows where in one program."""

    def __init__(self, tree: ast.Module) -> None:
        tree = _Apart(tree).visit(deepcopy(tree))
        tree = _Versions(tree).visit(tree)
        functions = [node for node in ast.walk(tree) if isinstance(node, _Function)]
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        mentioned, called = _loaded(tree), {_name_called(call) for call in calls}
        returned_by: dict[int, str] = {}
        for function in functions:
            is_hidden = function.name not in mentioned or _is_called_unnamed(function.name)
            returned_by |= {id(node): _ANYWHERE if is_hidden else function.name for node in ast.walk(function)}
        self._statements = [
            (*_lines(node), *_names(node, returned_by.get(id(node), _ANYWHERE))) for node in _statements(tree)
        ]
        self._inside = {line for one in functions for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)}
        self._returns = [(given, taken) for _, _, given, taken in self._statements if _ANYWHERE in given]
        """Among them those of functions that no text calls, such as `forward`."""
        self._links = [(given - {_ANYWHERE}, taken) for _, _, given, taken in self._statements]
        self._links += [
            # Two names of one thing: what is put into it by the one is found under the other.
            (_loaded(node.value), _stored(node))
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, _ALIASES)
        ]
        names = {function.name for function in functions}
        stored = _union(map(_stored, tree.body))
        calls = [call for call in calls if not _calls_nothing_of_the_program(call, names | stored)]
        for function in functions:
            parameters = frozenset(one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg))
            is_called = function.name in called and not _is_called_unnamed(function.name)
            for call in calls:
                name = _name_called(call)
                if name == function.name or not (is_called or name in names or name in _KEEPS_NOTHING):
                    self._links.append((parameters, _loaded(call) - names))
                    if _writes(function):
                        self._links.append((_arguments(call), parameters))

    def reaches(self, line: int, output_line: int) -> bool:
        """Whether something of what `line` computes can be in what `output_line` reads."""
        begins = [given for first, last, given, _ in self._statements if first <= line <= last]
        if line == output_line or not begins:
            return True
        held = _union(begins)
        # What a function gets from the module's level and returns is in what its call gives there.
        links = self._links + self._returns if line in self._inside else self._links
        while _ANYWHERE not in held:
            further = held | _union(given for given, taken in links if taken & held)
            if further == held:
                return any(taken & held for first, last, _, taken in self._statements if first <= output_line <= last)
            held = further
        return True


def _writes(function: ast.AST) -> bool:
    """Whether the body of a function may put something into what it is given."""
    for node in ast.walk(function):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
                found = not name.endswith(_CONTEXT)
            case ast.Expr(value=ast.Call() as call):
                found = _name_called(call) not in {*_KEEPS_NOTHING, "__init__"}
            case ast.Attribute(ctx=ast.Store(), value=ast.Name(id=name)):
                found = not name.endswith(_CONTEXT)
            case ast.AugAssign() | ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                found = True
            case _:
                found = False
        if found:
            return True
    return False


_CONTEXT: Final = (".ctx", ".self")
"""What a Function keeps for its backward and a module for itself goes into no other argument."""


class _Apart(ast.NodeTransformer):
    """Gives the variables of each function names of their own: an `x` in one is not the `x` outside it."""

    def __init__(self, tree: ast.Module) -> None:
        self._functions = {node.name for node in ast.walk(tree) if isinstance(node, _Function | ast.ClassDef)}
        self._locals: list[dict[str, str]] = []
        self._count = 0

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, _Function | ast.Lambda):
            return self._visit_function(node)
        if isinstance(node, ast.Name | ast.arg):
            name = node.id if isinstance(node, ast.Name) else node.arg
            known = next((scope[name] for scope in reversed(self._locals) if name in scope), name)
            if isinstance(node, ast.Name):
                node.id = known
            else:
                node.arg = known
        return super().visit(node)

    def _visit_function(self, node: "_Function | ast.Lambda") -> Any:
        inside = [*ast.walk(node)]
        elsewhere = {name for one in inside if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names}
        names = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        names |= {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        self._count += 1
        self._locals.append({name: f"{self._count}.{name}" for name in names - elsewhere - self._functions})
        found = self.generic_visit(node)
        self._locals.pop()
        return found


class _Versions(ast.NodeTransformer):
    """Numbers the values that a variable is given one after the other, where no loop, branch or function sees it.

    In `y = f(a); print(y); y = g(b)` what is read afterwards holds nothing of `a`.
    """

    def __init__(self, tree: ast.Module) -> None:
        straight = {id(part) for statement in _straight(tree.body) for part in ast.walk(statement)}
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        deferred = (*_DEFINITIONS, ast.Lambda)
        seen = _union(
            frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))
            for node in ast.walk(tree)
            if isinstance(node, deferred)
        )
        branched = {one.id for one in names if isinstance(one.ctx, ast.Store) and id(one) not in straight}
        self._left_out = seen | branched
        self._versions: Counter[str] = Counter()

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:  # noqa: N802 (as ast calls it)
        """What is read is the version before."""
        node.value = self.visit(node.value)
        node.targets = [self.visit(target) for target in node.targets]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AugAssign:  # noqa: N802
        """What was there before stays part of it."""
        node.value = self.visit(node.value)
        if isinstance(node.target, ast.Name):
            node.target.id = self._named(node.target.id)
        else:
            self.visit(node.target)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:  # noqa: N802
        if isinstance(node.ctx, ast.Store):
            self._versions[node.id] += 1
        node.id = self._named(node.id)
        return node

    def _named(self, name: str) -> str:
        return name if name in self._left_out or self._versions[name] < 2 else f"{name}.{self._versions[name]}"


def _straight(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """Assignments that run once and in order."""
    for statement in body:
        if isinstance(statement, ast.With):
            yield from _straight(statement.body)
            yield from (item.optional_vars for item in statement.items if item.optional_vars is not None)
        elif isinstance(statement, ast.Assign | ast.AugAssign):
            yield statement


def _calls_nothing_of_the_program(call: ast.Call, own: Names | set[str]) -> bool:
    """Whether a call is one of torch, or of a method that tensors or lists have."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="torch" | "F"), attr=name):
            return name not in _CALLING
        case ast.Attribute(attr=name):
            return name in _METHODS and name not in own
    return False


_CALLING: Final = frozenset({"compile", "cond", "vmap", "while_loop"})
"""What torch has for calling functions."""
_METHODS: Final = frozenset(dir(torch.Tensor) + dir(list)) - {"apply_", "map_", "map2_", "register_hook", "__call__"}
_ALIASES: Final = (ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple, ast.Dict)


def _is_called_unnamed(function: str) -> bool:
    return function == "forward" or function.startswith("__")


def _union(parts: Iterable[Names]) -> Names:
    return frozenset().union(*parts)


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """All but definitions, whose bodies are among them."""
    return (
        node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not isinstance(node, (*_DEFINITIONS, ast.Try))
    )


def _head(statement: ast.stmt) -> list[ast.AST]:
    """What of a statement runs before its body; all of it where it has none."""
    match statement:
        case ast.For(target=target, iter=read) | ast.AsyncFor(target=target, iter=read):
            return [target, read]
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return [part for item in items for part in (item.context_expr, item.optional_vars) if part is not None]
        case ast.If(test=test) | ast.While(test=test):
            return [test]
        case ast.Match(subject=subject):
            return [subject]
    return [statement]


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """The first and the last line of its head."""
    return statement.lineno, max(getattr(part, "end_lineno", None) or statement.lineno for part in _head(statement))


def _names(statement: ast.stmt, function: str) -> tuple[Names, Names]:
    """The names that the head of a statement gives something to, and those that it reads.

    `function`: the name under which what its function returns can be read.
    """
    parts = _head(statement)
    given, taken = _union(map(_stored, parts)), _union(map(_loaded, parts))
    if isinstance(statement, ast.Match | ast.Raise):
        given |= {_ANYWHERE}
    elif isinstance(statement, ast.If | ast.While):
        # What a condition decides depends on it.
        given |= _stored(statement)
    if isinstance(statement, ast.Return) or any(
        isinstance(node, ast.Yield | ast.YieldFrom) for part in parts for node in ast.walk(part)
    ):
        given |= {function}
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        # `losses.append(x)`, `setattr(box, "h", x)`: a bare call may put something into its receiver or its arguments.
        given |= frozenset() if _name_called(statement.value) in _KEEPS_NOTHING else _arguments(statement.value)
    return given, taken


def _name_called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _arguments(call: ast.Call) -> Names:
    """Names that a call gets as they are, its receiver among them: what it may write into."""
    is_in_place = isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_") and call.func.attr in _METHODS
    given: list[ast.expr] = [] if is_in_place else [*call.args, *(keyword.value for keyword in call.keywords)]
    names = frozenset(one.id for one in given if isinstance(one, ast.Name))
    return names | (_loaded(call.func.value) if isinstance(call.func, ast.Attribute) else frozenset())


def _stored(part: ast.AST) -> Names:
    """Names that are bound, or whose entries or attributes are; of `self.h = x` both."""
    return frozenset(
        one.id if isinstance(one, ast.Name) else one.attr
        for node in ast.walk(part)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
        for one in ast.walk(node)
        if isinstance(one, ast.Name | ast.Attribute)
    )


def _loaded(part: ast.AST) -> Names:
    """Names that are read; of `model.loss` both, as a method is known by its own name."""
    return frozenset(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(part)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    )
