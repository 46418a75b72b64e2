"""Pooling and resizing."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from gradwalk.formulas.copies import send_back
from gradwalk.formulas.formula import Entry, Evaluate, NodeView, Vjp, per_axis

_WINNER = (
    "Only the largest element of a window decides its result, so it gets the window's v. Overlapping windows add up."
)
_EVERYONE = (
    "Each element of a window enters the average with the same weight, so each gets that share of the window's v."
)


def _to_winners(n: NodeView, planes: int) -> Tensor:
    """v added at the recorded flat positions inside each plane of `planes` axes."""
    lead = n.shape[: len(n.shape) - planes]
    area = math.prod(n.shape[len(n.shape) - planes :])
    v, places = n.v.reshape(*lead, -1), n.result1.reshape(*lead, -1)
    return n.v.new_zeros(*lead, area).scatter_add(-1, places, v).reshape(n.shape)


def _spread_along(v: Tensor, memberships: Sequence[Tensor]) -> Tensor:
    """v times, along each trailing axis, the matrix that tells which inputs an output is made of."""
    for back, membership in enumerate(reversed(memberships)):
        axis = -1 - back
        v = (v.movedim(axis, -1) @ membership.to(v.dtype)).movedim(-1, axis)
    return v


def _windows(size: int, outputs: int, kernel: int, stride: int, padding: int) -> tuple[Tensor, Tensor, Tensor]:
    """Per output: which inputs it covers, how many cells it covers, and how many of them are inside or padding."""
    start = torch.arange(outputs) * stride - padding
    end = torch.minimum(start + kernel, torch.tensor(size + padding))
    places = torch.arange(size)
    covers = (places >= start.unsqueeze(-1)) & (places < end.unsqueeze(-1))
    return covers, covers.sum(-1), end - start


def _average(rank: int) -> Evaluate:
    def back(n: NodeView) -> Tensor:
        kernel, padding = per_axis(n.kernel_size, rank), per_axis(n.padding, rank)
        strides = per_axis(n.stride or n.kernel_size, rank)
        windows = [
            _windows(n.shape[i - rank], n.v.shape[i - rank], kernel[i], strides[i], padding[i]) for i in range(rank)
        ]
        divisor = torch.ones((), dtype=n.v.dtype)
        for _, inside, padded in windows:
            divisor = divisor.unsqueeze(-1) * (padded if n.count_include_pad else inside)
        share = n.v / (n.divisor_override or divisor)
        return _spread_along(share, [covers for covers, _, _ in windows])

    return back


def _adaptive_average(rank: int) -> Evaluate:
    def back(n: NodeView) -> Tensor:
        memberships = []
        for axis in range(-rank, 0):
            size, outputs = n.shape[axis], n.v.shape[axis]
            step = torch.arange(outputs)
            start, end = step * size // outputs, -((step + 1) * size // -outputs)
            places = torch.arange(size)
            covers = (places >= start.unsqueeze(-1)) & (places < end.unsqueeze(-1))
            memberships.append(covers / covers.sum(-1, keepdim=True).to(n.v.dtype))
        return _spread_along(n.v, memberships)

    return back


def _nearest(n: NodeView) -> Tensor:
    rank = n.v.dim() - 2
    op = (torch.ops.aten.upsample_nearest1d, torch.ops.aten.upsample_nearest2d, torch.ops.aten.upsample_nearest3d)[
        rank - 1
    ]
    scales = [
        n.saved_or(name, None)
        for name in (("scales",), ("scales_h", "scales_w"), ("scales_d", "scales_h", "scales_w"))[rank - 1]
    ]
    # Resizing exists for floating point only; element numbers up to 2**53 are exact.
    return send_back(n, lambda places: op(places.double(), n.output_size, *scales).long())


def _linear(n: NodeView) -> Tensor:
    rank = n.v.dim() - 2
    scales = [
        n.saved_or(name, None)
        for name in (("scales",), ("scales_h", "scales_w"), ("scales_d", "scales_h", "scales_w"))[rank - 1]
    ]
    memberships = [
        torch.ops.aten.upsample_linear1d(
            torch.eye(n.shape[2 + i], dtype=n.v.dtype).unsqueeze(0), [n.v.shape[2 + i]], n.align_corners, scales[i]
        )[0].T
        for i in range(rank)
    ]
    return _spread_along(n.v, memberships)


def _largest(op: str, node_name: str, planes: int) -> Entry:
    return Entry(
        op,
        (node_name,),
        r"@{result}_p = \max_{i \in \text{window } p} @{self}_i",
        (
            Vjp(
                "self",
                r"@v \text{ at each window's maximum}, \; 0 \text{ elsewhere}",
                "v at each window's maximum, 0 elsewhere",
                _WINNER,
                lambda n: _to_winners(n, planes),
            ),
        ),
        ("Ties: only the element whose index was kept gets v.",),
    )


def _averaged(op: str, node_names: tuple[str, ...], back: Evaluate, cases: tuple[str, ...]) -> Entry:
    return Entry(
        op,
        node_names,
        r"@{result}_p = \tfrac{1}{k} \textstyle\sum_{i \in \text{window } p} @{self}_i",
        (
            Vjp(
                "self",
                r"\textstyle\sum_{p \,\ni\, i} \tfrac{1}{k} @{v}_p",
                "sum of v / k over the windows it is in",
                _EVERYONE,
                back,
            ),
        ),
        cases,
    )


def _resized(op: str, node_names: tuple[str, ...], forward: str, because: str, back: Evaluate) -> Entry:
    return Entry(
        op,
        node_names,
        f"@result = {forward}",
        (
            Vjp(
                "self",
                r"@v R, \; R = \text{weights of the resizing}",
                "v times the matrix of the resizing",
                because,
                back,
            ),
        ),
    )


POOLING: tuple[Entry, ...] = (
    _largest("max_pool2d", "MaxPool2DWithIndicesBackward0", 2),
    _largest("max_pool3d", "MaxPool3DWithIndicesBackward0", 3),
    _largest("adaptive_max_pool2d", "AdaptiveMaxPool2DBackward0", 2),
    _largest("adaptive_max_pool3d", "AdaptiveMaxPool3DBackward0", 3),
    _averaged(
        "avg_pool2d",
        ("AvgPool2DBackward0",),
        _average(2),
        ("k is the size of the window, padding included unless count_include_pad=False.",),
    ),
    _averaged(
        "avg_pool3d",
        ("AvgPool3DBackward0",),
        _average(3),
        ("k is the size of the window, padding included unless count_include_pad=False.",),
    ),
    _averaged(
        "adaptive_avg_pool2d",
        ("AdaptiveAvgPool2DBackward0",),
        _adaptive_average(2),
        ("The windows are as even as the sizes allow; they may overlap.",),
    ),
    _averaged(
        "adaptive_avg_pool3d",
        ("AdaptiveAvgPool3DBackward0",),
        _adaptive_average(3),
        ("The windows are as even as the sizes allow; they may overlap.",),
    ),
    _resized(
        "upsample_nearest",
        ("UpsampleNearest1DBackward0", "UpsampleNearest2DBackward0", "UpsampleNearest3DBackward0"),
        r"\text{each } @self \text{ repeated}",
        "A pixel that was copied to several places gets the sum of their v's.",
        _nearest,
    ),
    _resized(
        "upsample_linear",
        ("UpsampleLinear1DBackward0", "UpsampleBilinear2DBackward0", "UpsampleTrilinear3DBackward0"),
        r"\text{weighted means of neighbours of } @self",
        "A pixel gets the v of every place it was mixed into, times its weight in the mixture.",
        _linear,
    ),
)
