"""Complex numbers: their parts, their conjugate, and the passage to pairs of reals."""

from gradwalk.formulas.entry import Entry, Given, Vjp, unary, zero
from gradwalk.formulas.expression import Expression, apply, conj, real, where

_CONVENTION = (
    "Of torch's gradient of a real loss the real part is its slope along the real axis, the imaginary part that along "
    "the imaginary axis: together the direction in which the loss grows fastest.",
)


def _angle(n: Given) -> Expression:
    if not n.self.is_complex:
        return zero(n)
    return where(n.self.equals(0), 0, 1j * n.v * n.self / apply("abs", n.self) ** 2)


def _sgn(n: Given) -> Expression:
    if not n.self.is_complex:
        return zero(n)
    across = n.v - real(n.v * conj(n.result)) * n.result
    return where(n.self.equals(0), 0, across / apply("abs", n.self))


COMPLEX_NUMBERS: tuple[Entry, ...] = (
    unary(
        "conj",
        ("ConjBackward0", "ConjPhysicalBackward0", "ConjPhysicalBackward1"),
        lambda x: apply("conj", x),
        lambda n: conj(n.v),
        "Mirroring at the real axis is undone by mirroring the gradient.",
        _CONVENTION,
    ),
    unary(
        "view_as_real",
        ("ViewAsRealBackward0",),
        lambda x: apply("view_as_real", x),
        lambda n: apply("view_as_complex", n.v),
        "The pair of real gradients is read as one complex number again.",
        _CONVENTION,
    ),
    unary(
        "view_as_complex",
        ("ViewAsComplexBackward0",),
        lambda x: apply("view_as_complex", x),
        lambda n: apply("view_as_real", n.v),
        "The two real numbers get the two parts of the complex gradient.",
        _CONVENTION,
    ),
    Entry(
        "complex",
        ("ComplexBackward0",),
        lambda n: n.operand("real") + 1j * n.operand("imag"),
        (
            Vjp("real", lambda n: real(n.v), "The real part moves only along the real axis."),
            Vjp("imag", lambda n: apply("imag", n.v), "The imaginary part moves only along the imaginary axis."),
        ),
        _CONVENTION,
    ),
    Entry(
        "polar",
        ("PolarBackward0",),
        lambda n: n.operand("abs") * apply("exp", 1j * n.operand("angle")),
        (
            Vjp(
                "abs",
                lambda n: real(conj(n.v) * apply("sgn", n.result)),
                "More length moves the point outwards, so the part of v that points outwards counts.",
            ),
            Vjp(
                "angle",
                lambda n: real(1j * conj(n.v) * n.result),
                "More angle moves the point at right angles to where it is, as far as it is away from 0.",
            ),
        ),
        _CONVENTION,
    ),
    unary(
        "angle",
        ("AngleBackward0",),
        lambda x: apply("angle", x),
        _angle,
        "Only a move at right angles to `{self}` turns it, and the farther out it is, the less.",
        ("For real numbers the angle is 0 or pi: a staircase with gradient 0.", "At 0 torch uses 0."),
    ),
    unary(
        "sgn",
        ("SgnBackward0",),
        lambda x: apply("sgn" if x.is_complex else "sign", x),
        _sgn,
        "Only the part of v at right angles to the result counts: moving outwards does not change the direction.",
        ("For real numbers this is the sign, a staircase with gradient 0.", "At 0 torch uses 0."),
    ),
)
