"""Where the program goes round: each loop tells when it starts, at every turn, and when it is left.

`for x in xs:` becomes `for x in __gradwalk_loop__(3, xs):`, which gives `xs` itself back, and the first statement of
its body becomes `__gradwalk_turn__(3)`; a `while` has the second only. The outermost loops of a function stand in a
`try` whose `finally` is `__gradwalk_leave__(3)`. Loops that call nothing can run no backward pass and stay as they are.
"""

import ast
from typing import Final, NamedTuple

LOOP: Final = "__gradwalk_loop__"
TURN: Final = "__gradwalk_turn__"
LEAVE: Final = "__gradwalk_leave__"


class Loop(NamedTuple):
    """A loop of the program's text."""

    number: int
    """In the order of the text, from 0."""
    last_inside: int
    """The number of the last loop that stands inside this one; its own where none does."""
    function: tuple[int, int]
    """Line and column of the function that it stands in; (0, 0) outside of any."""

    def is_around(self, other: "Loop") -> bool:
        """Whether `other` stands inside this one."""
        return self.number < other.number <= self.last_inside


def mark_loops(tree: ast.Module) -> tuple[Loop, ...]:
    """Lets every loop of the tree that calls something tell its turns; gives these loops in the order of the text."""
    marks = _Marks()
    marks.mark_block(tree.body, (0, 0), is_inside=False)
    return tuple(marks.found)


class _Marks:
    def __init__(self) -> None:
        self.found: list[Loop] = []

    def mark_block(self, block: list[ast.stmt], function: tuple[int, int], *, is_inside: bool) -> None:
        """Marks the loops in a block. Expressions hold none, and may be nested deeper than Python can follow."""
        for place, statement in enumerate(block):
            if isinstance(statement, ast.For | ast.While) and _calls(statement):
                block[place] = self._mark(statement, function, is_inside=is_inside)
            elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self.mark_block(statement.body, (statement.lineno, statement.col_offset), is_inside=False)
            else:
                self._mark_blocks_of(statement, function, is_inside=is_inside)

    def _mark_blocks_of(self, holder: ast.AST, function: tuple[int, int], *, is_inside: bool) -> None:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(holder, name, None)
            if isinstance(block, list):
                self.mark_block(block, function, is_inside=is_inside)
        for inner in (*getattr(holder, "handlers", ()), *getattr(holder, "cases", ())):
            self._mark_blocks_of(inner, function, is_inside=is_inside)

    def _mark(self, loop: ast.For | ast.While, function: tuple[int, int], *, is_inside: bool) -> ast.stmt:
        number = len(self.found)
        self.found.append(Loop(number, number, function))
        self._mark_blocks_of(loop, function, is_inside=True)
        self.found[number] = Loop(number, len(self.found) - 1, function)
        at = loop.iter if isinstance(loop, ast.For) else loop.test
        if isinstance(loop, ast.For):
            loop.iter = _call(LOOP, number, at, at)
        loop.body.insert(0, ast.copy_location(ast.Expr(_call(TURN, number, at)), at))
        if is_inside:
            return loop
        leave = ast.copy_location(ast.Expr(_call(LEAVE, number, at)), at)
        return ast.copy_location(ast.Try(body=[loop], handlers=[], orelse=[], finalbody=[leave]), loop)


def _calls(loop: ast.For | ast.While) -> bool:
    return any(isinstance(one, ast.Call) for statement in loop.body for one in ast.walk(statement))


def _call(function: str, number: int, at: ast.expr, *arguments: ast.expr) -> ast.expr:
    name = ast.copy_location(ast.Name(function, ast.Load()), at)
    constant = ast.copy_location(ast.Constant(number), at)
    return ast.copy_location(ast.Call(name, [constant, *arguments], []), at)
