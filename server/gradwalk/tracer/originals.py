"""torch's own entry points, bound before any program could replace them.

A program may patch `torch.Tensor.clone` or the like; the recorder must go on reading true values.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType, FunctionType
from typing import Any, Final

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.utils._python_dispatch import _disable_current_modes

detach: Final = torch._C.TensorBase.detach
clone: Final = torch._C.TensorBase.clone
is_inference: Final = torch._C.TensorBase.is_inference
version_of: Final[Callable[[torch.Tensor], int]] = vars(torch._C.TensorBase)["_version"].__get__
base_of: Final[Callable[[torch.Tensor], "torch.Tensor | None"]] = vars(torch._C.TensorBase)["_base"].__get__
"""What a tensor is a view of."""
_grad_fn: Final[Callable[[torch.Tensor], Any]] = vars(torch._C.TensorBase)["grad_fn"].__get__
_is_leaf: Final[Callable[[torch.Tensor], bool]] = vars(torch._C.TensorBase)["is_leaf"].__get__
zeros_like: Final = torch.zeros_like
add: Final = torch._C.TensorBase.add
equal: Final = torch.equal
no_grad: Final = torch.no_grad
Tensor: Final = torch.Tensor
Parameter: Final = torch.nn.Parameter
sequence_number: Final = torch._C._autograd._get_sequence_nr
current_node: Final = torch._C._current_autograd_node
is_grad_enabled: Final = torch.is_grad_enabled
is_inference_mode_enabled: Final = torch.is_inference_mode_enabled
is_functorch_wrapped: Final = torch._C._functorch.is_functorch_wrapped_tensor
is_legacy_batched: Final = torch._C._functorch.is_legacy_batchedtensor
_is_batched: Final = torch._C._functorch.is_batchedtensor
batch_axis: Final = torch._C._functorch.maybe_get_bdim
"""The axis of the batch in what a tensor of torch.func's vmap wraps; -1 for other tensors."""
functorch_unwrapped: Final = torch._C._functorch.get_unwrapped
outside_transforms: Final = temporarily_clear_interpreter_stack
"""A context in which torch.func wraps no results. Up to 2.9 torch gives the entries of no tensor while it wraps."""
remove_batch_dimension: Final = torch._remove_batch_dim
push_mode: Final = torch._C._push_on_torch_function_stack
count_modes: Final = torch._C._len_torch_function_stack
count_dispatch_modes: Final = torch._C._len_torch_dispatch_stack
_without_torch_function: Final = torch._C.DisableTorchFunction
mode_at: Final = torch._C._get_function_stack_at
pop_mode: Final = torch._C._pop_torch_function_stack


def is_batched(tensor: torch.Tensor) -> bool:
    """Whether a vmap of torch.func is among the transforms that wrap a tensor."""
    while is_functorch_wrapped(tensor):
        if _is_batched(tensor):
            return True
        tensor = functorch_unwrapped(tensor)
    return False


_is_floating_point: Final = torch._C.TensorBase.is_floating_point
_is_complex: Final = torch._C.TensorBase.is_complex


def grad_fn_of(tensor: torch.Tensor) -> Any:
    """The node that made a tensor. None for a leaf, and for a view whose history torch refuses to give.

    It refuses where the base was written after the view was made under no_grad or by a function of several outputs.
    """
    try:
        return _grad_fn(tensor)
    except RuntimeError:
        return None


def is_leaf(tensor: torch.Tensor) -> bool:
    """Whether no operation made a tensor; False for a view whose history torch refuses to give."""
    try:
        return _is_leaf(tensor)
    except RuntimeError:
        return False


def can_have_gradient(tensor: torch.Tensor) -> bool:
    """Whether numbers of its dtype can have a gradient, whatever its class says of `dtype`."""
    return _is_floating_point(tensor) or _is_complex(tensor)


def plain(value: Any) -> Any:
    """A tensor without what its class adds to torch's; other values as they are. No graph is built."""
    return value if type(value) is Tensor or not isinstance(value, Tensor) else detach(value)


def innermost(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a function wraps; the function itself where its wrappers are too many to follow, or go in a circle."""
    try:
        inner: Callable[..., Any] = inspect.unwrap(function)
    except ValueError:
        return function
    return inner


GradientEdge: Final = torch.autograd.graph.GradientEdge
frame_at: Final = sys._getframe


def without_torch_function() -> AbstractContextManager[None]:
    """Inside, what the recorder computes is seen by no mode of the program."""
    return _without_modes() if count_dispatch_modes() else _without_torch_function()


@contextmanager
def _without_modes() -> Iterator[None]:
    with _without_torch_function(), _disable_current_modes():
        yield


_tolist: Final = torch._C.TensorBase.tolist
_is_zero_tensor: Final = torch._C.TensorBase._is_zerotensor


def to_list(tensor: torch.Tensor) -> Any:
    """All entries of a strided tensor as nested lists."""
    try:
        return _tolist(tensor)
    except RuntimeError:
        # torch's efficient zero tensor (the derivative of sgn, of abs twice, ...) has no storage until it is cloned
        if not _is_zero_tensor(tensor):
            raise
        return _tolist(clone(detach(tensor)))


SNIPPET: Final = "<snippet>"
"""The file name of a traced program's code objects."""
PROGRAM_FILES: Final = {SNIPPET}
"""The files whose code counts as the program's: a script that records a stretch of itself adds its own meanwhile."""


_FUNCTIONS: Final = {
    id(one.__code__): one
    for owner in (torch, torch.Tensor, torch.autograd, torch.functional, torch.nn.functional)
    for one in vars(owner).values()
    if type(one) is FunctionType
}
"""Those of torch that are written in Python, by the identity of their code."""


def asked_for(func: Callable[..., Any], frame: FrameType | None) -> Callable[..., Any]:
    """The function that a mode is asked to call, given the frame that asks: torch's own where a program replaced it.

    `Tensor.backward` passes itself on by its name. By then the name may mean a wrapper of the program around it,
    which would run a second time.
    """
    if type(func) is not FunctionType or func.__code__.co_filename not in PROGRAM_FILES:
        return func
    asks = None if frame is None else frame.f_back
    return func if asks is None else _FUNCTIONS.get(id(asks.f_code), func)


def legacy_vmap_level() -> int:
    """The level of the innermost legacy vmap, 0 outside."""
    level: int = torch._C._vmapmode_increment_nesting() - 1
    torch._C._vmapmode_decrement_nesting()
    return level


def legacy_batch_size(frame: FrameType | None) -> int | None:
    """The m of the legacy vmap that called this, read off its frame."""
    while frame is not None:
        if frame.f_code.co_name in ("wrapped", "_vmap") and "batch_size" in frame.f_locals:
            size: Any = frame.f_locals["batch_size"]
            return int(size)
        frame = frame.f_back
    return None
