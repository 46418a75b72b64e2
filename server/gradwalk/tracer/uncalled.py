"""What a program defines and never uses: a `train()` that nobody calls, a model that nobody makes."""

import ast
from typing import NamedTuple


class Uncalled(NamedTuple):
    """A definition at the top level."""

    name: str
    call: str
    """How it would be called: `train(model, data)`, `Net()`."""
    position: tuple[int, int, int, int]
    """Of the definition: line, end_line, byte column, byte end column."""


def find_uncalled(tree: ast.Module) -> Uncalled | None:
    """The last function or class that nothing outside of it mentions; None where there is none."""
    definitions = [one for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)]
    for definition in reversed(definitions):
        others = (one for one in tree.body if one is not definition)
        mentioned = any(
            isinstance(node, ast.Name) and node.id == definition.name for other in others for node in ast.walk(other)
        )
        if not mentioned:
            return Uncalled(definition.name, _call(definition), _head(definition))
    return None


def _call(definition: ast.FunctionDef | ast.ClassDef) -> str:
    if isinstance(definition, ast.ClassDef):
        starts = (one for one in definition.body if isinstance(one, ast.FunctionDef) and one.name == "__init__")
        start = next(starts, None)
        return f"{definition.name}({', '.join(_required(start)[1:] if start else ())})"
    return f"{definition.name}({', '.join(_required(definition))})"


def _required(function: ast.FunctionDef) -> list[str]:
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return names[: len(names) - len(function.args.defaults)]


def _head(definition: ast.FunctionDef | ast.ClassDef) -> tuple[int, int, int, int]:
    keyword = "def " if isinstance(definition, ast.FunctionDef) else "class "
    end = definition.col_offset + len(keyword.encode()) + len(definition.name.encode())
    return definition.lineno, definition.lineno, definition.col_offset, end
