"""What an ordinary program finds where a locked process cannot have the real thing.

A program is Python with everything that computes. What it cannot have here and does not need for its gradients
(a GPU, worker processes, a drawing, a progress bar) behaves as far as a program can see, and is noted once with
its line. Everything else is the real thing, and where the kernel refuses it, `explain.py` says what to write.
"""

import asyncio
import functools
import importlib.abc
import importlib.machinery
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from types import FrameType, ModuleType
from typing import Any, Final

import torch
from torch.utils.data import DataLoader

from gradwalk.protocol.facts import Fact, fact
from gradwalk.sandbox.accelerators import Note, OnTheCpu, note_on_cpu, without_accelerators
from gradwalk.sandbox.event_loop import LoopsThatSleep
from gradwalk.sandbox.explain import explain
from gradwalk.tracer.interpreter import Interpreter
from gradwalk.tracer.originals import SNIPPET, frame_at

QUIET: Final = frozenset(
    {
        "matplotlib", "seaborn", "plotly", "bokeh", "wandb", "tensorboard", "tensorboardX", "mlflow", "torchviz",
        "graphviz", "IPython", "pylab", "torchsummary", "torchinfo", "visdom", "livelossplot", "mpl_toolkits"
    }
)  # fmt: skip
"""Libraries that draw or report: their calls do nothing."""

_QUIET_MODULES: Final = frozenset({"torch.utils.tensorboard"})
_BARS: Final = frozenset({"tqdm", "tqdm.auto", "tqdm.notebook", "tqdm.std"})
_INSPECTING: Final = frozenset(
    {"gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys.setprofile", "sys.settrace", "sys._getframe",
     "sys._current_frames"}
)  # fmt: skip
_FRAME_ATTRIBUTES: Final = frozenset({"tb_frame", "f_globals", "f_builtins", "gi_frame", "cr_frame", "ag_frame"})
_OF_WORKERS: Final = frozenset(
    {"num_workers", "pin_memory", "persistent_workers", "prefetch_factor", "multiprocessing_context", "timeout",
     "pin_memory_device", "worker_init_fn"}
)  # fmt: skip


class Ordinary:
    """Fits `gradwalk.tracer.surroundings.Surroundings`; made and installed before the fork, used after it."""

    def __init__(self) -> None:
        self._note: Callable[[Fact], None] | None = None
        self._noted: set[str] = set()
        self._is_watched = False
        self._interpreter: Interpreter
        self._is_looking = False

    def install(self) -> None:
        """Puts the stand-ins in place, for this process and those forked from it."""
        sys.meta_path.insert(0, _QuietFinder(self.note))
        for name in _QUIET_MODULES:
            sys.modules.pop(name, None)
        _without_workers(self.note)
        without_accelerators(self.note)
        torch.compile = self._run_eagerly
        sys.breakpointhook = _do_nothing
        asyncio.set_event_loop_policy(LoopsThatSleep())
        self._interpreter = Interpreter()

    def note(self, subject: str, told_at: Callable[[str], Fact]) -> None:
        """Once for each subject, with the line of the program that runs now."""
        line = _line_of(frame_at(1))
        if self._note is not None and line is not None and subject not in self._noted:
            self._noted.add(subject)
            self._note(told_at(line))

    def namespace(self) -> dict[str, Any]:
        """Those of a new module `__main__`, which pickle, dataclasses and annotations look for."""
        main = sys.modules["__main__"] = ModuleType("__main__")
        # What notebooks exported as programs begin with.
        vars(main)["get_ipython"] = Quiet("IPython")
        return vars(main)

    @contextmanager
    def around(self, note: Callable[[Fact], None]) -> Iterator[None]:
        """The program's own process: no module of ours to import, and what it does to the interpreter is noted."""
        self._note = note
        for name in [name for name in sys.modules if name.partition(".")[0] == "gradwalk"]:
            del sys.modules[name]
        sys.argv = [SNIPPET]
        if not self._is_watched:
            self._is_watched = True
            sys.addaudithook(self._watch)
        with OnTheCpu(self.note), redirect_stderr(sys.stdout):
            yield

    def explain(self, error: BaseException, source: str) -> Fact | None:
        """See `explain.py`."""
        return explain(error, source)

    def revive(self) -> None:
        """See `interpreter.py`."""
        self._interpreter.revive()

    def mend(self, error: BaseException, *, is_over: bool) -> str | None:
        """See `interpreter.py`."""
        return self._interpreter.mend(error, is_over=is_over)

    def _run_eagerly(self, model: Any = None, **_: Any) -> Any:
        """`torch.compile`: what it is given, so that the graph is the program's own."""
        self.note("compile", lambda line: fact("note-compiled-in-line", line=line))
        return (lambda given: given) if model is None else model

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._is_looking:
            return
        if event == "sys.addaudithook":
            self.note(event, lambda line: fact("note-no-audit-hook", line=line))
            # Which keeps the hook out and is not raised by the call; the recorder's own events would reach it.
            raise RuntimeError(event)
        if event in _INSPECTING or event.startswith("ctypes."):
            name = event
        elif event == "object.__getattr__" and arguments[1] in _FRAME_ATTRIBUTES:
            name = arguments[1]
        else:
            return
        # Looking at a frame is such an event itself.
        self._is_looking = True
        caller = frame_at(1)
        if caller.f_code.co_filename == SNIPPET:
            self.note(name, lambda line: fact("note-reaches-inside", what=name, line=line))
        self._is_looking = False


def _line_of(frame: FrameType | None) -> str | None:
    """The line of the program that called, however deep."""
    while frame is not None:
        if frame.f_code.co_filename == SNIPPET:
            return str(frame.f_lineno)
        frame = frame.f_back
    return None


def _is_asked_by_program(frame: FrameType | None) -> bool:
    """Whether the import is one of the program, and not one by which a library finds out what is installed."""
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None and (
        frame.f_code.co_filename == SNIPPET or isinstance(sys.modules.get(frame.f_globals["__name__"]), _QuietModule)
    )


def _do_nothing(*_: Any, **__: Any) -> None:
    """Takes every call."""


def _without_workers(note: Note) -> None:
    """A DataLoader in this process, whatever it is asked for."""
    original = DataLoader.__init__
    signature = inspect.signature(original)

    @functools.wraps(original)
    def __init__(*args: Any, **keywords: Any) -> None:  # noqa: N807
        bound = signature.bind(*args, **keywords)
        asked = bound.arguments
        workers = asked.get("num_workers")
        if workers:
            note("workers", lambda line: fact("note-no-workers", workers=str(workers), line=line))
        elif asked.get("pin_memory"):
            note_on_cpu(note, "pin_memory=True")
        for name in _OF_WORKERS & asked.keys():
            asked[name] = signature.parameters[name].default
        original(*bound.args, **bound.kwargs)

    DataLoader.__init__ = __init__  # type: ignore[method-assign]


class Quiet:
    """Takes every call, attribute and item, and gives itself."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def __getattr__(self, name: str) -> "Quiet":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __setattr__(self, name: str, value: object) -> None: ...
    def __setitem__(self, key: object, value: object) -> None: ...
    def __delitem__(self, key: object) -> None: ...

    def __call__(self, *_: object, **__: object) -> "Quiet":
        return self

    def __getitem__(self, _: object) -> "Quiet":
        return self

    def __enter__(self) -> "Quiet":
        return self

    def __exit__(self, *_: object) -> None: ...

    def __iter__(self) -> Iterator["Quiet"]:
        """Two, as of `figure, axes = plt.subplots()`."""
        return iter((self, self))

    def __len__(self) -> int:
        return 2

    def __repr__(self) -> str:
        return f"<{object.__getattribute__(self, '_name')} is not here>"


class _QuietModule(ModuleType):
    def __repr__(self) -> str:
        return f"<module '{self.__name__}'>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        return Quiet(f"{self.__name__}.{name}")


class _Settings(dict[str, Any]):
    """A dict whose keys are attributes, too."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class _Experiment(_QuietModule):
    """wandb: quiet but for the settings, which programs compute with."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.config = _Settings()

    def init(self, *_: Any, config: dict[str, Any] | None = None, **__: Any) -> "_Experiment":
        """The run, which is quiet as well."""
        self.config.update(config or {})
        return self

    def __enter__(self) -> "_Experiment":
        return self

    def __exit__(self, *_: object) -> None: ...


class tqdm:  # noqa: N801 (the name that programs import)
    """A progress bar that shows nothing: it iterates, counts and takes every call."""

    def __init__(self, iterable: Iterable[Any] | None = None, *_: Any, total: float | None = None, **__: Any) -> None:
        self.iterable, self.total, self.n = iterable, total, 0.0

    def __iter__(self) -> Iterator[Any]:
        for one in self.iterable or ():
            yield one
            self.n += 1

    def __len__(self) -> int:
        return len(self.iterable) if self.iterable is not None else int(self.total or 0)  # type: ignore[arg-type]

    def update(self, n: float = 1) -> None:
        """Counts."""
        self.n += n

    def __enter__(self) -> "tqdm":
        return self

    def __exit__(self, *_: object) -> None: ...

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *_, **__: None

    @staticmethod
    def write(text: str, *_: Any, **__: Any) -> None:
        """Prints."""
        print(text)  # noqa: T201 (as the library does)

    @classmethod
    def pandas(cls, *_: Any, **__: Any) -> None:
        """Nothing to show."""


class _QuietFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the stand-ins, whether the real library is installed or not: its files are out of reach."""

    def __init__(self, note: Note) -> None:
        self._note = note

    def find_spec(self, fullname: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:  # noqa: ARG002
        """A spec for what is quiet here."""
        library = fullname.partition(".")[0]
        if not _is_asked_by_program(frame_at(1)):
            return None
        if library in QUIET or fullname in _QUIET_MODULES:
            name = fullname if fullname in _QUIET_MODULES else library
            self._note(name, lambda line: fact("note-quiet", library=name, line=line))
        elif fullname not in _BARS:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """A module with any attribute, or that of the progress bars."""
        if spec.name == "wandb":
            return _Experiment(spec.name)
        if spec.name not in _BARS:
            return _QuietModule(spec.name)
        bars = ModuleType(spec.name)
        vars(bars).update(tqdm=tqdm, trange=lambda *bounds, **_: tqdm(range(*bounds)), tqdm_notebook=tqdm)
        return bars

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""
