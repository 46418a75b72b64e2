"""Pooling and resizing."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import math
from collections.abc import Iterator, Mapping
from typing import Any

from gradwalk.formulas.entry import Entry, Given, NotWritten, Reason, Vjp, per_axis, why
from gradwalk.formulas.expression import Expression, apply, reshape, zeros

_WINNER = why("why-max-pool2d")
_EVERYONE = why("why-avg-pool2d")


def _to_winners(n: Given, planes: int) -> Expression:
    """v added at the recorded flat positions inside each plane of `planes` dims."""
    lead = n.shape[: len(n.shape) - planes]
    flat = (*lead, math.prod(n.shape[len(lead) :]))
    windows = (*lead, math.prod(n.v.shape[len(lead) :]))
    added = apply("scatter_add", zeros(flat), reshape(n.result1, windows), reshape(n.v, windows), dim=len(lead))
    return reshape(added, n.shape)


def _short(value: tuple[Any, ...]) -> Any:
    """A setting that is the same along all dims is one number."""
    return value[0] if len(set(value)) == 1 else value


def _windows(n: Given, planes: int) -> dict[str, Any]:
    """The options of a pooling that say something."""
    kernel = per_axis(n.kernel_size, planes)
    options = {
        "kernel_size": kernel,
        "stride": per_axis(n.stride or kernel, planes),
        "padding": per_axis(n.padding, planes),
        "dilation": per_axis(n.saved_or("dilation", (1,)), planes),
    }
    plain = {"stride": kernel, "padding": (0,) * planes, "dilation": (1,) * planes}
    chosen: dict[str, Any] = {name: _short(value) for name, value in options.items() if value != plain.get(name)}
    if n.ceil_mode and any(_left_over(n.operand("self").shape[-planes:], options)):
        chosen["ceil_mode"] = True
    divisor = n.saved_or("divisor_override", None)
    if divisor is not None:
        return chosen | {"divisor_override": divisor}
    counts_padding = n.saved_or("count_include_pad", True) or not any(options["padding"])
    return chosen if counts_padding else chosen | {"count_include_pad": False}


def _left_over(sizes: tuple[int, ...], options: Mapping[str, tuple[int, ...]]) -> Iterator[int]:
    """Per dim how many elements are left behind the last whole window: `ceil_mode` gives them one, too."""
    for size, kernel, stride, padding, dilation in zip(sizes, *options.values(), strict=True):
        yield (size + 2 * padding - dilation * (kernel - 1) - 1) % stride


def _scale(n: Given, planes: int) -> dict[str, Any]:
    """How the scale of a resizing is told: by the factors that were asked for, where they were."""
    names = ("scales",) if planes == 1 else ("scales_d", "scales_h", "scales_w")[3 - planes :]
    scales = tuple(n.saved_or(name, None) for name in names)
    if None not in scales:
        return {"scale_factor": _short(scales)}
    if any(scale is not None for scale in scales):
        raise NotWritten("some_scales")
    return {}


def _mode(n: Given, mode: str) -> dict[str, Any]:
    corners = n.saved_or("align_corners", False)
    return {"mode": mode, "align_corners": True} if corners else {"mode": mode}


def _largest(op: str, node_name: str, planes: int) -> Entry:
    def forward(n: Given) -> Expression:
        return apply(op, n.operand("self"), **_windows(n, planes))

    return Entry(
        op,
        (node_name,),
        None if op.startswith("adaptive") else forward,
        (Vjp("self", lambda n: _to_winners(n, planes), _WINNER),),
        (why("case-max-pool2d"),),
        {"result1": "i"},
    )


def _averaged(op: str, node_name: str, planes: int) -> Entry:
    def back(n: Given) -> Expression:
        size = n.shape[len(n.shape) - planes :]
        return apply(f"{op}_transposed", n.v, input_size=size, **_windows(n, planes))

    return Entry(
        op,
        (node_name,),
        lambda n: apply(op, n.operand("self"), **_windows(n, planes)),
        (Vjp("self", back, _EVERYONE),),
        (why("case-avg-pool2d"),),
    )


def _adaptively_averaged(op: str, node_name: str, planes: int) -> Entry:
    return Entry(
        op,
        (node_name,),
        None,
        (
            Vjp(
                "self",
                lambda n: apply(f"{op}_transposed", n.v, input_size=n.shape[len(n.shape) - planes :]),
                _EVERYONE,
            ),
        ),
        (why("case-adaptive-avg-pool2d"),),
    )


def _resized(op: str, node_name: str, planes: int, mode: str, because: Reason) -> Entry:
    def forward(n: Given) -> Expression:
        size = _scale(n, planes) or {"size": n.output_size}
        return apply("interpolate", n.operand("self"), **size, **_mode(n, mode))

    def back(n: Given) -> Expression:
        return apply("interpolate_transposed", n.v, input_size=n.shape[2:], **_mode(n, mode), **_scale(n, planes))

    return Entry(op, (node_name,), forward, (Vjp("self", back, because),))


_COPIED = why("why-upsample-nearest1d")
_MIXED = why("why-upsample-linear1d")

POOLING: tuple[Entry, ...] = (
    _largest("max_pool2d", "MaxPool2DWithIndicesBackward0", 2),
    _largest("max_pool3d", "MaxPool3DWithIndicesBackward0", 3),
    _largest("adaptive_max_pool2d", "AdaptiveMaxPool2DBackward0", 2),
    _largest("adaptive_max_pool3d", "AdaptiveMaxPool3DBackward0", 3),
    _averaged("avg_pool2d", "AvgPool2DBackward0", 2),
    _averaged("avg_pool3d", "AvgPool3DBackward0", 3),
    _adaptively_averaged("adaptive_avg_pool2d", "AdaptiveAvgPool2DBackward0", 2),
    _adaptively_averaged("adaptive_avg_pool3d", "AdaptiveAvgPool3DBackward0", 3),
    _resized("upsample_nearest1d", "UpsampleNearest1DBackward0", 1, "nearest", _COPIED),
    _resized("upsample_nearest2d", "UpsampleNearest2DBackward0", 2, "nearest", _COPIED),
    _resized("upsample_nearest3d", "UpsampleNearest3DBackward0", 3, "nearest", _COPIED),
    _resized("upsample_linear1d", "UpsampleLinear1DBackward0", 1, "linear", _MIXED),
    _resized("upsample_bilinear2d", "UpsampleBilinear2DBackward0", 2, "bilinear", _MIXED),
    _resized("upsample_bicubic2d", "UpsampleBicubic2DBackward0", 2, "bicubic", _MIXED),
    _resized("upsample_trilinear3d", "UpsampleTrilinear3DBackward0", 3, "trilinear", _MIXED),
)
