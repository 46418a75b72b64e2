r"""What an entry is: the mathematics of one op, written so that it can be read and so that it can be run.

v stands for grad_output everywhere (v_0, v_1, ... where a node has several outputs). LaTeX is written with
`@name` for a value: `@v \odot @other`. A name is an operand, a saved value or the result, spelled as
derivatives.yaml spells it (`@{self_sym_sizes}` where it has underscores). From this one template come the
symbols (`v \odot y`, through `SYMBOLS`) and the substituted numbers (`10 \cdot 3`, in `substitute.py`).

Each vjp also carries `evaluate`, which computes the same formula with torch from what the live node saved.
That is how a wrong entry is caught, in tests and while tracing (`check.py`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

SEEDS: Mapping[str, str] = {"v": "v", **{f"v{i}": f"v_{i}" for i in range(3)}}
"""How formulas write what arrives."""

SYMBOLS: Mapping[str, str] = {
    **SEEDS,
    "self": "x",
    "input": "x",
    "other": "y",
    "end": "y",
    "result": "z",
    "values": "z",
    "weight": "W",
    "bias": "b",
    "target": "t",
    "mat": "A",
    "mat1": "A",
    "mat2": "B",
    "batch1": "A",
    "batch2": "B",
    "vec": "y",
    "vec1": "a",
    "vec2": "b",
    "tensor": "y",
    "tensor1": "a",
    "tensor2": "b",
    "tensors": "x_k",
    "exponent": "p",
    "alpha": r"\alpha",
    "beta": r"\beta",
    "scale": r"\gamma",
    "input_scale": r"\kappa",
    "value": "c",
    "min": r"\ell",
    "max": "u",
    "p": "p",
    "ord": "p",
    "eps": r"\varepsilon",
    "index": "i",
    "indices": "i",
    "mask": "m",
    "condition": "c",
    "src": "s",
    "source": "s",
    "A": "A",
    "B": "B",
    "L": "L",
    "dim": "d",
    "count": "n",
    "real": "a",
    "imag": "b",
    "negative_slope": r"\lambda",
    "lambd": r"\lambda",
    "threshold": r"\theta",
    "delta": r"\delta",
    "correction": "c",
    "query": "Q",
    "key": "K",
    "abs": "r",
    "angle": r"\varphi",
    "grad_output": "g",
    "output": "s",
}
"""How a name of derivatives.yaml is written in formulas; an entry may override it."""

_PLACEHOLDER = re.compile(r"@(?:\{(\w+)\}|([A-Za-z]+\d*))")


class NodeView:
    """What a formula may look at: the node's saved values as attributes, v, and the operand it is for."""

    def __init__(
        self,
        saved: Mapping[str, Any],
        grad_outputs: Sequence[Tensor | None],
        operand_shapes: Sequence[Sequence[int] | None],
        argnum: int,
        member: int = 0,
    ) -> None:
        """`saved` without the `_saved_` prefix; `member` is the position inside a tensor list."""
        self._saved = saved
        self.grad_outputs = grad_outputs
        self.operand_shapes = operand_shapes
        self.argnum = argnum
        self.member = member

    def __getattr__(self, name: str) -> Any:
        try:
            return self._saved[name]
        except KeyError:
            raise AttributeError(f"this node saved no {name!r}") from None

    @property
    def v(self) -> Tensor:
        """grad_output of a node with one output that matters."""
        defined = next((grad for grad in self.grad_outputs if grad is not None), None)
        if defined is None:
            raise AttributeError("no grad_output arrived")
        return defined

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the operand this vjp is for."""
        shape = self.operand_shapes[self.argnum]
        if shape is None:
            raise AttributeError("the operand's shape is not known")
        return tuple(shape)

    def zeros(self) -> Tensor:
        """Zeros in the operand's shape and v's dtype."""
        return self.v.new_zeros(self.shape)

    def has(self, name: str) -> bool:
        """Whether this node type saves such a value at all; overloads can be told apart by that."""
        return name in self._saved

    def saved_or(self, name: str, default: Any) -> Any:
        """A saved value, or `default` where the node saved none."""
        value = self._saved.get(name)
        return default if value is None else value


Evaluate = Callable[[NodeView], Tensor]
Slope = Callable[[NodeView], Tensor | float]


@dataclass(frozen=True, slots=True)
class Vjp:
    """The vector-Jacobian product for one operand."""

    operand: str
    """As derivatives.yaml names it; a list operand stands for all its members."""
    latex: str
    """A template, see the module's docstring."""
    text: str
    """The same in plain text, with the symbols a reader sees."""
    because: str
    """The reason, for someone who meets it for the first time."""
    evaluate: Evaluate
    """Before reduction: broadcasting, dtype and real parts are settled as the engine settles them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The mathematics of one op."""

    op: str
    nodes: tuple[str, ...]
    """The node names it covers. A node without some of the operands simply uses fewer of the vjps."""
    forward: str
    """A template, `@result = ...`."""
    vjps: tuple[Vjp, ...]
    special_cases: tuple[str, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict)
    """Overrides of `SYMBOLS`."""
    roughness: float = 1.0
    """How many times less exact than usual torch's own kernel is; the check allows for it."""

    def symbol(self, name: str) -> str:
        """How this entry writes a name. KeyError for a name nobody gave a symbol."""
        return self.symbols.get(name) or SYMBOLS[name]

    def vjp_for(self, operand: str) -> Vjp | None:
        """The vjp of an operand, None for one that this entry does not treat."""
        return next((vjp for vjp in self.vjps if vjp.operand == operand), None)


BROADCAST = "An operand that was broadcast gets its gradient summed over the axes along which it was repeated."


def placeholder_names(template: str) -> list[str]:
    """The names in a template, in order, with repeats."""
    return [match[1] or match[2] for match in _PLACEHOLDER.finditer(template)]


def fill(template: str, write: Callable[[str, int, int], str]) -> str:
    """A template with every placeholder replaced by `write(name, start, end)` (its place in the template)."""
    return _PLACEHOLDER.sub(lambda match: write(match[1] or match[2], match.start(), match.end()), template)


def render(entry: Entry, template: str) -> str:
    """A template with symbols: LaTeX that is fit to be shown."""
    return fill(template, lambda name, _start, _end: entry.symbol(name))


def elementwise(  # noqa: PLR0913 - an entry has this many things to say
    op: str,
    nodes: tuple[str, ...],
    forward: str,
    slope: str,
    text: str,
    because: str,
    evaluate: Slope,
    special_cases: tuple[str, ...] = (),
    symbols: Mapping[str, str] | None = None,
) -> Entry:
    """An entry for a function applied to every element by itself: its Jacobian is the diagonal of slopes.

    `slope` is the LaTeX of f'(x), `evaluate` computes f'(x) (not yet times v).
    """
    vjp = Vjp("self", rf"@v \odot {slope}", f"v * {text}", because, lambda n: n.v * conjugate(evaluate(n)))
    return Entry(op, nodes, f"@result = {forward}", (vjp,), special_cases, symbols or {})


def conjugate(value: Any) -> Any:
    """The complex conjugate of a tensor or number; what is real is returned as it is."""
    if isinstance(value, Tensor):
        return value.conj() if value.is_complex() else value
    return value.conjugate() if isinstance(value, complex) else value


def times(factor: Any, value: Tensor) -> Tensor:
    """`value` times the conjugate of a scalar factor, keeping integer factors exact."""
    product: Tensor = value * conjugate(factor)
    return product


def adjoint(matrix: Tensor) -> Tensor:
    """Transpose of the last two axes, conjugated where complex."""
    return torch.as_tensor(conjugate(matrix.transpose(-2, -1)))


def normal_dims(dim: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Axes as a sorted tuple of positions from the front; None or none given means all of them."""
    if isinstance(dim, int):
        dim = (dim,)
    if not dim:
        return tuple(range(rank))
    return tuple(sorted(axis % max(rank, 1) for axis in dim)) if rank else ()


def restore_dims(value: Tensor, dim: int | Sequence[int] | None, keepdim: bool, rank: int) -> Tensor:
    """A reduced value with its reduced axes back as size 1, so that it broadcasts against the operand."""
    if keepdim or rank == 0:
        return value
    for axis in normal_dims(dim, rank):
        value = value.unsqueeze(axis)
    return value


def per_axis(value: Sequence[int], rank: int) -> tuple[int, ...]:
    """A setting per spatial axis; one number stands for all of them."""
    return tuple(value) * rank if len(value) == 1 else tuple(value)
