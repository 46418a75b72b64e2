"""What the program calls values: a variable, the text that computes a result, the text of an argument."""

import ast
import re
from collections.abc import Container, Mapping, Sequence
from typing import Final

import torch

from gradwalk.formulas.derivatives import DerivativeEntry
from gradwalk.protocol.graph import Operand
from gradwalk.tracer.calls import WRITE, Call, CallLog
from gradwalk.tracer.frames import Place
from gradwalk.tracer.places import Places
from gradwalk.tracer.spans import gathers
from gradwalk.tracer.text import bracketed, parse_expression, short_text

_COMMUTATIVE: Final = frozenset({"mul", "add"})
"""Operators that torch calls with the tensor first, wherever the number stands."""


class Wording:
    """Finds texts; a text that it gives is that of just this value."""

    def __init__(self, log: CallLog, places: Places) -> None:
        self._log = log
        self._places = places

    def variable(self, output: tuple[int, int], leaves: Container[str]) -> str | None:
        """The variable that the program gives an output to; `output` is sequence number and output_nr.

        One within a function that has the name of one of these `leaves` is another variable: it tells nothing apart.
        """
        place, position = self._log.written.get(output, (None, None))
        targets = self._places.targets(place)
        found: str | None = None
        if position is None or position == WRITE:
            found = targets[0] if len(targets) == 1 else self._receiver(place)
        elif len(targets) > 1 and position < len(targets):
            found = targets[position]
        return None if found in leaves and _locals(place) else found

    def _receiver(self, place: Place | None) -> str | None:
        """The variable that a statement such as `y.mul_(2)` writes into."""
        text = self._places.whole_text(place)
        match None if text is None else parse_expression(bracketed(text)):
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method.endswith("_"):
                return name
        return None

    def text(self, output: tuple[int, int], leaves: Container[str]) -> str | None:
        """The text that computes an output; one within a function that reads a variable of a leaf's name is none."""
        place, position = self._log.written.get(output, (None, None))
        text = self._places.whole_text(place) if position is None else None
        if text is None:
            return None
        whole = bracketed(text)
        parsed = parse_expression(whole)
        if not isinstance(parsed, _COMPUTING) or gathers(parsed):
            return None
        read = {node.id for node in ast.walk(parsed) if isinstance(node, ast.Name)}
        return None if any(name in leaves for name in read.intersection(_locals(place))) else short_text(parsed, whole)

    def is_apart(self, call: Call | None, op: str, operands: Sequence[Operand]) -> bool:
        """Whether the texts of the operands mean the same inside the function that made the call as outside it."""
        variables = _locals(None if call is None else call.place)
        shadowed = {
            operand["argnum"]: source
            for operand in operands
            if (source := operand.get("source")) is not None and _FIRST_NAME.split(source, maxsplit=1)[0] in variables
        }
        if call is None or not shadowed:
            return True
        texts = self._arguments(call, op, operands, None)
        return all(texts.get(argnum) == source for argnum, source in shadowed.items())

    def constants(
        self, call: Call | None, op: str, operands: Sequence[Operand], places: Sequence[int] | None
    ) -> Mapping[int, str]:
        """By argnum, the texts of the operands that no node made; those of which the program leaves no doubt.

        `places`: what `operand_places` found.
        """
        constants = [operand for operand in operands if "edge" not in operand]
        if call is None or not constants:
            return {}
        written = self._arguments(call, op, operands, places)
        digits = {} if call.function is not None else {one["argnum"]: _digits(one) for one in constants}
        found = {one["argnum"]: written.get(one["argnum"]) or digits.get(one["argnum"]) for one in constants}
        return {argnum: text for argnum, text in found.items() if text is not None}

    def _arguments(
        self, call: Call, op: str, operands: Sequence[Operand], places: Sequence[int] | None
    ) -> dict[int, str | None]:
        text = self._places.whole_text(call.place)
        if text is None or not self._is_asked_for(call, op):
            return {}
        if places is not None:
            texts = _texts(text, call)
            return {argnum: texts[at] for argnum, at in enumerate(places)} if len(texts) == call.count else {}
        positions = call.positions if call.number is None else (0, 1)
        if not positions:
            return dict(enumerate(_listed_texts(text, len(operands))))
        if len(positions) > len(operands):
            positions = call.real_positions
        if len(positions) != len(operands):
            return {}
        texts = _texts(text, call)
        if len(texts) != call.count:
            return {}
        if call.number is not None and call.label in _COMMUTATIVE and operands[0].get("source") == texts[1]:
            texts.reverse()
        if call.number is not None and operands[0].get("source") not in (texts[0], None):
            return {}
        return {argnum: texts[position] for argnum, position in enumerate(positions)}

    def _is_asked_for(self, call: Call, op: str) -> bool:
        """Whether the program itself wrote the call of this one operation."""
        if not call.is_direct:
            return False
        if call.function is not None:
            return True
        label = call.label.strip("_")
        return call.high - call.low == 1 and (label == op.strip("_") or (label == "matmul" and op in _PRODUCTS))


def operand_places(call: Call | None, entry: DerivativeEntry | None, names: Sequence[str]) -> list[int] | None:
    """By argnum, which argument of the call an operand is, for a call that takes masks, indices or numbers beside.

    None where tensors alone tell it, and where the call's arguments are not those of torch's schema: a list of tensors,
    arguments by keyword.
    """
    if call is None or entry is None or not call.constants:
        return None
    if call.label == "__setitem__":
        return [_OF_SETITEM[name] for name in names] if _OF_SETITEM.keys() >= set(names) else None
    if call.label.strip("_") != entry.op.strip("_"):
        return None
    parameters = list(entry.parameters)
    if call.label == "where" and call.real_positions[:1] == (0,):
        parameters[:2] = parameters[1::-1]  # `x.where(condition, other)`
    order = [name for _, name in parameters]
    takes_tensor = {at for at, (kind, _) in enumerate(parameters) if kind.startswith("Tensor")}
    if call.count > len(parameters) or not takes_tensor.issuperset(call.positions):
        return None
    places = [order.index(name) if name in order else call.count for name in names]
    return places if max(places, default=call.count) < call.count else None


def _locals(place: Place | None) -> tuple[str, ...]:
    """The variables of the function that a place is in; none at the level of the module."""
    return () if place is None or place[0].co_name == "<module>" else place[0].co_varnames + place[0].co_cellvars


_FIRST_NAME: Final = re.compile(r"\W")
_OF_SETITEM: Final = {"self": 0, "values": 2, "value": 2}
"""Of `y[i] = 7`."""
_COMPUTING: Final = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript)
_PRODUCTS: Final = frozenset({"mm", "mv", "dot", "bmm"})


def _texts(text: str, call: Call) -> list[str | None]:
    """The texts that a call or an operator was given, the receiver of a method first; of `y *= k` that of `k`."""
    whole = bracketed(text)
    parsed = parse_expression(whole)
    match parsed:
        case ast.BinOp(left=left, right=right):
            return [short_text(left, whole), short_text(right, whole)]
        case ast.Call(func=function, args=positional, keywords=keywords):
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
            if gathers(parsed) or (call.function is None and name != call.label):
                # Something else makes the call: `reduce(torch.mul, xs)`.
                return []
            given = [*positional, *(keyword.value for keyword in keywords)]
            if any(isinstance(one, ast.Starred) for one in positional) or any(one.arg is None for one in keywords):
                return []
            is_method = len(given) + 1 == call.count and hasattr(torch.Tensor, call.label)
            if is_method and isinstance(function, ast.Attribute):
                given.insert(0, function.value)
            return [short_text(one, whole) for one in given]
        case None:
            return _update_texts(text)
    return []


def _listed_texts(text: str, count: int) -> list[str | None]:
    """The texts of the tensors in `torch.stack([a, b])`."""
    whole = bracketed(text)
    match parse_expression(whole):
        case ast.Call(args=[ast.List(elts=listed) | ast.Tuple(elts=listed), *_]) if len(listed) == count:
            return [None if isinstance(one, ast.Starred) else short_text(one, whole) for one in listed]
    return []


def _update_texts(text: str) -> list[str | None]:
    try:
        statements = ast.parse(text).body
    except (SyntaxError, RecursionError, MemoryError):
        return []
    update = statements[0] if len(statements) == 1 else None
    return [None, short_text(update.value, text)] if isinstance(update, ast.AugAssign) else []


def _digits(operand: Operand) -> str | None:
    value = operand["value"]
    data = None if value is None or value["shape"] else value.get("data")
    return format(data[0], "g") if data and isinstance(data[0], int | float) else None
