"""Tensors and gradients in a few characters, as a picture has room for them."""

from gradwalk.protocol.events import LocalJacobian
from gradwalk.protocol.values import Gradient, Number, TensorValue

SIGNIFICANT_DIGITS = 4
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


def spell_gradient(gradient: Gradient) -> str:
    """Numbers where they fit, else shape and norm; what is missing in words, never as a number."""
    if "missing" in gradient:
        return WORDS[gradient["missing"]]
    return spell_value(gradient)


def spell_value(value: TensorValue, most: int = 6) -> str:
    """`[4, 6, 9]`, or `[64, 10] norm 3.2` for what has more than `most` entries."""
    data = value.get("data")
    if data is not None and len(data) <= most:
        numbers = [spell_number(entry) for entry in data]
        return numbers[0] if not value["shape"] else f"[{', '.join(numbers)}]"
    shape = spell_shape(value["shape"])
    summary = value.get("summary")
    return f"{shape} norm {spell_number(summary['norm'])}" if summary else f"{shape} {value['dtype']}"


def spell_structure(jacobian: LocalJacobian) -> str:
    """`3 x 2, dense`: rows and columns after flattening, and what the matrix is."""
    rows, columns = _count(jacobian["output_shape"]), _count(jacobian["input_shape"])
    structure = (jacobian["structure"] or "on demand").replace("_", " ")
    return f"{rows} \N{MULTIPLICATION SIGN} {columns}, {structure}"


def _count(shape: list[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total
