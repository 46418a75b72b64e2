"""Sums, means, products, spread, norms, and running sums and products."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import math
from collections.abc import Callable

from gradwalk.formulas.entry import Entry, Formula, Given, NotWritten, Vjp, normal_dims, restored, why, zero
from gradwalk.formulas.expression import (
    Expression,
    apply,
    conj,
    mean,
    number,
    ones,
    reshape,
    total,
    transpose,
    where,
)

_SHARED = why("why-sum")
_TWO_RESULTS = why("why-var-mean", "self")
MATRIX_LIMIT = 10_000_000
"""Formulas that compare every place with every other are not evaluated with more entries than this."""


def _dims(n: Given) -> tuple[int, ...]:
    return normal_dims(n.saved_or("dim", None), len(n.operand("self").shape))


def _over(n: Given) -> tuple[int, ...] | None:
    """The dims of a reduction; None, all of them, is written without."""
    dims = _dims(n)
    return None if dims and len(dims) == len(n.operand("self").shape) else dims


def _count(n: Given) -> int:
    """How many elements become one."""
    shape = n.operand("self").shape
    return math.prod(shape[dim] for dim in _dims(n))


def _spread(n: Given, value: Expression) -> Expression:
    return restored(value, n.saved_or("dim", None), bool(n.saved_or("keepdim", False)), n.shape)


def _repeated(n: Given, value: Expression) -> Expression:
    """A reduced value at every place that it was reduced from."""
    value = _spread(n, value)
    return value if _count(n) == 1 else value * ones(n.shape)


def _averaged(n: Given, value: Expression) -> Expression:
    return value if _count(n) == 1 else value / _count(n)


def _deviation(n: Given) -> Expression:
    x = n.operand("self")
    return x - mean(x, _over(n))


def _degrees(n: Given) -> Expression:
    """Count minus correction, the divisor of the variance."""
    count, correction = number(_count(n)), _whole(n.saved_or("correction", 1))
    return count - correction if correction > 0 else count + -correction if correction else count


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


def _variance(n: Given) -> Expression:
    deviation = _deviation(n)
    size = apply("abs", deviation) if deviation.is_complex else deviation
    return total(size**2, _over(n)) / _degrees(n)


def _variance_sent(n: Given, v: Expression) -> Expression:
    v = _spread(n, v)
    if n.saved_or("dim", None) is None and _count(n) <= n.saved_or("correction", 1):
        # torch treats the division by 0 by itself: infinite but at the mean.
        return v * where(n.self.equals(mean(n.self)), math.nan, math.inf)
    return 2 * v * _deviation(n) / _degrees(n)


def _deviation_sent(n: Given, v: Expression, std: Expression) -> Expression:
    """Through the root: the variance's formula, divided by twice the root; 0 where the root is 0."""
    v, root = _spread(n, v), _spread(n, std)
    if _count(n) <= n.saved_or("correction", 1):
        return _variance_sent(n, where(std.equals(0), 0, v / (2 * std)))
    return where(root.equals(0), 0, v * _deviation(n) / (_degrees(n) * root))


def _with_mean(first: Callable[[Given, Expression], Expression]) -> Formula:
    """The two outputs of var_mean or std_mean; one that nobody used sends nothing."""

    def formula(n: Given) -> Expression:
        to_spread, to_mean = n.seeds
        if to_mean is None:
            return first(n, n.v)
        through_mean = _averaged(n, _repeated(n, to_mean))
        return through_mean if to_spread is None else first(n, to_spread) + through_mean

    return formula


def _product(n: Given) -> Expression:
    return apply("prod", n.operand("self"), **_one_dim(n)) if n.operand("self").shape else n.operand("self")


def _one_dim(n: Given) -> dict[str, int]:
    """The dim of an op that may have one."""
    return {"dim": n.dim} if n.has("dim") else {}


def _product_sent(n: Given) -> Expression:
    """Without dividing: a zero must not spoil it."""
    if _count(n) == 1:
        return _spread(n, n.v)
    return _spread(n, n.v) * conj(apply("product_of_others", n.self, **_one_dim(n)))


def _cumsum_sent(n: Given) -> Expression:
    if not n.v.shape:
        return n.v
    return apply("flip", apply("cumsum", apply("flip", n.v, dims=(n.dim,)), dim=n.dim), dims=(n.dim,))


def _running(operation: str) -> Formula:
    def forward(n: Given) -> Expression:
        x = n.operand("self")
        return apply(operation, x, dim=n.dim) if x.shape else x

    return forward


def _last(value: Expression, dim: int, rank: int) -> Expression:
    """With that dim as the last; the same once more puts it back."""
    if dim == rank - 1:
        return value
    return transpose(value) if dim == rank - 2 else apply("swapdims", value, dim0=dim, dim1=rank - 1)


class _Along:
    """Views of tensors along the dim of a running sum or product, for formulas with a matrix per line along it.

    Such a matrix has a row per operand element and a column per result element.
    """

    def __init__(self, n: Given) -> None:
        shape = n.operand("self").shape
        self._rank = len(shape)
        self._dim = n.dim % self._rank
        kept = list(shape)
        kept[self._dim], kept[-1] = kept[-1], kept[self._dim]
        self.size = kept[-1]
        self._shape = tuple(kept)
        if math.prod(shape) * self.size > MATRIX_LIMIT:
            raise NotWritten("matrix_too_large")

    def row(self, value: Expression) -> Expression:
        """Each line as the columns' values."""
        value = _last(value, self._dim, self._rank)
        return value if self._rank == 1 else reshape(value, (*self._shape[:-1], 1, self.size))

    def column(self, value: Expression) -> Expression:
        """Each line as the rows' values."""
        return reshape(_last(value, self._dim, self._rank), (*self._shape, 1))

    def sum_of_columns(self, matrix: Expression) -> Expression:
        """A value per row, in the operand's shape."""
        added = total(matrix, (self._rank,))
        return added if self._dim == self._rank - 1 else _last(reshape(added, self._shape), self._dim, self._rank)


def _cumprod_sent(n: Given) -> Expression:
    """Column k of the matrix is the product of the first k+1 values without the one of the row."""
    if not n.self.shape:
        return n.v
    along = _Along(n)
    if along.size == 1:
        return n.v
    without_one = where(apply("eye", n=along.size).equals(1), 1, along.row(n.self))
    products = apply("triu", apply("cumprod", without_one, dim=-1))
    return along.sum_of_columns(along.row(n.v) * conj(products))


def _logsumexp_sent(n: Given) -> Expression:
    return _spread(n, n.v) * conj(apply("exp", n.self - _spread(n, n.result)))


def _logcumsumexp(n: Given) -> Expression:
    x = n.operand("self")
    return apply("log", apply("cumsum", apply("exp", x), dim=n.dim)) if x.shape else x


def _logcumsumexp_sent(n: Given) -> Expression:
    if not n.self.shape:
        return n.v
    along = _Along(n)
    shares = apply("triu", apply("exp", along.column(n.self) - along.row(n.result)))
    return along.sum_of_columns(along.row(n.v) * conj(shares))


def _order(n: Given) -> float:
    return _whole(order) if math.isfinite(order := float(n.saved_or("p", n.saved_or("ord", 2)))) else order


def _norm(n: Given) -> Expression:
    size, order, dims = apply("abs", n.operand("self")), _order(n), _over(n)
    if order == 0:
        return total(size.differs(0), dims)
    if math.isinf(order):
        return apply("amax" if order > 0 else "amin", size, dim=dims or None)
    if order == 1:
        return total(size, dims)
    return apply("sqrt", total(size**2, dims)) if order == 2 else total(size**order, dims) ** (number(1) / order)


def _norm_sent(n: Given) -> Expression:
    x, order = n.self, _order(n)
    v, norm = _spread(n, n.v), _spread(n, n.result)
    sign, size = apply("sgn" if x.is_complex else "sign", x), apply("abs", x)
    if order == 0:
        return zero(n)
    if not n.shape:
        return v * sign
    if math.isinf(order):
        reached = size.equals(norm)
        return v * sign * reached / total(reached, _over(n))
    if order == 1:
        return v * sign
    if order == 2:
        return where(norm.equals(0), 0, v * x / norm)
    flat = x.equals(0) if order < 1 else norm.equals(0)
    power = order - 1 if isinstance(order, int) else number(order) - 1
    return where(flat, 0, v * sign * size**power / norm**power)


REDUCTIONS: tuple[Entry, ...] = (
    Entry(
        "sum",
        ("SumBackward0", "SumBackward1"),
        lambda n: total(n.operand("self"), _over(n)),
        (Vjp("self", lambda n: _repeated(n, n.v), _SHARED),),
    ),
    Entry(
        "nansum",
        ("NansumBackward0",),
        lambda n: apply("nansum", n.operand("self"), dim=_over(n) or None),
        (Vjp("self", lambda n: where(apply("isnan", n.self), 0, _spread(n, n.v)), why("why-nansum")),),
    ),
    Entry(
        "mean",
        ("MeanBackward0", "MeanBackward1"),
        lambda n: mean(n.operand("self"), _over(n)),
        (
            Vjp(
                "self",
                lambda n: _averaged(n, _repeated(n, n.v)),
                why("why-mean"),
            ),
        ),
    ),
    Entry(
        "var",
        ("VarBackward0",),
        _variance,
        (
            Vjp(
                "self",
                lambda n: _variance_sent(n, n.v),
                why("why-var"),
            ),
        ),
        (why("case-var"),),
    ),
    Entry(
        "std",
        ("StdBackward0",),
        lambda n: apply("sqrt", _variance(n)),
        (
            Vjp(
                "self",
                lambda n: _deviation_sent(n, n.v, n.result),
                why("why-std"),
            ),
        ),
        (why("case-std"),),
    ),
    Entry(
        "var_mean",
        ("VarMeanBackward0",),
        _variance,
        (Vjp("self", _with_mean(_variance_sent), _TWO_RESULTS),),
    ),
    Entry(
        "std_mean",
        ("StdMeanBackward0",),
        lambda n: apply("sqrt", _variance(n)),
        (Vjp("self", _with_mean(lambda n, v: _deviation_sent(n, v, n.result0)), _TWO_RESULTS),),
    ),
    Entry(
        "prod",
        ("ProdBackward0", "ProdBackward1"),
        _product,
        (Vjp("self", _product_sent, why("why-prod")),),
        (why("case-prod"),),
    ),
    Entry(
        "cumsum",
        ("CumsumBackward0",),
        _running("cumsum"),
        (
            Vjp(
                "self",
                _cumsum_sent,
                why("why-cumsum"),
            ),
        ),
    ),
    Entry(
        "cumprod",
        ("CumprodBackward0",),
        _running("cumprod"),
        (
            Vjp(
                "self",
                _cumprod_sent,
                why("why-cumprod"),
            ),
        ),
        (why("case-cumprod"),),
    ),
    Entry(
        "logsumexp",
        ("LogsumexpBackward0",),
        lambda n: apply("log", total(apply("exp", n.operand("self")), _over(n))),
        (
            Vjp(
                "self",
                _logsumexp_sent,
                why("why-logsumexp"),
            ),
        ),
    ),
    Entry(
        "logcumsumexp",
        ("LogcumsumexpBackward0",),
        _logcumsumexp,
        (
            Vjp(
                "self",
                _logcumsumexp_sent,
                why("why-logcumsumexp"),
            ),
        ),
        roughness=100.0,
    ),
    Entry(
        "norm",
        ("NormBackward0", "NormBackward1", "NormBackward2", "NormBackward3", "LinalgVectorNormBackward0"),
        _norm,
        (
            Vjp(
                "self",
                _norm_sent,
                lambda n: why("why-norm", "self") if _order(n) else why("why-norm-of-order-0"),
            ),
        ),
        (
            why("case-norm"),
            why("case-norm-infinite"),
        ),
    ),
)
