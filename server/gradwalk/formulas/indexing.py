"""Reading and writing by index or mask."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import torch

from gradwalk.formulas.entry import BROADCAST, Entry, Formula, Given, NotWritten, Shape, Vjp, why, zero
from gradwalk.formulas.expression import Expression, Named, Symbol, apply, ones, reshape, times, total, where, zeros
from gradwalk.formulas.shapes import diagonal_options, diagonal_taken, place_along, sliced

_READ = why("why-index")
_OVERWRITTEN = why("why-masked-fill")
_WRITTEN = why("why-masked-scatter-source")
_ADDED_TO = why("why-scatter-add", "self")
_REDUCED = why("why-scatter-reduce")
_TWICE = why("case-index")
_NO_INDEX_GRADIENT = why("case-index-whole")


class _Indices:
    """The indices of an `index` or `index_put`: tensors, and the dims at which they stand."""

    def __init__(self, n: Given) -> None:
        kinds = n.kinds()
        self.symbols: list[Symbol] = []
        self.dims: list[int] = []
        self.masks: list[bool] = []
        dim = 0
        for position, index in enumerate(n.indices):
            is_mask = index is not None and kinds[f"indices[{position}]"].dtype == torch.bool
            if index is not None:
                self.symbols.append(index)
                self.dims.append(dim)
                self.masks.append(is_mask)
            dim += index.rank if is_mask else 1

    def whole_mask(self, shape: Shape) -> Symbol | None:
        """The one index where it is a mask over all dims."""
        return self.symbols[0] if self.masks == [True] and self.symbols[0].shape == shape else None

    def apply(self, operation: str, value: Expression, **options: Shape) -> Expression:
        """An operation for indices of any kind."""
        return apply(operation, value, *self.symbols, dims=tuple(self.dims), **options)


def _indexed(value: Symbol, indices: _Indices) -> Expression:
    if mask := indices.whole_mask(value.shape):
        return apply("masked_select", value, mask)
    return indices.apply("taken_at", value)


def _index_back(n: Given) -> Expression:
    indices = _Indices(n)
    if mask := indices.whole_mask(n.shape):
        return apply("masked_scatter", zeros(n.shape), mask, n.v)
    return indices.apply("added_at", n.v, shape=n.shape)


def _index_put_self(n: Given) -> Expression:
    if n.accumulate:
        return n.v
    indices = _Indices(n)
    if mask := indices.whole_mask(n.v.shape):
        return where(mask, 0, n.v)
    return indices.apply("zeroed_at", n.v)


def _index_put_values(n: Given) -> Expression:
    """How many places a mask has is not known beforehand, so the sum over values that were repeated is written here."""
    indices = _Indices(n)
    taken = _indexed(n.v, indices)
    if True not in indices.masks:
        return taken
    if len(indices.masks) > 1:
        raise NotWritten("mask_among_indices")
    [dim], [mask] = indices.dims, indices.symbols
    sizes = (*n.v.shape[:dim], None, *n.v.shape[dim + mask.rank :])
    lead = len(sizes) - len(n.shape)
    repeated = [axis for axis, size in enumerate(sizes) if axis < lead or (n.shape[axis - lead] == 1 and size != 1)]
    return total(taken, None if len(repeated) == len(sizes) else repeated)


def _filled_value(n: Given) -> Expression:
    """The sum is written here because how many places there are is not known beforehand."""
    return total(apply("index_select", n.v, apply("unique", n.index), dim=n.dim)) if n.v.rank else n.v


def _index_select_back(n: Given) -> Expression:
    if not n.shape:
        return n.v
    index, v = (one if one.rank else reshape(one, (1,)) for one in (n.index, n.v))
    return apply("index_add", zeros(n.shape), index, v, dim=n.dim)


def _gather_back(n: Given) -> Expression:
    return apply("scatter_add", zeros(n.shape), n.index, n.v, dim=n.dim) if n.shape else total(n.v)


def _embedding(n: Given) -> Expression:
    v: Expression = n.v
    rows: Symbol = n.indices
    one_per_row = (*rows.shape, 1)
    if n.scale_grad_by_freq:
        counts = apply("bincount", reshape(rows, (-1,)), minlength=n.shape[0])
        v = v / Named("count", reshape(apply("taken_at", counts, rows, dims=(0,)), one_per_row))
    if 0 <= n.padding_idx < n.shape[0]:
        v = where(reshape(rows, one_per_row).differs(n.padding_idx), v, 0)
    if rows.rank == 1:
        return apply("index_add", zeros(n.shape), rows, v, dim=0)
    return apply("added_at", v, rows, dims=(0,), shape=n.shape)


_BAG_MEAN, _BAG_MAX = 1, 2
_EXTREMES = ("amax", "amin")


def _sent_to_bags(n: Given) -> Expression:
    """For every index the v of the bag it was put into, of which a mean gives each an equal part."""
    bags = Named("bag", apply("bucketize", apply("arange", n.indices.shape[0]), n.offsets, right=True) - 1)
    v = n.v / reshape(n.result2, (-1, 1)) if n.mode == _BAG_MEAN else n.v
    sent: Expression = apply("taken_at", v, bags, dims=(0,))
    if n.padding_idx >= 0:
        sent = where(_as_column(n.indices).differs(n.padding_idx), sent, 0)
    return sent


def _as_column(values: Expression) -> Expression:
    return reshape(values, (-1, 1))


def _embedding_bag(n: Given) -> Expression:
    if n.mode == _BAG_MAX:
        filled = where(_as_column(n.result2).equals(0), 0, n.v)
        return apply("scatter_add", zeros(n.shape), n.result3, filled, dim=0)
    sent = _sent_to_bags(n)
    if (weights := n.saved_or("per_sample_weights", None)) is not None:
        sent = _as_column(weights) * sent
    if n.scale_grad_by_freq:
        counts = apply("bincount", n.indices, minlength=n.shape[0])
        sent = sent / Named("count", _as_column(apply("taken_at", counts, n.indices, dims=(0,))))
    return apply("index_add", zeros(n.shape), n.indices, sent, dim=0)


def _weight_in_bag(n: Given) -> Expression:
    return total(_sent_to_bags(n) * apply("taken_at", n.weight, n.indices, dims=(0,)), [1])


def _kept(n: Given, value: Expression) -> Expression:
    """The value, 0 at the places whose content did not take part."""
    return value if n.include_self else apply("scatter", value, n.index, dim=n.dim, value=0)


def _is_extreme(n: Given) -> tuple[Expression, Expression]:
    """1 where the content, and where what was scattered into it, is the largest or smallest that became the result."""
    reached = apply("gather", n.result, n.index, dim=n.dim)
    return where(n.self.equals(n.result), 1, 0), where(n.src.equals(reached), 1, 0)


def _share(n: Given) -> Expression:
    """The v that each of those gets that were reduced to one result; ties share it equally."""
    if n.reduce == "sum":
        return n.v
    here, there = (_kept(n, ones(n.self.shape)), ones(n.src.shape)) if n.reduce == "mean" else _is_extreme(n)
    return n.v / Named("count", apply("scatter_add", here, n.index, there, dim=n.dim))


def _reduced_self(n: Given) -> Expression:
    if n.reduce == "prod":
        factor = where(n.self.equals(0), 1, n.self)
        return _kept(n, n.v * _multiplied(n, factor, n.src) / factor)
    return _kept(n, _share(n) * _is_extreme(n)[0] if n.reduce in _EXTREMES else _share(n))


def _reduced_src(n: Given) -> Expression:
    if n.reduce == "prod":
        return _factor_of_product(n)
    shares = apply("gather", _share(n), n.index, dim=n.dim)
    return shares * _is_extreme(n)[1] if n.reduce in _EXTREMES else shares


def _multiplied(n: Given, content: Expression, factors: Expression) -> Expression:
    options = {"dim": n.dim, "reduce": "prod", "include_self": n.include_self}
    return apply("scatter_reduce", content, n.index, factors, **options)


def _factor_of_product(n: Given) -> Expression:
    """v times the product of the other factors: the result without this one, which may be a zero, the only one or not."""
    is_zero = n.src.equals(0)
    zeros_there = apply("scatter_add", zeros(n.self.shape), n.index, where(is_zero, 1, 0), dim=n.dim)
    is_only = is_zero & apply("gather", zeros_there, n.index, dim=n.dim).equals(1)
    others = _multiplied(n, n.self, where(is_only, 1, n.src))
    along = {"dim": n.dim}
    divided = apply("gather", n.v * n.result, n.index, **along) / where(is_zero, 1, n.src)
    return where(is_only, apply("gather", n.v * others, n.index, **along), divided)


def _masked_select_back(n: Given) -> Expression:
    shape = torch.broadcast_shapes(n.self.shape, n.mask.shape)  # type: ignore[no-untyped-call]
    return apply("masked_scatter", zeros(shape), n.mask, n.v)


def _masked_source(n: Given) -> Expression:
    return apply("padded_to", apply("masked_select", n.v, n.mask), shape=n.shape)


def _along(operation: str, **options: int) -> Formula:
    """The operation on v with the node's index along the node's dim."""
    return lambda n: apply(operation, n.v, n.index, dim=n.dim, **options)


def _source_along(n: Given) -> Expression:
    taken = apply("index_select", n.v, n.index, dim=n.dim)
    return taken if n.shape else reshape(taken, ())


def _put_self(n: Given) -> Expression:
    return n.v if n.accumulate else apply("put", n.v, n.index, zeros(n.index.shape))


def _in_shape(value: Expression, shape: Shape, wanted: Shape) -> Expression:
    return value if shape == wanted else reshape(value, wanted)


def _row(n: Given) -> Expression:
    """The rows of a matrix that the indices name."""
    if n.operand("indices").rank == 1:
        return apply("index_select", n.operand("weight"), n.operand("indices"), dim=0)
    return apply("taken_at", n.operand("weight"), n.operand("indices"), dims=(0,))


def _index_added(n: Given) -> Expression:
    source = n.operand("source")
    added = times(n.alpha.conjugate(), source)
    return apply("index_add", n.operand("self"), n.index, added, dim=n.dim)


def _without_diagonal(n: Given) -> Expression:
    options = diagonal_options(n, n.v.rank)
    return apply("diagonal_scatter", n.v, zeros(_diagonal_shape(n)), **options)


def _diagonal_shape(n: Given) -> Shape:
    empty = torch.empty(n.v.shape, device="meta")
    return tuple(torch.diagonal(empty, n.offset, n.dim1, n.dim2).shape)


INDEXING: tuple[Entry, ...] = (
    Entry(
        "index",
        ("IndexBackward0", "UnsafeIndexBackward0"),
        lambda n: _indexed(n.operand("self"), _Indices(n)),
        (Vjp("self", _index_back, _READ),),
        (_TWICE, _NO_INDEX_GRADIENT, why("case-index-mask")),
    ),
    Entry(
        "index_select",
        ("IndexSelectBackward0",),
        lambda n: apply("index_select", n.operand("self"), n.index, dim=n.dim),
        (Vjp("self", _index_select_back, _READ),),
        (_TWICE, _NO_INDEX_GRADIENT),
    ),
    Entry(
        "gather",
        ("GatherBackward0",),
        lambda n: apply("gather", n.operand("self"), n.index, dim=n.dim),
        (Vjp("self", _gather_back, _READ),),
        (_TWICE, _NO_INDEX_GRADIENT),
    ),
    Entry(
        "take",
        ("TakeBackward0",),
        lambda n: apply("take", n.operand("self"), n.index),
        (Vjp("self", lambda n: apply("put", zeros(n.shape), n.index, n.v, accumulate=True), _READ),),
        (_TWICE, _NO_INDEX_GRADIENT, why("case-take", "self")),
    ),
    Entry(
        "embedding",
        ("EmbeddingBackward0",),
        _row,
        (
            Vjp(
                "weight",
                _embedding,
                why("why-embedding-weight"),
            ),
        ),
        (
            _TWICE,
            why("case-embedding"),
            why("case-embedding-sparse"),
        ),
    ),
    Entry(
        "embedding_bag",
        ("EmbeddingBagBackward0",),
        None,
        (
            Vjp("weight", _embedding_bag, why("why-embedding-bag")),
            Vjp("per_sample_weights", _weight_in_bag, why("why-embedding-bag-weights")),
        ),
        (_TWICE,),
        {"per_sample_weights": "w", "offsets": "o", "result2": "n", "result3": "k"},
    ),
    Entry(
        "masked_select",
        ("MaskedSelectBackward0",),
        lambda n: apply("masked_select", n.operand("self"), n.mask),
        (Vjp("self", _masked_select_back, _READ),),
        (BROADCAST,),
    ),
    Entry(
        "masked_fill",
        ("MaskedFillBackward0", "MaskedFillBackward1"),
        lambda n: where(n.mask, n.operand("value"), n.operand("self")),
        (
            Vjp("self", lambda n: where(n.mask, 0, n.v), _OVERWRITTEN),
            Vjp(
                "value",
                lambda n: where(n.mask, n.v, 0),
                why("why-masked-fill-value"),
            ),
        ),
        (BROADCAST, why("case-masked-fill")),
    ),
    Entry(
        "masked_scatter",
        ("MaskedScatterBackward0",),
        lambda n: apply("masked_scatter", n.operand("self"), n.mask, n.operand("source")),
        (
            Vjp("self", lambda n: where(n.mask, 0, n.v), _OVERWRITTEN),
            Vjp("source", _masked_source, _WRITTEN),
        ),
        (why("case-masked-scatter", "source"),),
    ),
    Entry(
        "scatter",
        ("ScatterBackward0", "ScatterBackward1"),
        None,
        (Vjp("self", _along("scatter", value=0), _OVERWRITTEN), Vjp("src", _along("gather"), _WRITTEN)),
        (why("case-scatter"),),
    ),
    Entry(
        "scatter_add",
        ("ScatterAddBackward0",),
        lambda n: apply("scatter_add", n.operand("self"), n.index, n.operand("src"), dim=n.dim),
        (Vjp("self", lambda n: n.v, _ADDED_TO), Vjp("src", _along("gather"), _WRITTEN)),
    ),
    Entry(
        "scatter_reduce",
        ("ScatterReduceBackward0",),
        None,
        (Vjp("self", _reduced_self, _REDUCED), Vjp("src", _reduced_src, _REDUCED)),
    ),
    Entry(
        "index_add",
        ("IndexAddBackward0",),
        _index_added,
        (Vjp("self", lambda n: n.v, _ADDED_TO), Vjp("source", lambda n: times(n.alpha, _source_along(n)), _WRITTEN)),
    ),
    Entry(
        "index_copy",
        ("IndexCopyBackward0",),
        None,
        (
            Vjp("self", _along("index_fill", value=0), _OVERWRITTEN),
            Vjp("source", _source_along, _WRITTEN),
        ),
    ),
    Entry(
        "index_fill",
        ("IndexFillBackward0", "IndexFillBackward1"),
        None,
        (
            Vjp("self", _along("index_fill", value=0), _OVERWRITTEN),
            Vjp(
                "value",
                _filled_value,
                why("why-index-fill-value"),
            ),
        ),
    ),
    Entry(
        "index_put",
        ("IndexPutBackward0", "IndexPutImplBackward0", "UnsafeIndexPutBackward0"),
        None,
        (
            Vjp("self", _index_put_self, why("why-index-put")),
            Vjp("values", _index_put_values, _WRITTEN),
        ),
        (BROADCAST, why("case-index-put")),
        {"values": "y"},
    ),
    Entry(
        "put",
        ("PutBackward0",),
        lambda n: apply("put", n.operand("self"), n.index, n.operand("source"), accumulate=n.accumulate),
        (
            Vjp("self", _put_self, why("why-index-put")),
            Vjp("source", lambda n: _in_shape(apply("take", n.v, n.index), n.index.shape, n.shape), _WRITTEN),
        ),
    ),
    Entry(
        "select_scatter",
        ("SelectScatterBackward0",),
        None,
        (
            Vjp(
                "self",
                lambda n: apply("with_zeros", n.v, at=place_along(n.dim, n.v.rank, n.index)),
                _OVERWRITTEN,
            ),
            Vjp("src", lambda n: apply("select", n.v, dim=n.dim, index=n.index), _WRITTEN),
        ),
    ),
    Entry(
        "slice_scatter",
        ("SliceScatterBackward0",),
        None,
        (
            Vjp("self", lambda n: apply("with_zeros", n.v, at=sliced(n, n.v.shape)), _OVERWRITTEN),
            Vjp("src", lambda n: apply("part", n.v, at=sliced(n, n.v.shape)), _WRITTEN),
        ),
    ),
    Entry(
        "diagonal_scatter",
        ("DiagonalScatterBackward0",),
        None,
        (
            Vjp("self", _without_diagonal, _OVERWRITTEN),
            Vjp("src", lambda n: diagonal_taken(n, n.v), _WRITTEN),
        ),
    ),
    Entry(
        "fill",
        ("FillBackward0", "FillBackward1", "FillBackward2", "FillBackward3"),
        None,
        (
            Vjp("self", zero, why("why-copy")),
            Vjp("value", lambda n: n.v, why("why-fill-value")),
        ),
    ),
    Entry(
        "zero_",
        ("ZeroBackward0",),
        lambda n: zeros(n.operand("self").shape),
        (Vjp("self", zero, why("why-copy")),),
    ),
)
