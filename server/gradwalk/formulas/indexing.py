"""Reading and writing by index or mask."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from collections.abc import Sequence

import torch
from torch import Tensor

from gradwalk.formulas.copies import send_back
from gradwalk.formulas.formula import BROADCAST, Entry, NodeView, Vjp, times

_READ = "What was read gets its v; what was read several times gets all of its v's, added up; the rest gets 0."
_OVERWRITTEN = "Where it was overwritten the old content no longer has any effect, so it gets 0 there and v elsewhere."
_WRITTEN = "What was written is read off v at the places where it went."
_TWICE = "An index that occurs twice adds both gradients: never one of them alone."
_NO_INDEX_GRADIENT = "The index gets no gradient: it is an integer."
_AT = r"@v \text{ added at } @index, \; 0 \text{ elsewhere}"


def _key(indices: Sequence[Tensor | None]) -> tuple[Tensor | slice, ...]:
    return tuple(slice(None) if index is None else index for index in indices)


def _kept(n: NodeView, places: object) -> Tensor:
    """v with zeros where something was written."""
    grad = n.v.clone()
    grad[places] = 0  # type: ignore[index]
    return grad


def _index_put_self(n: NodeView) -> Tensor:
    return n.v if n.accumulate else _kept(n, _key(n.indices))


def _take_along(n: NodeView, places: Tensor) -> Tensor:
    return places.gather(n.dim, n.index) if places.dim() else places.expand(n.index.shape)


def _select_along(n: NodeView, places: Tensor) -> Tensor:
    return places.index_select(n.dim, n.index) if places.dim() else places.expand(n.v.shape)


def _embedding(n: NodeView) -> Tensor:
    v, rows = n.v.reshape(-1, n.v.shape[-1]), n.indices.reshape(-1)
    if n.scale_grad_by_freq:
        v = v / torch.bincount(rows, minlength=n.shape[0])[rows].unsqueeze(-1)
    v = v.masked_fill((rows == n.padding_idx).unsqueeze(-1), 0)
    return n.zeros().index_add(0, rows, v)


def _gathered(n: NodeView) -> Tensor:
    return n.v.gather(n.dim, n.index) if n.v.dim() else n.v.expand(n.index.shape)


def _without_diagonal(n: NodeView) -> Tensor:
    grad = n.v.clone()
    grad.diagonal(n.offset, n.dim1, n.dim2).zero_()
    return grad


def _masked_select(n: NodeView) -> Tensor:
    self, mask = torch.broadcast_tensors(n.self, n.mask)  # type: ignore[no-untyped-call]
    return torch.zeros_like(self, dtype=n.v.dtype).masked_scatter(mask, n.v)


def _masked_source(n: NodeView) -> Tensor:
    picked = n.v[n.mask.expand(n.v.shape)]
    grad = n.zeros().reshape(-1)
    grad[: picked.numel()] = picked[: grad.numel()]
    return grad.reshape(n.shape)


def _index_fill_value(n: NodeView) -> Tensor:
    if n.v.dim() == 0:
        return n.v
    return n.v.index_select(n.dim, n.index.unique()).sum()


def _source_along(n: NodeView) -> Tensor:
    if n.v.dim() == 0 or not n.shape:
        return n.v.index_select(n.dim, n.index.reshape(-1)).reshape(n.shape) if n.v.dim() else n.v.reshape(n.shape)
    return n.v.index_select(n.dim, n.index)


def _put_self(n: NodeView) -> Tensor:
    return n.v if n.accumulate else n.v.put(n.index, torch.zeros_like(n.index, dtype=n.v.dtype))


def _slice_key(n: NodeView) -> tuple[slice, ...]:
    axes = [slice(None)] * n.v.dim()
    axes[n.dim] = slice(n.start, n.end, n.step)
    return tuple(axes)


INDEXING: tuple[Entry, ...] = (
    Entry(
        "index",
        ("IndexBackward0", "UnsafeIndexBackward0"),
        r"@result = @{self}[@index]",
        (
            Vjp(
                "self",
                _AT,
                "v added at the index, 0 elsewhere",
                _READ,
                lambda n: send_back(n, lambda places: places[_key(n.indices)]),
            ),
        ),
        (_TWICE, _NO_INDEX_GRADIENT, "A boolean mask is an index, too."),
    ),
    Entry(
        "index_select",
        ("IndexSelectBackward0",),
        r"@result = @{self}[\ldots, @index, \ldots]",
        (
            Vjp(
                "self",
                _AT,
                "v added at the index, 0 elsewhere",
                _READ,
                lambda n: send_back(n, lambda places: _select_along(n, places)),
            ),
        ),
        (_TWICE, _NO_INDEX_GRADIENT),
    ),
    Entry(
        "gather",
        ("GatherBackward0",),
        r"@{result}_{kj} = @{self}_{@{index}_{kj},\, j}",
        (
            Vjp(
                "self",
                _AT,
                "v added at the index, 0 elsewhere",
                _READ,
                lambda n: send_back(n, lambda places: _take_along(n, places)),
            ),
        ),
        (_TWICE, _NO_INDEX_GRADIENT),
    ),
    Entry(
        "take",
        ("TakeBackward0",),
        r"@result = \operatorname{flat}(@self)[@index]",
        (
            Vjp(
                "self",
                _AT,
                "v added at the index, 0 elsewhere",
                _READ,
                lambda n: send_back(n, lambda places: places.take(n.index)),
            ),
        ),
        (_TWICE, _NO_INDEX_GRADIENT),
    ),
    Entry(
        "embedding",
        ("EmbeddingBackward0",),
        r"@result = @{weight}[@index]",
        (
            Vjp(
                "weight",
                _AT,
                "v added to the rows that were looked up, 0 elsewhere",
                "A row that was looked up gets the v of every place where it was used; all other rows get 0.",
                _embedding,
            ),
        ),
        (
            _TWICE,
            "The row padding_idx never gets a gradient.",
            "scale_grad_by_freq divides by how often the row occurs; sparse=True gives the same gradient, stored sparsely.",
        ),
    ),
    Entry(
        "masked_select",
        ("MaskedSelectBackward0",),
        r"@result = @{self}[@mask]",
        (
            Vjp(
                "self",
                r"@v \text{ where } @mask, \; 0 \text{ elsewhere}",
                "v where the mask holds, 0 elsewhere",
                _READ,
                _masked_select,
            ),
        ),
        (BROADCAST,),
    ),
    Entry(
        "masked_fill",
        ("MaskedFillBackward0", "MaskedFillBackward1"),
        r"@result = @mask \mathbin{?} @value : @self",
        (
            Vjp(
                "self",
                r"@v \odot [\neg @mask]",
                "v where the mask is false, else 0",
                _OVERWRITTEN,
                lambda n: n.v.masked_fill(n.mask, 0),
            ),
            Vjp(
                "value",
                r"\textstyle\sum @v \odot [@mask]",
                "sum of v where the mask holds",
                "The one value was written to every masked place, so their v's add up.",
                lambda n: n.v.masked_fill(~n.mask, 0).sum(),
            ),
        ),
        (BROADCAST, "An attention mask works like this: what was set to minus infinity gets no gradient."),
    ),
    Entry(
        "masked_scatter",
        ("MaskedScatterBackward0",),
        r"@{self}[@mask] \leftarrow @source",
        (
            Vjp(
                "self",
                r"@v \odot [\neg @mask]",
                "v where the mask is false, else 0",
                _OVERWRITTEN,
                lambda n: n.v.masked_fill(n.mask, 0),
            ),
            Vjp("source", r"@{v}[@mask]", "v at the masked places, in order", _WRITTEN, _masked_source),
        ),
        ("Elements of the source that were not needed get 0.",),
    ),
    Entry(
        "scatter",
        ("ScatterBackward0", "ScatterBackward1"),
        r"@{self}[@index] \leftarrow @src",
        (
            Vjp(
                "self",
                r"@v \text{, 0 at } @index",
                "v with zeros at the index",
                _OVERWRITTEN,
                lambda n: n.v.scatter(n.dim, n.index, 0),
            ),
            Vjp("src", r"@{v}[@index]", "v gathered at the index", _WRITTEN, _gathered),
        ),
        (
            "If an index occurs twice only one value survives, but both get v: the gradient is right only without repeats.",
        ),
    ),
    Entry(
        "scatter_add",
        ("ScatterAddBackward0",),
        r"@{self}[@index] \mathrel{+}= @src",
        (
            Vjp("self", r"@v", "v", "Adding something to it does not change how it enters the result.", lambda n: n.v),
            Vjp("src", r"@{v}[@index]", "v gathered at the index", _WRITTEN, _gathered),
        ),
    ),
    Entry(
        "index_add",
        ("IndexAddBackward0",),
        r"@{self}[@index] \mathrel{+}= @alpha @source",
        (
            Vjp("self", r"@v", "v", "Adding something to it does not change how it enters the result.", lambda n: n.v),
            Vjp(
                "source",
                r"@alpha @{v}[@index]",
                "alpha * v at the index",
                _WRITTEN,
                lambda n: times(n.alpha, _source_along(n)),
            ),
        ),
    ),
    Entry(
        "index_copy",
        ("IndexCopyBackward0",),
        r"@{self}[@index] \leftarrow @source",
        (
            Vjp(
                "self",
                r"@v \text{, 0 at } @index",
                "v with zeros at the index",
                _OVERWRITTEN,
                lambda n: n.v.index_fill(n.dim, n.index, 0),
            ),
            Vjp("source", r"@{v}[@index]", "v at the index", _WRITTEN, _source_along),
        ),
    ),
    Entry(
        "index_fill",
        ("IndexFillBackward0", "IndexFillBackward1"),
        r"@{self}[@index] \leftarrow @value",
        (
            Vjp(
                "self",
                r"@v \text{, 0 at } @index",
                "v with zeros at the index",
                _OVERWRITTEN,
                lambda n: n.v.index_fill(n.dim, n.index, 0),
            ),
            Vjp(
                "value",
                r"\textstyle\sum @{v}[@index]",
                "sum of v at the index",
                "The one value was written to every indexed place, so their v's add up.",
                _index_fill_value,
            ),
        ),
    ),
    Entry(
        "index_put",
        ("IndexPutBackward0", "IndexPutImplBackward0", "UnsafeIndexPutBackward0"),
        r"@{self}[@index] \leftarrow @values",
        (
            Vjp(
                "self",
                r"@v \text{, 0 at } @index",
                "v with zeros at the index (v everywhere with accumulate=True)",
                _OVERWRITTEN,
                _index_put_self,
            ),
            Vjp("values", r"@{v}[@index]", "v at the index", _WRITTEN, lambda n: n.v[_key(n.indices)]),
        ),
        (BROADCAST, "This is `x[i] = y`. With accumulate=True the values are added, and the old content keeps its v."),
        {"values": "y"},
    ),
    Entry(
        "put",
        ("PutBackward0",),
        r"\operatorname{flat}(@self)[@index] \leftarrow @source",
        (
            Vjp(
                "self",
                r"@v \text{, 0 at } @index",
                "v with zeros at the index (v everywhere with accumulate=True)",
                _OVERWRITTEN,
                _put_self,
            ),
            Vjp(
                "source",
                r"\operatorname{flat}(@v)[@index]",
                "v taken at the index",
                _WRITTEN,
                lambda n: n.v.take(n.index).reshape(n.shape),
            ),
        ),
    ),
    Entry(
        "select_scatter",
        ("SelectScatterBackward0",),
        r"@{self}[\ldots, @index, \ldots] \leftarrow @src",
        (
            Vjp(
                "self",
                r"@v \text{, 0 at } @index",
                "v with zeros at the index",
                _OVERWRITTEN,
                lambda n: n.v.index_fill(n.dim, torch.as_tensor(n.index % n.v.shape[n.dim]), 0),
            ),
            Vjp(
                "src", r"@{v}[\ldots, @index, \ldots]", "v at the index", _WRITTEN, lambda n: n.v.select(n.dim, n.index)
            ),
        ),
    ),
    Entry(
        "slice_scatter",
        ("SliceScatterBackward0",),
        r"@{self}[\ldots, a\!:\!b\!:\!s, \ldots] \leftarrow @src",
        (
            Vjp(
                "self",
                r"@v \text{, 0 in the slice}",
                "v with zeros in the slice",
                _OVERWRITTEN,
                lambda n: _kept(n, _slice_key(n)),
            ),
            Vjp(
                "src", r"@{v}[\ldots, a\!:\!b\!:\!s, \ldots]", "v in the slice", _WRITTEN, lambda n: n.v[_slice_key(n)]
            ),
        ),
    ),
    Entry(
        "diagonal_scatter",
        ("DiagonalScatterBackward0",),
        r"\operatorname{diagonal}(@self) \leftarrow @src",
        (
            Vjp(
                "self",
                r"@v \text{, 0 on the diagonal}",
                "v with zeros on the diagonal",
                _OVERWRITTEN,
                _without_diagonal,
            ),
            Vjp(
                "src",
                r"\operatorname{diagonal}(@v)",
                "the diagonal of v",
                _WRITTEN,
                lambda n: n.v.diagonal(n.offset, n.dim1, n.dim2),
            ),
        ),
    ),
    Entry(
        "fill",
        ("FillBackward0", "FillBackward1", "FillBackward2", "FillBackward3"),
        r"@self \leftarrow @value",
        (
            Vjp(
                "self",
                "0",
                "0",
                "The old content was overwritten, so it no longer has any effect.",
                lambda n: torch.zeros_like(n.v),
            ),
            Vjp(
                "value",
                r"\textstyle\sum @v",
                "sum of v",
                "The one value was written everywhere, so all of v adds up.",
                lambda n: n.v.sum(),
            ),
        ),
    ),
    Entry(
        "zero_",
        ("ZeroBackward0",),
        r"@self \leftarrow 0",
        (
            Vjp(
                "self",
                "0",
                "0",
                "The old content was overwritten, so it no longer has any effect.",
                lambda n: torch.zeros_like(n.v),
            ),
        ),
    ),
)
