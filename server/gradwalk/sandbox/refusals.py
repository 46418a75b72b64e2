"""The language policy's refusals: what is not available, why, and what to use instead.

A thing that has no reason of its own gets the general one of its kind, so every refusal has all three parts.
"""

import difflib
from collections.abc import Iterable
from typing import NamedTuple

from gradwalk.protocol.events import Problem
from gradwalk.protocol.facts import Fact, code, fact
from gradwalk.protocol.graph import Span
from gradwalk.protocol.problems import problem

FILES = fact("refusal-files")
PROCESSES = fact("refusal-processes")
NETWORK = fact("refusal-network")
MACHINERY = fact("refusal-machinery")
RAW_MEMORY = fact("refusal-raw-memory")
COMPILER = fact("refusal-compiler")
DEVICES = fact("refusal-devices")
DRAWING = fact("refusal-drawing")
LIBRARY = fact("refusal-library")
STRINGS = fact("refusal-strings")
ASYNC = fact("refusal-async")

USE_VALUES = fact("refusal-use-values")
USE_PRINT = fact("refusal-use-print")
USE_CPU = fact("refusal-use-cpu")
USE_TYPEVAR = fact("refusal-use-typevar")
EAGER = fact("refusal-eager")
LEAVE_OUT = fact("refusal-leave-out")


class Refusal(NamedTuple):
    """One thing that is not available."""

    thing: Fact
    """What was written: `torch.load`, `import os`, the attribute `.gi_frame`."""
    reason: Fact
    """`it reaches files, and a program here has none`."""
    instead: Fact = LEAVE_OUT

    @property
    def fact(self) -> Fact:
        """All of it."""
        return fact("refusal", thing=self.thing, reason=self.reason, instead=self.instead)


METACLASS = Refusal(fact("refusal-metaclass"), fact("refusal-class-making"), fact("refusal-use-decorator"))


def describe(refusal: Refusal, span: Span | None = None) -> Problem:
    """The refusal as a problem event, at its line where the line is known."""
    return problem("rejected", refusal.fact, span=span)


def _table(*groups: tuple[str, Fact, Fact]) -> dict[str, tuple[Fact, Fact]]:
    return {name: (reason, instead) for names, reason, instead in groups for name in names.split()}


MODULES = _table(
    (
        "os pathlib shutil glob io tempfile pickle marshal shelve csv sqlite3 zipfile tarfile gzip bz2 lzma fileinput "
        "configparser fnmatch filecmp stat mmap fcntl linecache posix pwd grp h5py safetensors joblib dill cloudpickle",
        FILES,
        USE_VALUES,
    ),
    (
        "subprocess multiprocessing threading concurrent asyncio signal sched queue _thread selectors resource pty "
        "atexit ray dask torch.multiprocessing torch.distributed torch.futures",
        PROCESSES,
        fact("refusal-use-loop"),
    ),
    (
        "socket urllib requests http ssl ftplib smtplib telnetlib aiohttp httpx socketserver xmlrpc webbrowser "
        "ipaddress torch.hub",
        NETWORK,
        USE_VALUES,
    ),
    (
        "ctypes cffi inspect gc importlib builtins traceback dis ast code codeop types symtable tracemalloc "
        "faulthandler pdb bdb trace sysconfig site runpy pkgutil weakref copyreg _ctypes __main__ zipimport imp opcode "
        "tokenize token torch._C torch._dynamo torch.overrides platform logging getpass unittest pytest "
        "doctest pydoc timeit cProfile profile pstats",
        MACHINERY,
        fact("refusal-print-it"),
    ),
    (
        "argparse optparse getopt fire click absl hydra",
        fact("refusal-command-line"),
        fact("refusal-use-arguments"),
    ),
    (
        "matplotlib plotly seaborn torchviz graphviz IPython tensorboard wandb tqdm bokeh PIL cv2 imageio torchsummary "
        "torchinfo rich curses tkinter turtle pylab torch.utils.tensorboard torch.profiler",
        DRAWING,
        USE_PRINT,
    ),
    (
        "pandas sklearn scipy torchvision torchaudio torchtext transformers datasets jax tensorflow keras lightning "
        "pytorch_lightning einops sympy numba cupy torch_geometric gym gymnasium",
        LIBRARY,
        fact("refusal-use-torch"),
    ),
    ("torch.jit torch.compiler torch.export torch.onnx torch.fx torch.utils.cpp_extension torch.library", COMPILER,
     EAGER),
    ("torch.utils.dlpack torch.storage", RAW_MEMORY, fact("refusal-use-tolist")),
)  # fmt: skip
"""Modules that people write, by why they are not here. The parent of a dotted name counts too."""

PATHS = _table(
    ("torch.load torch.save torch.from_file torch.serialization torch.package numpy.load numpy.save numpy.savez "
     "numpy.savez_compressed numpy.savetxt numpy.loadtxt numpy.genfromtxt numpy.fromfile numpy.fromregex numpy.memmap "
     "numpy.DataSource numpy.lib", FILES, USE_VALUES),
    ("torch.hub torch.utils.model_zoo", NETWORK, USE_VALUES),
    ("torch.multiprocessing torch.distributed torch.futures torch.fork torch.wait torch.set_num_threads "
     "torch.set_num_interop_threads torch.nn.DataParallel torch.nn.parallel torch.nn.SyncBatchNorm", PROCESSES,
     fact("refusal-one-thread")),
    ("torch.os torch.sys torch.builtins torch.ctypes torch.importlib torch.inspect torch.threading torch.glob "
     "torch.platform torch.functools torch.warnings torch.classes torch.ops torch.overrides torch.types torch.math "
     "torch.random.torch numpy.f2py numpy.core numpy.ctypeslib numpy.testing", MACHINERY, LEAVE_OUT),
    ("torch.jit torch.compiler torch.export torch.onnx torch.fx torch.library torch.cond torch.while_loop", COMPILER,
     EAGER),
    ("torch.nn.utils.prune torch.nn.utils.parametrize torch.nn.utils.parametrizations torch.nn.utils.stateless",
     fact("refusal-any-name"),
     fact("refusal-use-forward")),
    ("torch.frombuffer torch.from_dlpack torch.to_dlpack torch.UntypedStorage torch.TypedStorage torch.Storage "
     "torch.as_strided_ torch.storage numpy.frombuffer numpy.from_dlpack", RAW_MEMORY,
     fact("refusal-use-clone")),
    ("torch.set_default_device torch.mps torch.xpu torch.mtia torch.accelerator torch.Stream torch.Event", DEVICES,
     USE_CPU),
    ("torch.profiler torch.monitor torch.utils.tensorboard torch.utils.collect_env torch.utils.bottleneck", DRAWING,
     USE_PRINT),
    ("typing.get_type_hints typing.ForwardRef typing.evaluate_forward_ref", STRINGS,
     fact("refusal-use-types")),
    ("operator.attrgetter operator.methodcaller", fact("refusal-any-text"),
     fact("refusal-use-lambda")),
    ("functools.singledispatch functools.singledispatchmethod", STRINGS, fact("refusal-use-isinstance")),
    ("time.sleep", fact("refusal-waits"), fact("refusal-no-pause")),
    ("random.SystemRandom random.seed_from_os", MACHINERY, fact("refusal-use-random")),
    ("sys.exit", fact("refusal-ends"), fact("refusal-let-end")),
    ("sys.modules sys.path sys.argv sys.settrace sys.setprofile sys._getframe sys.exc_info sys.stdout sys.stderr "
     "sys.stdin", MACHINERY, LEAVE_OUT),
)  # fmt: skip
"""Dotted names that people write, by why they are not offered."""

BUILTINS = _table(
    ("open", FILES, USE_VALUES),
    ("exec eval compile", STRINGS, fact("refusal-write-code")),
    ("input", fact("refusal-types"),
     fact("refusal-use-panel")),
    ("breakpoint help", fact("refusal-types"), USE_PRINT),
    ("globals locals", fact("refusal-tables"),
     fact("refusal-own-dict")),
    ("memoryview", RAW_MEMORY, fact("refusal-use-bytes")),
    ("exit quit", fact("refusal-ends"), fact("refusal-let-end")),
    ("copyright credits license", fact("refusal-interactive"), LEAVE_OUT),
    ("__import__", MACHINERY, fact("refusal-use-import")),
    ("__builtins__ __loader__ __spec__ __file__ __build_class__ __package__ __annotations__ __dict__ __path__",
     MACHINERY, LEAVE_OUT),
    ("__class__", MACHINERY, fact("refusal-use-type")),
    ("BaseExceptionGroup ExceptionGroup", fact("refusal-several-errors"), fact("refusal-one-exception")),
    ("aiter anext", ASYNC, fact("refusal-use-next")),
)  # fmt: skip
"""Names of Python's own."""

ATTRIBUTES = _table(
    ("gi_frame gi_code gi_yieldfrom cr_frame cr_code ag_frame ag_code tb_frame tb_next f_back f_globals f_locals "
     "f_builtins f_code f_trace __traceback__ __context__ __cause__ with_traceback tb_lineno tb_lasti",
     fact("refusal-stack"),
     fact("refusal-print-error")),
    ("__globals__ __closure__ __code__ __defaults__ __kwdefaults__ __func__ __self__ __wrapped__ func_globals "
     "cell_contents co_code co_consts fget fset fdel", fact("refusal-function-inside"),
     fact("refusal-keep-variable")),
    ("__subclasses__ __bases__ __base__ __mro__ mro __instancecheck__ __subclasscheck__ __subclasshook__ __prepare__ "
     "__mro_entries__", fact("refusal-class-tree"),
     fact("refusal-use-class-checks")),
    ("__dict__ __annotations__ __slots__ __weakref__ __dataclass_fields__ __match_args__ __builtins__",
     fact("refusal-object-table"),
     fact("refusal-own-table")),
    ("__reduce__ __reduce_ex__ __getstate__ __setstate__ __getnewargs__ __getnewargs_ex__",
     fact("refusal-rebuilding"), fact("refusal-use-deepcopy")),
    ("__getattribute__ __dir__", fact("refusal-look-up"), fact("refusal-use-getattr")),
    ("__del__", fact("refusal-untimed"), fact("refusal-own-method")),
    ("__array_interface__ __array_struct__ __cuda_array_interface__ __dlpack__ __dlpack_device__ __buffer__ data_ptr_ "
     "ctypes tofile from_file storage untyped_storage typed_storage const_data_ptr to_dlpack from_buffer dump dumps "
     "set_ setflags bit_generator", RAW_MEMORY, fact("refusal-use-tolist")),
    ("share_memory_ share_memory pin_memory record_stream", PROCESSES, USE_CPU),
    ("__torch_dispatch__", fact("refusal-dispatcher"), fact("refusal-use-torch-function")),
    ("__await__ __aiter__ __anext__ __aenter__ __aexit__ cr_await ag_await",
     ASYNC, fact("refusal-plain-method")),
    ("__array_function__ __array_ufunc__ __array_wrap__ __array_prepare__ __fspath__ __sizeof__", MACHINERY, LEAVE_OUT),
    ("compile", COMPILER, EAGER),
    ("apply_ map_ map2_", fact("refusal-per-element"),
     fact("refusal-use-operations")),
    ("saved_variables", fact("refusal-old-name"), fact("refusal-use-saved-tensors")),
    ("all_weights", fact("refusal-any-text"), fact("refusal-use-parameters")),
    ("register", fact("refusal-pretends"), fact("refusal-derive")),
    ("__class__", fact("refusal-fixed"), fact("refusal-new-object")),
    ("obj", fact("refusal-error-object"), fact("refusal-print-attribute-error")),
)  # fmt: skip
"""Attribute names."""

SYNTAX = {
    "AsyncFunctionDef": (code("async def"), fact("refusal-write-def")),
    "AsyncFor": (code("async for"), fact("refusal-write-for")),
    "AsyncWith": (code("async with"), fact("refusal-write-with")),
    "Await": (code("await"), fact("refusal-no-await")),
    "TryStar": (code("except*"), fact("refusal-write-except")),
    "TypeAlias": (fact("refusal-type-statement"), fact("refusal-assign-type")),
    "TypeVar": (fact("refusal-type-parameter"), USE_TYPEVAR),
    "ParamSpec": (fact("refusal-type-parameter"), USE_TYPEVAR),
    "TypeVarTuple": (fact("refusal-type-parameter"), USE_TYPEVAR),
    "TemplateStr": (fact("refusal-t-string"), fact("refusal-f-string")),
    "Interpolation": (fact("refusal-t-string"), fact("refusal-f-string")),
}
"""Forms of Python that are not offered: what it is called, and what to write."""


def refuse_module(name: str, offered: Iterable[str]) -> Refusal:
    """Why `import name` is refused."""
    found = _of_path(MODULES, name)
    if found:
        return Refusal(code(f"import {name}"), *found)
    near = difflib.get_close_matches(name, list(offered), 1, 0.75)
    instead = fact("refusal-near-module", name=near[0]) if near else LEAVE_OUT
    return Refusal(code(f"import {name}"), LIBRARY, instead)


def refuse_path(module: str, name: str) -> Refusal:
    """Why `module.name`, which exists, is not offered."""
    path = f"{module}.{name}"
    found = _of_path(PATHS, path) or _of_path(MODULES, path)
    if found is None and module.startswith(("torch.cuda", "torch.backends")):
        found = (DEVICES, USE_CPU)
    if found is None and name.startswith("_"):
        found = (fact("refusal-private"), fact("refusal-public-names"))
    return Refusal(code(path), *(found or (fact("refusal-not-part"),)))


def is_known(module: str, name: str) -> bool:
    """Whether `module.name` has a sentence of its own, even where the installed version lacks it."""
    path = f"{module}.{name}"
    return path in PATHS or path in MODULES


def refuse_builtin(name: str) -> Refusal:
    """Why one of Python's own names is refused."""
    return Refusal(code(name), *BUILTINS.get(name, (MACHINERY,)))


def refuse_attribute(name: str) -> Refusal:
    """Why an attribute of this name is refused on any object."""
    found = ATTRIBUTES.get(name)
    if found is None and name.startswith("_"):
        special = name.startswith("__") and name.endswith("__")
        found = (
            MACHINERY if special else fact("refusal-library-private"),
            LEAVE_OUT if special else fact("refusal-own-private"),
        )
    return Refusal(fact("refusal-attribute", name=name), *(found or (MACHINERY,)))


def refuse_syntax(node_name: str) -> Refusal:
    """Why a form of Python is refused, by the name of its syntax node."""
    written, instead = SYNTAX.get(node_name, (fact("refusal-form", name=node_name), LEAVE_OUT))
    return Refusal(written, fact("refusal-outside"), instead)


def _of_path(table: dict[str, tuple[Fact, Fact]], path: str) -> tuple[Fact, Fact] | None:
    while path:
        if path in table:
            return table[path]
        path = path.rpartition(".")[0]
    return None
