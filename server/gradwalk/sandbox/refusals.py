"""The sentences of the language policy: what is not available, why, and what to use instead.

A thing that has no sentence of its own gets the general one of its kind, so every refusal has all three parts.
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from gradwalk.protocol.events import Problem
from gradwalk.protocol.graph import Span
from gradwalk.protocol.problems import problem

FILES = "reaches files, and a program here has none"
PROCESSES = "starts other processes or threads, and a program here runs alone"
NETWORK = "reaches the network, and a program here has none"
MACHINERY = "reaches into Python's own machinery"
RAW_MEMORY = "hands out raw memory"
COMPILER = "needs a compiler, and there is none here"
DEVICES = "is about devices, and there is only the CPU here"
DRAWING = "draws or reports on its own, and there is no window to draw in"
LIBRARY = "is another library, and only torch, numpy and a part of the standard library are here"
STRINGS = "turns text into program"

USE_VALUES = "Write the values into the program: torch.tensor([...]), torch.randn(...)."
USE_PRINT = "Use print(...); the page itself draws the graph, the gradients and the values."
USE_CPU = "Leave it out: every tensor is on the CPU, and the graph is the same."
USE_NAMES = "Write the name itself: x.grad rather than a string that spells it."
LEAVE_OUT = "Leave it out: the backward pass needs tensor code only."


@dataclass(frozen=True)
class Refusal:
    """One thing that is not available."""

    thing: str
    """What was written: `torch.load`, `import os`, `the attribute .gi_frame`."""
    reason: str
    """Goes on after the thing: `reaches files, and a program here has none`."""
    instead: str = LEAVE_OUT

    @property
    def sentence(self) -> str:
        """Thing and reason in one sentence."""
        return f"{self.thing} is not available here: it {self.reason}."


def describe(refusal: Refusal, span: Span | None = None) -> Problem:
    """The refusal as a problem event, at its line where the line is known."""
    thing = refusal.thing[0].upper() + refusal.thing[1:] if refusal.thing.startswith(("the ", "a ")) else refusal.thing
    where = f"Line {span['line']}: " if span else ""
    message = f"{where}{refusal.sentence}"
    return problem("rejected", f"{thing} is not available here", message, span=span, hint=refusal.instead)


def _table(*groups: tuple[str, str, str]) -> dict[str, tuple[str, str]]:
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
        "Write the work as a plain loop; it runs in one process.",
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
        "Print what you want to see: print(type(x).__name__, x.grad_fn, x.shape).",
    ),
    (
        "argparse optparse getopt fire click absl hydra",
        "reads a command line, and there is none here",
        "Write the values themselves: lr = 0.1 instead of args.lr.",
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
        "Write the layer, the loss or the data with torch itself: torch.randn(...) stands in for a data set.",
    ),
    ("torch.jit torch.compiler torch.export torch.onnx torch.fx torch.utils.cpp_extension torch.library", COMPILER,
     "Leave it out: the program is run eagerly, and its graph is the one that is shown."),
    ("torch.utils.dlpack torch.storage", RAW_MEMORY, "Use x.tolist(), x.clone() or x.numpy()."),
)  # fmt: skip
"""Modules that people write, by why they are not here. The parent of a dotted name counts too."""

PATHS = _table(
    ("torch.load torch.save torch.from_file torch.serialization torch.package numpy.load numpy.save numpy.savez "
     "numpy.savez_compressed numpy.savetxt numpy.loadtxt numpy.genfromtxt numpy.fromfile numpy.fromregex numpy.memmap "
     "numpy.DataSource numpy.lib", FILES, USE_VALUES),
    ("torch.hub torch.utils.model_zoo", NETWORK, USE_VALUES),
    ("torch.multiprocessing torch.distributed torch.futures torch.fork torch.wait torch.set_num_threads "
     "torch.set_num_interop_threads torch.nn.DataParallel torch.nn.parallel torch.nn.SyncBatchNorm", PROCESSES,
     "Leave it out: one program runs in one thread, and its graph is the same."),
    ("torch.os torch.sys torch.builtins torch.ctypes torch.importlib torch.inspect torch.threading torch.glob "
     "torch.platform torch.functools torch.warnings torch.classes torch.ops torch.overrides torch.types torch.math "
     "torch.random.torch numpy.f2py numpy.core numpy.ctypeslib numpy.testing", MACHINERY, LEAVE_OUT),
    ("torch.jit torch.compiler torch.export torch.onnx torch.fx torch.library torch.cond torch.while_loop", COMPILER,
     "Leave it out: the program is run eagerly, and its graph is the one that is shown."),
    ("torch.nn.utils.prune torch.nn.utils.parametrize torch.nn.utils.parametrizations torch.nn.utils.stateless",
     "puts attributes on modules by any name",
     "Compute it in forward: w = self.v / self.v.norm(), then F.linear(x, w)."),
    ("torch.frombuffer torch.from_dlpack torch.to_dlpack torch.UntypedStorage torch.TypedStorage torch.Storage "
     "torch.as_strided_ torch.storage numpy.frombuffer numpy.from_dlpack", RAW_MEMORY,
     "Use torch.tensor(values), x.clone() or torch.as_strided."),
    ("torch.set_default_device torch.mps torch.xpu torch.mtia torch.accelerator torch.Stream torch.Event", DEVICES,
     USE_CPU),
    ("torch.profiler torch.monitor torch.utils.tensorboard torch.utils.collect_env torch.utils.bottleneck", DRAWING,
     USE_PRINT),
    ("typing.get_type_hints typing.ForwardRef typing.evaluate_forward_ref", STRINGS,
     "Write the types where they are used."),
    ("operator.attrgetter operator.methodcaller", "looks up attributes by any text",
     "Use a small function: lambda x: x.name."),
    ("functools.singledispatch functools.singledispatchmethod", STRINGS, "Use isinstance checks or match."),
    ("time.sleep", "only waits", "Leave it out: the player sets the pace of the steps."),
    ("random.SystemRandom random.seed_from_os", MACHINERY, "Use random.seed(0) and random.random()."),
    ("sys.exit", "ends the interpreter", "Just let the program end, or put the rest in an else."),
    ("sys.modules sys.path sys.argv sys.settrace sys.setprofile sys._getframe sys.exc_info sys.stdout sys.stderr "
     "sys.stdin", MACHINERY, LEAVE_OUT),
)  # fmt: skip
"""Dotted names that people write, by why they are not offered."""

BUILTINS = _table(
    ("open", FILES, USE_VALUES),
    ("exec eval compile", STRINGS, "Write the code itself, or a lambda: f = lambda x: x * x."),
    ("input", "waits for somebody to type, and nobody can",
     "Use a free variable and set it in the inputs panel, or write the value."),
    ("breakpoint help", "waits for somebody to type, and nobody can", USE_PRINT),
    ("globals locals", "hands out Python's own tables of names",
     "Use your own dict: values = {'x': x, 'y': y}."),
    ("memoryview", RAW_MEMORY, "Use bytes, a list, or a tensor."),
    ("exit quit", "ends the interpreter", "Just let the program end, or put the rest in an else."),
    ("copyright credits license", "belongs to the interactive Python", LEAVE_OUT),
    ("__import__", MACHINERY, "Use an import statement."),
    ("__builtins__ __loader__ __spec__ __file__ __build_class__ __package__ __annotations__ __dict__ __path__",
     MACHINERY, LEAVE_OUT),
    ("__class__", MACHINERY, "Use type(self)."),
    ("BaseExceptionGroup ExceptionGroup", "carries several errors at once", "Raise one exception."),
    ("aiter anext", "is for asynchronous programs, and there is nothing to wait for", "Use iter and next."),
)  # fmt: skip
"""Names of Python's own."""

ATTRIBUTES = _table(
    ("gi_frame gi_code gi_yieldfrom cr_frame cr_code ag_frame ag_code tb_frame tb_next f_back f_globals f_locals "
     "f_builtins f_code f_trace __traceback__ __context__ __cause__ with_traceback tb_lineno tb_lasti",
     "hands out Python's own call stack",
     "Print what you need: except ValueError as error: print(error)."),
    ("__globals__ __closure__ __code__ __defaults__ __kwdefaults__ __func__ __self__ __wrapped__ func_globals "
     "cell_contents co_code co_consts fget fset fdel", "hands out the inside of a function",
     "Keep what you need in a variable of your own."),
    ("__subclasses__ __bases__ __base__ __mro__ mro __instancecheck__ __subclasscheck__ __subclasshook__ __prepare__ "
     "__mro_entries__", "walks Python's class tree",
     "Use isinstance(x, SomeClass), issubclass or type(x).__name__."),
    ("__dict__ __annotations__ __slots__ __weakref__ __dataclass_fields__ __match_args__ __builtins__",
     "hands out the table behind an object",
     "Objects of classes of your own may be asked for theirs; or use dataclasses.asdict(x) or a dict of your own."),
    ("__reduce__ __reduce_ex__ __getstate__ __setstate__ __getnewargs__ __getnewargs_ex__",
     "steers how objects are rebuilt", "Use copy.deepcopy(x), or define __deepcopy__."),
    ("__getattribute__ __dir__", "takes over every attribute look-up", "Define __getattr__(self, name)."),
    ("__del__", "runs at a time that nobody can say", "Call a method of your own when you are done."),
    ("__array_interface__ __array_struct__ __cuda_array_interface__ __dlpack__ __dlpack_device__ __buffer__ data_ptr_ "
     "ctypes tofile from_file storage untyped_storage typed_storage const_data_ptr to_dlpack from_buffer dump dumps "
     "set_ setflags bit_generator", RAW_MEMORY, "Use x.tolist(), x.clone() or x.numpy()."),
    ("share_memory_ share_memory pin_memory record_stream", PROCESSES, USE_CPU),
    ("__torch_dispatch__", "hands out torch's own dispatcher", "Define __torch_function__."),
    ("__await__ __aiter__ __anext__ __aenter__ __aexit__ cr_await ag_await",
     "is for asynchronous programs, and there is nothing to wait for", "Write a plain method."),
    ("__array_function__ __array_ufunc__ __array_wrap__ __array_prepare__ __fspath__ __sizeof__", MACHINERY, LEAVE_OUT),
    ("compile", COMPILER, "Leave it out: the program is run eagerly, and its graph is the one that is shown."),
    ("apply_ map_ map2_", "calls Python once per element, behind autograd's back",
     "Use tensor operations, or torch.tensor([f(v) for v in x])."),
    ("saved_variables", "is the old name of saved_tensors", "Write ctx.saved_tensors."),
    ("all_weights", "looks up attributes by any text", "Use list(module.parameters())."),
    ("register", "makes classes pretend to be others", "Derive the class: class Mine(Base)."),
    ("__class__", "cannot be changed", "Make a new object of the other class."),
    ("obj", "hands out the object behind an error", "Print the error: except AttributeError as error: print(error)."),
)  # fmt: skip
"""Attribute names."""

SYNTAX = {
    "AsyncFunctionDef": ("async def", "Write def; a backward pass has nothing to wait for."),
    "AsyncFor": ("async for", "Write for."),
    "AsyncWith": ("async with", "Write with."),
    "Await": ("await", "Call the function without await."),
    "TryStar": ("except*", "Write except."),
    "TypeAlias": ("a type statement", "Assign the type: Pair = tuple[float, float]."),
    "TypeVar": ("a type parameter", "Use typing.TypeVar, or leave the parameter out."),
    "ParamSpec": ("a type parameter", "Use typing.TypeVar, or leave the parameter out."),
    "TypeVarTuple": ("a type parameter", "Use typing.TypeVar, or leave the parameter out."),
    "TemplateStr": ("a t-string", "Write an f-string."),
    "Interpolation": ("a t-string", "Write an f-string."),
}
"""Forms of Python that are not offered: what it is called, and what to write."""


def refuse_module(name: str, offered: Iterable[str]) -> Refusal:
    """Why `import name` is refused."""
    found = _of_path(MODULES, name)
    if found:
        return Refusal(f"import {name}", *found)
    near = difflib.get_close_matches(name, list(offered), 1, 0.75)
    instead = f"Did you mean import {near[0]}?" if near else LEAVE_OUT
    return Refusal(f"import {name}", LIBRARY, instead)


def refuse_path(module: str, name: str) -> Refusal:
    """Why `module.name`, which exists, is not offered."""
    path = f"{module}.{name}"
    found = _of_path(PATHS, path) or _of_path(MODULES, path)
    if found is None and module.startswith(("torch.cuda", "torch.backends")):
        found = (DEVICES, USE_CPU)
    if found is None and name.startswith("_"):
        found = ("is a private name", "Use the public names, as the documentation lists them.")
    return Refusal(path, *(found or ("is not among the parts of the library that a traced program may use",)))


def is_known(module: str, name: str) -> bool:
    """Whether `module.name` has a sentence of its own, even where the installed version lacks it."""
    path = f"{module}.{name}"
    return path in PATHS or path in MODULES


def refuse_builtin(name: str) -> Refusal:
    """Why one of Python's own names is refused."""
    return Refusal(name, *BUILTINS.get(name, (MACHINERY,)))


def refuse_attribute(name: str) -> Refusal:
    """Why an attribute of this name is refused on any object."""
    found = ATTRIBUTES.get(name)
    if found is None and name.startswith("_"):
        special = name.startswith("__") and name.endswith("__")
        found = (
            MACHINERY if special else "is private to the library, and the program itself does not define it",
            LEAVE_OUT if special else "Use the public names; in classes of your own, private names work as usual.",
        )
    return Refusal(f"the attribute .{name}", *(found or (MACHINERY,)))


def refuse_syntax(node_name: str) -> Refusal:
    """Why a form of Python is refused, by the name of its syntax node."""
    written, instead = SYNTAX.get(node_name, (f"the form {node_name}", LEAVE_OUT))
    return Refusal(written, "is outside the Python that a traced program may use", instead)


def _of_path(table: dict[str, tuple[str, str]], path: str) -> tuple[str, str] | None:
    while path:
        if path in table:
            return table[path]
        path = path.rpartition(".")[0]
    return None
