"""The language policy: a deny-by-default list of syntax, and the rewriting that goes with it.

This is the friendly first layer, not the boundary; the boundary is the kernel's (`lockdown`). One walk over
the tree, without recursion, checks every node and puts look-ups in the places where only the run can tell:

* `import torch` becomes `torch = <import>("torch")`. `__import__` itself stays real, because torch's C++
  code calls the one of the frame it was called from.
* `from math import *` becomes one assignment of every offered name that Python would bind.
* attributes in `GUARDED` become `<read>(x, "format")`.
* `def __getattr__` in a class is wrapped, so that library code never asks it for a special name.

The names of these functions hold a space, so no program can write them. New nodes take the position of
what they replace.
"""

import ast
from collections.abc import Callable, Iterable
from typing import ClassVar, NamedTuple, Protocol, TypeVar

from gradwalk.protocol.facts import Fact, code, fact
from gradwalk.protocol.graph import Span
from gradwalk.protocol.problems import problem
from gradwalk.sandbox.attributes import (
    ALWAYS_REFUSED,
    CLASS_NAMES,
    DEFINABLE,
    GUARDED,
    READABLE_ON_SUPER,
    find_attribute_refusal,
    find_definition_refusal,
    is_special,
    words,
)
from gradwalk.sandbox.refusals import (
    BUILTINS,
    MACHINERY,
    METACLASS,
    Refusal,
    describe,
    refuse_attribute,
    refuse_builtin,
    refuse_module,
    refuse_syntax,
)
from gradwalk.tracer.source import SourceProblem
from gradwalk.tracer.text import Columns

MAX_NODES = 15_000
MAX_DEPTH = 400
IMPORT = "offer import"
IMPORT_FROM = "offer import from"
IMPORT_STAR = "offer import star"
READ = "offer read"
WRAP_GETATTR = "offer getattr"

_ALLOWED = words(
    """Module Expr Assign AugAssign AnnAssign FunctionDef Lambda ClassDef Return For While If With Pass Break Continue
    Raise Try Assert Import ImportFrom Global Nonlocal Delete ListComp SetComp DictComp GeneratorExp comprehension
    Yield YieldFrom NamedExpr IfExp BoolOp BinOp UnaryOp Compare Call JoinedStr FormattedValue Constant Attribute
    Subscript Starred Name List Tuple Set Dict Slice arguments arg keyword withitem ExceptHandler alias Load Store Del
    And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv Invert Not UAdd USub Eq NotEq
    Lt LtE Gt GtE Is IsNot In NotIn Match match_case MatchValue MatchSingleton MatchSequence MatchMapping MatchStar
    MatchAs MatchOr MatchClass"""
)
_FUTURE = "__future__"
_MODULE_NAMES = frozenset({"__name__", "__doc__"})
_STORED_MODULE_NAMES = frozenset({"__all__", "__version__", "__author__", "__doc__"})


class Catalogue(Protocol):
    """What the policy must know of the offer."""

    @property
    def modules(self) -> Iterable[str]:
        """Dotted names of the modules that may be imported."""

    @property
    def library_names(self) -> frozenset[str]:
        """Private names that belong to torch."""

    def find_refusal(self, module: str, name: str) -> Refusal | None:
        """Why `module.name` is refused; None where it is offered, and where there is no such name."""

    def star_names(self, module: str) -> tuple[str, ...]:
        """What `from module import *` binds; nothing for a module that is not offered."""


class _Scope(NamedTuple):
    """What a node must know of the statements around it."""

    kind: str
    """`module`, `class` or `function`: what the statement's block belongs to."""
    parent: ast.AST
    class_name: str = ""
    catches_import: bool = False
    depth: int = 0


_Node = TypeVar("_Node", bound=ast.AST)
_Replacement = ast.AST | list[ast.stmt] | None


class Policy:
    """The policy for one program: `admit` once, then `own` holds the names that the program gives to attributes."""

    def __init__(self, catalogue: Catalogue, text: str) -> None:
        self.own: set[str] = set()
        self._catalogue = catalogue
        self._text = text
        self._bound: set[str] = set()
        self._classes: set[str] = set()
        self._modules_of: dict[str, str] = {}

    def admit(self, tree: ast.Module) -> ast.Module:
        """The checked and rewritten tree (the same object).

        Raises:
            SourceProblem: of kind `rejected`, or `too_big` for a tree that is too large or too deep.
        """
        self._survey(tree)
        pending: list[tuple[ast.AST, _Scope]] = [(tree, _Scope("module", tree))]
        while pending:
            node, scope = pending.pop()
            if scope.depth > MAX_DEPTH:
                raise self._too_big(fact("problem-program-nested"), node)
            inner = _scope_inside(node, scope)
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, list):
                    self._enter_list(value, node, name, inner, pending)
                elif isinstance(value, ast.AST) and name not in ("ctx", "op"):
                    replacement = self._check(value, inner)
                    if isinstance(replacement, ast.AST):
                        setattr(node, name, replacement)
                    pending.append((value, _scope_of(node, name, inner)))
        return tree

    def _enter_list(
        self, items: list[object], node: ast.AST, field: str, scope: _Scope, pending: list[tuple[ast.AST, _Scope]]
    ) -> None:
        scope = _scope_of(node, field, scope)
        rewritten: list[object] = []
        is_changed = False
        for item in items:
            if not isinstance(item, ast.AST):
                rewritten.append(item)
                continue
            replacement = self._check(item, scope)
            pending.append((item, scope))
            if replacement is None:
                rewritten.append(item)
                continue
            is_changed = True
            rewritten.extend(replacement if isinstance(replacement, list) else [replacement])
        if is_changed:
            items[:] = rewritten

    def _check(self, node: ast.AST, scope: _Scope) -> _Replacement:
        kind = type(node).__name__
        if kind not in _ALLOWED:
            raise self._refused(refuse_syntax(kind), node)
        check = self._CHECKS.get(kind)
        return check(self, node, scope) if check else None

    def _survey(self, tree: ast.Module) -> None:
        """Learn which names the program binds, which attributes it defines, and what its imports are called."""
        pending: list[ast.AST] = [tree]
        count = 0
        while pending:
            node = pending.pop()
            count += 1
            if count > MAX_NODES:
                raise self._too_big(fact("problem-program-large"), node)
            kind = type(node)
            if kind is ast.Name:
                if not isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
                    self._bound.add(node.id)  # type: ignore[attr-defined]
                continue
            if kind is ast.Attribute and not isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
                self.own.add(node.attr)  # type: ignore[attr-defined]
            elif kind is not ast.Constant:
                self._survey_statement(node)
            pending.extend(ast.iter_child_nodes(node))
        for name in self._bound & self._modules_of.keys():
            del self._modules_of[name]
        for name, path in _PRELUDE.items():
            if name not in self._bound:
                self._modules_of.setdefault(name, path)

    def _survey_statement(self, node: ast.AST) -> None:
        match node:
            case (
                ast.FunctionDef(name=str(name))
                | ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
                | ast.arg(arg=name)
            ):
                self._bound.add(name)
            case ast.ClassDef(name=name, body=body):
                self._bound.add(name)
                self._classes.add(name)
                self.own.update(_class_names(body))
            case ast.Import(names=names):
                for one in names:
                    path = one.name if one.asname else one.name.partition(".")[0]
                    self._modules_of[one.asname or path] = path
            case ast.ImportFrom(names=names, module=str(module), level=0):
                for one in names:
                    path = f"{module}.{one.name}"
                    if one.name == "*":
                        self._bound.update(self._catalogue.star_names(module))
                    elif path in self._catalogue.modules:
                        self._modules_of[one.asname or one.name] = path
                    else:
                        self._bound.add(one.asname or one.name)
            case _:
                pass

    # Names

    def _check_bound_name(self, name: str | None, node: ast.AST, scope: _Scope) -> None:
        if name is None:
            return
        if scope.kind == "class":
            if name in CLASS_NAMES:
                return
            refusal = find_definition_refusal(name, self._catalogue.library_names)
            if refusal:
                raise self._refused(refusal, node)
        if is_special(name) and name not in _STORED_MODULE_NAMES:
            refusal = refuse_builtin(name) if name in BUILTINS else refuse_attribute(name)
            raise self._refused(Refusal(fact("refusal-name", name=name), refusal.reason, refusal.instead), node)

    def _check_name(self, node: ast.Name, scope: _Scope) -> None:
        name = node.id
        if not isinstance(node.ctx, ast.Load):
            self._check_bound_name(name, node, scope)
            return
        if name in self._bound and not is_special(name):
            return
        if name in BUILTINS:
            raise self._refused(refuse_builtin(name), node)
        if is_special(name) and name not in _MODULE_NAMES and not (scope.kind == "class" and name in CLASS_NAMES):
            if name in self._bound and name in _STORED_MODULE_NAMES:
                return
            raise self._refused(Refusal(fact("refusal-name", name=name), MACHINERY), node)
        if name == "type" and isinstance(scope.parent, ast.ClassDef) and node in scope.parent.bases:
            raise self._refused(METACLASS, node)

    def _check_named(self, node: ast.AST, scope: _Scope) -> None:
        self._check_bound_name(node.name, node, scope)  # type: ignore[attr-defined]

    def _check_arg(self, node: ast.arg, scope: _Scope) -> None:
        self._check_bound_name(node.arg, node, scope._replace(kind="function"))

    def _check_names(self, node: ast.Global | ast.Nonlocal, scope: _Scope) -> None:
        for name in node.names:
            self._check_bound_name(name, node, scope)

    def _check_match_mapping(self, node: ast.MatchMapping, scope: _Scope) -> None:
        self._check_bound_name(node.rest, node, scope)

    def _check_match_class(self, node: ast.MatchClass, _: _Scope) -> None:
        for name in node.kwd_attrs:
            if is_special(name) or (name in GUARDED and name != "data"):
                raise self._refused(refuse_attribute(name), node)
            refusal = find_attribute_refusal(name, self.own, self._catalogue.library_names)
            if refusal:
                raise self._refused(refusal, node)

    # Definitions

    def _check_function(self, node: ast.FunctionDef, scope: _Scope) -> None:
        self._refuse_type_parameters(node)
        name = node.name
        if is_special(name):
            if name not in DEFINABLE:
                refusal = refuse_attribute(name)
                raise self._refused(Refusal(fact("refusal-defining", name=name), refusal.reason, refusal.instead), node)
            if name == "__getattr__":
                wrap = ast.copy_location(ast.Name(WRAP_GETATTR, ast.Load()), node)
                node.decorator_list.append(wrap)
            return
        self._check_bound_name(name, node, scope)

    def _check_class(self, node: ast.ClassDef, scope: _Scope) -> None:
        self._refuse_type_parameters(node)
        self._check_bound_name(node.name, node, scope)
        for keyword in node.keywords:
            if keyword.arg is None or (keyword.arg == "metaclass" and not _is_abc_meta(keyword.value)):
                raise self._refused(METACLASS, node)

    def _refuse_type_parameters(self, node: ast.AST) -> None:
        if getattr(node, "type_params", None):
            raise self._refused(refuse_syntax("TypeVar"), node)

    def _check_keyword(self, node: ast.keyword, _: _Scope) -> None:
        if node.arg and is_special(node.arg):
            raise self._refused(Refusal(fact("refusal-name", name=node.arg), MACHINERY), node)

    # Attributes

    def _check_attribute(self, node: ast.Attribute, scope: _Scope) -> _Replacement:
        name = node.attr
        if not isinstance(node.ctx, ast.Load):
            self._check_stored_attribute(node, scope)
            return None
        if is_special(name) and self._is_offered_special(node):
            return None
        if name.startswith("__") and scope.class_name:
            self._check_mangled(node, scope)
        module = self._find_module(node)
        if name in ALWAYS_REFUSED:
            raise self._refused((module and self._catalogue.find_refusal(module, name)) or refuse_attribute(name), node)
        if module and not is_special(name):
            refusal = self._catalogue.find_refusal(module, name)
        else:
            refusal = find_attribute_refusal(name, self.own, self._catalogue.library_names)
        if refusal and not module.startswith(_MILD):
            raise self._refused(refusal, node)
        if name not in GUARDED:
            return None
        reader = ast.copy_location(ast.Name(READ, ast.Load()), node)
        label = ast.copy_location(ast.Constant(name), node)
        return ast.copy_location(ast.Call(reader, [node.value, label], []), node)

    def _check_stored_attribute(self, node: ast.Attribute, scope: _Scope) -> None:
        name = node.attr
        refusal = find_definition_refusal(name, self._catalogue.library_names)
        if refusal is None and isinstance(scope.parent, ast.AugAssign) and name in GUARDED - {"data"}:
            refusal = refuse_attribute(name)
        if refusal:
            raise self._refused(refusal, node)
        if name.startswith("__") and scope.class_name:
            self._check_mangled(node, scope)

    def _check_mangled(self, node: ast.Attribute, scope: _Scope) -> None:
        """`__x` inside `class Box` is `_Box__x` to Python, which might be a name of torch's."""
        mangled = f"_{scope.class_name.lstrip('_')}{node.attr}"
        if not is_special(node.attr) and mangled in self._catalogue.library_names:
            raise self._refused(refuse_attribute(mangled), node)

    def _is_offered_special(self, node: ast.Attribute) -> bool:
        base = node.value
        match base:
            case ast.Call(func=ast.Name(id="super")):
                return node.attr in READABLE_ON_SUPER - GUARDED
            case ast.Name(id=name) if name in _PLAIN_CLASSES and name not in self._bound:
                return node.attr in ("__new__", "__init_subclass__")
            case ast.Name(id=name) if name in self._classes or name == "cls":
                return node.attr == "__new__"
            case _:
                return False

    def _find_module(self, node: ast.Attribute) -> str:
        """The offered module that the attribute is read from, as far as the text alone tells; else empty."""
        if not self._modules_of:
            return ""
        names: list[str] = []
        base = node.value
        while isinstance(base, ast.Attribute):
            names.append(base.attr)
            base = base.value
        if not isinstance(base, ast.Name) or base.id not in self._modules_of:
            return ""
        module = ".".join((self._modules_of[base.id], *reversed(names)))
        return module if module in self._catalogue.modules else ""

    # Imports

    def _check_import(self, node: ast.Import, scope: _Scope) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        for one in node.names:
            if one.name not in self._catalogue.modules and not scope.catches_import:
                raise self._refused(refuse_module(one.name, self._catalogue.modules), node)
            top = one.name.partition(".")[0]
            self._check_bound_name(one.asname or top, node, scope)
            bound = one.name if one.asname else top
            statements.append(_assign(node, one.asname or top, IMPORT, (one.name, bound)))
        return statements

    def _check_import_from(self, node: ast.ImportFrom, scope: _Scope) -> _Replacement:
        if node.module == _FUTURE:
            return None
        module = node.module or ""
        if node.level:
            thing = code(f"from {'.' * node.level}{module} import")
            raise self._refused(Refusal(thing, fact("refusal-other-files"), fact("refusal-put-here")), node)
        if module not in self._catalogue.modules and not scope.catches_import:
            raise self._refused(refuse_module(module, self._catalogue.modules), node)
        if node.names[0].name == "*":
            # Inside a function or a class it is a syntax error, which Python itself explains.
            names = self._catalogue.star_names(module)
            return [_assign_star(node, module, names)] if names and scope.kind == "module" else None
        statements: list[ast.stmt] = []
        for one in node.names:
            refusal = self._catalogue.find_refusal(module, one.name)
            if refusal and not scope.catches_import:
                raise self._refused(refusal, node)
            self._check_bound_name(one.asname or one.name, node, scope)
            statements.append(_assign(node, one.asname or one.name, IMPORT_FROM, (module, one.name)))
        return statements

    # Problems

    def _span(self, node: ast.AST) -> Span | None:
        line = getattr(node, "lineno", None)
        if line is None:
            return None
        end_line = getattr(node, "end_lineno", None) or line
        end_column = getattr(node, "end_col_offset", None) or node.col_offset  # type: ignore[attr-defined]
        columns = Columns(self._text)
        if end_line > line:
            # Of a whole block only the first line is meant.
            start = columns.from_byte(line, node.col_offset)  # type: ignore[attr-defined]
            return {"line": line, "column": start, "end_line": line, "end_column": columns.end_of(line)}
        return columns.span_of_bytes(line, end_line, node.col_offset, end_column)  # type: ignore[attr-defined]

    def _refused(self, refusal: Refusal, node: ast.AST) -> SourceProblem:
        return SourceProblem(describe(refusal, self._span(node)))

    def _too_big(self, found: Fact, node: ast.AST) -> SourceProblem:
        return SourceProblem(problem("too_big", found, span=self._span(node)))

    _CHECKS: ClassVar[dict[str, Callable[..., _Replacement]]] = {
        "Name": _check_name,
        "Attribute": _check_attribute,
        "arg": _check_arg,
        "keyword": _check_keyword,
        "ExceptHandler": _check_named,
        "Global": _check_names,
        "Nonlocal": _check_names,
        "MatchAs": _check_named,
        "MatchStar": _check_named,
        "MatchMapping": _check_match_mapping,
        "MatchClass": _check_match_class,
        "FunctionDef": _check_function,
        "ClassDef": _check_class,
        "Import": _check_import,
        "ImportFrom": _check_import_from,
    }


_PLAIN_CLASSES = words("object tuple float int str complex bytes frozenset list dict set")
_PRELUDE = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "math": "math"}
_MILD = ("torch.cuda", "torch.backends")
"""Trees whose missing names are refused only when the program gets there: `if torch.cuda.is_available(): ...`."""


def _scope_inside(node: ast.AST, scope: _Scope) -> _Scope:
    """The scope of what stands inside `node`."""
    depth = scope.depth + 1
    match node:
        case ast.ClassDef(name=name):
            return _Scope("class", node, name, scope.catches_import, depth)
        case ast.FunctionDef() | ast.Lambda():
            return _Scope("function", node, scope.class_name, scope.catches_import, depth)
        case _:
            return _Scope(scope.kind, node, scope.class_name, scope.catches_import, depth)


def _scope_of(node: ast.AST, field: str, inner: _Scope) -> _Scope:
    """The scope of one field: the body of a `try` that catches ImportError is lenient about imports."""
    if isinstance(node, ast.Try) and field == "body" and any(map(_catches_import, node.handlers)):
        return inner._replace(catches_import=True)
    return inner


def _catches_import(handler: ast.ExceptHandler) -> bool:
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        name is None or (isinstance(name, ast.Name) and name.id in ("ImportError", "ModuleNotFoundError", "Exception"))
        for name in names
    )


def _class_names(body: list[ast.stmt]) -> Iterable[str]:
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case _:
                pass


def _is_abc_meta(value: ast.expr) -> bool:
    match value:
        case ast.Name(id="ABCMeta") | ast.Attribute(value=ast.Name(id="abc"), attr="ABCMeta"):
            return True
        case _:
            return False


def _assign(node: ast.stmt, name: str, function: str, arguments: Iterable[str]) -> ast.stmt:
    """`name = function(*arguments)` at the place of an import statement."""
    target = ast.copy_location(ast.Name(name, ast.Store()), node)
    return _assign_call(node, target, function, arguments)


def _assign_star(node: ast.stmt, module: str, names: Iterable[str]) -> ast.stmt:
    """`(a, b, ...) = function(module)` in the place of `from module import *`."""
    targets: list[ast.expr] = [ast.copy_location(ast.Name(name, ast.Store()), node) for name in names]
    return _assign_call(node, ast.copy_location(ast.Tuple(targets, ast.Store()), node), IMPORT_STAR, (module,))


def _assign_call(node: ast.stmt, target: ast.expr, function: str, arguments: Iterable[str]) -> ast.stmt:
    def place(new: _Node) -> _Node:
        return ast.copy_location(new, node)

    values: list[ast.expr] = [place(ast.Constant(argument)) for argument in arguments]
    call = place(ast.Call(place(ast.Name(function, ast.Load())), values, []))
    return place(ast.Assign([target], call))
