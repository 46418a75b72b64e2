"""The program before it runs: parsed, its names resolved, its places known. No torch.

Without a `Language`, the syntax tree is changed in three spots only, and every position in it stays: the value of a
last expression statement is passed through `__gradwalk_result__(value)`, so that the tracer learns it; the first
top-level assignment to a name that `inputs` sets becomes `x = __gradwalk_input__("x", value)`, or is followed by
`x = __gradwalk_input__("x", x)` where a value is taken apart, so that the tracer can put another value in its place;
and loops tell their turns (`loops.py`).
"""

import ast
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import CodeType
from typing import Any

from gradwalk.protocol.events import Problem
from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.graph import Span
from gradwalk.protocol.problems import problem
from gradwalk.protocol.requests import SERVER_LIMITS
from gradwalk.tracer.directions import Direction, read_directions
from gradwalk.tracer.flow import Flow
from gradwalk.tracer.forward_mode import ForwardCall, forward_calls
from gradwalk.tracer.loops import Loop, mark_loops
from gradwalk.tracer.names import PRELUDE, Names, resolve_names
from gradwalk.tracer.names import nearest_name as _nearest_name
from gradwalk.tracer.pasted import straighten
from gradwalk.tracer.remarks import remarks
from gradwalk.tracer.spans import InstructionPosition, SpanIndex
from gradwalk.tracer.syntax import explain_syntax_error
from gradwalk.tracer.text import Columns, normalise_source
from gradwalk.words.catalogue import tell

FILENAME = "<snippet>"
RESULT = "__gradwalk_result__"
INPUT = "__gradwalk_input__"
FIRST_DEFAULT_INPUT = 2.0
_LONG_LINE = 2**31 - 1
"""A column behind the end of every line."""


class SourceProblem(Exception):  # noqa: N818 (the format calls it a problem)
    """The program cannot be run; `problem` says why, to the person who wrote it."""

    def __init__(self, found: Problem) -> None:
        super().__init__(tell(found["fact"]))
        self.problem = found


class Program:
    """One program, ready to run."""

    def __init__(self, text: str, tree: ast.Module, inputs: Collection[str]) -> None:
        names = resolve_names(tree, text, inputs)
        columns = Columns(text)
        self.text = text
        """The source as Python reads it, with LF line ends: what line numbers count and linecache should hold."""
        self.is_formula = names.is_formula
        """Only assignments and expressions: `maths_names` are resolved, unknown names are free variables."""
        self.free_variables = names.free_variables
        """Names that the tracer must define before the run, in the order of first use."""
        self.default_inputs = {name: FIRST_DEFAULT_INPUT + index for index, name in enumerate(names.free_variables)}
        """A value for every free variable: 2.0, 3.0, ... by order, whether or not `inputs` gives another one."""
        self.maths_names = names.maths
        """Names to define before the run -> dotted path, `{"sin": "torch.sin", "pi": "math.pi"}`."""
        self.prelude = names.prelude
        """Modules to define before the run -> dotted path, `{"F": "torch.nn.functional"}`."""
        self.assigned_lines = _assigned_lines(tree)
        """Names that the module's own statements assign -> the lines of it, in order; by their last assignment."""
        self.assigned_names = tuple(self.assigned_lines)
        self._settable_lines = _settable_lines(tree, self.assigned_lines)
        self.directions: tuple[Direction, ...] = read_directions(text)
        self._names = names
        self._columns = columns
        # The index is built from the tree before it is changed, and on first use: a fast run may never ask.
        self._tree = tree
        self.overridden_inputs, self.loops, self.code = _compile(text, inputs, names)
        """Names whose first top-level assignment goes through `__gradwalk_input__`, the loops that tell their turns,
        and the code to run."""
        self.unused_inputs = tuple(
            name for name in inputs if name not in self.overridden_inputs and name not in names.free_variables
        )
        """Entries of `inputs` that the text itself has no place for; they may still name a leaf (`model.0.weight`)."""

    def sets(self, name: str, line: int | None) -> bool:
        """Whether an entry of `inputs` for `name` reaches the leaf of that name that was made in `line`.

        Only the first assignment at the top level is overridden; a leaf that a later one binds keeps its value.
        """
        if name in self.free_variables:
            return True
        lines = self._settable_lines.get(name)
        return lines is not None and (len(self.assigned_lines[name]) == 1 or line in lines)

    @cached_property
    def flow(self) -> Flow:
        """Which statements can hold something of which others."""
        return Flow(self._tree)

    def span(self, position: InstructionPosition) -> Span | None:
        """The sub-expression at (line, end_line, byte column, byte end column), one item of `co_positions()`."""
        return self._index.span(position)

    def target_of(self, span: Span) -> tuple[str | None, ...]:
        """The names that the value of the sub-expression at `span` is given to, by output index.

        `y = f(x)` gives ("y",), `a, b = f(x)` gives ("a", "b"), `box.v = ...` gives ("box.v",); empty when the value
        is not assigned. A name that a label cannot hold is None.
        """
        return self._index.target_of(span)

    def forward_calls(self, namespace: Mapping[str, Any]) -> list[ForwardCall]:
        """The calls of forward mode that the text makes, with the functions that names stand for after the run."""
        return list(forward_calls(self._tree, namespace))

    def names(self, name: str) -> Span | None:
        """Where the program writes to an attribute of that name or deletes it, or else first names it."""
        named = [
            node
            for node in ast.walk(self._tree)
            if (isinstance(node, ast.Attribute) and node.attr == name)
            or (isinstance(node, ast.Constant) and node.value == name)
        ]
        named.sort(key=lambda node: isinstance(getattr(node, "ctx", None), ast.Load))
        if not named:
            return None
        found = named[0]
        end_line, end = found.end_lineno or found.lineno, found.end_col_offset or found.col_offset
        return self._columns.span_of_bytes(found.lineno, end_line, found.col_offset, end)

    def uncalled(self) -> tuple[str, str, Span] | None:
        """The last function or class that no line names, how it could be called, and its first line.

        None for a program without torch, where calling it would show nothing.
        """
        used = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}
        if used.isdisjoint(PRELUDE):
            return None
        for statement in reversed(self._tree.body):
            if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name not in used:
                line, column = statement.lineno, statement.col_offset
                span = self._columns.span_of_bytes(line, line, column, _LONG_LINE)
                return statement.name, statement.name + _arguments(statement), span
        return None

    def remarks(self) -> list[Fact]:
        """What the text alone shows."""
        return remarks(self._tree, self.text)

    @cached_property
    def attributes_of_init(self) -> frozenset[str]:
        """What the `__init__` of the program's classes give `self`."""
        return frozenset(
            node.attr
            for function in ast.walk(self._tree)
            if isinstance(function, ast.FunctionDef) and function.name == "__init__"
            for node in ast.walk(function)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        )

    @property
    def defined_names(self) -> frozenset[str]:
        """Every name that is bound at module level."""
        return self._names.defined | frozenset(self.free_variables)

    @cached_property
    def _index(self) -> SpanIndex:
        return SpanIndex(self._tree, self._columns)


def read_program(source: str, inputs: Collection[str] = (), source_bytes: int | None = None) -> Program:
    """The program in `source`, compiled under the file name `<snippet>`.

    Args:
        inputs: names that the request gives values to (a mapping's keys will do).
        source_bytes: the limit on the source's length in UTF-8; None for the server's own.

    Raises:
        SourceProblem: too long, empty, or not Python.
    """
    limit = SERVER_LIMITS.source_bytes if source_bytes is None else source_bytes
    text = normalise_source(source)
    _refuse_unreadable(text, limit)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text, tree = _parse(text)
            _refuse_empty(tree)
            return Program(text, tree, inputs)
    except SyntaxError as error:
        raise SourceProblem(explain_syntax_error(error, Columns(text), offset_in_bytes=True)) from error
    except (RecursionError, MemoryError) as error:
        raise SourceProblem(_nested_too_deeply()) from error


def nearest_name(name: str, program: Program, torch_names: Iterable[str] = ()) -> str | None:
    """The name that was probably meant by an unknown `name`: the program's own, Python's, or torch's (`torch.sin`)."""
    return _nearest_name(name, program.defined_names, is_formula=program.is_formula, torch_names=torch_names)


def _parse(text: str) -> tuple[str, ast.Module]:
    """The text, straightened where it does not parse as it was typed, and its tree."""
    try:
        return text, ast.parse(text, FILENAME)
    except SyntaxError:
        text = straighten(text)
    try:
        return text, ast.parse(text, FILENAME)
    except SyntaxError as error:
        if "too many nested parentheses" in error.msg or "too many statically nested" in error.msg:
            raise SourceProblem(_nested_too_deeply()) from error
        raise SourceProblem(explain_syntax_error(error, Columns(text), offset_in_bytes=False)) from error


def _compile(text: str, inputs: Collection[str], names: Names) -> tuple[tuple[str, ...], tuple[Loop, ...], CodeType]:
    tree = ast.parse(text, FILENAME)
    wanted = {name for name in inputs if name not in names.free_variables}
    overridden = _pass_inputs(tree, wanted) if wanted else ()
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        last.value = _call(RESULT, last.value)
    loops = mark_loops(tree)
    return overridden, loops, compile(tree, FILENAME, "exec", dont_inherit=True)


def _pass_inputs(tree: ast.Module, wanted: set[str]) -> tuple[str, ...]:
    """Sends the first top-level assignment of each wanted name through the tracer; the names found, in order.

    What is taken apart only while the program runs (`a, b = make()`) is sent when it has its name, and so is the
    module of a wanted parameter (`model.0.weight`).
    """
    found: list[str] = []

    def passed(target: ast.expr, value: ast.expr) -> ast.expr:
        if isinstance(target, ast.Name) and target.id in wanted:
            wanted.remove(target.id)
            found.append(target.id)
            return _call(INPUT, ast.copy_location(ast.Constant(target.id), value), value)
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and _is_pairwise(target, value):
            value.elts = [passed(*pair) for pair in zip(target.elts, value.elts, strict=True)]
        return value

    body: list[ast.stmt] = []
    for statement in tree.body:
        body.append(statement)
        match statement:
            case ast.Assign(targets=targets):
                for target in targets:
                    statement.value = passed(target, statement.value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                targets = [target]
                statement.value = passed(target, value)
            case _:
                continue
        for name in sorted(wanted & _settable_after(targets, wanted)):
            wanted.remove(name)
            found.append(name)
            body.append(_sent_again(name, statement))
    tree.body = body
    return tuple(found)


def _unpacked(target: ast.expr) -> list[str]:
    """The names of `x, y = ...`; empty for every other target, and where not each part is a plain name."""
    if not isinstance(target, ast.Tuple | ast.List):
        return []
    names = [one.id for one in target.elts if isinstance(one, ast.Name)]
    return names if len(names) == len(target.elts) else []


def _settable_lines(tree: ast.Module, assigned: Mapping[str, list[int]]) -> dict[str, range]:
    """The lines of the statement that `_pass_inputs` overrides for a name, where nothing assigns the name before."""
    settable: dict[str, range] = {}
    for statement in tree.body:
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        for name in _overridable(statement):
            if assigned[name][0] in lines:
                settable.setdefault(name, lines)
    return settable


def _overridable(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _names_in(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _names_in(target, value)
        case _:
            pass


def _names_in(target: ast.expr, value: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        if _is_pairwise(target, value):
            for pair in zip(target.elts, value.elts, strict=True):
                yield from _names_in(*pair)
    else:
        yield from _unpacked(target)


def _is_pairwise(target: ast.Tuple, value: ast.Tuple) -> bool:
    starred = any(isinstance(one, ast.Starred) for one in (*target.elts, *value.elts))
    return len(target.elts) == len(value.elts) and not starred


def _settable_after(targets: Sequence[ast.expr], wanted: Iterable[str]) -> set[str]:
    """The wanted names, and parameters of modules, that an assignment to these targets has just given a value."""
    if not all(isinstance(one, (ast.Name, ast.Tuple, ast.List)) for one in targets):
        return set()
    bound = {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return {name for name in wanted if name.partition(".")[0] in bound}


def _sent_again(name: str, after: ast.stmt) -> ast.stmt:
    """`owner = __gradwalk_input__(name, owner)`, as part of the statement that gave `owner` its value."""
    owner = name.partition(".")[0]
    call = _call(INPUT, ast.Constant(name), ast.Name(owner, ast.Load()))
    made = ast.Assign([ast.Name(owner, ast.Store())], call)
    for each in ast.walk(made):
        ast.copy_location(each, after)
    return made


def _call(function: str, *arguments: ast.expr) -> ast.expr:
    value = arguments[-1]
    name = ast.copy_location(ast.Name(function, ast.Load()), value)
    return ast.copy_location(ast.Call(name, list(arguments), []), value)


def _arguments(definition: ast.FunctionDef | ast.ClassDef) -> str:
    """What a call must give: `(model, loader)`; of a module, also what its forward takes: `(3, 4)(x)`."""
    if isinstance(definition, ast.FunctionDef):
        taken = [*definition.args.posonlyargs, *definition.args.args]
        required = [one.arg for one in taken[: len(taken) - len(definition.args.defaults)] if one.arg != "self"]
        return f"({', '.join(required)})"
    methods = {one.name: _arguments(one) for one in definition.body if isinstance(one, ast.FunctionDef)}
    return methods.get("__init__", "()") + methods.get("forward", "")


def _assigned_lines(tree: ast.Module) -> dict[str, list[int]]:
    """Where the module's statements assign names, blocks included but no function or class bodies."""
    order: dict[str, list[int]] = {}
    pending: list[ast.AST] = list(reversed(tree.body))
    places: list[tuple[int, int, str]] = []
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.comprehension):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            places.append((node.lineno, node.col_offset, node.id))
        pending.extend(ast.iter_child_nodes(node))
    for line, _, name in sorted(places):
        order[name] = [*order.pop(name, ()), line]
    return order


def _refuse_unreadable(text: str, limit: int) -> None:
    length = len(text.encode("utf-8", "surrogatepass"))
    if length > limit:
        raise SourceProblem(problem("too_big", fact("problem-program-long", bytes={"numbers": [length]}, count=limit)))
    for character, found in (("\x00", fact("problem-nul")), (_surrogate(text), fact("problem-surrogate"))):
        at = text.find(character) if character else -1
        if at >= 0:
            line = text.count("\n", 0, at) + 1
            column = at - (text.rfind("\n", 0, at) + 1)
            column = Columns(text).from_character(line, column)
            span: Span = {"line": line, "column": column, "end_line": line, "end_column": column + 1}
            raise SourceProblem(problem("syntax", found, span=span))


def _surrogate(text: str) -> str:
    if text.isascii():
        return ""
    return next((character for character in text if "\ud800" <= character <= "\udfff"), "")


def _refuse_empty(tree: ast.Module) -> None:
    if not tree.body:
        raise SourceProblem(problem("not_differentiable", fact("problem-program-empty")))


def _nested_too_deeply() -> Problem:
    return problem("too_big", fact("problem-nested"))
