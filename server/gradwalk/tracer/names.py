"""What a name in the program stands for: its own, Python's, a prelude module, mathematics, or an input.

A formula such as `sin(x*y) + x` is a program too. It is read as one when it is nothing but assignments
and expressions: then the names in `MATHS` are torch's, and what is left over are free variables.
"""

import ast
import builtins
import difflib
import symtable
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

PRELUDE: Mapping[str, str] = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "math": "math"}
"""Modules that a program may use without importing them."""

MATHS: Mapping[str, str] = {
    **{name: f"torch.{name}" for name in (
        "abs", "acos", "acosh", "arctan", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "clamp", "cos", "cosh",
        "cross", "cumsum", "det", "diag", "dot", "einsum", "erf", "exp", "exp2", "expm1", "eye", "flatten", "floor",
        "inverse", "lerp", "log", "log10", "log1p", "log2", "log_softmax", "logsumexp", "matmul", "maximum", "mean",
        "minimum", "mm", "mv", "norm", "ones", "outer", "prod", "relu", "rsqrt", "sigmoid", "sign", "sin", "sinh",
        "softmax", "sqrt", "square", "stack", "std", "sum", "tan", "tanh", "tensor", "trace", "transpose", "var",
        "where", "zeros",
    )},
    **{name: f"torch.nn.functional.{name}" for name in (
        "cross_entropy", "elu", "gelu", "layer_norm", "leaky_relu", "linear", "mse_loss", "silu", "softplus",
    )},
    "ln": "torch.log",
    "arcsin": "torch.asin",
    "arccos": "torch.acos",
    "pi": "math.pi",
    "e": "math.e",
    "inf": "math.inf",
}  # fmt: skip
"""Names that a formula may use without saying where they come from, and what they resolve to."""

_NEVER_NUMBERS = frozenset({"torch", "math"})
"""Of the prelude, what nobody calls a variable; `F` and `nn` may be one where nothing asks them for an attribute."""

CONSTANTS = frozenset({"pi", "e", "inf"})

_TENSOR_ATTRIBUTES = """
    T abs add amax amin argmax backward clamp clone cos cumsum detach diagonal div dot dtype exp expand flatten
    float double grad item log log_softmax logsumexp mH mT matmul max mean min mm mul mv narrow ndim norm numel
    permute pow prod relu repeat requires_grad_ reshape retain_grad select shape sigmoid sign sin size softmax sqrt
    square squeeze std sub sum swapaxes t tan tanh tolist transpose trace unbind unsqueeze var view
"""
TENSOR_ATTRIBUTES = frozenset(_TENSOR_ATTRIBUTES.split())
"""What is asked of a free variable, as opposed to a module whose import is missing or misspelt."""

MISSING_IMPORTS: Mapping[str, str] = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "plt": "import matplotlib.pyplot as plt",
    "optim": "import torch.optim as optim",
    "random": "import random",
    "time": "import time",
    "functools": "import functools",
    "itertools": "import itertools",
    "autograd": "from torch import autograd",
    "Variable": "from torch.autograd import Variable",
    "Function": "from torch.autograd import Function",
    "gradcheck": "from torch.autograd import gradcheck",
    "checkpoint": "from torch.utils.checkpoint import checkpoint",
}
"""Names that people use as if they were imported, and the line that imports them."""

_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__annotations__", "__builtins__"}
_MODULES = (*PRELUDE, *MISSING_IMPORTS)
_MAKE_MANY = frozenset({"filter", "list", "map", "range", "reversed", "sorted", "tuple", "zip"})
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Pass)
_STRUCTURE = (ast.Lambda, ast.Await, ast.Yield, ast.YieldFrom)


class Names(NamedTuple):
    """What the names of one program stand for."""

    is_formula: bool
    free_variables: tuple[str, ...]
    """In the order of first use."""
    maths: dict[str, str]
    """Name used -> dotted path (`torch.sin`)."""
    prelude: dict[str, str]
    """Name used -> dotted path (`torch.nn`)."""
    defined: frozenset[str]
    """Bound anywhere at module level."""


def resolve_names(tree: ast.Module, text: str, inputs: Collection[str]) -> Names:
    """What each name stands for; a name that `inputs` gives a value to, and nothing else binds, is a free variable."""
    if all(isinstance(statement, _SIMPLE) for statement in tree.body):
        uses = list(_formula_uses(tree))
        if not any(isinstance(node, _STRUCTURE) for node in ast.walk(tree)):
            return _resolve_formula(tree, uses, inputs)
    unbound, defined = _module_scope(text)
    order = {node.id: None for node in _loads_in_order(tree) if node.id in unbound}
    return Names(
        is_formula=False,
        free_variables=tuple(name for name in order if name in inputs),
        maths={},
        prelude={name: path for name, path in PRELUDE.items() if name in unbound and name not in inputs},
        defined=frozenset(defined),
    )


def nearest_name(name: str, defined: Collection[str], *, is_formula: bool, torch_names: Iterable[str]) -> str | None:
    """The name that was probably meant: one of the program's, Python's or, as `torch.sin`, torch's."""
    torch_paths = {one: f"torch.{one}" for one in torch_names if not one.startswith("_")}
    spellings = torch_paths | {one: one for one in (*_BUILTINS, *PRELUDE, *defined)}
    if is_formula:
        spellings |= {one: one for one in MATHS}
    else:
        spellings = {one: path for one, path in MATHS.items() if one not in CONSTANTS} | spellings
        spellings |= {one: f"math.{one}" for one in CONSTANTS}
    if spellings.get(name, name) != name:
        return spellings[name]
    same_letters = [one for one in spellings if one != name and one.lower() == name.lower()]
    near = same_letters or difflib.get_close_matches(name, [one for one in spellings if one != name], n=1, cutoff=0.7)
    return spellings[near[0]] if near else None


def _resolve_formula(tree: ast.Module, uses: list[ast.Name], inputs: Collection[str]) -> Names:
    """The names of a formula. An unknown name that is called or used as a module is a mistake, not a free variable."""
    called, modules, based = _roles(tree)
    used_as_modules = {name.id for name in based if isinstance(name, ast.Name)} | _NEVER_NUMBERS
    free: dict[str, None] = {}
    maths: dict[str, str] = {}
    prelude: dict[str, str] = {}
    for use in uses:
        name = use.id
        if name in inputs:
            free[name] = None
        elif name in PRELUDE and name in used_as_modules:
            prelude[name] = PRELUDE[name]
        elif name in MATHS and not (name == "sum" and use not in called and name in _BUILTINS):
            maths[name] = MATHS[name]
        elif name not in _BUILTINS and use not in called and use not in modules:
            free[name] = None
    if "sum" in maths and _adds_up_a_list(tree):
        del maths["sum"]
    defined = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return Names(True, tuple(free), maths, prelude, frozenset(defined))


def _roles(tree: ast.Module) -> tuple[set[ast.expr], set[ast.expr], set[ast.expr]]:
    """Names that are called, that look like a module, and that stand before a dot at all."""
    called: set[ast.expr] = set()
    modules: set[ast.expr] = set()
    based: set[ast.expr] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called.add(node.func)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            based.add(node.value)
            name = node.value.id
            is_like_a_module = len(name) > 2 and difflib.get_close_matches(name, _MODULES, n=1, cutoff=0.75)
            if node.attr not in TENSOR_ATTRIBUTES or name in _MODULES or is_like_a_module:
                modules.add(node.value)
    return called, modules, based


def _adds_up_a_list(tree: ast.Module) -> bool:
    """Python's own `sum` is meant: torch's takes one tensor."""
    lists = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_list(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "sum"
        and any(_is_list(one) or (isinstance(one, ast.Name) and one.id in lists) for one in node.args[:1])
        for node in ast.walk(tree)
    )


def _is_list(value: ast.expr) -> bool:
    """Whether an expression gives many values, by its form: a display, a comprehension, or a call such as `map`."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in _MAKE_MANY
    return isinstance(value, ast.List | ast.Tuple | ast.ListComp | ast.GeneratorExp)


def _formula_uses(tree: ast.Module) -> Iterator[ast.Name]:
    """Names that are read before anything binds them, in the order of the text; for simple statements only."""
    bound: set[str] = set()
    for statement in tree.body:
        local = {
            name.id
            for node in ast.walk(statement)
            if isinstance(node, ast.comprehension)
            for name in ast.walk(node.target)
            if isinstance(name, ast.Name)
        }
        for name in _loads_in_order(statement):
            if name.id not in bound and name.id not in local:
                yield name
        bound |= {
            node.id
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in local
        }


def _loads_in_order(tree: ast.AST) -> list[ast.Name]:
    augmented = {node.target for node in ast.walk(tree) if isinstance(node, ast.AugAssign)}
    loads = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and (isinstance(node.ctx, ast.Load) or node in augmented)
    ]
    return sorted(loads, key=lambda node: (node.lineno, node.col_offset))


def _module_scope(text: str) -> tuple[set[str], set[str]]:
    """Names looked up at module level that nothing binds there, and names that are bound there."""
    used: set[str] = set()
    bound: set[str] = set()
    pending = [symtable.symtable(text, "<snippet>", "exec")]
    while pending:
        table = pending.pop()
        is_module = table.get_type() == "module"
        for symbol in table.get_symbols():
            if not (is_module or symbol.is_global()):
                continue
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                bound.add(symbol.get_name())
            if symbol.is_referenced():
                used.add(symbol.get_name())
        pending.extend(table.get_children())
    return used - bound, bound
