"""Libraries that draw or report: for a program they are there, and their calls do nothing.

They are found whether the real library is installed or not, since its files are out of reach; each is noted once.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, ModuleType
from typing import Any, Final

from gradwalk.protocol.facts import Fact, fact
from gradwalk.tracer.originals import SNIPPET, frame_at

Note = Callable[[str, Callable[[str], Fact]], None]
"""Takes a subject, and the fact about it for a line."""

QUIET: Final = frozenset(
    {
        "matplotlib", "seaborn", "plotly", "bokeh", "wandb", "tensorboard", "tensorboardX", "mlflow", "torchviz",
        "graphviz", "IPython", "pylab", "torchsummary", "torchinfo", "visdom", "livelossplot", "mpl_toolkits"
    }
)  # fmt: skip
_TENSORBOARD: Final = "torch.utils.tensorboard"
_BARS: Final = frozenset({"tqdm", "tqdm.auto", "tqdm.notebook", "tqdm.std"})


class Quiet:
    """Takes every call, attribute and item, and gives itself."""

    def __init__(self, name: str) -> None:
        vars(self)["_name"] = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __setattr__(self, name: str, value: object) -> None: ...
    def __setitem__(self, key: object, value: object) -> None: ...
    def __delitem__(self, key: object) -> None: ...

    def __call__(self, *_: object, **__: object) -> Any:
        return self

    def __getitem__(self, _: object) -> Any:
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __iter__(self) -> Iterator[Any]:
        """Two, as of `figure, axes = plt.subplots()`."""
        return iter((self, self))

    def __len__(self) -> int:
        return 2

    def __repr__(self) -> str:
        return f"<{self._name} is not here>"


class tqdm(Quiet):  # noqa: N801 (the name that programs import)
    """A progress bar that shows nothing: it iterates and counts."""

    def __init__(self, iterable: Iterable[Any] | None = None, *_: Any, total: float | None = None, **__: Any) -> None:
        vars(self).update(iterable=iterable, total=total, n=0)

    def __iter__(self) -> Iterator[Any]:
        for one in self.iterable or ():
            yield one
            self.update()

    def __len__(self) -> int:
        return len(self.iterable) if self.iterable is not None else int(self.total or 0)

    def update(self, n: float = 1) -> None:
        """Counts."""
        vars(self)["n"] += n

    @staticmethod
    def write(text: str, *_: Any, **__: Any) -> None:
        """Prints."""
        print(text)  # noqa: T201 (as the library does)


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


class _Run(Quiet):
    """Of wandb: quiet but for the settings, which programs compute with."""

    config: _Settings

    def __init__(self) -> None:
        super().__init__("wandb.run")
        vars(self)["config"] = _Settings()

    def init(self, *_: Any, config: dict[str, Any] | None = None, **__: Any) -> "_Run":
        """Takes the settings of this run."""
        self.config.update(config or {})
        return self


class QuietFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds them, as the first of `sys.meta_path`."""

    def __init__(self, note: Note) -> None:
        self._note = note

    def find_spec(self, fullname: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:  # noqa: ARG002
        """A spec for what is quiet here."""
        if not _is_asked_by_program(frame_at(1)):
            return None
        library = fullname if fullname == _TENSORBOARD else fullname.partition(".")[0]
        if library in QUIET or library == _TENSORBOARD:
            self._note(library, lambda line: fact("note-quiet", library=library, line=line))
        elif fullname not in _BARS:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """A module with any attribute, or that of the progress bars."""
        module = ModuleType(spec.name) if spec.name in _BARS else _QuietModule(spec.name)
        if spec.name in _BARS:
            vars(module).update(tqdm=tqdm, trange=lambda *bounds, **_: tqdm(range(*bounds)), tqdm_notebook=tqdm)
        if spec.name == "wandb":
            run = _Run()
            vars(module).update(init=run.init, run=run, config=run.config)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


def _is_asked_by_program(frame: FrameType | None) -> bool:
    """Whether the import is one of the program, and not one by which a library finds out what is installed."""
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None and (
        frame.f_code.co_filename == SNIPPET or isinstance(sys.modules.get(frame.f_globals["__name__"]), _QuietModule)
    )
