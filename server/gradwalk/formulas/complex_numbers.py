"""Complex numbers: their parts, their conjugate, and the passage to pairs of reals."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import torch
from torch import Tensor

from gradwalk.formulas.formula import Entry, NodeView, Vjp

_CONVENTION = (
    "torch's gradient of a real loss L at x = a + bi is dL/da + i dL/db: the direction in which L grows fastest.",
)


def _angle(n: NodeView) -> Tensor:
    if not n.self.is_complex():
        return torch.where(n.self.isnan(), n.self, torch.zeros_like(n.v))
    squared = n.self.real**2 + n.self.imag**2
    turned = torch.complex(-n.v * n.self.imag, n.v * n.self.real) / squared
    return turned.masked_fill(n.self == 0, 0)


def _sgn(n: NodeView) -> Tensor:
    if not n.self.is_complex():
        return torch.zeros_like(n.v)
    unit = n.result
    across = (n.v - (unit.conj() * n.v).real * unit) / n.self.abs()
    return across.masked_fill(n.self == 0, 0)


COMPLEX_NUMBERS: tuple[Entry, ...] = (
    Entry(
        "conj",
        ("ConjBackward0", "ConjPhysicalBackward0", "ConjPhysicalBackward1"),
        r"@result = \overline{@self}",
        (
            Vjp(
                "self",
                r"\overline{@v}",
                "conj(v)",
                "Mirroring at the real axis is undone by mirroring the gradient.",
                lambda n: n.v.conj(),
            ),
        ),
        _CONVENTION,
    ),
    Entry(
        "view_as_real",
        ("ViewAsRealBackward0",),
        r"@result = (\Re @self, \Im @self)",
        (
            Vjp(
                "self",
                r"@{v}_{\ldots 0} + i \, @{v}_{\ldots 1}",
                "v[..., 0] + i * v[..., 1]",
                "The pair of real gradients is read as one complex number again.",
                lambda n: torch.view_as_complex(n.v.contiguous()),
            ),
        ),
        _CONVENTION,
    ),
    Entry(
        "view_as_complex",
        ("ViewAsComplexBackward0",),
        r"@result = @{self}_{\ldots 0} + i \, @{self}_{\ldots 1}",
        (
            Vjp(
                "self",
                r"(\Re @v, \Im @v)",
                "(real(v), imag(v))",
                "The two real numbers get the two parts of the complex gradient.",
                lambda n: torch.view_as_real(n.v.contiguous().resolve_conj()),
            ),
        ),
        _CONVENTION,
    ),
    Entry(
        "complex",
        ("ComplexBackward0",),
        r"@result = @real + i \, @imag",
        (
            Vjp("real", r"\Re @v", "real(v)", "The real part moves only along the real axis.", lambda n: n.v.real),
            Vjp(
                "imag",
                r"\Im @v",
                "imag(v)",
                "The imaginary part moves only along the imaginary axis.",
                lambda n: n.v.imag,
            ),
        ),
        _CONVENTION,
    ),
    Entry(
        "polar",
        ("PolarBackward0",),
        r"@result = @abs \, e^{i @angle}",
        (
            Vjp(
                "abs",
                r"\Re(\overline{@v} \odot \operatorname{sgn} @result)",
                "real(conj(v) * sgn(z))",
                "More length moves the point outwards, so the part of v that points outwards counts.",
                lambda n: (n.v.conj() * n.result.sgn()).real,
            ),
            Vjp(
                "angle",
                r"\Re(\overline{@v} \odot i \, @result)",
                "real(conj(v) * i * z)",
                "More angle moves the point at right angles to z, as far as z is long.",
                lambda n: (n.v.conj() * n.result * 1j).real,
            ),
        ),
        _CONVENTION,
    ),
    Entry(
        "angle",
        ("AngleBackward0",),
        r"@result = \arg @self",
        (
            Vjp(
                "self",
                r"@v \odot \frac{-\Im @self + i \, \Re @self}{|@self|^2}",
                "v * (-imag(x) + i * real(x)) / |x|^2",
                "Only a move at right angles to x turns it, and the farther out x is, the less.",
                _angle,
            ),
        ),
        ("For real x the angle is 0 or pi: a staircase with gradient 0.", "At x = 0 torch uses 0."),
    ),
    Entry(
        "sgn",
        ("SgnBackward0",),
        r"@result = @self / |@self|",
        (
            Vjp(
                "self",
                r"\frac{@v - \Re(\overline{@result} \, @v) \, @result}{|@self|}",
                "(v - real(conj(z) * v) * z) / |x|",
                "Only the part of v at right angles to z counts: moving outwards does not change the direction.",
                _sgn,
            ),
        ),
        ("For real x this is the sign, a staircase with gradient 0.", "At x = 0 torch uses 0."),
    ),
)
