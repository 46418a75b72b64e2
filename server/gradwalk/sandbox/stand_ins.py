"""Things that a program finds in the place of the library's own: the same for honest use, without the detour.

Each says what it leaves out. The table at the end is what `offer.py` reads.
"""

import collections
import enum
import random
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.autograd import graph
from torch.utils import data as torch_data

from gradwalk.protocol.facts import code, fact
from gradwalk.sandbox.attributes import find_definition_refusal
from gradwalk.sandbox.guards import build_class
from gradwalk.sandbox.parameter_dict import ParameterDict
from gradwalk.sandbox.proxies import RefusedAttributeError
from gradwalk.sandbox.refusals import PROCESSES, RAW_MEMORY, Refusal, refuse_attribute


def wraps(
    wrapped: Any, assigned: object = None, updated: object = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`functools.wraps` for names and docstrings; `assigned` and `updated` stay as they are by default."""
    if assigned is not None or updated is not None:
        refusal = Refusal(code("wraps(assigned=...)"), fact("refusal-copies-any"), fact("refusal-wraps-alone"))
        raise RefusedAttributeError(refusal)

    def decorate(wrapper: Callable[..., Any]) -> Callable[..., Any]:
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            value = getattr(wrapped, name, None)
            if isinstance(wrapper, types.FunctionType) and isinstance(value, str):
                setattr(wrapper, name, value)
        if isinstance(wrapper, types.FunctionType) and isinstance(wrapped, types.FunctionType):
            vars(wrapper).update(vars(wrapped))
        return wrapper

    return decorate


def update_wrapper(
    wrapper: Callable[..., Any], wrapped: Any, assigned: object = None, updated: object = None
) -> Callable[..., Any]:
    """`functools.update_wrapper`, with the limits of `wraps`."""
    return wraps(wrapped, assigned, updated)(wrapper)


def namedtuple(typename: str, field_names: str | Iterable[str], **keywords: Any) -> type:
    """`collections.namedtuple`, whose fields must have names that attributes may have."""
    listed = field_names.replace(",", " ").split() if isinstance(field_names, str) else field_names
    fields = [str(one) for one in listed]
    _check_names(fields)
    made = collections.namedtuple(typename, fields, **keywords)  # type: ignore[misc]
    made.__module__ = "__main__"
    return made


class _NamedTuple:
    """`typing.NamedTuple` as a base class; the fields of a class statement have been seen by the policy."""

    def __call__(self, typename: str, fields: Iterable[tuple[str, Any]] = ()) -> type:
        """The functional form."""
        listed = [(str(name), kind) for name, kind in fields]
        _check_names(name for name, _ in listed)
        make: Any = typing.NamedTuple
        return make(typename, listed)  # type: ignore[no-any-return]

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return typing.NamedTuple.__mro_entries__((typing.NamedTuple,))  # type: ignore[attr-defined, no-any-return]


class SimpleNamespace(types.SimpleNamespace):
    """`types.SimpleNamespace`, whose attributes must have names that attributes may have."""

    def __init__(self, **attributes: Any) -> None:
        _check_names(attributes)
        super().__init__(**attributes)

    def __repr__(self) -> str:
        return f"namespace({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class _EnumMaker(enum.EnumMeta):
    """The metaclass of enumerations; in the functional form, members must have names that attributes may have."""

    def __call__(  # type: ignore[override]  # noqa: D102, PLR0913 (the library's own parameters, less one)
        cls,
        value: Any,
        names: Any = None,
        *,
        module: str | None = None,  # noqa: ARG002 (it belongs to the program, whatever it says)
        qualname: str | None = None,
        type: Any = None,  # noqa: A002
        start: int = 1,
    ) -> Any:
        if names is None:
            return super().__call__(value)
        if type not in (None, int, float, str):
            refusal = Refusal(code("Enum(type=...)"), fact("refusal-mixes"), fact("refusal-enum-statement"))
            raise RefusedAttributeError(refusal)
        members = _members(names)
        _check_names(member if isinstance(member, str) else member[0] for member in members)
        return super().__call__(str(value), members, module="__main__", qualname=qualname, type=type, start=start)


def _members(names: Any) -> list[Any]:
    """Names, or pairs of name and value, in plain strings."""
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    elif isinstance(names, Mapping):
        names = names.items()
    return [str.__str__(one) if isinstance(one, str) else (str.__str__(one[0]), one[1]) for one in names]


class Enum(enum.Enum, metaclass=_EnumMaker):
    """`enum.Enum`."""


class IntEnum(enum.IntEnum, metaclass=_EnumMaker):
    """`enum.IntEnum`."""


class Flag(enum.Flag, metaclass=_EnumMaker):
    """`enum.Flag`."""


class save_on_cpu(graph.save_on_cpu):  # noqa: N801
    """`torch.autograd.graph.save_on_cpu`, which looks up no device by name."""

    def __init__(self, pin_memory: bool = False) -> None:
        super().__init__(pin_memory)


def asarray(
    obj: Any,
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> torch.Tensor:
    """`torch.asarray`, which gives out no memory of Python's own: bytes may not change, a bytearray may move."""
    if isinstance(obj, bytes | bytearray):
        refusal = Refusal(code("torch.asarray(bytes)"), RAW_MEMORY, fact("refusal-bytes-tensor"))
        raise RefusedAttributeError(refusal)
    return torch.asarray(obj, dtype=dtype, device=device, copy=copy, requires_grad=requires_grad)


class DataLoader(torch_data.DataLoader[Any]):
    """`torch.utils.data.DataLoader` in this process."""

    def __init__(self, dataset: Any, *values: Any, num_workers: int = 0, **keywords: Any) -> None:
        if num_workers:
            refusal = Refusal(code("DataLoader(num_workers=...)"), PROCESSES, fact("refusal-no-workers"))
            raise RefusedAttributeError(refusal)
        if len(values) > _POSITION_OF_NUM_WORKERS:
            raise TypeError("DataLoader: name the arguments after batch_sampler")
        super().__init__(dataset, *values, **keywords)


_POSITION_OF_NUM_WORKERS = 4


class _Switches:
    """Settings that exist so that programs may set them; on a CPU they change nothing."""

    __slots__ = ("allow_tf32", "benchmark", "deterministic", "enabled")

    def __init__(self) -> None:
        self.allow_tf32 = self.benchmark = self.deterministic = False
        self.enabled = True

    def is_available(self) -> bool:
        """Whether such a device is here: no."""
        return False

    def is_built(self) -> bool:
        """Whether torch was built for it: no."""
        return False


class _CudaSwitches(_Switches):
    __slots__ = ("matmul",)

    def __init__(self) -> None:
        super().__init__()
        self.matmul = _Switches()


def _is_not_available() -> bool:
    return False


def _count_nothing() -> int:
    return 0


def _do_nothing(*_: object) -> None:
    return None


def run_eagerly(model: Any = None, **_: Any) -> Any:
    """`torch.compile`: what it is given, unchanged, so that the graph is the program's own."""
    return (lambda given: given) if model is None else model


def _check_names(names: Iterable[str]) -> None:
    for name in names:
        refusal = refuse_attribute(name) if name.startswith("__") else find_definition_refusal(name, frozenset())
        if refusal:
            raise RefusedAttributeError(refusal)


def make_stand_ins() -> Mapping[str, Mapping[str, object]]:
    """Module -> name -> the value a program finds there; new switches at every call."""
    return {
        "torch": {"compile": run_eagerly, "asarray": asarray},
        "torch.nn": {"ParameterDict": ParameterDict},
        "torch.cuda": {
            "is_available": _is_not_available,
            "is_bf16_supported": _is_not_available,
            "is_initialized": _is_not_available,
            "device_count": _count_nothing,
            "manual_seed": _do_nothing,
            "manual_seed_all": _do_nothing,
            "empty_cache": _do_nothing,
        },
        "torch.backends": {"cudnn": _Switches(), "mps": _Switches(), "cuda": _CudaSwitches(), "mkldnn": _Switches()},
        "torch.autograd.graph": {"save_on_cpu": save_on_cpu},
        "torch.utils.data": {"DataLoader": DataLoader},
        "functools": {"wraps": wraps, "update_wrapper": update_wrapper},
        "collections": {"namedtuple": namedtuple},
        "typing": {"NamedTuple": _NamedTuple()},
        "types": {"SimpleNamespace": SimpleNamespace},
        "enum": {"Enum": Enum, "IntEnum": IntEnum, "Flag": Flag},
        "abc": {"ABCMeta": build_class},
        "sys": {"version_info": tuple(sys.version_info), "version": sys.version, "maxsize": sys.maxsize,
                "float_info": sys.float_info, "int_info": sys.int_info},
        "random": {"Random": random.Random},
        "torch.version": {"cuda": None, "__version__": str(torch.__version__)},
    }  # fmt: skip
