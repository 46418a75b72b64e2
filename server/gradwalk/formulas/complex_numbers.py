"""Complex numbers: their parts, their conjugate, and the passage to pairs of reals."""

from gradwalk.formulas.entry import Entry, Given, Vjp, unary, why, zero
from gradwalk.formulas.expression import Expression, apply, conj, real, where

_CONVENTION = (why("case-conj"),)


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
        why("why-conj"),
        _CONVENTION,
    ),
    unary(
        "view_as_real",
        ("ViewAsRealBackward0",),
        lambda x: apply("view_as_real", x),
        lambda n: apply("view_as_complex", n.v),
        why("why-view-as-real"),
        _CONVENTION,
    ),
    unary(
        "view_as_complex",
        ("ViewAsComplexBackward0",),
        lambda x: apply("view_as_complex", x),
        lambda n: apply("view_as_real", n.v),
        why("why-view-as-complex"),
        _CONVENTION,
    ),
    Entry(
        "complex",
        ("ComplexBackward0",),
        lambda n: n.operand("real") + 1j * n.operand("imag"),
        (
            Vjp("real", lambda n: real(n.v), why("why-complex-real")),
            Vjp("imag", lambda n: apply("imag", n.v), why("why-complex-imag")),
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
                why("why-polar-abs"),
            ),
            Vjp(
                "angle",
                lambda n: real(1j * conj(n.v) * n.result),
                why("why-polar-angle"),
            ),
        ),
        _CONVENTION,
    ),
    unary(
        "angle",
        ("AngleBackward0",),
        lambda x: apply("angle", x),
        _angle,
        why("why-angle", "self"),
        (why("case-angle"), why("case-zero-at-0")),
    ),
    unary(
        "sgn",
        ("SgnBackward0",),
        lambda x: apply("sgn" if x.is_complex else "sign", x),
        _sgn,
        why("why-sgn"),
        (why("case-sgn"), why("case-zero-at-0")),
    ),
)
