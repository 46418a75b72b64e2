"""Modules as a program sees them: the offered names and nothing else, and nothing can be changed."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType, ModuleType
from typing import Any, NoReturn

from gradwalk.protocol.facts import fact
from gradwalk.sandbox.refusals import Refusal, is_known, refuse_path
from gradwalk.words.catalogue import tell


class RefusedError(Exception):
    """Something that is not offered was asked for while the program ran; `refusal` says what and why."""

    refusal: Refusal

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(tell(refusal.fact))
        self.refusal = refusal


class RefusedAttributeError(RefusedError, AttributeError):
    """An attribute is not offered."""


class RefusedImportError(RefusedError, ImportError):
    """A module is not offered."""


def make_proxy(
    name: str, module: ModuleType | None, offered: AbstractSet[str], stand_ins: Mapping[str, object]
) -> object:
    """A read-only view of `module`.

    Names are looked up in the module at the time of asking, so that what the tracer puts there is seen. They
    are held by a closure: the view has no attribute, public or private, that leads to the module.

    Args:
        name: the dotted name the program knows it by.
        module: None for a module that consists of stand-ins only.
        offered: names taken from the module.
        stand_ins: names with another value than the module's own.
    """
    own = MappingProxyType({"__name__": name, "__doc__": getattr(module, "__doc__", None)} | _version(module))
    overriding = MappingProxyType(dict(stand_ins))

    def look_up(self: object, asked: str) -> Any:
        if asked in overriding:
            return overriding[asked]
        if asked in offered:
            return getattr(module, asked)
        if asked == "__class__":
            return type(self)
        if asked in own:
            return own[asked]
        if asked.startswith("__") or not (exists(module, asked) or is_known(name, asked)):
            raise AttributeError(f"module '{name}' has no attribute '{asked}'", name=asked)
        raise RefusedAttributeError(refuse_path(name, asked))

    def refuse_change(_self: object, asked: str, *_: object) -> NoReturn:
        refusal = Refusal(fact("refusal-changing", path=f"{name}.{asked}"), fact("refusal-changes-library"))
        raise RefusedAttributeError(refusal)

    body: dict[str, Callable[..., Any] | tuple[()]] = {
        "__slots__": (),
        "__getattribute__": look_up,
        "__setattr__": refuse_change,
        "__delattr__": refuse_change,
        "__repr__": lambda _: f"<module '{name}'>",
        "__dir__": lambda _: sorted({*offered, *overriding}),
        "__reduce_ex__": _refuse_copy,
        "__init_subclass__": _refuse_subclass,
    }
    return type("module", (), body)()


def exists(module: ModuleType | None, name: str) -> bool:
    """Whether the real module has the name, without running a module's own `__getattr__`."""
    return module is not None and name in vars(module)


def _version(module: ModuleType | None) -> dict[str, str]:
    version = getattr(module, "__version__", None)
    return {} if version is None else {"__version__": str(version)}


def _refuse_copy(*_: object) -> NoReturn:
    raise TypeError("cannot pickle 'module' object")


def _refuse_subclass(_cls: type, **_: object) -> NoReturn:
    raise TypeError("module is not a class to derive from")
