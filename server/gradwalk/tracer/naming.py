"""What the program calls its tensors: variables, attributes, members of containers, parameters of modules.

Read at the start of a pass, from the program's globals and from the frames that are running then, which
is the run-time truth; the static targets of assignments (`source.py`) fill in what is gone by then.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import FrameType, FunctionType
from typing import Any, Final, Literal, NamedTuple

import torch

from gradwalk.tracer.originals import PROGRAM_FILES, Tensor, grad_fn_of, is_leaf
from gradwalk.tracer.values import storage_address
from gradwalk.tracer.walk import Node

_ITEMS_READ: Final = 64
_DEPTH: Final = 3
_VARIABLES_READ: Final = 2_000


class Overlooked(NamedTuple):
    """A leaf at a module that the module's own methods do not see, or not in the way that was meant."""

    why: Literal["flag", "list", "tensor"]
    """The module was given a `requires_grad`, it holds other modules in a list or a dict, or a tensor that is no
    `nn.Parameter`."""
    module: str
    """Its path."""
    attribute: str


class NamedTensors:
    """The tensors that have a name now, in the order in which the program would list them."""

    def __init__(self) -> None:
        self.leaves: dict[int, tuple[str, torch.Tensor]] = {}
        """`id` -> name and tensor, for leaves that require grad."""
        self.leaf_names: set[str] = set()
        """Their names."""
        self.intermediates: list[tuple[str, torch.Tensor]] = []
        """Name and tensor, for results of differentiable operations."""
        self.results: dict[tuple[Node, int], str] = {}
        """Node and output_nr -> the first name of such a result."""
        self.constants: list[tuple[str, torch.Tensor]] = []
        """Name and tensor, for what does not require grad."""
        self.held: list[torch.Tensor] = []
        """Results of differentiable operations that somebody holds, with a name or without."""
        self.modules: dict[int, str] = {}
        """`id` of an nn.Module -> its path (`model.0`)."""
        self.storages: dict[int, str] = {}
        """Storage address -> the first variable that lives there."""
        self.parameters: set[int] = set()
        """`id` of what some module counts among its parameters."""
        self.overlooked: dict[int, Overlooked] = {}
        """By `id`."""
        self._seen: set[int] = set()

    def read(self, variables: Mapping[str, Any]) -> None:
        """Takes the tensors among `variables`, and those inside containers, modules and the program's own objects."""
        items = [
            (name, value) for name, value in list(variables.items())[:_VARIABLES_READ] if not name.startswith("__")
        ]
        # A parameter is known by its module's path even where a loop variable happens to point at it.
        for name, value in items:
            for path, module in _modules(name, value, _DEPTH):
                self._read_module(path, module)
        for name, value in items:
            self._read(name, value, _DEPTH)

    def _read(self, name: str, value: Any, depth: int) -> None:
        if isinstance(value, Tensor):
            self._take(name, value)
        elif isinstance(value, (int, float, str, type, FunctionType)) or value is None or depth == 0:
            if isinstance(value, FunctionType) and value.__code__.co_filename in PROGRAM_FILES and depth:
                self._read_members(_closure(value), depth)
        elif id(value) not in self._seen:
            self._seen.add(id(value))
            self._read_members(_members(name, value), depth)

    def _read_members(self, members: Iterator[tuple[str, Any]], depth: int) -> None:
        for path, member in members:
            self._read(path, member, depth - 1)

    def _read_module(self, name: str, module: torch.nn.Module) -> None:
        # A module whose `__init__` did not call Module's has no place for any.
        with suppress(AttributeError):
            for path, parameter in module.named_parameters():
                # A program may have put anything there.
                if isinstance(parameter, Tensor):
                    self.parameters.add(id(parameter))
                    self._take(f"{name}.{path}", parameter)
            for path, inner in module.named_modules():
                whole = f"{name}.{path}" if path else name
                self.modules.setdefault(id(inner), whole)
                self._read_overlooked(whole, inner)

    def _read_overlooked(self, name: str, module: torch.nn.Module) -> None:
        attributes = vars(module)
        if attributes.get("requires_grad") is False:
            for parameter in module.parameters():
                self.overlooked.setdefault(id(parameter), Overlooked("flag", name, "requires_grad"))
        for key, value in list(attributes.items())[:_ITEMS_READ]:
            if isinstance(value, Tensor):
                self.overlooked.setdefault(id(value), Overlooked("tensor", name, key))
            elif type(value) in (list, tuple, dict) and not key.startswith("_"):
                for path, inner in _modules(f"{name}.{key}", value, 1):
                    for inner_path, parameter in inner.named_parameters():
                        if isinstance(parameter, Tensor):
                            self.overlooked.setdefault(id(parameter), Overlooked("list", name, key))
                            self._take(f"{path}.{inner_path}", parameter)

    def _take(self, name: str, tensor: torch.Tensor) -> None:
        if tensor.requires_grad:
            if is_leaf(tensor):
                self.leaves.setdefault(id(tensor), (name, tensor))
                self.leaf_names.add(name)
            else:
                self.intermediates.append((name, tensor))
                self.held.append(tensor)
                # Asking a view that was written into for its grad_fn would make the engine build another node.
                if not (tensor._is_view() and tensor._version):
                    self.results.setdefault((grad_fn_of(tensor), tensor.output_nr), name)
        else:
            self.constants.append((name, tensor))
        address = storage_address(tensor)
        if address:
            self.storages.setdefault(address, name)


def running_variables(frame: FrameType | None) -> Iterator[Mapping[str, Any]]:
    """The local variables of the program's functions that are running, outermost last; without its module level."""
    while frame is not None:
        if frame.f_code.co_filename in PROGRAM_FILES and frame.f_code.co_name != "<module>":
            yield frame.f_locals
        frame = frame.f_back


def _members(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What is inside a container, a module or an object of a class of the program, under its path."""
    if isinstance(value, torch.nn.Module):
        with suppress(AttributeError):
            yield from ((f"{name}.{key}", buffer) for key, buffer in list(value.named_buffers()))
        yield from _attributes(name, value)
    elif type(value) in (list, tuple):
        yield from ((f"{name}[{position}]", member) for position, member in enumerate(value[:_ITEMS_READ]))
    elif type(value) is dict:
        items = list(value.items())[:_ITEMS_READ]
        yield from ((f"{name}[{key!r}]", member) for key, member in items if isinstance(key, (str, int)))
    elif type(value).__module__ == "__main__":
        yield from _attributes(name, value)


def _modules(name: str, value: Any, depth: int) -> Iterator[tuple[str, torch.nn.Module]]:
    """The modules at this name, or in the container or object there."""
    if isinstance(value, torch.nn.Module):
        yield name, value
    elif depth and not isinstance(value, Tensor):
        for path, member in _members(name, value):
            yield from _modules(path, member, depth - 1)


def _attributes(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    for key, member in list(getattr(value, "__dict__", {}).items())[:_ITEMS_READ]:
        if not key.startswith("_"):
            yield f"{name}.{key}", member


def _closure(function: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue
