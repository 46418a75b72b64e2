"""Whether something of what one statement computes can be in what another reads, by the text of a program alone.

The order of statements, scopes and values are left out, and what cannot be followed is taken to go anywhere: where
`reaches` says False, nothing of the one statement gets into the other.
"""

import ast
from collections.abc import Iterable, Iterator
from typing import Final

Names = frozenset[str]
_ANYWHERE: Final = "*"
"""Stands for every name: where what is raised goes, or returned by a function that no text calls, such as `forward`."""
_KEEPS_NOTHING: Final = frozenset({"print"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Flow:
    """What flows where in one program."""

    def __init__(self, tree: ast.Module) -> None:
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
        self._links = [(given, taken) for _, _, given, taken in self._statements]
        self._links += [
            # Two names of one thing: what is put into it by the one is found under the other.
            (_loaded(node.value), _stored(node))
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, _ALIASES)
        ]
        names = {function.name for function in functions}
        for function in functions:
            parameters = frozenset(one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg))
            is_called = function.name in called and not _is_called_unnamed(function.name)
            for call in calls:
                name = _name_called(call)
                if name == function.name or not (is_called or name in names or name in _KEEPS_NOTHING):
                    self._links += [(parameters, _loaded(call)), (_arguments(call), parameters)]

    def reaches(self, line: int, output_line: int) -> bool:
        """Whether something of what `line` computes can be in what `output_line` reads."""
        begins = [given for first, last, given, _ in self._statements if first <= line <= last]
        if line == output_line or not begins:
            return True
        held = _union(begins)
        while _ANYWHERE not in held:
            further = held | _union(given for given, taken in self._links if taken & held)
            if further == held:
                return any(taken & held for first, last, _, taken in self._statements if first <= output_line <= last)
            held = further
        return True


_ALIASES: Final = (ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple, ast.Dict)


def _is_called_unnamed(function: str) -> bool:
    return function == "forward" or function.startswith("__")


def _union(parts: Iterable[Names]) -> Names:
    return frozenset().union(*parts)


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """All but definitions, whose bodies are among them."""
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Try)
    return (node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not isinstance(node, definitions))


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
    given: list[ast.expr] = [*call.args, *(keyword.value for keyword in call.keywords)]
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
