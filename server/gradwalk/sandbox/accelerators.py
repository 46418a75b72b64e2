"""Programs for a GPU and for workers, run in one process on the CPU: each is noted once with its line."""

import functools
import inspect
import time
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, FrameType, FunctionType, SimpleNamespace
from typing import Any, Final

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.data import DataLoader

from gradwalk.protocol.facts import fact
from gradwalk.sandbox.quiet import Note, Quiet
from gradwalk.tracer.originals import SNIPPET, asked_for, frame_at

_DEVICES_MOVED_TO: Final = frozenset({"cuda", "xpu", "mps", "hpu", "npu", "mtia"})
_LOOKS_FOR_A_MODULE: Final = inspect.unwrap(torch.get_device_module).__code__
"""Looks for one by the name of a device, as `fork_rng` asks it to."""
_OF_WORKERS: Final = frozenset(
    {"num_workers", "pin_memory", "persistent_workers", "prefetch_factor", "multiprocessing_context", "timeout",
     "pin_memory_device", "worker_init_fn"}
)  # fmt: skip
_Generator = torch.Generator


class OnTheCpu(TorchFunctionMode):
    """Whatever asks for another device gets the CPU."""

    def __init__(self, note: Note) -> None:
        super().__init__()
        self._note = note

    def __torch_function__(
        self, func: Any, types: Iterable[type], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        func = asked_for(func, frame_at(1))
        name = getattr(func, "__name__", "")
        if name in _DEVICES_MOVED_TO and func is getattr(torch.Tensor, name, None):
            _note_on_cpu(self._note, f".{name}()")
            return args[0]
        if func in (torch.Tensor.pin_memory, torch.Tensor.record_stream):
            return args[0]
        if func is torch.device and _code_that_called(frame_at(1)) is _LOOKS_FOR_A_MODULE:
            return func(*args, **kwargs)
        if type(kwargs.get("device")) is int:
            kwargs = {**kwargs, "device": f"cuda:{kwargs['device']}"}
        if func is torch.Tensor.to and len(args) > 1 and type(args[1]) is int:
            args = (args[0], f"cuda:{args[1]}", *args[2:])
        asked = [one for one in (kwargs.get("device"), *args) if _is_elsewhere(one)]
        if asked:
            _note_on_cpu(self._note, str(asked[0]))
            args = tuple("cpu" if _is_elsewhere(one) else one for one in args)
            kwargs = {key: "cpu" if _is_elsewhere(value) else value for key, value in kwargs.items()}
        return func(*args, **kwargs)


class _Event(Quiet):
    """The time on the clock, as `elapsed_time` needs it."""

    at: float

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__("torch.cuda.Event")
        self.record()

    def record(self, *_: Any) -> None:
        """Now."""
        vars(self)["at"] = time.perf_counter()

    def elapsed_time(self, end: "_Event") -> float:
        """Milliseconds until another event."""
        return (end.at - self.at) * 1e3


_ANSWERS: Final[dict[str, Any]] = {
    **dict.fromkeys(
        ("current_device", "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved",
         "current_allocated_memory", "driver_allocated_memory", "utilization"),
        0,
    ),
    "get_arch_list": [],
    "get_device_capability": (0, 0),
    "get_device_name": "CPU",
    "get_device_properties": SimpleNamespace(
        name="CPU", total_memory=0, major=0, minor=0, multi_processor_count=1
    ),
    "mem_get_info": (0, 0),
}  # fmt: skip
"""What programs compute with or compare; every other function of a device's library is quiet."""


def without_accelerators(note: Note) -> None:
    """Puts in place what programs call without asking whether there is a GPU, or room for workers."""
    for library in (torch.cuda, torch.cuda.nvtx, torch.mps, torch.mtia, torch.xpu):
        for name, one in [*vars(library).items()]:
            if name == "Event":
                setattr(library, name, _noted(note, f"{library.__name__}.{name}", _Event))
            elif name in ("Stream", "device") or _is_function_of_torch(name, one):
                answer = _ANSWERS.get(name, Quiet(f"{library.__name__}.{name}"))
                called = _noted(note, f"{library.__name__}.{name}", lambda *_, answer=answer, **__: answer)
                setattr(library, name, called)
            elif name.endswith("Tensor"):
                setattr(library, name, getattr(torch, name))
    torch.Generator = _generators(note)  # type: ignore[misc]
    _change_arguments(DataLoader, "__init__", functools.partial(_without_workers, note))
    _change_arguments(torch.serialization, "default_restore_location", functools.partial(_at_home, note, "cpu"))
    _change_arguments(torch, "set_default_tensor_type", functools.partial(_at_home, note, "torch.FloatTensor"))
    for precise in (torch.amp.autocast_mode.autocast, torch.amp.GradScaler):
        _change_arguments(precise, "__init__", functools.partial(_in_full_precision, note, precise.__name__))


def _note_on_cpu(note: Note, asked: str) -> None:
    """Once for a program, whatever it asks for."""
    note("device", lambda line: fact("note-on-cpu", asked=asked, line=line))


def _is_function_of_torch(name: str, one: Any) -> bool:
    """Whether a function needs the device: what tells that there is none does not, nor what takes functions."""
    tells = name.startswith(("_", "is_", "device_count", "make_graphed"))
    return isinstance(one, FunctionType) and one.__module__.startswith("torch.") and not tells


def _noted(note: Note, name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """Noted where the program itself calls; torch does, too."""

    def answer(*args: Any, **kwargs: Any) -> Any:
        if frame_at(1).f_code.co_filename == SNIPPET:
            _note_on_cpu(note, f"{name}()")
        return make(*args, **kwargs)

    return answer


def _generators(note: Note) -> type[torch.Generator]:
    class Kind(type(_Generator)):  # type: ignore[misc]
        def __instancecheck__(cls, one: object) -> bool:
            # `torch.default_generator` was made before.
            return isinstance(one, _Generator)

    class Generator(_Generator, metaclass=Kind):
        __module__ = "torch"

        def __new__(cls, device: Any = "cpu") -> "Generator":
            if _is_elsewhere(device):
                _note_on_cpu(note, f'torch.Generator("{device}")')
            return super().__new__(cls, "cpu")  # type: ignore[call-arg]

    return Generator


def _change_arguments(owner: Any, name: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Has every call of a function of torch go through `change`, by the names of its parameters."""
    original = getattr(owner, name)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def changed(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        change(bound.arguments)
        return original(*bound.args, **bound.kwargs)

    setattr(owner, name, changed)


def _without_workers(note: Note, asked: dict[str, Any]) -> None:
    if asked["num_workers"]:
        workers = str(asked["num_workers"])
        note("workers", lambda line: fact("note-no-workers", workers=workers, line=line))
    elif asked["pin_memory"]:
        _note_on_cpu(note, "pin_memory=True")
    asked.update((name, _DEFAULTS[name].default) for name in _OF_WORKERS)


_DEFAULTS: Final = inspect.signature(DataLoader.__init__).parameters


def _at_home(note: Note, instead: str, asked: dict[str, Any]) -> None:
    """The last parameter may name a device."""
    name = [*asked][-1]
    if _is_elsewhere(str(asked[name]).removeprefix("torch.").partition(".")[0]):
        _note_on_cpu(note, str(asked[name]))
        asked[name] = instead


def _in_full_precision(note: Note, name: str, asked: dict[str, Any]) -> None:
    """Mixed precision for another device: not enabled, as torch does it with a warning where the device is missing."""
    if asked["enabled"] and _is_elsewhere(asked.get("device_type", asked.get("device"))):
        note("precision", lambda line: fact("note-full-precision", asked=name, line=line))
        asked["enabled"] = False


def _code_that_called(frame: FrameType | None) -> CodeType | None:
    """The recorder's own frames stand between."""
    while frame is not None and frame.f_globals["__name__"].startswith("gradwalk."):
        frame = frame.f_back
    return None if frame is None else frame.f_code


def _is_elsewhere(value: Any) -> bool:
    return isinstance(value, str | torch.device) and str(value).partition(":")[0] in _DEVICES_MOVED_TO
