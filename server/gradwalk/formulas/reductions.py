"""Sums, means, products, spread, norms, and running sums and products."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import math

import torch
from torch import Tensor

from gradwalk.formulas.formula import Entry, NodeView, Vjp, conjugate, normal_dims, restore_dims

_SHARED = "Every element of the group enters the sum once with weight 1, so each gets the whole of the group's v."
_KEEPDIM = "With keepdim the reduced axis stays with size 1; either way v is spread back along it."
_EMPTY_DIM = "An empty dim means all axes."


def _spread(n: NodeView, grad: Tensor, rank: int) -> Tensor:
    return restore_dims(grad, n.saved_or("dim", None), bool(n.saved_or("keepdim", False)), rank)


def _sum(n: NodeView) -> Tensor:
    shape = n.self_sym_sizes
    return _spread(n, n.v, len(shape)).expand(shape)


def _nansum(n: NodeView) -> Tensor:
    return _spread(n, n.v, n.self.dim()) * ~n.self.isnan()


def _mean(n: NodeView) -> Tensor:
    shape = n.self_sym_sizes
    count = math.prod(shape[axis] for axis in normal_dims(n.saved_or("dim", None), len(shape)))
    return _spread(n, n.v, len(shape)).expand(shape) / count


def _count(n: NodeView) -> int:
    return math.prod(n.self.shape[axis] for axis in normal_dims(n.dim, n.self.dim()))


def _deviation(n: NodeView) -> Tensor:
    axes = normal_dims(n.dim, n.self.dim())
    return torch.as_tensor(n.self - n.self.mean(axes, keepdim=True)) if axes else torch.zeros_like(n.self)


def _degrees(n: NodeView) -> float:
    """Count minus correction, the divisor of the variance; infinity over it as torch has it."""
    return float(_count(n)) - float(n.saved_or("correction", 1))


def _variance_term(n: NodeView, grad: Tensor) -> Tensor:
    degrees = _degrees(n)
    factor = 2 / degrees if degrees > 0 else math.nan
    if degrees <= 0:
        numerator = _spread(n, grad, n.self.dim()) * _deviation(n)
        return torch.where(numerator == 0, math.nan, numerator * math.inf)
    return _spread(n, grad, n.self.dim()) * factor * _deviation(n)


def _std_term(n: NodeView, grad: Tensor, std: Tensor) -> Tensor:
    through_root = (grad / (2 * std)).masked_fill(std == 0, 0)
    return _variance_term(n, through_root)


def _mean_term(n: NodeView, grad: Tensor) -> Tensor:
    return _spread(n, grad, n.self.dim()).expand(n.self.shape) / _count(n)


def _spread_and_mean(n: NodeView, result: Tensor | None) -> Tensor:
    """The two outputs of var_mean or std_mean; one that nobody used sends nothing."""
    first, second = n.grad_outputs
    total = torch.zeros_like(n.self)
    if first is not None:
        total = total + (_variance_term(n, first) if result is None else _std_term(n, first, result))
    if second is not None:
        total = total + _mean_term(n, second)
    return total


def _prod(n: NodeView) -> Tensor:
    """The product of all the others, without dividing: a zero must not spoil it."""
    x = n.self
    if x.dim() == 0:
        return n.v
    if not x.numel():
        return torch.zeros_like(x)
    if not n.has("dim"):
        flat = _others(x.reshape(-1), 0).reshape(x.shape)
        return n.v * conjugate(flat)
    return _spread(n, n.v, x.dim()) * conjugate(_others(x, n.dim))


def _others(x: Tensor, dim: int) -> Tensor:
    """At each place along `dim` the product of all other places."""
    one = torch.ones_like(x.narrow(dim, 0, 1)) if x.shape[dim] else x
    before = torch.cat([one, x], dim).narrow(dim, 0, x.shape[dim]).cumprod(dim)
    after = torch.cat([x, one], dim).narrow(dim, 1, x.shape[dim]).flip(dim).cumprod(dim).flip(dim)
    return before * after


def _cumsum(n: NodeView) -> Tensor:
    return n.v if n.v.dim() == 0 else n.v.flip(n.dim).cumsum(n.dim).flip(n.dim)


def _cumprod(n: NodeView) -> Tensor:
    """Row k of the Jacobian is the product of the first k+1 values without the one that is nudged."""
    if n.self.dim() == 0:
        return n.v
    x = n.self.movedim(n.dim, -1)
    v = n.v.movedim(n.dim, -1)
    length = x.shape[-1]
    stacked = x.unsqueeze(-2).expand(*x.shape[:-1], length, length)
    diagonal = torch.eye(length, dtype=torch.bool, device=x.device)
    without_one = stacked.masked_fill(diagonal, 1).cumprod(-1)
    reaches = torch.ones(length, length, dtype=torch.bool, device=x.device).triu()
    jacobian = without_one.masked_fill(~reaches, 0)
    return (conjugate(jacobian) * v.unsqueeze(-2)).sum(-1).movedim(-1, n.dim)


def _logsumexp(n: NodeView) -> Tensor:
    rank = n.self.dim()
    result = _spread(n, n.result, rank)
    return _spread(n, n.v, rank) * conjugate((n.self - result).exp())


def _logcumsumexp(n: NodeView) -> Tensor:
    if n.self.dim() == 0:
        return n.v
    x, z, v = (t.movedim(n.dim, -1) for t in (n.self, n.result, n.v))
    shares = conjugate((x.unsqueeze(-1) - z.unsqueeze(-2)).exp())
    reaches = torch.ones(x.shape[-1], x.shape[-1], dtype=torch.bool, device=x.device).triu()
    return (shares.masked_fill(~reaches, 0) * v.unsqueeze(-2)).sum(-1).movedim(-1, n.dim)


def _norm(n: NodeView) -> Tensor:
    x = n.self.to(n.v.dtype) if n.self.is_floating_point() and not n.v.is_complex() else n.self
    order = float(n.saved_or("p", n.saved_or("ord", 2)))
    v, norm = _spread(n, n.v, x.dim()), _spread(n, n.result, x.dim())
    size = x.abs()
    if order == 0:
        return torch.zeros_like(x)
    if math.isinf(order):
        tied = (size == norm).to(size.dtype)
        axes = normal_dims(n.saved_or("dim", None), x.dim())
        return x.sgn() * v * tied / tied.sum(axes, keepdim=True)
    if order == 1:
        return x.sgn() * v
    if order == 2:
        return (x * v / norm).masked_fill(norm == 0, 0)
    slope = x.sgn() * size.pow(order - 1) * v / norm.pow(order - 1)
    return slope.masked_fill((norm == 0) | ((size == 0) if order < 1 else torch.zeros_like(size, dtype=torch.bool)), 0)


_NORM_CASES = (
    "p = 2: v * x / z, the direction of x. p = 1: v * sign(x). p = infinity: only the largest entries, ties share.",
    "Where the norm is 0 torch uses 0.",
    _KEEPDIM,
    "p = 0 counts the entries that are not 0; a count has gradient 0.",
)

REDUCTIONS: tuple[Entry, ...] = (
    Entry(
        "sum",
        ("SumBackward0", "SumBackward1"),
        r"@result = \textstyle\sum_i @{self}_i",
        (Vjp("self", r"@v \cdot \mathbf{1}", "v, repeated to the shape of x", _SHARED, _sum),),
        (_KEEPDIM, _EMPTY_DIM),
    ),
    Entry(
        "nansum",
        ("NansumBackward0",),
        r"@result = \textstyle\sum_{i:\, @{self}_i \text{ is a number}} @{self}_i",
        (
            Vjp(
                "self",
                r"@v \odot [@self \text{ is a number}]",
                "v where x is not NaN, else 0",
                "NaNs are left out of the sum.",
                _nansum,
            ),
        ),
        (_KEEPDIM,),
    ),
    Entry(
        "mean",
        ("MeanBackward0", "MeanBackward1"),
        r"@result = \tfrac{1}{@count} \textstyle\sum_i @{self}_i",
        (
            Vjp(
                "self",
                r"\tfrac{1}{@count} @v \cdot \mathbf{1}",
                "v / n, repeated to the shape of x",
                "Each of the n elements enters the mean with weight 1/n.",
                _mean,
            ),
        ),
        (_KEEPDIM, "n is the number of elements that are averaged into one result."),
    ),
    Entry(
        "var",
        ("VarBackward0",),
        r"@result = \tfrac{1}{@count - @correction} \textstyle\sum_i (@{self}_i - \bar{x})^2",
        (
            Vjp(
                "self",
                r"@v \odot \tfrac{2}{@count - @correction} (@self - \bar{x})",
                "v * 2 / (n - correction) * (x - mean(x))",
                "Moving away from the mean widens the spread, twice the distance; the mean's own move cancels out.",
                lambda n: _variance_term(n, n.v),
            ),
        ),
        (
            _KEEPDIM,
            "correction is 1 unless given (Bessel's): the divisor is n - 1. With one element it is 0 and the gradient NaN.",
        ),
    ),
    Entry(
        "std",
        ("StdBackward0",),
        r"@result = \sqrt{\tfrac{1}{@count - @correction} \textstyle\sum_i (@{self}_i - \bar{x})^2}",
        (
            Vjp(
                "self",
                r"@v \odot \frac{@self - \bar{x}}{(@count - @correction) \, @result}",
                "v * (x - mean(x)) / ((n - correction) * z)",
                "The variance's gradient through a square root: divided by twice the root.",
                lambda n: _std_term(n, n.v, n.result),
            ),
        ),
        (_KEEPDIM, "Where all elements are equal the deviation is 0 and torch uses 0."),
    ),
    Entry(
        "var_mean",
        ("VarMeanBackward0",),
        r"@{result} = (\operatorname{var} @self, \bar{x})",
        (
            Vjp(
                "self",
                r"@v0 \odot \tfrac{2}{@count - @correction} (@self - \bar{x}) + \tfrac{1}{@count} @v1",
                "v0 * 2 / (n - correction) * (x - mean(x)) + v1 / n",
                "Two results, two gradients: both reach x, and they add up.",
                lambda n: _spread_and_mean(n, None),
            ),
        ),
        (_KEEPDIM,),
    ),
    Entry(
        "std_mean",
        ("StdMeanBackward0",),
        r"@{result} = (\operatorname{std} @self, \bar{x})",
        (
            Vjp(
                "self",
                r"@v0 \odot \frac{@self - \bar{x}}{(@count - @correction) \, @{result}_0} + \tfrac{1}{@count} @v1",
                "v0 * (x - mean(x)) / ((n - correction) * z0) + v1 / n",
                "Two results, two gradients: both reach x, and they add up.",
                lambda n: _spread_and_mean(n, n.result0),
            ),
        ),
        (_KEEPDIM,),
    ),
    Entry(
        "prod",
        ("ProdBackward0", "ProdBackward1"),
        r"@result = \textstyle\prod_i @{self}_i",
        (
            Vjp(
                "self",
                r"@v \odot \textstyle\prod_{j \ne i} @{self}_j",
                "v * (product of all the others)",
                "Each factor is scaled by all the others, as in a product of two.",
                _prod,
            ),
        ),
        (
            _KEEPDIM,
            "One zero: only that factor has a gradient. Two zeros: all gradients are 0. z / x would be wrong there.",
        ),
    ),
    Entry(
        "cumsum",
        ("CumsumBackward0",),
        r"@{result}_k = \textstyle\sum_{i \le k} @{self}_i",
        (
            Vjp(
                "self",
                r"@{v}_i + @{v}_{i+1} + \cdots",
                "sum of v from this place to the end",
                "An element is part of its own running sum and of all later ones.",
                _cumsum,
            ),
        ),
    ),
    Entry(
        "cumprod",
        ("CumprodBackward0",),
        r"@{result}_k = \textstyle\prod_{i \le k} @{self}_i",
        (
            Vjp(
                "self",
                r"\textstyle\sum_{k \ge i} @{v}_k \prod_{j \le k,\, j \ne i} @{self}_j",
                "sum over k >= i of v[k] * (product of x[0..k] without x[i])",
                "An element is a factor of its own running product and of all later ones.",
                _cumprod,
            ),
        ),
        ("Zeros are handled without dividing by them.",),
    ),
    Entry(
        "logsumexp",
        ("LogsumexpBackward0",),
        r"@result = \log \textstyle\sum_i e^{@{self}_i}",
        (
            Vjp(
                "self",
                r"@v \odot e^{@self - @result}",
                "v * exp(x - z)",
                "A soft maximum: v is shared in the proportion of the exponentials, which is the softmax.",
                _logsumexp,
            ),
        ),
        (_KEEPDIM,),
    ),
    Entry(
        "logcumsumexp",
        ("LogcumsumexpBackward0",),
        r"@{result}_k = \log \textstyle\sum_{i \le k} e^{@{self}_i}",
        (
            Vjp(
                "self",
                r"\textstyle\sum_{k \ge i} @{v}_k \, e^{@{self}_i - @{result}_k}",
                "sum over k >= i of v[k] * exp(x[i] - z[k])",
                "An element has its softmax share in its own running result and in all later ones.",
                _logcumsumexp,
            ),
        ),
        roughness=100.0,
    ),
    Entry(
        "norm",
        ("NormBackward0", "NormBackward1", "NormBackward2", "NormBackward3", "LinalgVectorNormBackward0"),
        r"@result = \left(\textstyle\sum_i |@{self}_i|^p\right)^{1/p}",
        (
            Vjp(
                "self",
                r"@v \odot \operatorname{sign}(@self) \left(\frac{|@self|}{@result}\right)^{p-1}",
                "v * sign(x) * (|x| / z)^(p-1)",
                "The length grows fastest in the direction of x itself; large entries count more the larger p is.",
                _norm,
            ),
        ),
        _NORM_CASES,
    ),
)
