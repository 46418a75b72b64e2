r"""The closed list of what an expression may be made of: how each is computed, and how it is written.

One entry per operation. Most are written as functions (`\operatorname{permute}_{dims=(1, 0)}(v)`, `permute(v, dims=(1, 0))`); those that
mathematics has a sign for say how, in `Notation`. Text is Python: a student can paste it and run it with torch.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from gradwalk.formulas.notation import Notation, Operation, Signs, Strength
from gradwalk.formulas.placing_operations import PLACING_OPERATIONS
from gradwalk.formulas.structured_operations import STRUCTURED_OPERATIONS

_S = Strength
_LOOSE = (_S.CONDITION,)


def _both(template: str, strength: Strength, *needs: Strength) -> Signs:
    return {"latex": Notation(template, strength, needs), "text": Notation(template, strength, needs)}


def _signs(
    latex: str,
    text: str,
    strength: Strength,
    needs: tuple[Strength, ...],
    text_needs: tuple[Strength, ...] | None = None,
) -> Signs:
    return {"latex": Notation(latex, strength, needs), "text": Notation(text, strength, text_needs or needs)}


def _function(latex_name: str, arguments: str = "{0}") -> Signs:
    r"""A function that LaTeX has a name for: `\sin`."""
    return {"latex": Notation(rf"{latex_name}\left({arguments}\right)", _S.ATOM, _LOOSE)}


def _compared(latex: str, text: str) -> Signs:
    """A comparison: 1 where it holds and 0 elsewhere, in Iverson's brackets when it is a factor."""
    return {
        "latex": Notation(f"{{0}} {latex} {{1}}", _S.COMPARISON, (_S.SUM, _S.SUM)),
        "text": Notation(f"{{0}} {text} {{1}}", _S.COMPARISON, (_S.SUM, _S.SUM)),
        "is_real": True,
    }


def _tensor(value: Any) -> Tensor:
    """A constant with all digits it has as a Python number, whatever torch's default dtype is."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, bool):
        return torch.tensor(value)
    return torch.tensor(value, dtype=torch.complex128 if isinstance(value, complex) else torch.float64)


def _of(function: Callable[..., Any]) -> Callable[..., Any]:
    """A torch function whose first argument may be a constant."""
    return lambda first, *others, **options: function(_tensor(first), *others, **options)


def _number(value: Any) -> Any:
    """What may be subtracted: torch refuses to do that with booleans."""
    return value.to(torch.int8) if isinstance(value, Tensor) and value.dtype == torch.bool else value


def _dims(dim: Any, value: Tensor) -> tuple[int, ...]:
    return tuple(range(value.dim())) if dim is None else tuple(dim)


def _sum(value: Any, dim: tuple[int, ...] | None) -> Tensor:
    value = _tensor(value)
    added: Tensor = value.sum(_dims(dim, value), keepdim=True) if value.dim() else value
    return added


def _mean(value: Any, dim: tuple[int, ...] | None) -> Tensor:
    value = _tensor(value)
    average: Tensor = value.mean(_dims(dim, value), keepdim=True) if value.dim() else value
    return average


def _where(condition: Tensor, then: Any, otherwise: Any) -> Tensor:
    dtype = torch.result_type(_tensor(then), _tensor(otherwise))
    chosen: Tensor = torch.where(condition, _tensor(then).to(dtype), _tensor(otherwise).to(dtype))
    return chosen


OPERATIONS: Mapping[str, Operation] = {
    # Nobody writes a sign after a sign: a negative number that is added stands in parentheses.
    "add": Operation(
        lambda a, b: a + b,
        **_signs("{0} + {1}", "{0} + {1}", _S.SUM, (_S.SUM, _S.BIG_SIGN), (_S.SUM, _S.PRODUCT)),
    ),
    "sub": Operation(
        lambda a, b: _number(a) - _number(b),
        **_signs("{0} - {1}", "{0} - {1}", _S.SUM, (_S.SUM, _S.BIG_SIGN), (_S.SUM, _S.PRODUCT)),
    ),
    # Between tensors `\odot`, otherwise `\cdot`: `writing.py` chooses.
    "mul": Operation(
        lambda a, b: a * b,
        **_signs(r"{0} {sign} {1}", "{0} * {1}", _S.PRODUCT, (_S.PRODUCT, _S.PRODUCT), (_S.PRODUCT, _S.MATRIX)),
    ),
    "div": Operation(
        lambda a, b: a / b,
        latex=Notation(r"\frac{{{0}}}{{{1}}}", _S.MATRIX, (_S.SUM, _S.SUM)),
        text=Notation("{0} / {1}", _S.PRODUCT, (_S.PRODUCT, _S.SIGN)),
    ),
    "neg": Operation(lambda a: -_number(a), **_both("-{0}", _S.SUM, _S.PRODUCT)),
    "pow": Operation(
        lambda a, b: torch.pow(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else a**b,
        latex=Notation("{{{0}}}^{{{1}}}", _S.POWER, (_S.ATOM, _S.CONDITION)),
        text=Notation("{0} ** {1}", _S.POWER, (_S.ATOM, _S.POWER)),
    ),
    "matmul": Operation(
        torch.matmul,
        latex=Notation(r"{0} \, {1}", _S.MATRIX, (_S.MATRIX, _S.MATRIX)),
        text=Notation("{0} @ {1}", _S.PRODUCT, (_S.PRODUCT, _S.SIGN)),
        is_elementwise=False,
    ),
    "transpose": Operation(
        lambda a: a.mT, **_signs(r"{{{0}}}^\top", "{0}.mT", _S.POWER, (_S.ATOM,)), is_elementwise=False
    ),
    "adjoint": Operation(
        lambda a: a.mH, **_signs("{{{0}}}^{{H}}", "{0}.mH", _S.POWER, (_S.ATOM,)), is_elementwise=False
    ),
    "conj": Operation(
        lambda a: _tensor(a).conj(),
        latex=Notation("{{{0}}}^{{*}}", _S.POWER, (_S.ATOM,)),
        text=Notation("conj({0})", _S.ATOM, _LOOSE),
    ),
    "real": Operation(
        _of(torch.real), latex=Notation(r"\operatorname{{Re}}\left({0}\right)", _S.ATOM, _LOOSE), is_real=True
    ),
    "imag": Operation(
        _of(torch.imag), latex=Notation(r"\operatorname{{Im}}\left({0}\right)", _S.ATOM, _LOOSE), is_real=True
    ),
    "abs": Operation(_of(torch.abs), latex=Notation(r"\left|{0}\right|", _S.ATOM, _LOOSE), is_real=True),
    "sqrt": Operation(_of(torch.sqrt), latex=Notation(r"\sqrt{{{0}}}", _S.ATOM, _LOOSE)),
    "exp": Operation(_of(torch.exp), **_function(r"\exp")),
    "log": Operation(_of(torch.log), **_function(r"\log")),
    "sin": Operation(_of(torch.sin), **_function(r"\sin")),
    "cos": Operation(_of(torch.cos), **_function(r"\cos")),
    "tan": Operation(_of(torch.tan), **_function(r"\tan")),
    "sinh": Operation(_of(torch.sinh), **_function(r"\sinh")),
    "cosh": Operation(_of(torch.cosh), **_function(r"\cosh")),
    "tanh": Operation(_of(torch.tanh), **_function(r"\tanh")),
    "sigmoid": Operation(_of(torch.sigmoid), **_function(r"\sigma")),
    "softplus": Operation(_of(functional.softplus)),
    "asin": Operation(_of(torch.asin), **_function(r"\arcsin")),
    "acos": Operation(_of(torch.acos), **_function(r"\arccos")),
    "atan": Operation(_of(torch.atan), **_function(r"\arctan")),
    "atan2": Operation(lambda a, b: torch.atan2(_tensor(a), _tensor(b))),
    "asinh": Operation(_of(torch.asinh)),
    "acosh": Operation(_of(torch.acosh)),
    "atanh": Operation(_of(torch.atanh)),
    "angle": Operation(_of(torch.angle), is_real=True),
    "xlogy": Operation(lambda a, b: torch.xlogy(_tensor(a), _tensor(b))),
    "erf": Operation(_of(torch.erf)),
    "erfc": Operation(_of(torch.erfc)),
    "erfinv": Operation(_of(torch.erfinv)),
    "lgamma": Operation(_of(torch.lgamma)),
    "digamma": Operation(_of(torch.digamma)),
    "polygamma": Operation(lambda n, a: torch.polygamma(n, _tensor(a))),
    "i0": Operation(_of(torch.special.i0)),
    "i1": Operation(_of(torch.special.i1)),
    "sign": Operation(_of(torch.sign)),
    "sgn": Operation(_of(torch.sgn)),
    "floor": Operation(_of(torch.floor), latex=Notation(r"\left\lfloor {0} \right\rfloor", _S.ATOM, _LOOSE)),
    "ceil": Operation(_of(torch.ceil), latex=Notation(r"\left\lceil {0} \right\rceil", _S.ATOM, _LOOSE)),
    # Of the exact quotient: 1 // 0.1 is 9, for 0.1 is a little more than a tenth.
    "floor_divide": Operation(
        lambda a, b: torch.div(_tensor(a), _tensor(b), rounding_mode="floor"),
        latex=Notation(r"\left\lfloor \frac{{{0}}}{{{1}}} \right\rfloor", _S.ATOM, (_S.SUM, _S.SUM)),
        # Python reads -a // b as (-a) // b, which is not -(a // b).
        text=Notation("{0} // {1}", _S.BIG_SIGN, (_S.PRODUCT, _S.SIGN)),
    ),
    "trunc": Operation(_of(torch.trunc)),
    "round": Operation(_of(torch.round)),
    "isnan": Operation(_of(torch.isnan), is_real=True),
    "isfinite": Operation(_of(torch.isfinite), is_real=True),
    # Rounded to single precision, where a kernel of torch keeps a constant in it.
    "float32": Operation(lambda a: float(torch.tensor(a, dtype=torch.float32))),
    "pi": Operation(lambda: math.pi, latex=Notation(r"\pi", _S.ATOM, ()), text=Notation("pi", _S.ATOM, ())),
    "fmin": Operation(lambda a, b: torch.fmin(_tensor(a), _tensor(b))),
    "fmax": Operation(lambda a, b: torch.fmax(_tensor(a), _tensor(b))),
    "min": Operation(lambda a, b: torch.minimum(_tensor(a), _tensor(b)), **_function(r"\min", "{0}, {1}")),
    "max": Operation(lambda a, b: torch.maximum(_tensor(a), _tensor(b)), **_function(r"\max", "{0}, {1}")),
    "lt": Operation(lambda a, b: a < b, **_compared("<", "<")),
    "le": Operation(lambda a, b: a <= b, **_compared(r"\le", "<=")),
    "gt": Operation(lambda a, b: a > b, **_compared(">", ">")),
    "ge": Operation(lambda a, b: a >= b, **_compared(r"\ge", ">=")),
    "eq": Operation(lambda a, b: a == b, **_compared("=", "==")),
    "ne": Operation(lambda a, b: a != b, **_compared(r"\ne", "!=")),
    "and": Operation(
        lambda a, b: a & b,
        latex=Notation(r"{0} \land {1}", _S.CONDITION, (_S.COMPARISON, _S.COMPARISON)),
        text=Notation("{0} & {1}", _S.CONDITION, (_S.ATOM, _S.ATOM)),
        is_real=True,
    ),
    "or": Operation(
        lambda a, b: a | b,
        latex=Notation(r"{0} \lor {1}", _S.CONDITION, (_S.COMPARISON, _S.COMPARISON)),
        text=Notation("{0} | {1}", _S.CONDITION, (_S.ATOM, _S.ATOM)),
        is_real=True,
    ),
    "not": Operation(
        lambda a: ~a,
        latex=Notation(r"\lnot {0}", _S.SIGN, (_S.SIGN,)),
        text=Notation("~{0}", _S.SIGN, (_S.ATOM,)),
        is_real=True,
    ),
    # Written as cases, one row per condition: `writing.py` does.
    "where": Operation(_where),
    "sum": Operation(
        _sum,
        latex=Notation(r"{{\textstyle\sum}}{options} {0}", _S.BIG_SIGN, (_S.PRODUCT,)),
        is_elementwise=False,
    ),
    "mean": Operation(_mean, is_elementwise=False),
    "view_as_complex": Operation(lambda a: torch.view_as_complex(a.contiguous()), is_elementwise=False),
    "view_as_real": Operation(
        lambda a: torch.view_as_real(a.contiguous().resolve_conj()), is_elementwise=False, is_real=True
    ),
    "narrow": Operation(torch.narrow, is_elementwise=False),
    "reshape": Operation(lambda a, shape: _tensor(a).reshape(shape), is_elementwise=False),
    "ones": Operation(
        # Integers take on the dtype of what they are multiplied with.
        lambda shape: torch.ones(shape, dtype=torch.int8),
        latex=Notation(r"\mathbf{{1}}{options}", _S.ATOM, ()),
        text=Notation("ones({shape})", _S.ATOM, ()),
        is_elementwise=False,
    ),
    **PLACING_OPERATIONS,
    **STRUCTURED_OPERATIONS,
}
