"""Views, copies, joins and splits: the numbers stay, their places change."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import torch
from torch import Tensor

from gradwalk.formulas.copies import send_back
from gradwalk.formulas.formula import Entry, Evaluate, NodeView, Vjp

_MOVED = "The numbers are the same, only their places changed, so v is put back into the old places."
_PART = "What was taken gets its v back; the rest had no effect on the result, so it gets 0."
_REPEATED = "A number that was used several times gets the sum of all its v's."
_VIEW = ("A view shares memory with its operand; for the gradient that makes no difference.",)


def _moved(op: str, nodes: tuple[str, ...], forward: str, latex: str, text: str, back: Evaluate) -> Entry:
    return Entry(op, nodes, f"@result = {forward}", (Vjp("self", latex, text, _MOVED, back),), _VIEW)


def _variants(name: str, count: int = 1) -> tuple[str, ...]:
    """The node names of an op with `count` overloads and a `_copy` twin of each."""
    return tuple(f"{name}Backward{i}{suffix}" for i in range(count) for suffix in ("", "_copy"))


def _permute(n: NodeView) -> Tensor:
    inverse = [0] * len(n.dims)
    for position, axis in enumerate(n.dims):
        inverse[axis] = position
    return n.v.permute(inverse)


def _slice(n: NodeView, places: Tensor) -> Tensor:
    axis = [slice(None)] * len(n.shape)
    axis[n.dim] = slice(n.start, n.end, n.step)
    return places[tuple(axis)]


def _joined(n: NodeView, parts: list[Tensor]) -> Tensor:
    """The gradients of several outputs side by side; an output that nobody used counts as zeros."""
    grads = [
        part.new_zeros(part.shape, dtype=n.v.dtype) if grad is None else grad
        for grad, part in zip(n.grad_outputs, parts, strict=True)
    ]
    return torch.cat(grads, n.dim)


def _split(n: NodeView) -> Tensor:
    sizes = n.saved_or("split_sizes", None)
    sizes = n.split_size if sizes is None else list(sizes)
    return _joined(n, list(torch.empty(n.self_sym_sizes).split(sizes, n.dim)))  # type: ignore[no-untyped-call]


def _unbind(n: NodeView) -> Tensor:
    return torch.stack([torch.zeros_like(n.v) if grad is None else grad for grad in n.grad_outputs], n.dim)


def _cat(n: NodeView) -> Tensor:
    """This member's stretch of v; where it starts follows from the members before it, or after it."""
    dim = n.dim % n.v.dim()
    before = [_stretch(shape, dim) for shape in n.operand_shapes[: n.argnum]]
    after = [_stretch(shape, dim) for shape in n.operand_shapes[n.argnum + 1 :]]
    own = _stretch(n.shape, dim) or 0
    if None not in before:
        start = sum(size or 0 for size in before)
    elif None not in after:
        start = n.v.shape[dim] - own - sum(size or 0 for size in after)
    else:
        raise NotImplementedError("the sizes of the other members are not known")
    if tuple(n.shape) == (0,):
        return n.zeros()
    return n.v.narrow(dim, start, own)


def _stretch(shape: object, dim: int) -> int | None:
    """How much room a member takes; legacy empty members take none."""
    if shape is None:
        return None
    sizes = tuple(shape)  # type: ignore[var-annotated, arg-type]
    return 0 if sizes == (0,) and dim > 0 else int(sizes[dim])


def _repeat(n: NodeView) -> Tensor:
    return send_back(n, lambda places: places.repeat(n.repeats))


def _roll(n: NodeView) -> Tensor:
    return send_back(n, lambda places: places.roll(n.shifts, n.dims))


def _as_strided(n: NodeView) -> Tensor:
    offset = n.saved_or("storage_offset", 0)
    return send_back(n, lambda places: places.as_strided(n.size, n.stride, offset))


def _squeeze_back(n: NodeView) -> Tensor:
    return n.v.reshape(n.self_sym_sizes)


def _pad(n: NodeView) -> Tensor:
    """Cut off what was padded; negative padding had cut something off, and gets zeros."""
    return torch.nn.functional.pad(n.v, [-amount for amount in n.pad])


def _mirrored(mode: str) -> Evaluate:
    def back(n: NodeView) -> Tensor:
        axes = len(n.padding) // 2
        spatial = n.shape[len(n.shape) - axes :]

        def take(places: Tensor) -> Tensor:
            # Padding modes exist for floating point only; element numbers up to 2**53 are exact.
            planes = places.double().reshape(1, -1, *spatial)
            return torch.nn.functional.pad(planes, list(n.padding), mode).long()

        return send_back(n, take) if n.v.numel() else n.zeros()

    return back


def _block_diag_part(n: NodeView) -> Tensor:
    corners = [(1, 0) if shape is None else _block(tuple(shape)) for shape in n.operand_shapes[: n.argnum]]
    if any(shape is None for shape in n.operand_shapes[: n.argnum]):
        raise NotImplementedError("the sizes of the other members are not known")
    top, left = sum(rows for rows, _ in corners), sum(columns for _, columns in corners)
    rows, columns = _block(n.shape)
    return n.v[top : top + rows, left : left + columns].reshape(n.shape)


def _block(shape: tuple[int, ...]) -> tuple[int, int]:
    return (1, shape[0] if shape else 1) if len(shape) < 2 else (shape[0], shape[1])


SHAPES: tuple[Entry, ...] = (
    _moved(
        "view",
        (*_variants("View"), "UnsafeViewBackward0", "ReshapeAliasBackward0", "MkldnnReshapeBackward0"),
        r"\operatorname{view}(@self)",
        r"\operatorname{view}(@v, \; \text{shape of } @self)",
        "v, viewed in the shape of x",
        lambda n: n.v.reshape(n.self_sym_sizes),
    ),
    _moved("t", (*_variants("T"), "TBackward1"), r"@{self}^\top", r"@{v}^\top", "v^T", lambda n: n.v.t()),
    _moved(
        "transpose",
        (*_variants("Transpose"), "TransposeBackward1"),
        r"\operatorname{transpose}(@self, d_0, d_1)",
        r"\operatorname{transpose}(@v, d_0, d_1)",
        "transpose(v, dim0, dim1)",
        lambda n: n.v.transpose(n.dim0, n.dim1),
    ),
    _moved(
        "permute",
        _variants("Permute"),
        r"\operatorname{permute}(@self, \pi)",
        r"\operatorname{permute}(@v, \pi^{-1})",
        "permute(v, the inverse order)",
        _permute,
    ),
    Entry(
        "expand",
        _variants("Expand"),
        r"@result = \operatorname{expand}(@self)",
        (
            Vjp(
                "self",
                r"\textstyle\sum_{\text{expanded axes}} @v",
                "sum of v over the expanded axes",
                _REPEATED,
                lambda n: n.v.sum_to_size(n.self_sym_sizes),
            ),
        ),
        ("Broadcasting in any op is an expand that nobody wrote.",),
    ),
    _moved(
        "squeeze",
        tuple(
            name
            for i in range(6)
            for name in (f"SqueezeBackward{i}", f"SqueezeBackward{i}_copy")
            if i < 3 or not name.endswith("_copy")
        ),
        r"\operatorname{squeeze}(@self)",
        r"\operatorname{view}(@v, \; \text{shape of } @self)",
        "v with its axes of size 1 back",
        _squeeze_back,
    ),
    _moved(
        "unsqueeze",
        (*_variants("Unsqueeze"), "UnsqueezeBackward1"),
        r"\operatorname{unsqueeze}(@self, @dim)",
        r"\operatorname{squeeze}(@v, @dim)",
        "squeeze(v, dim)",
        lambda n: n.v.squeeze(n.dim),
    ),
    Entry(
        "select",
        _variants("Select"),
        r"@result = @{self}[\ldots, @index, \ldots]",
        (
            Vjp(
                "self",
                r"@v \text{ at } [\ldots, @index, \ldots], \; 0 \text{ elsewhere}",
                "v at index, 0 elsewhere",
                _PART,
                lambda n: send_back(n, lambda places: places.select(n.dim, n.index)),
            ),
        ),
        _VIEW,
    ),
    Entry(
        "slice",
        _variants("Slice"),
        r"@result = @{self}[\ldots, a\!:\!b\!:\!s, \ldots]",
        (
            Vjp(
                "self",
                r"@v \text{ at } [\ldots, a\!:\!b\!:\!s, \ldots], \; 0 \text{ elsewhere}",
                "v at start:end:step, 0 elsewhere",
                _PART,
                lambda n: send_back(n, lambda places: _slice(n, places)),
            ),
        ),
        (*_VIEW, "narrow and chunk are slices, too."),
    ),
    Entry(
        "split",
        (*_variants("Split"), *_variants("SplitWithSizes"), "UnsafeSplitBackward0", "UnsafeSplitWithSizesBackward0"),
        r"(z_0, z_1, \ldots) = \operatorname{split}(@self)",
        (
            Vjp(
                "self",
                r"[@v0, @v1, \ldots]",
                "the v's of all parts, joined again",
                "Every element went into exactly one part and gets that part's v.",
                _split,
            ),
        ),
        ("A part that nobody used has no v; it counts as zeros.", *_VIEW),
    ),
    Entry(
        "unbind",
        _variants("Unbind"),
        r"(z_0, z_1, \ldots) = \operatorname{unbind}(@self)",
        (
            Vjp(
                "self",
                r"\operatorname{stack}(@v0, @v1, \ldots)",
                "the v's of all parts, stacked again",
                "Every element went into exactly one part and gets that part's v.",
                _unbind,
            ),
        ),
        ("A part that nobody used has no v; it counts as zeros.", *_VIEW),
    ),
    Entry(
        "cat",
        ("CatBackward0",),
        r"@result = [x_0, x_1, \ldots]",
        (
            Vjp(
                "tensors",
                r"@{v}[\ldots, a_k\!:\!b_k, \ldots]",
                "the stretch of v that x_k takes up",
                "Each operand was copied into its own stretch of the result, and gets that stretch of v.",
                _cat,
            ),
        ),
    ),
    Entry(
        "stack",
        ("StackBackward0",),
        r"@result = \operatorname{stack}(x_0, x_1, \ldots)",
        (
            Vjp(
                "tensors",
                r"@{v}[\ldots, k, \ldots]",
                "the k-th slice of v along dim",
                "Each operand is one slice of the result, and gets that slice of v.",
                lambda n: n.v.select(n.dim, n.member),
            ),
        ),
    ),
    Entry(
        "block_diag",
        ("BlockDiagBackward0",),
        r"@result = \begin{pmatrix} x_0 & 0 \\ 0 & x_1 \end{pmatrix}",
        (
            Vjp(
                "tensors",
                r"\text{block } k \text{ of } @v",
                "the block of v that x_k takes up",
                "Each operand was copied into its own block; the zeros beside it belong to nobody.",
                _block_diag_part,
            ),
        ),
    ),
    Entry(
        "repeat",
        ("RepeatBackward0",),
        r"@result = \operatorname{repeat}(@self)",
        (Vjp("self", r"\textstyle\sum_{\text{copies}} @v", "sum of v over all copies", _REPEATED, _repeat),),
    ),
    _moved(
        "flip",
        ("FlipBackward0",),
        r"\operatorname{flip}(@self)",
        r"\operatorname{flip}(@v)",
        "flip(v)",
        lambda n: n.v.flip(n.dims),
    ),
    _moved(
        "roll",
        ("RollBackward0",),
        r"\operatorname{roll}(@self, s)",
        r"\operatorname{roll}(@v, -s)",
        "roll(v, -shifts)",
        _roll,
    ),
    _moved(
        "rot90",
        ("Rot90Backward0",),
        r"\operatorname{rot90}(@self, k)",
        r"\operatorname{rot90}(@v, -k)",
        "rot90(v, -k)",
        lambda n: n.v.rot90(-n.k, n.dims),
    ),
    Entry(
        "unfold",
        _variants("Unfold"),
        r"@result = \text{windows of } @self",
        (
            Vjp(
                "self",
                r"\textstyle\sum_{\text{windows}} @v",
                "v of all windows, added where they overlap",
                _REPEATED,
                lambda n: send_back(n, lambda places: places.unfold(n.dimension, n.size, n.step)),
            ),
        ),
    ),
    Entry(
        "diagonal",
        _variants("Diagonal"),
        r"@{result}_i = @{self}_{i,\, i + k}",
        (
            Vjp(
                "self",
                r"\operatorname{diag}(@v)",
                "v on the diagonal, 0 elsewhere",
                _PART,
                lambda n: send_back(n, lambda places: places.diagonal(n.offset, n.dim1, n.dim2)),
            ),
        ),
        _VIEW,
    ),
    Entry(
        "diag_embed",
        ("DiagEmbedBackward0",),
        r"@result = \operatorname{diag}(@self)",
        (
            Vjp(
                "self",
                r"\text{diagonal of } @v",
                "the diagonal of v",
                "The zeros beside the diagonal belong to nobody, so their v is dropped.",
                lambda n: n.v.diagonal(n.offset, n.dim1, n.dim2),
            ),
        ),
    ),
    Entry(
        "as_strided",
        _variants("AsStrided"),
        r"@{result}_{ij\ldots} = \text{memory}[\text{offset} + i s_0 + j s_1 + \cdots]",
        (
            Vjp(
                "self",
                r"\textstyle\sum_{\text{same memory cell}} @v",
                "v of all elements that read the same memory cell",
                "A memory cell that is read several times gets the sum of all its v's; one that is not read gets 0.",
                _as_strided,
            ),
        ),
        ("The check here assumes an operand that lies in memory row by row; the node does not tell how it lay.",),
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
        r"@result = @self",
        (Vjp("self", r"@v", "v", "A copy moves exactly as its original does.", lambda n: n.v),),
        ("A copy to another dtype casts v back to the dtype of x.",),
    ),
    Entry(
        "copy_",
        ("CopyBackwards", "torch::autograd::CopyBackwards"),
        r"@self \leftarrow @src",
        (
            Vjp(
                "self",
                r"0",
                "0",
                "The old content was overwritten, so it no longer has any effect.",
                lambda n: torch.zeros_like(n.v),
            ),
            Vjp("src", r"@v", "v", "The new content is a copy of the source.", lambda n: n.v),
        ),
        ("A source that was broadcast gets the sum; a source of another dtype gets v cast back.",),
    ),
    Entry(
        "constant_pad_nd",
        ("ConstantPadNdBackward0",),
        r"@result = \operatorname{pad}(@self, c)",
        (
            Vjp(
                "self",
                r"@v \text{ without the border}",
                "v without the border",
                "The border is a constant, nothing that x could move.",
                _pad,
            ),
        ),
    ),
    Entry(
        "reflection_pad",
        ("ReflectionPad1DBackward0", "ReflectionPad2DBackward0", "ReflectionPad3DBackward0"),
        r"@result = \operatorname{pad}(@self, \text{mirrored})",
        (
            Vjp(
                "self",
                r"\textstyle\sum_{\text{copies}} @v",
                "v, with the border folded back and added",
                _REPEATED,
                _mirrored("reflect"),
            ),
        ),
    ),
    Entry(
        "replication_pad",
        ("ReplicationPad1DBackward0", "ReplicationPad2DBackward0", "ReplicationPad3DBackward0"),
        r"@result = \operatorname{pad}(@self, \text{edge repeated})",
        (
            Vjp(
                "self",
                r"\textstyle\sum_{\text{copies}} @v",
                "v, with the border added to the edge",
                _REPEATED,
                _mirrored("replicate"),
            ),
        ),
    ),
    _moved(
        "pixel_shuffle",
        ("PixelShuffleBackward0",),
        r"\operatorname{pixel\_shuffle}(@self)",
        r"\operatorname{pixel\_unshuffle}(@v)",
        "pixel_unshuffle(v)",
        lambda n: torch.nn.functional.pixel_unshuffle(n.v, n.upscale_factor),
    ),
    _moved(
        "pixel_unshuffle",
        ("PixelUnshuffleBackward0",),
        r"\operatorname{pixel\_unshuffle}(@self)",
        r"\operatorname{pixel\_shuffle}(@v)",
        "pixel_shuffle(v)",
        lambda n: torch.nn.functional.pixel_shuffle(n.v, n.downscale_factor),
    ),
)
