"""Which stretch of the program an instruction belongs to, and which name its value is given to.

CPython's instruction positions are nearly right. A method call whose dot is on its own line is
reported from the dot on, a store reports its target only, a loop reports its whole body. The index
puts each position back on the smallest sub-expression that a reader would point at.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator

from gradwalk.protocol.graph import Span
from gradwalk.tracer.text import LONGEST_TEXT, Columns

BytePosition = tuple[int, int, int, int]
"""(line, end_line, column, end_column) in UTF-8 bytes, the order of `code.co_positions()`."""
InstructionPosition = tuple[int | None, int | None, int | None, int | None]

_Ends = tuple[int, int]

_GATHERING = frozenset(
    {"accumulate", "filter", "fsum", "list", "map", "max", "min", "next", "reduce", "set", "sorted", "sum", "tuple",
     "zip"}
)  # fmt: skip
"""Functions of Python's own that make many values at one instruction, of which at most the last is given a name."""


class SpanIndex:
    """Every positioned node of one syntax tree, found by where it stands."""

    def __init__(self, tree: ast.Module, columns: Columns) -> None:
        self._columns = columns
        self._spans: dict[InstructionPosition, Span | None] = {}
        self._positions: dict[BytePosition, BytePosition] = {}
        self._by_end: defaultdict[_Ends, list[BytePosition]] = defaultdict(list)
        self._targets: dict[tuple[int, int, int, int], tuple[str | None, ...]] = {}
        statement: dict[ast.AST, ast.stmt] = {}
        for node, parent in _walk(tree):
            if isinstance(node, ast.stmt):
                statement[node] = node
                self._note_targets(node)
            elif parent in statement and not isinstance(node, ast.comprehension):
                statement[node] = statement[parent]
            if isinstance(node, ast.NamedExpr):
                self._note_target(node.target, node.value)
                self._note_target(node.target, node)
            self._note_position(node, statement.get(node))

    def span(self, position: InstructionPosition) -> Span | None:
        """The span a reader would point at for an instruction at `position`; None where it has none."""
        try:
            return self._spans[position]
        except KeyError:
            line, end_line, column, end_column = position
            span = None
            if line is not None and end_line is not None and column is not None and end_column is not None:
                span = self._columns.span_of_bytes(*self._widen((line, end_line, column, end_column)))
            self._spans[position] = span
            return span

    def target_of(self, span: Span) -> tuple[str | None, ...]:
        """The names that the value of a sub-expression is given to, by output index; empty when it is not assigned."""
        return self._targets.get((span["line"], span["column"], span["end_line"], span["end_column"]), ())

    def _note_position(self, node: ast.AST, statement: ast.stmt | None) -> None:
        if not isinstance(node, ast.expr | ast.stmt):
            return
        position = _position(node)
        reader_position = position
        if isinstance(node, ast.stmt):
            reader_position = _header(node)
        elif statement is not None and isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            reader_position = _header(statement)
        # A statement comes before its own expressions in the walk and must win over a store target of equal extent.
        self._positions.setdefault(position, reader_position)
        if isinstance(node, ast.expr):
            self._by_end[position[1], position[3]].append(position)

    def _widen(self, position: BytePosition) -> BytePosition:
        known = self._positions.get(position)
        if known is not None:
            return known
        ending_here = [one for one in self._by_end.get((position[1], position[3]), ()) if _contains(one, position)]
        around = ending_here or [one for one in self._positions if _contains(one, position)]
        # Of nodes that all contain one place, the smallest is the one that begins last and ends first.
        smallest = min(around, key=lambda one: (-one[0], -one[2], one[1], one[3]), default=None)
        return position if smallest is None else self._positions[smallest]

    def _note_targets(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                self._note_target(targets[0], value)
                self._note_store(node, targets[0])
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._note_target(target, value)
                self._note_store(node, target)
            case ast.AugAssign(target=target):
                self._note(node, (_spell(target),))
            case _:
                pass

    def _note_target(self, target: ast.expr, value: ast.expr) -> None:
        pending = [(target, value)]
        while pending:
            target, value = pending.pop()
            if not isinstance(target, ast.Tuple | ast.List):
                self._note(value, (_spell(target),))
                continue
            self._note(value, tuple(_spell(one) for one in _before_star(target.elts)))
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                pending += [pair for pair in zip(target.elts, value.elts, strict=True) if not _starred(*pair)]

    def _note_store(self, statement: ast.stmt, target: ast.expr) -> None:
        """`w[0] = v` makes a new version of `w` at the position of the whole statement."""
        if isinstance(target, ast.Subscript):
            self._note(statement, (_spell(target.value),))

    def _note(self, node: ast.expr | ast.stmt, names: tuple[str | None, ...]) -> None:
        if gathers(node):
            return
        span = self._columns.span_of_bytes(*_position(node))
        self._targets.setdefault((span["line"], span["column"], span["end_line"], span["end_column"]), names)


def _walk(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Every node with its parent, parents first; no recursion, since a long sum nests deeply."""
    pending: list[tuple[ast.AST, ast.AST]] = [(child, tree) for child in ast.iter_child_nodes(tree)]
    while pending:
        node, parent = pending.pop()
        yield node, parent
        pending.extend((child, node) for child in ast.iter_child_nodes(node))


def _position(node: ast.expr | ast.stmt) -> BytePosition:
    end_line = node.lineno if node.end_lineno is None else node.end_lineno
    end_column = node.col_offset if node.end_col_offset is None else node.end_col_offset
    return node.lineno, end_line, node.col_offset, end_column


def _header(statement: ast.stmt) -> BytePosition:
    """The statement without the block it governs: `for row in rows`, `with f() as g`, `def f(a, b=c())`."""
    line, end_line, column, end_column = _position(statement)
    last: ast.expr | None = None
    match statement:
        case ast.For(iter=head) | ast.AsyncFor(iter=head) | ast.While(test=head) | ast.If(test=head):
            last = head
        case ast.Match(subject=head):
            last = head
        case ast.With(items=items) | ast.AsyncWith(items=items):
            last = items[-1].optional_vars or items[-1].context_expr
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Try():
            first = statement.body[0]
            if first.lineno > line:
                return line, line, column, 2**31 - 1
        case _:
            pass
    if last is not None:
        _, end_line, _, end_column = _position(last)
    return line, end_line, column, end_column


def _contains(outer: BytePosition, inner: BytePosition) -> bool:
    return (outer[0], outer[2]) <= (inner[0], inner[2]) and (inner[1], inner[3]) <= (outer[1], outer[3])


def _spell(target: ast.expr) -> str | None:
    """`y`, `box.v`, `w[0]`; None for what a label cannot hold."""
    if isinstance(target, ast.Starred | ast.Tuple | ast.List):
        return None
    text = ast.unparse(target)
    return text if len(text) <= LONGEST_TEXT else None


def _before_star(targets: list[ast.expr]) -> list[ast.expr]:
    """The targets whose index in the unpacked value is known without counting it."""
    for index, target in enumerate(targets):
        if isinstance(target, ast.Starred):
            return targets[:index]
    return targets


def gathers(node: ast.AST) -> bool:
    """Whether a call of one of Python's own functions makes many values, `map(f, xs)`."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Name):
        return function.id in _GATHERING
    return (
        isinstance(function, ast.Attribute)
        and function.attr in ("accumulate", "reduce")
        and isinstance(function.value, ast.Name)
    )


def _starred(target: ast.expr, value: ast.expr) -> bool:
    return isinstance(target, ast.Starred) or isinstance(value, ast.Starred)
