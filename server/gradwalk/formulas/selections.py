"""Ops that pick elements by their size: extremes, medians, sorting."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from gradwalk.formulas.entry import Entry, Formula, Given, Reason, Vjp, normal_dims, restored, why
from gradwalk.formulas.expression import Expression, apply, reshape, total, zeros

_ROUTER = why("why-max")
_SHARING = why("why-max-shared")
_RECORD = why("why-cummax")
_FIRST = why("case-max")
_SHARE = why("case-ties-shared")
_INDICES = why("case-indices-whole")


def _picked(n: Given) -> Expression:
    """The elements at the returned indices."""
    x, indices = n.operand("self"), n.operand("indices")
    if not x.shape:
        return x
    return apply("gather", x, restored(indices, n.dim, bool(n.saved_or("keepdim", True)), x.shape), dim=n.dim)


def _to_picked(n: Given) -> Expression:
    """v put back at the indices along `dim`."""
    if not n.shape:
        return n.v
    keepdim = bool(n.saved_or("keepdim", True))
    v, places = (_kept(n, value, keepdim) for value in (n.v, n.indices))
    return apply("scatter_add", zeros(n.shape), places, v, dim=n.dim)


def _kept(n: Given, value: Expression, keepdim: bool) -> Expression:
    """A value per line with the line's dim back: indexing does not broadcast."""
    if keepdim:
        return value
    kept = list(n.shape)
    kept[n.dim] = 1
    return reshape(value, kept)


def _shared(n: Given, v: Expression, result: Expression) -> Expression:
    """v divided evenly among all elements equal to the result."""
    dim, keepdim = n.saved_or("dim", None), bool(n.saved_or("keepdim", False))
    v, result = (restored(value, dim, keepdim, n.shape) for value in (v, result))
    equal = n.self.equals(result)
    return v * equal / total(equal, normal_dims(dim, n.self.rank)) if n.shape else v


def _of_extremes(n: Given) -> Expression:
    ways = [_shared(n, v, result) for v, result in zip(n.seeds, (n.min, n.max), strict=True) if v is not None]
    return ways[0] + ways[1] if len(ways) > 1 else ways[0]


def _extreme(operation: str) -> Formula:
    """The forward pass of an op that saved the dims it works along, if any."""

    def forward(n: Given) -> Expression:
        x, dim = n.operand("self"), n.saved_or("dim", None)
        return apply(operation, x, dim=None if dim in (None, ()) else dim)

    return forward


def _along(op: str, node_name: str, forward: Formula = _picked) -> Entry:
    return Entry(op, (node_name,), forward, (Vjp("self", _to_picked, _ROUTER),), (_FIRST, _INDICES))


def _sharing(op: str, node_name: str, operation: str, special_cases: tuple[Reason, ...] = ()) -> Entry:
    vjp = Vjp("self", lambda n: _shared(n, n.v, n.result), _SHARING)
    return Entry(op, (node_name,), _extreme(operation), (vjp,), (_SHARE, *special_cases))


def _ordered(op: str, node_names: tuple[str, ...], because: Reason) -> Entry:
    return Entry(op, node_names, _picked, (Vjp("self", _to_picked, because),), (_INDICES,))


_PICKS_ONE = why("case-amax")

SELECTIONS: tuple[Entry, ...] = (
    _along("max", "MaxBackward0", _extreme("amax")),
    _along("min", "MinBackward0", _extreme("amin")),
    _along("median", "MedianBackward1"),
    _along("nanmedian", "NanmedianBackward1"),
    _along("kthvalue", "KthvalueBackward0"),
    _along("mode", "ModeBackward0"),
    _sharing("max", "MaxBackward1", "amax"),
    _sharing("min", "MinBackward1", "amin"),
    _sharing("median", "MedianBackward0", "median"),
    _sharing("nanmedian", "NanmedianBackward0", "nanmedian"),
    _sharing("amax", "AmaxBackward0", "amax", (_PICKS_ONE,)),
    _sharing("amin", "AminBackward0", "amin", (_PICKS_ONE,)),
    Entry(
        "aminmax",
        ("AminmaxBackward0",),
        _extreme("amin"),
        (
            Vjp(
                "self",
                _of_extremes,
                why("why-aminmax"),
            ),
        ),
        (_SHARE,),
    ),
    _ordered(
        "topk",
        ("TopkBackward0",),
        why("why-topk"),
    ),
    _ordered(
        "sort",
        ("SortBackward0", "SortBackward1"),
        why("why-sort"),
    ),
    _ordered("cummax", ("CummaxBackward0",), _RECORD),
    _ordered("cummin", ("CumminBackward0",), _RECORD),
)
