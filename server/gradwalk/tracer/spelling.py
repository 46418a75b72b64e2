"""Values in the middle of a sentence: short, and always the traced ones.

A number carries at most four significant digits. What is too long to be read aloud is named by its
shape. A gradient that is not there is said to be missing, never 0.
"""

from collections.abc import Iterable

from gradwalk.protocol.values import Gradient, Missing, Number, TensorValue

SIGNIFICANT_DIGITS = 4
_FORMAT = f".{SIGNIFICANT_DIGITS}g"
ENTRIES_READ_ALOUD = 4

_REASONS = {
    "undefined": "nothing (undefined)",
    "not_required": "nothing (it does not require grad)",
    "returned_none": "nothing (backward returned None)",
    "no_path": "nothing (no path leads there)",
    "not_computed": "nothing yet",
}


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


def scalar_of(value: Gradient | None) -> Number | None:
    """The one entry of a value that has one, and is written out."""
    if value is None or "missing" in value:
        return None
    data = value.get("data")
    return data[0] if data is not None and len(data) == 1 else None


def spell_value(value: Gradient) -> str:
    """A number, a short vector, or the shape: `30`, `[1, 0, 2]`, `a gradient of shape [2, 3]`."""
    if "missing" in value:
        return spell_missing(value)
    data = value.get("data")
    if data is not None and len(data) <= ENTRIES_READ_ALOUD:
        if len(data) == 1:
            return spell_number(data[0])
        if len(value["shape"]) == 1:
            return f"[{', '.join([spell_number(number) for number in data])}]"
    return f"a gradient of shape {value['shape']}"


def spell_missing(value: Missing) -> str:
    """Nothing, and why."""
    return _REASONS[value["missing"]]


def is_short(value: TensorValue) -> bool:
    """True when `spell_value` writes the entries out."""
    data = value.get("data")
    return data is not None and (len(data) == 1 or (len(value["shape"]) == 1 and len(data) <= ENTRIES_READ_ALOUD))
