"""Views, copies, joins and splits: the numbers stay, their places change."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from collections.abc import Callable

from gradwalk.formulas.entry import Entry, Formula, Given, NotWritten, Reason, Shape, Vjp, normal_dims, why, zero
from gradwalk.formulas.expression import Expression, Symbol, apply, reshape, total, zeros
from gradwalk.formulas.expression import transpose as transposed
from gradwalk.formulas.placing_operations import Index, Place

_MOVED = why("why-view")
_PART = why("why-select")
_REPEATED = why("why-expand")
_ONE_PART = why("why-split")
_VIEW = (why("case-view-memory"),)
_UNUSED_PART = why("case-split")


def _moved(op: str, nodes: tuple[str, ...], forward: Formula | None, back: Formula) -> Entry:
    return Entry(op, nodes, forward, (Vjp("self", back, _MOVED),), _VIEW)


def _variants(name: str, count: int = 1) -> tuple[str, ...]:
    """The node names of an op with `count` overloads and a `_copy` twin of each."""
    return tuple(f"{name}Backward{i}{suffix}" for i in range(count) for suffix in ("", "_copy"))


def _of_self(operation: str, *options: str) -> Formula:
    """The operation applied to `self`, with the node's own options."""
    return lambda n: apply(operation, n.operand("self"), **{name: getattr(n, name) for name in options})


def _in_old_shape(n: Given) -> Expression:
    return n.v if n.v.shape == n.shape else reshape(n.v, n.shape)


def _t(value: Expression, shape: Shape) -> Expression:
    return transposed(value) if len(shape) == 2 else value


def _swapped(n: Given, value: Expression, rank: int) -> Expression:
    first, second = normal_dims((n.dim0, n.dim1), rank) or (0, 0)
    if first == second:
        return value
    if (first, second) == (rank - 2, rank - 1):
        return transposed(value)
    return apply("swapdims", value, dim0=first, dim1=second)


def _permuted_back(n: Given) -> Expression:
    inverse = [0] * len(n.dims)
    for position, dim in enumerate(n.dims):
        inverse[dim] = position
    return apply("permute", n.v, dims=tuple(inverse))


def _squeezed(n: Given) -> Expression:
    x = n.operand("self")
    asked = n.saved_or("dim", None)
    dims = () if asked == () else normal_dims(asked, x.rank)
    return reshape(x, [size for dim, size in enumerate(x.shape) if size != 1 or dim not in dims])


def _unsqueezed(n: Given) -> Expression:
    x = n.operand("self")
    dim = n.dim % (x.rank + 1)
    return reshape(x, (*x.shape[:dim], 1, *x.shape[dim:]))


def place_along(dim: int, rank: int, index: Index) -> Place:
    """The place of an index or slice of one dim; what follows it is left out, as people write it."""
    return Place((*[slice(None)] * (dim % max(rank, 1)), index))


def sliced(n: Given, shape: Shape) -> Place:
    """The place of the slice that a node saved, of a tensor of `shape`; without the bounds that say nothing."""
    size = shape[n.dim]
    start, end = n.saved_or("start", 0), n.saved_or("end", size)
    bounds = slice(start or None, None if end >= size else end, None if n.step == 1 else n.step)
    return place_along(n.dim, len(shape), bounds)


def _into_zeros(n: Given, at: Place) -> Expression:
    return apply("into_zeros", n.v, at=at, shape=n.shape)


def _split_sizes(n: Given) -> list[int]:
    sizes = n.saved_or("split_sizes", None)
    if sizes is not None:
        return list(sizes)
    whole = n.self_sym_sizes[n.dim]
    return [min(n.split_size, whole - start) for start in range(0, whole, max(n.split_size, 1))] or [0]


def _split_joined(n: Given) -> Expression:
    shape = n.self_sym_sizes
    dim = n.dim % len(shape)
    parts = [
        zeros((*shape[:dim], size, *shape[dim + 1 :])) if seed is None else seed
        for seed, size in zip(n.seeds, _split_sizes(n), strict=True)
    ]
    return apply("cat", *parts, dim=n.dim) if len(parts) > 1 else parts[0]


def _first_part(n: Given) -> Expression:
    return apply("narrow", n.operand("self"), dim=n.dim, start=0, length=_split_sizes(n)[0])


def _unbound_stacked(n: Given) -> Expression:
    return apply("stack", *[zeros(n.v.shape) if seed is None else seed for seed in n.seeds], dim=n.dim)


def _members(n: Given) -> list[Expression]:
    return [n.operand(f"tensors[{member}]") for member in range(len(n.operand_shapes))]


def _stretch_of_cat(n: Given) -> Expression:
    """This member's stretch of v; where it starts follows from the members before it, or after it."""
    if n.shape == (0,) and n.v.rank > 1:
        return zero(n)
    dim = n.dim % n.v.rank
    own = n.shape[dim]
    before = [_stretch(shape, dim) for shape in n.operand_shapes[: n.argnum]]
    after = [_stretch(shape, dim) for shape in n.operand_shapes[n.argnum + 1 :]]
    if None not in before:
        start = sum(size or 0 for size in before)
    elif None not in after:
        start = n.v.shape[dim] - own - sum(size or 0 for size in after)
    else:
        raise NotWritten("sizes_unknown")
    return n.v if own == n.v.shape[dim] else apply("narrow", n.v, dim=n.dim, start=start, length=own)


def _stretch(shape: Shape | None, dim: int) -> int | None:
    """How much room a member takes; legacy empty members take none."""
    if shape is None:
        return None
    return 0 if shape == (0,) and dim > 0 else shape[dim]


def _block_of_diagonal(n: Given) -> Expression:
    before = n.operand_shapes[: n.argnum]
    if None in before:
        raise NotWritten("sizes_unknown")
    corners = [_block(shape) for shape in before if shape is not None]
    top, left = sum(rows for rows, _ in corners), sum(columns for _, columns in corners)
    rows, columns = _block(n.shape)
    return apply("part", n.v, at=Place((slice(top, top + rows), slice(left, left + columns))))


def _block(shape: Shape) -> Shape:
    return (1, 1, *shape)[-2:]


def _copies_added(n: Given) -> Expression:
    """Each repeated dim as two: the copies, which are added up, and the dim itself."""
    sizes = (1,) * (len(n.repeats) - len(n.shape)) + n.shape
    split: list[int] = []
    copies: list[int] = []
    for count, size in zip(n.repeats, sizes, strict=True):
        if count != 1:
            copies.append(len(split))
            split.append(count)
        split.append(size)
    return total(reshape(n.v, split), copies) if copies else n.v


def _tiled(n: Given) -> Expression:
    return apply("tile", n.operand("self"), dims=n.repeats)


def _rolled(value: Callable[[Given], Expression], sign: int) -> Formula:
    def formula(n: Given) -> Expression:
        dims = {"dims": tuple(n.dims)} if n.dims else {}
        return apply("roll", value(n), shifts=tuple(sign * shift for shift in n.shifts), **dims)

    return formula


def diagonal_options(n: Given, rank: int, default: tuple[int, int] = (0, 1)) -> dict[str, int]:
    """Which diagonal of a tensor of that rank; what torch takes for granted is left out."""
    options = {"offset": n.offset} if n.offset else {}
    dims = (n.dim1 % rank, n.dim2 % rank)
    return options if dims == (default[0] % rank, default[1] % rank) else options | {"dim1": dims[0], "dim2": dims[1]}


def diagonal_taken(n: Given, value: Symbol) -> Expression:
    """The diagonal that the node is about."""
    return apply("diagonal", value, **diagonal_options(n, value.rank))


def _diagonal_embedded(n: Given) -> Expression:
    x = n.operand("self")
    return apply("diag_embed", x, **diagonal_options(n, x.rank + 1, (-2, -1)))


def _diagonal_back(n: Given) -> Expression:
    return apply("diagonal_scatter", zeros(n.shape), n.v, **diagonal_options(n, len(n.shape)))


def _windows_back(n: Given) -> Expression:
    if not n.shape:
        return n.v
    return apply("windows_transposed", n.v, dimension=n.dimension, size=n.size, step=n.step, shape=n.shape)


_PATCHES = ("kernel_size", "dilation", "padding", "stride")


def _patches(n: Given) -> dict[str, tuple[int, ...]]:
    """How `nn.Unfold` cuts an image into patches."""
    return {name: getattr(n, name) for name in _PATCHES}


def _memory_back(_: Given) -> Expression:
    """The node does not save how its operand lay in memory."""
    raise NotWritten("window")


def _bordered(op: str, node: str, mode: str, reason: Reason) -> Entry:
    return Entry(
        op,
        tuple(f"{node}{rank}DBackward0" for rank in (1, 2, 3)),
        lambda n: apply("pad", n.operand("self"), pad=n.padding, mode=mode),
        (
            Vjp(
                "self",
                lambda n: apply("pad_transposed", n.v, pad=n.padding, mode=mode, shape=n.shape),
                reason,
            ),
        ),
    )


SHAPES: tuple[Entry, ...] = (
    _moved(
        "view",
        (*_variants("View"), "UnsafeViewBackward0", "ReshapeAliasBackward0", "MkldnnReshapeBackward0"),
        None,
        _in_old_shape,
    ),
    _moved(
        "t",
        (*_variants("T"), "TBackward1"),
        lambda n: _t(n.operand("self"), n.operand("self").shape),
        lambda n: _t(n.v, n.shape),
    ),
    _moved(
        "transpose",
        (*_variants("Transpose"), "TransposeBackward1"),
        lambda n: _swapped(n, n.operand("self"), n.operand("self").rank),
        lambda n: _swapped(n, n.v, n.v.rank),
    ),
    _moved("permute", _variants("Permute"), _of_self("permute", "dims"), _permuted_back),
    Entry(
        "expand",
        _variants("Expand"),
        None,
        (Vjp("self", lambda n: n.v, _REPEATED),),
        (why("case-expand"),),
    ),
    _moved(
        "squeeze",
        (*_variants("Squeeze", 3), *(f"SqueezeBackward{i}" for i in (3, 4, 5))),
        _squeezed,
        _in_old_shape,
    ),
    _moved("unsqueeze", (*_variants("Unsqueeze"), "UnsqueezeBackward1"), _unsqueezed, _in_old_shape),
    Entry(
        "select",
        _variants("Select"),
        _of_self("select", "dim", "index"),
        (Vjp("self", lambda n: _into_zeros(n, place_along(n.dim, len(n.shape), n.index)), _PART),),
        _VIEW,
    ),
    Entry(
        "slice",
        _variants("Slice"),
        lambda n: apply("part", n.operand("self"), at=sliced(n, n.operand("self").shape)),
        (Vjp("self", lambda n: _into_zeros(n, sliced(n, n.shape)), _PART),),
        (*_VIEW, why("case-slice")),
    ),
    Entry(
        "split",
        (*_variants("Split"), *_variants("SplitWithSizes"), "UnsafeSplitBackward0", "UnsafeSplitWithSizesBackward0"),
        _first_part,
        (Vjp("self", _split_joined, _ONE_PART),),
        (_UNUSED_PART, *_VIEW),
    ),
    Entry(
        "unbind",
        _variants("Unbind"),
        lambda n: apply("select", n.operand("self"), dim=n.dim, index=0),
        (Vjp("self", _unbound_stacked, _ONE_PART),),
        (_UNUSED_PART, *_VIEW),
    ),
    Entry(
        "cat",
        ("CatBackward0",),
        lambda n: apply("cat", *_members(n), dim=n.dim),
        (
            Vjp(
                "tensors",
                _stretch_of_cat,
                why("why-cat-tensors"),
            ),
        ),
    ),
    Entry(
        "stack",
        ("StackBackward0",),
        lambda n: apply("stack", *_members(n), dim=n.dim),
        (
            Vjp(
                "tensors",
                lambda n: apply("select", n.v, dim=n.dim, index=n.member),
                why("why-stack-tensors"),
            ),
        ),
    ),
    Entry(
        "block_diag",
        ("BlockDiagBackward0",),
        lambda n: apply("block_diag", *_members(n)),
        (
            Vjp(
                "tensors",
                _block_of_diagonal,
                why("why-block-diag-tensors"),
            ),
        ),
    ),
    Entry("repeat", ("RepeatBackward0",), _tiled, (Vjp("self", _copies_added, _REPEATED),)),
    _moved("flip", ("FlipBackward0",), _of_self("flip", "dims"), lambda n: apply("flip", n.v, dims=n.dims)),
    _moved("roll", ("RollBackward0",), _rolled(lambda n: n.operand("self"), 1), _rolled(lambda n: n.v, -1)),
    _moved(
        "rot90",
        ("Rot90Backward0",),
        _of_self("rot90", "k", "dims"),
        lambda n: apply("rot90", n.v, k=-n.k, dims=n.dims),
    ),
    Entry(
        "unfold",
        _variants("Unfold"),
        _of_self("windows", "dimension", "size", "step"),
        (
            Vjp(
                "self",
                _windows_back,
                why("why-unfold"),
            ),
        ),
    ),
    Entry(
        "im2col",
        ("Im2ColBackward0",),
        _of_self("im2col", *_PATCHES),
        (Vjp("self", lambda n: apply("col2im", n.v, output_size=n.shape[-2:], **_patches(n)), why("why-unfold")),),
    ),
    Entry(
        "col2im",
        ("Col2ImBackward0",),
        None,
        (Vjp("self", lambda n: apply("im2col", n.v, **_patches(n)), why("why-fold")),),
    ),
    Entry(
        "diagonal",
        _variants("Diagonal"),
        lambda n: diagonal_taken(n, n.operand("self")),
        (Vjp("self", _diagonal_back, _PART),),
        _VIEW,
    ),
    Entry(
        "diag_embed",
        ("DiagEmbedBackward0",),
        _diagonal_embedded,
        (
            Vjp(
                "self",
                lambda n: diagonal_taken(n, n.v),
                why("why-diag-embed"),
            ),
        ),
    ),
    Entry(
        "as_strided",
        _variants("AsStrided"),
        None,
        (
            Vjp(
                "self",
                _memory_back,
                why("why-as-strided"),
            ),
        ),
        (why("case-as-strided", "self"),),
    ),
    Entry(
        "clone",
        (
            "CloneBackward0",
            *_variants("Alias"),
            "LiftBackward0",
            "LiftFreshBackward0",
            "LazyCloneBackward0",
            "PinMemoryBackward0",
            "CoalesceBackward0",
            "ToCopyBackward0",
        ),
        lambda n: n.operand("self"),
        (Vjp("self", lambda n: n.v, why("why-clone")),),
        (why("case-clone", "self"),),
    ),
    Entry(
        "copy_",
        ("CopyBackwards", "torch::autograd::CopyBackwards"),
        lambda n: n.operand("src"),
        (
            Vjp("self", zero, why("why-copy")),
            Vjp("src", lambda n: n.v, why("why-copy-src", "src")),
        ),
        (why("case-copy"),),
    ),
    Entry(
        "constant_pad_nd",
        ("ConstantPadNdBackward0",),
        None,
        (
            Vjp(
                "self",
                lambda n: apply("pad", n.v, pad=tuple(-amount for amount in n.pad)),
                why("why-constant-pad-nd", "self"),
            ),
        ),
        (why("case-constant-pad-nd"),),
    ),
    _bordered("reflection_pad", "ReflectionPad", "reflect", why("why-reflection-pad")),
    _bordered("replication_pad", "ReplicationPad", "replicate", why("why-replication-pad")),
    _moved(
        "pixel_shuffle",
        ("PixelShuffleBackward0",),
        _of_self("pixel_shuffle", "upscale_factor"),
        lambda n: apply("pixel_unshuffle", n.v, downscale_factor=n.upscale_factor),
    ),
    _moved(
        "pixel_unshuffle",
        ("PixelUnshuffleBackward0",),
        _of_self("pixel_unshuffle", "downscale_factor"),
        lambda n: apply("pixel_shuffle", n.v, upscale_factor=n.downscale_factor),
    ),
)
