"""Programs for a GPU, run on the CPU: what they ask for gets the CPU, and is noted once with its line."""

import functools
import inspect
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from types import CodeType, FrameType, SimpleNamespace
from typing import Any, Final

import torch
from torch.overrides import TorchFunctionMode

from gradwalk.protocol.facts import Fact, fact
from gradwalk.tracer.originals import SNIPPET, asked_for, frame_at

Note = Callable[[str, Callable[[str], Fact]], None]
"""Takes a subject, and the fact about it for a line."""

_DEVICES_MOVED_TO: Final = frozenset({"cuda", "xpu", "mps", "hpu", "npu", "mtia"})
_LOOKS_FOR_A_MODULE: Final = inspect.unwrap(torch.get_device_module).__code__
"""Looks for one by the name of a device, as `fork_rng` asks it to."""
_PROPERTIES: Final = {"name": "CPU", "total_memory": 0, "major": 0, "minor": 0, "multi_processor_count": 1}


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
            note_on_cpu(self._note, f".{name}()")
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
            note_on_cpu(self._note, str(asked[0]))
            args = tuple("cpu" if _is_elsewhere(one) else one for one in args)
            kwargs = {key: "cpu" if _is_elsewhere(value) else value for key, value in kwargs.items()}
        return func(*args, **kwargs)


def note_on_cpu(note: Note, asked: str) -> None:
    """Once for a program, whatever it asks for."""
    note("device", lambda line: fact("note-on-cpu", asked=asked, line=line))


def without_accelerators(note: Note) -> None:
    """Puts in place what programs call on `torch.cuda` and its like without asking whether it is there."""
    for library in (torch.cuda, torch.mps, torch.xpu):
        for name, make in _CALLED.items():
            if hasattr(library, name):
                setattr(library, name, _stand_in(note, f"{library.__name__}.{name}", make))
    for name in dir(torch.cuda):
        if name.endswith("Tensor"):
            setattr(torch.cuda, name, getattr(torch, name))
    flags = vars(type(torch.backends.cudnn))
    for name in ("benchmark", "deterministic", "allow_tf32"):
        flags[name].setter = _stand_in(note, f"torch.backends.cudnn.{name}", flags[name].setter, call="")
    torch.Generator = _generators(note)  # type: ignore[misc]
    _move(note, torch.serialization, "default_restore_location", "location", "cpu")
    _move(note, torch, "set_default_tensor_type", "t", "torch.FloatTensor")
    for precise in (torch.amp.autocast_mode.autocast, torch.amp.GradScaler):
        _switch_off(note, precise)


class _Event:
    """The time on the clock, as `elapsed_time` needs it."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.at = time.perf_counter()

    def record(self, *_: Any) -> None:
        """Now."""
        self.at = time.perf_counter()

    def elapsed_time(self, end: "_Event") -> float:
        """Milliseconds until another event."""
        return (end.at - self.at) * 1e3

    def query(self) -> bool:
        """Whether the work before it is done; it always is."""
        return True

    def synchronize(self, *_: Any) -> None:
        """Nothing to wait for."""

    wait = synchronize


class _Stream(_Event):
    """A queue of work that is done at once."""

    def record_event(self, event: _Event | None = None) -> _Event:
        """The event, now."""
        event = event or _Event()
        event.record()
        return event

    wait_stream = wait_event = _Event.synchronize

    def __enter__(self) -> "_Stream":
        return self

    def __exit__(self, *_: object) -> None: ...


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


_CALLED: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(
        ("synchronize", "empty_cache", "set_device", "reset_peak_memory_stats", "reset_max_memory_allocated", "init",
         "ipc_collect", "manual_seed", "manual_seed_all", "set_rng_state", "set_rng_state_all", "set_stream",
         "set_per_process_memory_fraction"),
        _always(None),
    ),
    **dict.fromkeys(
        ("current_device", "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved",
         "current_allocated_memory", "driver_allocated_memory", "utilization"),
        _always(0),
    ),
    **dict.fromkeys(("Stream", "current_stream", "default_stream"), _Stream),
    "Event": _Event,
    "device": lambda *_, **__: nullcontext(),
    "get_device_capability": _always((0, 0)),
    "get_device_name": _always("CPU"),
    "get_device_properties": lambda *_, **__: SimpleNamespace(**_PROPERTIES),
    "get_rng_state": lambda *_, **__: torch.get_rng_state(),
    "get_rng_state_all": lambda *_, **__: [],
    "mem_get_info": _always((0, 0)),
    "memory_summary": _always(""),
    "stream": lambda *_, **__: nullcontext(),
}  # fmt: skip
"""What is called on a library of a device, and what makes the answer."""


def _stand_in(note: Note, name: str, make: Callable[..., Any], call: str = "()") -> Callable[..., Any]:
    """Noted where the program itself calls; torch does, too."""

    def answer(*args: Any, **kwargs: Any) -> Any:
        if any(one is not None and one.f_code.co_filename == SNIPPET for one in (frame_at(1), frame_at(1).f_back)):
            note_on_cpu(note, name + call)
        return make(*args, **kwargs)

    return answer


def _generators(note: Note) -> Any:
    original = torch.Generator

    class Type(type(original)):  # type: ignore[misc]
        def __call__(cls, device: Any = "cpu") -> torch.Generator:
            if _is_elsewhere(device):
                note_on_cpu(note, f'torch.Generator("{device}")')
            return original("cpu")

        def __instancecheck__(cls, one: object) -> bool:
            return isinstance(one, original)

    return Type("Generator", (original,), {"__module__": "torch"})


def _move(note: Note, module: Any, name: str, parameter: str, instead: str) -> None:
    """A function of torch with one parameter that may name a device."""
    original = getattr(module, name)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def moved(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        asked = bound.arguments.get(parameter)
        if _is_elsewhere(str(asked).removeprefix("torch.").partition(".")[0]):
            note_on_cpu(note, str(asked))
            bound.arguments[parameter] = instead
        return original(*bound.args, **bound.kwargs)

    setattr(module, name, moved)


def _switch_off(note: Note, owner: Any) -> None:
    """Mixed precision for another device: not enabled, as torch does it with a warning where the device is missing."""
    original = owner.__init__
    signature = inspect.signature(original)

    @functools.wraps(original)
    def __init__(*args: Any, **kwargs: Any) -> None:  # noqa: N807
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        if arguments["enabled"] and _is_elsewhere(arguments.get("device_type", arguments.get("device"))):
            note("precision", lambda line: fact("note-full-precision", asked=owner.__name__, line=line))
            arguments["enabled"] = False
        original(*bound.args, **bound.kwargs)

    owner.__init__ = __init__


def _code_that_called(frame: FrameType | None) -> CodeType | None:
    """The recorder's own frames stand between."""
    while frame is not None and frame.f_globals["__name__"].startswith("gradwalk."):
        frame = frame.f_back
    return None if frame is None else frame.f_code


def _is_elsewhere(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type in _DEVICES_MOVED_TO
    return type(value) is str and value.partition(":")[0] in _DEVICES_MOVED_TO
