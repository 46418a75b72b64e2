"""Python's own functions as a program finds them: the ones that take an attribute's name check it.

Each run has its own: what private names a program may use depends on what it defines itself.
"""

import _string  # type: ignore[import-not-found]  # what str.format itself parses with
import builtins
import string
from abc import ABCMeta
from collections.abc import Callable, Iterator
from types import BuiltinMethodType, SimpleNamespace
from typing import Any

import numpy
from torch.optim.lr_scheduler import LRScheduler

from gradwalk.protocol.facts import code, fact
from gradwalk.sandbox.attribute_table import view_attributes
from gradwalk.sandbox.attributes import (
    GUARDED,
    find_attribute_refusal,
    find_definition_refusal,
    is_special,
    words,
)
from gradwalk.sandbox.policy import READ, WRAP_GETATTR
from gradwalk.sandbox.proxies import RefusedAttributeError
from gradwalk.sandbox.refusals import METACLASS, RAW_MEMORY, Refusal, refuse_attribute

OFFERED_BUILTINS = words(
    """abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate filter float
    format frozenset hash hex id int isinstance issubclass iter len list map max min next object oct ord pow property
    range repr reversed round set slice sorted staticmethod str sum super tuple zip True False None Ellipsis
    NotImplemented"""
)
"""Python's own names that are offered as they are; every exception class comes on top."""

_SCHEDULER_STATE = words(
    """_step_count _last_lr _get_lr_called_within_step _is_initial _schedulers _milestones _anneal_func_type
    _scale_fn_custom _scale_fn_ref _schedule_phases"""
)
"""Private names that a scheduler's own state has in it."""

_STATES_INSIDE = frozenset({"lr_lambdas", "_schedulers"})

_REFUSED_EXCEPTIONS = frozenset({"BaseExceptionGroup", "ExceptionGroup"})


class _TypeOfTypes(builtins.type):
    def __call__(cls, *values: Any, **keywords: Any) -> Any:
        if len(values) == 1 and not keywords:
            found = builtins.type(values[0])
            return cls if issubclass(found, builtins.type) else found
        refusal = Refusal(code("type(name, bases, body)"), fact("refusal-text-class"), fact("refusal-class-statement"))
        raise RefusedAttributeError(refusal)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, builtins.type)

    def __subclasscheck__(cls, value: Any) -> bool:
        return issubclass(value, builtins.type)

    def __repr__(cls) -> str:
        return "<class 'type'>"


class _Type(metaclass=_TypeOfTypes):
    """`type` with one argument, as a check, and as an annotation; it makes no classes and leads to no metaclass."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        raise RefusedAttributeError(METACLASS)

    def __class_getitem__(cls, item: Any) -> Any:
        return builtins.type[item]


_Type.__name__ = _Type.__qualname__ = "type"
_Type.__module__ = "builtins"


def build_builtins(own: set[str], library: frozenset[str]) -> dict[str, object]:
    """The `__builtins__` of one program.

    Args:
        own: names that the program gives to attributes; `setattr` adds to it.
        library: private names that belong to torch.
    """
    names: dict[str, object] = {name: getattr(builtins, name) for name in OFFERED_BUILTINS}
    names |= {
        name: value
        for name, value in vars(builtins).items()
        if isinstance(value, builtins.type) and issubclass(value, BaseException) and name not in _REFUSED_EXCEPTIONS
    }
    names |= {"__build_class__": builtins.__build_class__, "__import__": builtins.__import__, "__name__": "builtins"}
    names |= {"type": _Type, "print": _print}
    names |= _AttributeGuards(own, library).functions()
    return names


def _by_name(*functions: Any) -> dict[str, object]:
    """Functions under their names, which is also what Python's own messages about calls say of them."""
    for function in functions:
        function.__qualname__ = function.__name__
    return {function.__name__: function for function in functions}


class _AttributeGuards:
    def __init__(self, own: set[str], library: frozenset[str]) -> None:
        self._own = own
        self._library = library

    def functions(self) -> dict[str, object]:
        """The guarded functions, under the names they have in a program."""
        guards = self

        def getattr(value: Any, name: str, *default: Any) -> Any:  # noqa: A001
            guards.check_read(name)
            if name not in GUARDED:
                return builtins.getattr(value, name, *default)
            try:
                return guards.read(value, name)
            except AttributeError:
                if default and not isinstance(default[0], RefusedAttributeError):
                    return default[0]
                raise

        def hasattr(value: Any, name: str) -> bool:  # noqa: A001
            guards.check_read(name)
            return builtins.hasattr(value, name)

        def setattr(value: Any, name: str, new: Any) -> None:  # noqa: A001
            guards.check_write(name)
            builtins.setattr(value, name, new)

        def delattr(value: Any, name: str) -> None:  # noqa: A001
            guards.check_write(name)
            builtins.delattr(value, name)

        def dir(value: Any) -> list[str]:  # noqa: A001
            return [name for name in builtins.dir(value) if guards.is_readable(name)]

        def vars(*values: Any) -> dict[str, Any]:  # noqa: A001
            return guards.vars(*values)

        guarded = _by_name(getattr, hasattr, setattr, delattr, dir, vars)
        return guarded | {READ: self.read, WRAP_GETATTR: wrap_getattr}

    def vars(self, *values: Any) -> dict[str, Any]:
        """`vars(x)`."""
        if len(values) != 1:
            refusal = Refusal(code("vars()"), fact("refusal-tables"), fact("refusal-own-object"))
            raise RefusedAttributeError(refusal)
        return self._attributes_of(values[0])

    def is_readable(self, name: str) -> bool:
        """Whether a program may read this attribute on anything."""
        return find_attribute_refusal(name, self._own, self._library) is None

    def check_read(self, name: object) -> None:
        """Refuse a name that a program may not read, or that is not plainly a string."""
        refusal = find_attribute_refusal(_plain(name), self._own, self._library)
        if refusal:
            raise RefusedAttributeError(refusal)

    def check_write(self, name: object) -> str:
        """The plain name; one that a program may not set is refused, one that it may becomes its own."""
        plain = _plain(name)
        refusal = find_definition_refusal(plain, self._library)
        if refusal:
            raise RefusedAttributeError(refusal)
        self._own.add(plain)
        return plain

    def read(self, value: Any, name: str) -> Any:
        """`value.name` for a name in `GUARDED`, where the object decides."""
        match name:
            case "__class__":
                return _Type(value)  # type: ignore[call-arg]  # its metaclass takes the call
            case "__dict__":
                return self._attributes_of(value)
            case "load_state_dict" if _belongs_to(value, LRScheduler):
                return self._guard_state(builtins.getattr(value, name))
            case "format" | "format_map":
                return self._guard_format(builtins.getattr(value, name), name)
            case "obj" if _belongs_to(value, BaseException):
                raise RefusedAttributeError(refuse_attribute(name))
            case "data" if _belongs_to(value, numpy.ndarray | numpy.generic):
                refusal = Refusal(fact("refusal-array-data"), RAW_MEMORY, fact("refusal-array-copy"))
                raise RefusedAttributeError(refusal)
            case "__getattr__" | "__setattr__" | "__delattr__":
                return self._guard_method(builtins.getattr(value, name), name, value)
            case _:
                return builtins.getattr(value, name)

    def _attributes_of(self, value: Any) -> dict[str, Any]:
        """`x.__dict__` of an object of the program's own class; of others it leads into the library."""
        kind = builtins.type(value)
        if kind.__module__ != "__main__" and not issubclass(kind, SimpleNamespace):
            raise RefusedAttributeError(refuse_attribute("__dict__"))
        try:
            table = builtins.vars(value)
        except TypeError:
            raise AttributeError(f"'{kind.__name__}' object has no attribute '__dict__'") from None
        return view_attributes(table, self)

    def _guard_state(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Schedulers take whatever they are given for attributes of their own, and of their functions."""
        return lambda state_dict: method(self._checked_state(state_dict))

    def _checked_state(self, state: Any) -> dict[str, Any]:
        checked = {_plain(name): value for name, value in dict(state).items()}
        for name, value in checked.items():
            if name not in _SCHEDULER_STATE:
                self.check_write(name)
            if name in _STATES_INSIDE:
                checked[name] = [None if one is None else self._checked_state(one) for one in value]
        return checked

    def _guard_format(self, method: Any, name: str) -> Any:
        """What `x.format` is, with its template checked where it is str's own."""
        if method in (str.format, str.format_map):
            return lambda text, *values, **named: builtins.getattr(self._checked(text), name)(*values, **named)
        template = method.__self__ if isinstance(method, BuiltinMethodType) else None
        if isinstance(template, str):
            return lambda *values, **named: builtins.getattr(self._checked(template), name)(*values, **named)
        return method

    def _checked(self, template: str) -> str:
        text = _plain(template)
        for name in _attributes_in(text):
            self.check_read(name)
            if name in GUARDED:
                raise RefusedAttributeError(refuse_attribute(name))
        return text

    def _guard_method(self, method: Callable[..., Any], name: str, value: Any) -> Callable[..., Any]:
        check = self.check_read if name == "__getattr__" else self.check_write
        # On a class (`object.__setattr__(self, name, value)`) the object comes first.
        place = 1 if isinstance(value, builtins.type) else 0

        def guarded(*values: Any) -> Any:
            if len(values) > place:
                check(values[place])
                values = (*values[:place], _plain(values[place]), *values[place + 1 :])
            return method(*values)

        return guarded


def wrap_getattr(method: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """A class's own `__getattr__`, never asked for special names: numpy and torch would trust its answers."""

    def __getattr__(self: Any, name: str) -> Any:  # noqa: N807
        if is_special(name):
            raise AttributeError(f"'{builtins.type(self).__name__}' object has no attribute '{name}'")
        return method(self, name)

    return __getattr__


def build_class(name: str, bases: tuple[builtins.type, ...], body: dict[str, Any], **keywords: Any) -> ABCMeta:
    """`ABCMeta` as a program finds it: usable as `metaclass=ABCMeta`, where the policy has seen the body."""
    for one in body:
        written = one in _WRITTEN_BY_PYTHON or not is_special(one)
        if not written and find_definition_refusal(one, frozenset()):
            raise RefusedAttributeError(refuse_attribute(one))
    return ABCMeta(name, bases, body, **keywords)


_WRITTEN_BY_PYTHON = words(
    """__module__ __qualname__ __doc__ __annotations__ __classcell__ __slots__ __static_attributes__ __firstlineno__
    __getattr__ __setattr__ __delattr__ __new__ __post_init__ __init_subclass__ __class_getitem__ __set_name__ __get__
    __set__ __delete__ __copy__ __deepcopy__ __array__ __torch_function__ __annotate__ __annotate_func__"""
)


def _belongs_to(value: Any, kind: Any) -> bool:
    """Whether the value, what `super()` stands for, or the class itself is of this kind."""
    if builtins.type(value) is super:
        value = value.__self__  # type: ignore[attr-defined]
    return isinstance(value, kind) or (isinstance(value, builtins.type) and issubclass(value, kind))


def _plain(name: object) -> str:
    """The text itself: a subclass of str could answer differently the second time."""
    if not isinstance(name, str):
        raise TypeError("attribute name must be string, not '" + builtins.type(name).__name__ + "'")
    return str.__str__(name)


def _attributes_in(text: str) -> Iterator[str]:
    """Attribute names that a format string looks up, those of nested fields too."""
    try:
        for _, field, spec, _ in string.Formatter().parse(text):
            if field:
                yield from _attributes_of(field)
                if "{" in field:
                    yield from _attributes_in(field)
            if spec and "{" in spec:
                yield from _attributes_in(spec)
    except ValueError:
        # Not a format string; str.format will say so itself.
        return


def _attributes_of(field: str) -> Iterator[str]:
    """The names after dots in `0.shape[1].x`, by Python's own parser of fields."""
    _, rest = _string.formatter_field_name_split(field)
    for is_attribute, name in rest:
        if is_attribute:
            yield str(name)


def _print(*values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False) -> None:
    if file is not None:
        refusal = Refusal(code("print(file=...)"), fact("refusal-elsewhere"), fact("refusal-print-alone"))
        raise RefusedAttributeError(refusal)
    print(*values, sep=sep, end=end, flush=flush)  # noqa: T201
