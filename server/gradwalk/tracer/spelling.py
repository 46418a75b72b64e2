"""Numbers and shapes in the sentences of findings and of gradcheck: at most four significant digits."""

from collections.abc import Iterable

from gradwalk.protocol.values import Number

SIGNIFICANT_DIGITS = 4
_FORMAT = f".{SIGNIFICANT_DIGITS}g"


def spell_number(number: Number) -> str:
    """`3`, `0.3333`, `1.235e+08`, `NaN`, `1 + 2i`."""
    if type(number) is float:
        text = f"{number:{_FORMAT}}"
        return "0" if text == "-0" else text
    if isinstance(number, str):
        return number
    if isinstance(number, bool):
        return "true" if number else "false"
    if isinstance(number, int):
        return str(number)
    if isinstance(number, list):
        real, imaginary = (spell_number(part) for part in number)
        return f"{real} - {imaginary[1:]}i" if imaginary.startswith("-") else f"{real} + {imaginary}i"
    return spell_number(float(number))


def spell_shape(shape: Iterable[int]) -> str:
    """`[2, 3]`; a scalar's shape is `[]`."""
    return str([*shape])
