"""Which names of a program can hold something of what a statement computed, by its text alone.

The order of statements, branches and scopes are left out, so the answer errs on one side: where `reaches` says False,
nothing of the one statement gets into the other.
"""

import ast
from collections.abc import Iterable, Iterator

Names = frozenset[str]


class Flow:
    """What flows where in one program."""

    def __init__(self, tree: ast.Module) -> None:
        functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        owners = {
            id(node): name
            for name, function in functions.items()
            for node in ast.walk(function)
            if isinstance(node, ast.Return)
        }
        self._statements = [
            (node.lineno, node.end_lineno or node.lineno, *_names(node, owners.get(id(node))))
            for node in _statements(tree)
        ]
        self._links = [(given, taken) for _, _, given, taken in self._statements]
        for call in ast.walk(tree):
            name = _called(call)
            if isinstance(call, ast.Call) and name in functions:
                arguments = functions[name].args
                parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                parameters += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
                given = _union(_loaded(one) for one in [*call.args, *(keyword.value for keyword in call.keywords)])
                self._links.append((frozenset(one.arg for one in parameters), given))

    def reaches(self, line: int, output_line: int) -> bool:
        """Whether something of what `line` computes can be in what `output_line` reads."""
        if line == output_line:
            return True
        held: Names = _union(given for first, last, given, _ in self._statements if first <= line <= last)
        while True:
            further = held | _union(given for given, taken in self._links if taken & held)
            if further == held:
                break
            held = further
        return any(taken & held for first, last, _, taken in self._statements if first <= output_line <= last)


def _union(parts: Iterable[Names]) -> Names:
    return frozenset().union(*parts)


def _called(node: ast.AST) -> str | None:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name
    return None


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """All but definitions, whose bodies are among them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node


def _names(statement: ast.stmt, function: str | None) -> tuple[Names, Names]:
    """The names that a statement gives something to, and those that it reads; of a block, its head alone.

    `function`: the one that a `return` belongs to; what it returns is under that name.
    """
    match statement:
        case ast.For(target=target, iter=read) | ast.AsyncFor(target=target, iter=read):
            return _stored(target), _loaded(read)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return _union(map(_stored, items)), _union(map(_loaded, items))
        case ast.If(test=test) | ast.While(test=test):
            return frozenset(), _loaded(test)
        case ast.Return(value=ast.expr() as value):
            return frozenset({function} if function else ()), _loaded(value)
        case ast.Try() | ast.Match():
            return frozenset(), frozenset()
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=receiver))):
            # `losses.append(x)`, `x.add_(y)`: a bare call may put its arguments into its receiver.
            return _stored(statement) | _loaded(receiver), _loaded(statement)
    return _stored(statement), _loaded(statement)


def _stored(part: ast.AST) -> Names:
    """Names that are bound, or whose entries or attributes are."""
    found = set()
    for node in ast.walk(part):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            while isinstance(node, ast.Attribute | ast.Subscript):
                node = node.value
            if isinstance(node, ast.Name):
                found.add(node.id)
    return frozenset(found)


def _loaded(part: ast.AST) -> Names:
    """Names that are read; of `model.loss` both, as a method is known by its own name."""
    found = set()
    for node in ast.walk(part):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return frozenset(found)
