"""Fourier transforms: the vjp of a transform is the transform back, since its matrix is symmetric."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from typing import Any

from gradwalk.formulas.entry import Entry, Given, Vjp, why
from gradwalk.formulas.expression import Expression, Named, apply, real

_SCALES = ("backward", "ortho", "forward")
"""torch's `norm` of a transform forward, by the number that its node saves: divided by nothing, by sqrt(n), by n."""
_BACK = why("why-fft")


def _transformed(n: Given, value: Expression, *, to: str, sizes: tuple[int, ...] = ()) -> Expression:
    """`fft`, `ifft`, `rfft` or `irfft` along the node's dims, scaled as the node scales."""
    names = _SCALES if to in ("fft", "rfft") else _SCALES[::-1]
    options: dict[str, Any] = {} if n.normalization == names.index("backward") else {"norm": names[n.normalization]}
    if len(n.dim) == 1:
        return apply(to, value, **({"n": sizes[0]} if sizes else {}), dim=n.dim[0], **options)
    return apply(f"{to}n", value, **({"s": sizes} if sizes else {}), dim=tuple(n.dim), **options)


def _of_real(n: Given) -> Expression:
    return _transformed(n, n.operand("self"), to="rfft" if n.onesided else "fft")


def _of_real_back(n: Given) -> Expression:
    sizes = tuple(n.shape[dim] for dim in n.dim) if n.onesided else ()
    return real(_transformed(n, n.v, to="ifft", sizes=sizes))


def _to_real_back(n: Given) -> Expression:
    """Every frequency but the first and the middle one stands for its mirror image too."""
    spectrum = Named("F", _transformed(n, n.v, to="rfft"))
    last = n.dim[-1] % n.v.rank
    count = n.v.shape[last] // 2 + 1
    mirrored = n.v.shape[last] - count
    if not mirrored:
        return spectrum
    parts = [
        apply("narrow", spectrum, dim=last, start=0, length=1),
        2 * apply("narrow", spectrum, dim=last, start=1, length=mirrored),
    ]
    if mirrored + 1 < count:
        parts.append(apply("narrow", spectrum, dim=last, start=mirrored + 1, length=1))
    return apply("cat", *parts, dim=last)


FOURIER: tuple[Entry, ...] = (
    Entry(
        "fft",
        ("FftC2CBackward0",),
        lambda n: _transformed(n, n.operand("self"), to="fft" if n.forward else "ifft"),
        (Vjp("self", lambda n: _transformed(n, n.v, to="ifft" if n.forward else "fft"), _BACK),),
    ),
    Entry("rfft", ("FftR2CBackward0",), _of_real, (Vjp("self", _of_real_back, _BACK),), (why("case-rfft"),)),
    # How long the result is, the node does not save; v has its length.
    Entry("irfft", ("FftC2RBackward0",), None, (Vjp("self", _to_real_back, _BACK),), (why("case-irfft"),)),
)
