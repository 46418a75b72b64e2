"""Numbers and shapes in sentences, in the digits that the page shows at first (`frontend/src/model/numbers.ts`).

Only for where Python itself must speak: the command line, answers to API clients. `tests/words/test_catalogue.py` holds
it to the page's own.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from gradwalk.protocol.numbers import Number

SIGNIFICANT_DIGITS: Final = 4
_MINUS: Final = "\N{MINUS SIGN}"
_SUPERSCRIPT: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_WHOLE_MAX: Final = 1e7


def spell_number(number: Number) -> str:
    """`3`, `0.3333`, `1.235·10⁸`, `NaN`, `1+2i`."""
    if isinstance(number, bool):
        return str(number)
    if isinstance(number, list):
        real, imaginary = (spell_number(part) for part in number)
        return f"{real}{imaginary if imaginary.startswith(_MINUS) else '+' + imaginary}i"
    if isinstance(number, str):
        return number.replace("-", _MINUS).replace("Infinity", "∞")
    return _spell_finite(number).replace("-", _MINUS)


def spell_numbers(numbers: Sequence[Number], shape: Sequence[int]) -> str:
    """`30`, `[1, 0, 2]`, `[[1, 2], [3, 4]]`."""
    rows = [spell_number(number) for number in numbers]
    for size in reversed(shape):
        rows = [f"[{', '.join(rows[start : start + size])}]" for start in range(0, len(rows), max(size, 1))]
    return ", ".join(rows)


def spell_shape(shape: Sequence[int]) -> str:
    """`[2, 3]`; a scalar's shape is `[]`."""
    return f"[{', '.join(map(str, shape))}]"


def _spell_finite(number: float) -> str:
    if float(number).is_integer() and abs(number) < _WHOLE_MAX:
        # Adding 0 takes the sign of a negative zero.
        return f"{float(number) + 0.0:.0f}"
    mantissa, _, exponent_text = f"{number:.{SIGNIFICANT_DIGITS - 1}e}".partition("e")
    exponent = int(exponent_text)
    if exponent >= max(6, SIGNIFICANT_DIGITS) or exponent < -4:
        return f"{_trimmed(mantissa)}·10{str(exponent).translate(_SUPERSCRIPT)}"
    return _trimmed(f"{Decimal(mantissa).scaleb(exponent):f}")


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
