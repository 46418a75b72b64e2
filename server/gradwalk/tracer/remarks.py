"""What the text of a program alone shows: statements that do nothing, and Functions whose calls disturb each other."""

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from gradwalk.protocol.facts import Fact, fact
from gradwalk.tracer.text import short_text

_METHODS: Final = frozenset({"backward", "eval", "requires_grad_", "retain_grad", "step", "train", "zero_grad"})
"""What a program calls for what it does: naming them does nothing."""
_FLAGS: Final = frozenset({"requires_grad", "training"})
_MISSPELT: Final = re.compile(r"require_?grads?|required_?grads?|requires(?:_grads|grads?)")
_DRAWING: Final = frozenset(
    {"alpha_dropout", "bernoulli", "dropout", "multinomial", "normal", "poisson", "rand", "rand_like", "randint",
     "randn", "randn_like", "random_", "randperm", "uniform_"}
)  # fmt: skip
_DRAWING_THE_SAME: Final = re.compile(r"seed|rng_state|fork_rng|generator")
_LISTED: Final = 4


def remarks(tree: ast.Module, text: str) -> list[Fact]:
    """The first of them, statements before Functions."""
    nodes = [*ast.walk(tree)]
    statements = (_idle(node, text) for node in nodes if isinstance(node, ast.stmt))
    functions = (one for node in nodes if isinstance(node, ast.ClassDef) for one in _of_function(node, text))
    return [*islice((one for one in (*statements, *functions) if one is not None), _LISTED)]


def _idle(statement: ast.stmt, text: str) -> Fact | None:
    """`loss.backward`, `x.requires_grad == True`, `x.require_grad = True`."""
    line = str(statement.lineno)
    match statement:
        case ast.Expr(ast.Attribute(attr=attr) as named) if attr in _METHODS:
            return fact("note-not-called", method=short_text(named, text) or f"….{attr}", line=line)
        case ast.Expr(ast.Compare(ast.Attribute(attr=attr) as left, [ast.Eq()])) if attr in _FLAGS:
            return fact("note-compared", name=short_text(left, text) or f"….{attr}", line=line)
        case ast.Assign([ast.Attribute(value=owner, attr=attr)]) if _MISSPELT.fullmatch(attr):
            if not (isinstance(owner, ast.Name) and owner.id == "self"):
                return fact("note-misspelt", attribute=attr, meant="requires_grad", line=line)
    return None


def _of_function(definition: ast.ClassDef, text: str) -> Iterator[Fact]:
    """A forward that keeps something on its class, and a backward that draws the random numbers of forward anew."""
    methods = {one.name: one for one in definition.body if isinstance(one, ast.FunctionDef)}
    if not {"forward", "backward"} <= methods.keys():
        return
    for node in ast.walk(methods["forward"]):
        match node:
            case ast.Attribute(ast.Name(owner), attr, ast.Store()) if owner == definition.name:
                attribute = f"{owner}.{attr}"
                yield fact("note-class-state", function=owner, attribute=attribute, line=str(node.lineno))
    forward, backward = (next(_draws(methods[name]), None) for name in ("forward", "backward"))
    written = ast.get_source_segment(text, methods["backward"]) or ""
    if forward is not None and backward is not None and not _DRAWING_THE_SAME.search(written):
        yield fact("note-drawn-again", function=definition.name, call=backward.attr, line=str(backward.lineno))


def _draws(function: ast.FunctionDef) -> Iterator[ast.Attribute]:
    called: Iterable[ast.expr] = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return (one for one in called if isinstance(one, ast.Attribute) and one.attr in _DRAWING)
