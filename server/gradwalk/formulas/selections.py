"""Ops that pick elements by their size: extremes, medians, sorting."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import torch
from torch import Tensor

from gradwalk.formulas.formula import Entry, NodeView, Vjp, normal_dims, restore_dims

_ROUTER = (
    "Only the element that was picked decides the result, so it gets all of v; a nudge of the others changes nothing."
)
_FIRST = "Ties: only the element whose index was returned gets v."
_SHARE = "Ties: all elements equal to the result share v evenly."
_INDICES = "The indices get no gradient: they are integers."
_AT = r"@v \text{ at } @index, \; 0 \text{ elsewhere}"


def _to_picked(n: NodeView, indices: Tensor, keepdim: bool) -> Tensor:
    """v put back at the indices along `dim`."""
    if not n.shape:
        return n.v.reshape(())
    v, places = (n.v, indices) if keepdim else (n.v.unsqueeze(n.dim), indices.unsqueeze(n.dim))
    return n.zeros().scatter_add(n.dim, places, v)


def _shared(n: NodeView, result: Tensor, v: Tensor, dim: object) -> Tensor:
    """v divided evenly among all elements equal to the result."""
    equal = (n.self == result) | (n.self.isnan() & result.isnan())
    axes = normal_dims(dim, n.self.dim())  # type: ignore[arg-type]
    share = v / equal.sum(axes, keepdim=True) if axes else v
    return torch.where(equal, share, torch.zeros_like(share))


def _extreme(n: NodeView) -> Tensor:
    rank = n.self.dim()
    result, v = (restore_dims(value, n.dim, n.keepdim, rank) for value in (n.result, n.v))
    return _shared(n, result, v, n.dim)


def _extremes(n: NodeView) -> Tensor:
    total, rank = torch.zeros_like(n.self), n.self.dim()
    dim = n.saved_or("dim", None)
    for grad, result in zip(n.grad_outputs, (n.min, n.max), strict=True):
        if grad is not None:
            v, bound = (restore_dims(value, dim, n.keepdim, rank) for value in (grad, result))
            total = total + _shared(n, bound, v, dim)
    return total


def _along(op: str, node_name: str, forward: str) -> Entry:
    vjp = Vjp(
        "self", _AT, "v at the returned index, 0 elsewhere", _ROUTER, lambda n: _to_picked(n, n.indices, n.keepdim)
    )
    return Entry(op, (node_name,), f"@result, @index = {forward}", (vjp,), (_FIRST, _INDICES))


def _overall(op: str, node_name: str, forward: str) -> Entry:
    vjp = Vjp(
        "self",
        r"@v \odot \frac{[@self = @result]}{\#\{@self = @result\}}",
        "v where x equals z (shared between ties), 0 elsewhere",
        _ROUTER,
        lambda n: _shared(n, n.result, n.v, None),
    )
    return Entry(op, (node_name,), f"@result = {forward}", (vjp,), (_SHARE,))


def _over_dims(op: str, node_name: str, forward: str) -> Entry:
    vjp = Vjp(
        "self",
        r"@v \odot \frac{[@self = @result]}{\#\{@self = @result\}}",
        "v where x equals z (shared between ties), 0 elsewhere",
        _ROUTER,
        _extreme,
    )
    return Entry(
        op,
        (node_name,),
        f"@result = {forward}",
        (vjp,),
        (_SHARE, "max(dim) gives v to one of them only; this op shares it."),
    )


def _ordered(op: str, node_names: tuple[str, ...], forward: str, because: str) -> Entry:
    vjp = Vjp(
        "self",
        r"@{v}_k \text{ at } @{index}_k, \; 0 \text{ elsewhere}",
        "v[k] at the k-th returned index, 0 elsewhere",
        because,
        lambda n: _to_picked(n, n.indices, True),
    )
    return Entry(op, node_names, f"@result, @index = {forward}", (vjp,), (_INDICES,))


SELECTIONS: tuple[Entry, ...] = (
    _along("max", "MaxBackward0", r"\max_{@dim} @self"),
    _along("min", "MinBackward0", r"\min_{@dim} @self"),
    _along("median", "MedianBackward1", r"\operatorname{median}_{@dim} @self"),
    _along("nanmedian", "NanmedianBackward1", r"\operatorname{nanmedian}_{@dim} @self"),
    _along("kthvalue", "KthvalueBackward0", r"k\text{-th smallest of } @self"),
    _along("mode", "ModeBackward0", r"\operatorname{mode}_{@dim} @self"),
    _overall("max", "MaxBackward1", r"\max_i @{self}_i"),
    _overall("min", "MinBackward1", r"\min_i @{self}_i"),
    _overall("median", "MedianBackward0", r"\operatorname{median} @self"),
    _overall("nanmedian", "NanmedianBackward0", r"\operatorname{nanmedian} @self"),
    _over_dims("amax", "AmaxBackward0", r"\max_{@dim} @self"),
    _over_dims("amin", "AminBackward0", r"\min_{@dim} @self"),
    Entry(
        "aminmax",
        ("AminmaxBackward0",),
        r"@result = (\min @self, \max @self)",
        (
            Vjp(
                "self",
                r"@v0 \text{ at the minima} + @v1 \text{ at the maxima}",
                "v0 at the minima + v1 at the maxima",
                "Two results, two gradients: each goes to the elements that decided its result.",
                _extremes,
            ),
        ),
        (_SHARE,),
    ),
    _ordered(
        "topk",
        ("TopkBackward0",),
        r"\operatorname{top}_k @self",
        "The k elements that made it get their own v back; the others had no say.",
    ),
    _ordered(
        "sort",
        ("SortBackward0", "SortBackward1"),
        r"\operatorname{sort} @self",
        "Sorting only moves the elements, so v moves back along the same ways.",
    ),
    _ordered(
        "cummax",
        ("CummaxBackward0",),
        r"\operatorname{cummax} @self",
        "The record holder of each moment gets that moment's v; held for long, it gets several, and they add up.",
    ),
    _ordered(
        "cummin",
        ("CumminBackward0",),
        r"\operatorname{cummin} @self",
        "The record holder of each moment gets that moment's v; held for long, it gets several, and they add up.",
    ),
)
