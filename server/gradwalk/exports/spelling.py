"""Tensors and gradients in a few characters, as a picture has room for them."""

import math
from typing import Final

from gradwalk.protocol.events import LocalJacobian
from gradwalk.protocol.numbers import Number
from gradwalk.protocol.values import Gradient, MissingReason, Structure, TensorValue
from gradwalk.words.catalogue import say, tell_attribute
from gradwalk.words.numbers import spell_number, spell_numbers, spell_shape

LONGEST = 34
"""Characters of a value in a caption; a card or an edge has room for fewer."""
WORDS: Final[dict[MissingReason, str]] = {
    "undefined": "export-undefined",
    "not_required": "export-not-required",
    "returned_none": "export-returned-none",
    "no_path": "export-no-path",
    "not_computed": "export-not-computed",
}
STRUCTURES: Final[dict[Structure, str]] = {
    "scalar": "structure-scalar",
    "diagonal": "export-diagonal",
    "permutation": "export-permutation",
    "selection": "export-selection",
    "sum_over_copies": "export-copies",
    "copy_to_summands": "export-reduction",
    "broadcast_sum": "export-copies",
    "kronecker": "export-kronecker",
    "dense": "export-dense",
    "zero": "export-zero",
    "too_large": "structure-too-large",
}


def spell_gradient(gradient: Gradient, most: int = LONGEST) -> str:
    """Numbers where they fit, else shape and norm; what is missing in words, never as a number."""
    if "missing" in gradient:
        return say(WORDS[gradient["missing"]])
    return spell_value(gradient, most)


def spell_value(value: TensorValue, most: int = LONGEST) -> str:
    """`[[1, 2], [3, 4]]`; where that would take more than `most` characters `[64, 10] norm 3.2`, or the shape alone."""
    data = value.get("data")
    if data is not None and len(data) <= most // 2:
        numbers = spell_numbers(data, value["shape"])
        if len(numbers) <= most:
            return numbers
    shape = spell_shape(value["shape"])
    why = value.get("unavailable")
    if why is not None:
        described = f"{shape} {tell_attribute(why, 'title') or value['dtype']}"
        return described if len(described) <= most else shape
    norm = _norm(value)
    if norm is None:
        described = f"{shape} {value.get('layout', value['dtype'])}"
    else:
        described = say("export-norm", shape=shape, norm=spell_number(norm))
    return described if len(described) <= most else shape


def _norm(value: TensorValue) -> Number | None:
    summary = value.get("summary")
    if summary is not None:
        return summary["norm"]
    real = [entry for entry in value.get("data", []) if isinstance(entry, int | float)]
    return math.hypot(*real) if real and len(real) == len(value.get("data", [])) else None


def spell_structure(jacobian: LocalJacobian) -> str:
    """`3 × 2, dense`: rows and columns after flattening, and what the matrix is."""
    rows, columns = math.prod(jacobian["output_shape"]), math.prod(jacobian["input_shape"])
    structure = jacobian["structure"]
    key = "export-on-demand" if structure is None else STRUCTURES[structure]
    return say("export-matrix", rows=str(rows), columns=str(columns), structure=say(key))
