"""How numbers stand in a formula: matrices of up to four by four, with as few digits as the equation needs."""

from dataclasses import dataclass

import torch
from torch import Tensor

from gradwalk.formulas.expression import Scalar
from gradwalk.formulas.notation import Strength
from gradwalk.formulas.writing import Written, write_number

LONGEST_SIDE = 4
DIGITS = (4, 6, 9)
"""Significant digits to try, until the equation with the printed numbers holds."""
_detach, _to_list = Tensor.detach, Tensor.tolist
"""As they were before a program could replace them."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A value as it is printed."""

    value: Tensor
    """What the digits on the screen say, in float64 or complex128; what is no float is itself."""
    latex: Written
    is_exact: bool
    """False where digits were left out."""


def print_value(value: Tensor, digits: int) -> Printed | None:
    """The value with that many significant digits; None for what is too large to be read at a glance.

    A mask is printed as one, of True and False.
    """
    if value.dim() > 2 or not value.numel() or any(size > LONGEST_SIDE for size in value.shape):
        return None
    value = _detach(value)
    if value._is_zerotensor():  # noqa: SLF001 - torch has no public name for it
        # Zeros that torch never wrote down: they have no memory to be read.
        value = torch.zeros(value.shape, dtype=value.dtype)
    if value.layout != torch.strided or value.is_quantized:
        return None
    numbers = [_round(number, digits) for number in _to_list(value.reshape(-1))]
    if value.is_floating_point() or value.is_complex():
        dtype = torch.complex128 if value.is_complex() else torch.float64
        wide = value.to(dtype)
        rounded = torch.tensor(numbers, dtype=dtype).reshape(value.shape)
        is_exact = bool(torch.allclose(rounded, wide, rtol=0, atol=0, equal_nan=True))
    else:
        rounded, is_exact = value, True
    return Printed(rounded, _matrix(numbers, tuple(value.shape)), is_exact)


def _round(number: Scalar, digits: int) -> Scalar:
    if isinstance(number, bool | int):
        return number
    if isinstance(number, complex):
        return complex(float(format(number.real, f".{digits}g")), float(format(number.imag, f".{digits}g")))
    # Adding 0 turns a negative zero into the one that is written without a sign.
    return float(format(number, f".{digits}g")) + 0.0


def _matrix(numbers: list[Scalar], shape: tuple[int, ...]) -> Written:
    written = [
        Written(rf"\text{{{number}}}") if isinstance(number, bool) else write_number(number, "latex")
        for number in numbers
    ]
    if not shape:
        return written[0]
    rows, columns = (1, *shape)[-2:]
    lines = [" & ".join(one.text for one in written[row * columns : (row + 1) * columns]) for row in range(rows)]
    inside = r" \\ ".join(lines)
    return Written(rf"\begin{{bmatrix}} {inside} \end{{bmatrix}}", Strength.ATOM)
