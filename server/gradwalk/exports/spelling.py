"""Tensors and gradients in a few characters, as a picture has room for them."""

import math

from gradwalk.protocol.events import LocalJacobian
from gradwalk.protocol.values import Gradient, Number, TensorValue

SIGNIFICANT_DIGITS = 4
LONGEST = 34
"""Characters of a value in a caption; a card or an edge has room for fewer."""
MINUS = "\N{MINUS SIGN}"
INFINITY = "\N{INFINITY}"
WORDS = {
    "undefined": "undefined",
    "not_required": "not required",
    "returned_none": "None returned",
    "no_path": "no path",
    "not_computed": "not computed",
}


def spell_number(number: Number) -> str:
    """Up to four significant digits, a true minus sign; integers below ten million stay whole."""
    if isinstance(number, bool):
        return str(number)
    if isinstance(number, list):
        real, imaginary = (spell_number(part) for part in number)
        return f"{real}{imaginary if imaginary.startswith(MINUS) else '+' + imaginary}i"
    if isinstance(number, str):
        return number.replace("-", MINUS).replace("Infinity", INFINITY)
    if float(number).is_integer() and abs(number) < 1e7:
        return f"{number:.0f}".replace("-", MINUS)
    return f"{number:.{SIGNIFICANT_DIGITS}g}".replace("-", MINUS)


def spell_shape(shape: list[int]) -> str:
    """`[2, 3]`; a scalar is `scalar`."""
    return f"[{', '.join(map(str, shape))}]" if shape else "scalar"


def spell_gradient(gradient: Gradient, most: int = LONGEST) -> str:
    """Numbers where they fit, else shape and norm; what is missing in words, never as a number."""
    if "missing" in gradient:
        return WORDS[gradient["missing"]]
    return spell_value(gradient, most)


def spell_value(value: TensorValue, most: int = LONGEST) -> str:
    """`[[1, 2], [3, 4]]`; where that would take more than `most` characters `[64, 10] norm 3.2`, or the shape alone."""
    data = value.get("data")
    if data is not None and len(data) <= most // 2:
        numbers = _nested([spell_number(entry) for entry in data], value["shape"])
        if len(numbers) <= most:
            return numbers
    shape = spell_shape(value["shape"])
    why = value.get("unavailable")
    if why is not None:
        described = f"{shape} {why.partition(':')[0]}" if ":" in why else f"{shape} {value['dtype']}"
        return described if len(described) <= most else shape
    norm = _norm(value)
    described = f"{shape} {value['dtype']}" if norm is None else f"{shape} norm {spell_number(norm)}"
    return described if len(described) <= most else shape


def _nested(numbers: list[str], shape: list[int]) -> str:
    if not shape:
        return numbers[0]
    rows = numbers
    for size in reversed(shape[1:]):
        rows = [f"[{', '.join(rows[start : start + size])}]" for start in range(0, len(rows), max(size, 1))]
    return f"[{', '.join(rows)}]"


def _norm(value: TensorValue) -> Number | None:
    summary = value.get("summary")
    if summary is not None:
        return summary["norm"]
    real = [entry for entry in value.get("data", []) if isinstance(entry, int | float)]
    return math.hypot(*real) if real and len(real) == len(value.get("data", [])) else None


def spell_structure(jacobian: LocalJacobian) -> str:
    """`3 x 2, dense`: rows and columns after flattening, and what the matrix is."""
    rows, columns = math.prod(jacobian["output_shape"]), math.prod(jacobian["input_shape"])
    structure = (jacobian["structure"] or "on demand").replace("_", " ")
    return f"{rows} \N{MULTIPLICATION SIGN} {columns}, {structure}"
