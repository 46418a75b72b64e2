"""Programs for nodes that the operator database does not reach: in-place variants, number operands, copies, LSTM."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def leaf(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, dtype=dtype).requires_grad_()


def inner(*shape: int) -> Tensor:
    """A tensor that may be written in place: not a leaf."""
    return leaf(*shape) + 0


def given(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64).requires_grad_()


aten = torch.ops.aten

HAND_SAMPLES: dict[str, Callable[[], Tensor]] = {
    "RsubBackward1": lambda: 1 - leaf(3),
    "DivBackward3": lambda: aten.div.Scalar_mode(leaf(3), 2.0, rounding_mode="trunc"),
    "RemainderBackward0": lambda: torch.remainder(leaf(3), 2.0),
    "FmodBackward0": lambda: torch.fmod(leaf(3), 2.0),
    "NegViewBackward0": lambda: torch._neg_view(leaf(3)),
    "PowBackward2": lambda: 2.0 ** leaf(3),
    "XlogyBackward1": lambda: torch.xlogy(2.0, leaf(3).abs()),
    "XlogyBackward2": lambda: torch.xlogy(leaf(3), 2.0),
    "ThresholdBackward1": lambda: torch.threshold_(inner(5), 0.1, 2.0),
    "RreluWithNoiseBackward1": lambda: functional.rrelu_(inner(5), training=True),
    "RreluWithNoiseFunctionalBackward0": lambda: aten.rrelu_with_noise_functional(
        leaf(5), torch.rand(5, dtype=torch.float64), 0.1, 0.3, True
    )[0],
    "ConjPhysicalBackward1": lambda: torch.conj_physical_(leaf(3, dtype=torch.complex128) + 0),
    "TBackward1": lambda: inner(3, 2).t_(),
    "SqueezeBackward2_copy": lambda: aten.squeeze_copy.dims(leaf(3, 1), [1]),
    "SqueezeBackward3": lambda: inner(3, 1).squeeze_(),
    "SqueezeBackward5": lambda: inner(3, 1).squeeze_((1,)),
    "UnsqueezeBackward1": lambda: inner(3, 1).unsqueeze_(0),
    "SelectBackward0_copy": lambda: torch.select_copy(leaf(3, 2), 0, 1),
    "SliceBackward0_copy": lambda: torch.slice_copy(leaf(3, 2), 0, 1, 2),
    "SplitBackward0_copy": lambda: torch.split_copy(leaf(3, 2), 2)[0],
    "UnsafeSplitWithSizesBackward0": lambda: torch.unsafe_split_with_sizes(leaf(3), [1, 2])[1],
    "AliasBackward0": lambda: aten.alias(leaf(3)),
    "LazyCloneBackward0": lambda: torch._lazy_clone(leaf(3)),
    "UnsafeIndexBackward0": lambda: aten._unsafe_index(leaf(3), [torch.tensor([0, 0])]),
    "IndexPutImplBackward0": lambda: aten._index_put_impl_(inner(3), [torch.tensor([0, 2])], leaf(2)),
    "UnsafeIndexPutBackward0": lambda: aten._unsafe_index_put(leaf(3), [torch.tensor([0, 2])], leaf(2)),
    "Col2ImBackward0": lambda: functional.fold(leaf(1, 8, 9), (4, 4), 2),
    "FillBackward1": lambda: torch.fill(leaf(3), leaf()),
    "FillBackward2": lambda: inner(3).fill_(2.0),
    "FillBackward3": lambda: inner(3).fill_(leaf()),
    "WeightNormInterfaceBackward0": lambda: torch._weight_norm(leaf(3, 2), leaf(1, 2), 1),
    "NativeDropoutBackward0": lambda: torch.native_dropout(leaf(5), 0.4, True)[0],
    "MkldnnRnnLayerBackward0": lambda: torch.nn.LSTM(2, 3, num_layers=2, bidirectional=True)(
        leaf(4, 2, 2, dtype=torch.float32)
    )[0],
}

LINE = (-6.5, -3.0, -1.0, -0.9, -0.5, -0.3, -0.1, 0.0, 0.05, 0.06, 0.1, 0.15, 0.5, 0.7, 1.0, 1.5, 3.0, 6.0, 6.5, 7.5)
"""Across the kinks of activations, and on them."""
NAN = float("nan")
INFINITY = float("inf")


def edges_of_one(function: Callable[[Tensor], Tensor], *values: float) -> list[Callable[[], Tensor]]:
    return [lambda: function(given(*(values or LINE)))]


def edges_of_two(
    function: Callable[[Tensor, Tensor], Tensor], first: tuple[float, ...], second: tuple[float, ...]
) -> list[Callable[[], Tensor]]:
    """Pair by pair, every value with every other, and all of the first with each of the second."""
    whole = [
        lambda: function(given(*first), given(*second)),
        lambda: function(given(*first).unsqueeze(1), given(*second)),
        lambda: function(given(*first), given(*second).unsqueeze(1)),
        lambda: function(given(*first).unsqueeze(0), given(*second).unsqueeze(1)),
        lambda: function(given(*first).unsqueeze(1), given(*second).unsqueeze(0)),
    ]
    return whole + [
        lambda one=one: function(given(*first), torch.tensor(one).double().requires_grad_()) for one in second
    ]


OF_ONE: list[Callable[[Tensor], Tensor]] = [
    torch.relu, torch.abs, torch.floor, functional.elu, functional.selu, functional.celu, functional.leaky_relu,
    functional.rrelu, functional.hardswish, functional.hardsigmoid, functional.hardtanh, functional.relu6,
    lambda x: torch.copysign(x, -1.0), lambda x: functional.threshold(x, 1.0, 0.0), lambda x: x**0,
    lambda x: x.clamp(3.0, 1.0), lambda x: x.clamp_max(0.1), lambda x: x.clamp_min(0),
    lambda x: x[torch.tensor([0, 0, 1])], lambda x: functional.elu_(x + 0), lambda x: functional.celu_(x + 0, 2.0),
    lambda x: functional.leaky_relu_(x + 0, 0.1), lambda x: functional.prelu(x, given(0.2)),
    lambda x: functional.softplus(x, 3, 0.2),
]  # fmt: skip


def gradient(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda x: torch.autograd.grad(y := function(x), x, leaf(*y.shape), create_graph=True)[0]


OF_ONE += [gradient(function) for function in (
    *OF_ONE[3:7], *OF_ONE[10:12], functional.hardswish, functional.hardshrink, functional.softshrink, torch.relu,
    torch.tanh, torch.sigmoid, functional.logsigmoid, lambda x: x.softmax(0), lambda x: x.log_softmax(0),
    lambda x: functional.softplus(x, 3, 0.2), lambda x: functional.mse_loss(x, leaf(*x.shape)),
    lambda x: x[0], lambda x: x[1:], lambda x: x.unfold(0, 2, 1), lambda x: x.view(2, -1).diagonal(),
    lambda x: functional.embedding(torch.tensor([0, 1, 1]), x.view(2, -1), 1), functional.gelu,
    lambda x: functional.gelu(x, approximate="tanh"), lambda x: functional.conv1d(x[None], x[None, None], x[:1], 2, 3),
)]  # fmt: skip
EDGES: list[Callable[[], Tensor]] = [
    program
    for programs in (
        edges_of_two(torch.atan2, (0, 0, 1, -1, 0.5), (0, 1, 0, 0.5, -1)),
        edges_of_two(torch.pow, (0, 0, 2, 0.5, 0, 3), (0, 2, 0, 3, 1, -1)),
        *(edges_of_two(one, (0, 1, 2, 1, -1), (1, 1, 0, 1, -1)) for one in (torch.maximum, torch.minimum)),
        *(edges_of_two(one, (0, 1, NAN, 1, 2), (1, 1, 0, NAN, 0)) for one in (torch.fmax, torch.fmin)),
        edges_of_two(torch.xlogy, (0, 0, 1, 2, 0), (0, -1, 0.5, 3, 2)),
        edges_of_two(torch.copysign, (0, 1, -1, -0.5, 0), (1, -1, -1, 2, -1)),
        *map(edges_of_one, OF_ONE),
        edges_of_one(functional.softplus, -1, 0, 2, 20.5, 22),
        edges_of_one(lambda x: functional.softplus(x, 1, 3), 1, 3, 3.5, 7),
        *(edges_of_one(lambda x, bound=bound: functional.hardshrink(x, bound)) for bound in (-0.5, 0, 0.5)),
        *(edges_of_one(lambda x, bound=bound: functional.softshrink(x, bound)) for bound in (0, 0.5)),
        edges_of_one(lambda x: x.clamp(-1, 1), *LINE, -1.5, 1.2),
        edges_of_one(lambda x: x.clamp_min(1e-4), 0, 5e-5, 1e-4, 2e-4),
        edges_of_one(lambda x: x.clamp_min(1e-12), 0, 3e-13, 5e-13, 1e-12, 2e-12),
        edges_of_one(torch.logit, -0.5, 0, 0.2, 0.7, 1, 1.5, 2.5),
        edges_of_one(lambda x: torch.logit(x, 0.2), -0.5, 0, 0.1, 0.2, 0.7, 0.9, 1, 1.5, 2.5),
        edges_of_one(torch.sinc, 0, 0.5, 1, 2),
        edges_of_one(torch.nan_to_num, NAN, INFINITY, -INFINITY, 1),
        *(edges_of_one(torch.prod, 2, 0, last) for last in (3, 0)),
        edges_of_one(lambda x: x.cumprod(0), 2, 0, 3, 4),
    )
    for program in programs
]
"""Programs at ties, kinks and zeros, where a formula made of cases shows all of them; `FAMILIES` has more."""

POINTS = torch.tensor([[1.0, 2.0], [0.5, -1.0], [1.0, 3.0]], dtype=torch.float64)  # two agree in one coordinate


def points() -> Tensor:
    return leaf_of(POINTS)


def leaf_of(value: Tensor) -> Tensor:
    return value.clone().requires_grad_()


def distances(p: float) -> list[Callable[[], Tensor]]:
    """Distances of points that agree in all, some or no coordinates."""
    return [
        lambda: torch.cdist(points(), points() + 0, p, compute_mode="donot_use_mm_for_euclid_dist"),
        lambda: torch.dist(points(), points()[:1] + 0, p),
        lambda: torch.dist(-points(), -points()[:1], p),
        lambda: torch.dist(points()[[0, 0]], points()[:1] + 0, p),
        lambda: torch.dist(points(), points().flip(0), p),
        lambda: torch.dist(points(), points() + 0, p),
        lambda: torch.dist(given(0, 3, -3, 1).view(2, 2), given(0, 0).view(1, 2), p),
        lambda: torch.dist(given(0, 0).view(1, 2), given(0, 3, -3, 1).view(2, 2), p),
        *(
            lambda whole=whole, one=one, way=way: torch.dist(*[leaf_of(whole), one][::way], p)
            for whole in (
                POINTS,
                torch.ones_like(POINTS),
                torch.stack([POINTS, 2 - POINTS]),
                torch.ones(2, 3, 2).double(),
            )
            for one in (given(1.0), given(1.0).squeeze(0), given(1.0, 1.0), given(1.0, 2.0))
            for way in (1, -1)
        ),
    ]


FAMILIES = [program for p in (0.5, 1.0, 1.5, 2.0, 3.0, INFINITY) for program in distances(p)]

REDUCTIONS: list[dict[str, Any]] = [{}]
REDUCTIONS += [{"dim": dim, "keepdim": keepdim} for dim in (0, 1, -1) for keepdim in (False, True)]


def norms(order: float) -> Iterator[Callable[[], Tensor]]:
    """Norms by every name that they have, some of them 0."""
    pairs = [(0, 0, 3, 0, -3, 4), (0, 0, 0, 0), (0, 2, 0, 2, 0, 2)]
    for values in pairs:
        for options in REDUCTIONS:
            yield from edges_of_one(lambda x, o=options: torch.linalg.vector_norm(x.view(-1, 2), order, **o), *values)
        for dtype in ({}, {"dtype": torch.float64}):
            yield from edges_of_one(lambda x, t=dtype: aten.norm(x, order, **t), *values)
            for at in itertools.product(([0], [1], [-1], [0, 1]), (False, True)):
                yield from edges_of_one(lambda x, at=at, t=dtype: aten.norm(x.view(-1, 2), order, *at, **t), *values)


def deviations(correction: float) -> Iterator[Callable[[], Tensor]]:
    """Standard deviations, some of them 0."""
    for values in ((2, 2, 2, 1, 3, -4), (2, 2, 2, 2, 2, 2)):
        yield from edges_of_one(lambda x: torch.stack(torch.std_mean(x, correction=correction)), *values)
        for options in ({"correction": correction, **one} for one in REDUCTIONS):
            yield from edges_of_one(lambda x, o=options: x.view(2, 3).std(**o), *values)
            yield from edges_of_one(lambda x, o=options: torch.stack(torch.std_mean(x.view(2, 3), **o)), *values)


def extremes() -> Iterator[Callable[[], Tensor]]:
    """Extremes and medians, with ties."""
    ties = (3, 1, 3, 2, 2, 5, 1, 1, 5)
    for options in REDUCTIONS:
        for function in (torch.amax, torch.amin):
            yield from edges_of_one(lambda x, f=function, o=options: f(x.view(3, 3), **o), *ties)
        if options.get("dim") != -1:
            yield from edges_of_one(lambda x, o=options: torch.stack(torch.aminmax(x.view(3, 3), **o)), *ties)
    for function in (torch.max, torch.min, torch.median, torch.nanmedian):
        yield from edges_of_one(function, *ties)
        for options in REDUCTIONS[1:]:
            yield from edges_of_one(lambda x, f=function, o=options: f(x.view(3, 3), **o).values, *ties)
            if options["dim"] != 1:
                yield from edges_of_one(lambda x, f=function, o=options: f(x, **o).values, 5, 1, 3, 7)


CLASSES = (0.1, 0.3, 2.5, 0.4, -1.0, 0.2, 0.5, 0.6, 0.7, 3.0, 1.0, -2.0)


def losses(reduction: str) -> Iterator[Callable[[], Tensor]]:
    """Losses near the target and far from it, at the borders of what they take, with classes left out."""
    line = (0, 0.5, -1, 1, 1.5, -3, 6, -7)
    for bound in (0.5, 1.0, 5.0):
        for loss in (
            lambda x, t, b=bound: functional.smooth_l1_loss(x, t, beta=b, reduction=reduction),
            lambda x, t, b=bound: functional.huber_loss(x, t, delta=b, reduction=reduction),
        ):
            yield from edges_of_two(lambda x, t, loss=loss: loss(*torch.broadcast_tensors(x, t)), line, line[::-1])[:2]
            yield from (lambda loss=loss, one=one: loss(given(one).squeeze(0), given(0.5).squeeze(0)) for one in line)
    chances = (0, 1, 0.5, 1e-13, 3e-12)

    def entropy(x: Tensor, weight: Tensor | None = None) -> Tensor:
        return functional.binary_cross_entropy(x, torch.full_like(x, 0.5).detach(), weight, reduction=reduction)

    for weight in (None, given(1, 2, 3, 4, 5).detach()):
        yield from edges_of_one(lambda x, w=weight: entropy(x, w), *chances)
    yield from (lambda one=one: entropy(given(one).squeeze(0)) for one in chances)
    targets = torch.tensor([0, 1, 2, 1])
    for weight in (None, given(1, 2, 3).detach()):
        for left_out in (1, -100):
            options: dict[str, Any] = {"weight": weight, "ignore_index": left_out, "reduction": reduction}
            yield from edges_of_one(lambda x, o=options: functional.nll_loss(x.view(4, 3), targets, **o), *CLASSES)
            yield from (lambda t=t, o=options: functional.nll_loss(leaf(3), torch.tensor(t), **o) for t in (0, 1, 2))
        for p, margin in itertools.product((1, 2), (0.3, 1.0, -0.3)):
            margins: dict[str, Any] = {"p": p, "margin": margin, "weight": weight, "reduction": reduction}
            yield lambda o=margins: functional.multi_margin_loss(leaf(12, 3), targets.repeat(3), **o)
            for t in range(12):
                yield lambda t=t, o=margins: functional.multi_margin_loss(leaf(3), torch.tensor(t % 3), **o)


def systems(upper: bool) -> Iterator[Callable[[], Tensor]]:
    """Systems of equations with several right-hand sides."""
    for left, unit in itertools.product((True, False), (True, False)):
        chosen = {"upper": upper, "left": left, "unitriangular": unit}
        yield lambda o=chosen: torch.linalg.solve_triangular(leaf(3, 3) + 2, leaf(3, 3), **o)
    yield lambda: torch.linalg.solve(leaf(3, 3), leaf(3, 3), left=upper)


OTHERS: list[Callable[[], Tensor]] = [
    lambda: torch.nansum(given(NAN, 1, 2, NAN).view(2, 2), 0),
    lambda: torch.t_copy(leaf(2, 3)),
    lambda: functional.avg_pool2d(leaf(1, 9, 8), (3, 2), (2, 3), (1, 0), ceil_mode=True),
    lambda: functional.avg_pool2d(leaf(1, 4, 9), (1, 6), (1, 3), (0, 2), ceil_mode=True),
    lambda: functional.avg_pool2d(leaf(1, 4, 9), (1, 7), (1, 3), ceil_mode=True),
]
FAMILIES += [program for order in (-2, 0, 0.5, 1, 1.5, 2, 3, INFINITY, -INFINITY) for program in norms(order)]
FAMILIES += [program for correction in (-1, 0, 0.5, 1) for program in deviations(correction)]
FAMILIES += [program for reduction in ("mean", "sum", "none") for program in losses(reduction)]
FAMILIES += [*extremes(), *systems(True), *systems(False), *OTHERS]

UNREACHABLE = {
    "MatmulBackward0": "torch makes this node on nested tensors only; dense products run as mm, bmm, mv and views",
    "LinearBackward0": "torch makes this node on other backends only; here linear runs as addmm",
    **dict.fromkeys(
        (*(f"CrossEntropyBackward{at}" for at in range(8)), *(f"EinsumBackward{at}" for at in range(4))),
        "a call of several nodes that is read as one; see tests/tracer/test_composites.py",
    ),
    "FusedRmsNormBackward0": "torch makes this node on accelerators only; here rms_norm runs as mul, mean, rsqrt",
    "MkldnnReshapeBackward0": "needs MKL-DNN tensors, whose values cannot be read",
    "LiftBackward0": "made inside functionalization only",
    "LiftFreshBackward0": "made inside functionalization only",
    "PinMemoryBackward0": "needs an accelerator",
    "CoalesceBackward0": "sparse operands, whose values are not compared here",
    "CopyBackwards": "the same node as torch::autograd::CopyBackwards under its short name",
}
"""Covered nodes that no program on this machine can make, with the reason."""

NOT_WRITTEN = {
    "MkldnnRnnLayerBackward0": "unrolled over all moments the formula would be too long to be read",
    **dict.fromkeys(
        ("AsStridedBackward0", "AsStridedBackward0_copy"), "the node does not save how the operand lay in memory"
    ),
}
"""Covered nodes whose formulas have words only: nothing is shown that could be wrong."""
