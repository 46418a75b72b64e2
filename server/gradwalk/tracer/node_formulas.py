"""The formulas of a live node: written for the options it saved, and checked against what the engine returned."""

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import torch

from gradwalk.formulas.check import check_formula, out_of_sight
from gradwalk.formulas.derivatives import operand_names
from gradwalk.formulas.display import Texts, formula_of, letters_of
from gradwalk.formulas.entry import Kind
from gradwalk.formulas.letters import LONGEST_SOURCE, Letters
from gradwalk.formulas.moves import moves
from gradwalk.formulas.registry import entry_of
from gradwalk.formulas.specialise import kind_of
from gradwalk.formulas.substitute import substitution
from gradwalk.protocol.events import Substitution
from gradwalk.protocol.graph import Formula, Operand, Output, SavedTensor
from gradwalk.protocol.moves import VjpMoves
from gradwalk.tracer import originals
from gradwalk.tracer.saved import KeptFields, is_hooked, saved_fields
from gradwalk.tracer.sides import Side
from gradwalk.tracer.values import ValueTable, tensor_of
from gradwalk.tracer.walk import Node

STEPS_CHECKED: Final = 500
"""Of one trace; a loop repeats its nodes, and what held so often will hold."""
ELEMENTS_CHECKED: Final = 4_096
"""Of one node's saved tensors and gradients together."""


@dataclass(frozen=True, slots=True)
class Described:
    """A node's formula, and the names in it, which its steps use too."""

    formula: Formula | None
    letters: Letters


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one step says of its node's formula."""

    holds: bool
    substitutions: list[Substitution]
    moves: list[VjpMoves]


class Unexplained(NamedTuple):
    """What is known of a node whose formula is not written yet."""

    saved: dict[str, Any]
    """Kinds stand for tensors."""
    seeds: list[Kind]
    kinds: list[Kind | None]
    wanted: set[int]


class NodeFormulas:
    """The formulas of one trace. Counts, not times, decide how many steps are checked: a trace is deterministic."""

    def __init__(
        self,
        kept: KeptFields,
        values: ValueTable,
        variables: Sequence[str] = (),
        steps: int = STEPS_CHECKED,
        elements: int = ELEMENTS_CHECKED,
    ) -> None:
        """`variables` are the program's own names: no formula uses one of them as a letter."""
        self._kept = kept
        self._values = values
        self._variables = tuple(variables)
        self._steps_left = steps
        self._elements = elements

    def read(
        self,
        node: Node,
        name: str,
        operands: Sequence[Operand],
        operand_sides: Sequence[Side | None],
        sides: Sequence[Side],
    ) -> Unexplained:
        """What a formula of a built-in node is written of, while the node still has what it saved."""
        names = operand_names(name, len(operands))
        kinds = [_kind(side, operand) for side, operand in zip(operand_sides, operands, strict=True)]
        seeds = [side.kind for side in sides]
        by_name = {key: kind for key, kind in zip(names, kinds, strict=True) if kind is not None}
        if seeds:
            by_name |= {"result": seeds[0], "result0": seeds[0]}
        wanted = {argnum for argnum, side in enumerate(operand_sides) if side is not None}
        values = self._read(node, by_name)
        if any(isinstance(one, torch.Tensor) and one.is_nested for one in values.values()):
            # A nested tensor has no one shape, of which a formula could be written.
            return Unexplained({}, [], kinds, set())
        return Unexplained({key: kind_of(one) for key, one in values.items()}, seeds, kinds, wanted)

    def describe(
        self,
        name: str,
        known_now: Unexplained,
        operands: Sequence[Operand],
        outputs: Sequence[Output],
        ops: Sequence[str | None],
        beside: Sequence[SavedTensor] = (),
    ) -> Described:
        """The formula of a built-in node. A result with an operand's variable is called by a letter: `x = x * w` of two
        values called x is no equation, and the text that computes a result says nothing as its name.

        `ops` are what the node itself computes, then what made each operand; `beside` was saved and is no operand.
        """
        names = operand_names(name, len(operands))
        sources = {key: one["source"] for key, one in zip(names, operands, strict=True) if "source" in one}
        variable = outputs[0]["name"] if outputs else None
        result = None if variable is None or _is_in(variable, sources.values()) else variable
        texts = _texts(names, operands, outputs, result, ops)
        texts = replace(texts, values={**{one["name"]: _said(one) for one in beside}, **texts.values})
        sources = _called_shortly(sources, names, ops[1:])
        sources |= {one["name"]: one["alias_of"] for one in beside if "alias_of" in one}
        if result is not None:
            sources |= {"result": result, "result0": result}
        letters = letters_of(name, sources, self._variables)
        saved, seeds, kinds, wanted = known_now
        with out_of_sight():
            formula = formula_of(name, saved, seeds, kinds, letters, wanted, texts)
            return Described(formula, letters)

    def evidence(
        self,
        node: Node,
        name: str,
        grad_outputs: Sequence[torch.Tensor | None],
        grad_inputs: Sequence[torch.Tensor | None],
    ) -> dict[str, Any] | None:
        """What `check` needs of a live node; None where it is not to be checked. Call it in a hook."""
        if self._steps_left <= 0 or entry_of(name) is None:
            return None
        gradients = [originals.plain(one) for one in (*grad_outputs, *grad_inputs) if one is not None]
        if any(map(_is_wrapped, gradients)) or sum(one.numel() for one in gradients) > self._elements:
            return None
        saved = self._read(node)
        if any(isinstance(one, Kind) or (isinstance(one, torch.Tensor) and _is_wrapped(one)) for one in saved.values()):
            return None
        self._steps_left -= 1
        return saved

    def check(  # noqa: PLR0913 - what one step saw
        self,
        saved: Mapping[str, Any],
        name: str,
        grad_outputs: Sequence[torch.Tensor | None],
        grad_inputs: Sequence[torch.Tensor | None],
        operand_shapes: Sequence[tuple[int, ...] | None],
        letters: Letters,
        *,
        of_call: bool = False,
    ) -> Verdict | None:
        """Whether the entry reproduces `grad_inputs` of what the node saved; None where nothing was evaluated.

        A call of several nodes has no local Jacobian: its moves are told for single numbers, too.
        """
        grad_outputs, grad_inputs = ([*map(originals.plain, each)] for each in (grad_outputs, grad_inputs))
        checked = check_formula(name, saved, grad_outputs, grad_inputs, operand_shapes, self._elements)
        if checked.holds is None:
            return None
        with out_of_sight():
            held = [
                (line, returned)
                for line, returned in zip(checked.lines, grad_inputs, strict=True)
                if checked.holds and line is not None and returned is not None
            ]
            written = [substitution(line, checked.values, returned, letters) for line, returned in held]
            record = self._values.value_of
            moved = [
                moves(line.argnum, line.expression, checked.values, returned, letters, record, of_single=of_call)
                for line, returned in held
            ]
        return Verdict(
            checked.holds, [one for one in written if one is not None], [one for one in moved if one is not None]
        )

    def _read(self, node: Node, unread: Mapping[str, Kind] | None = None) -> dict[str, Any]:
        """What the node saved, by bare names; a kind, or nothing, where reading would be noticed or is not possible.

        `unread` gives the kinds of tensors that cannot be read now.
        """
        kept = self._kept.of(node)
        if kept is not None:
            return kept
        saved: dict[str, Any] = {}
        for attribute, name, packed in saved_fields(type(node)):
            try:
                if packed is None or not is_hooked(getattr(node, packed)):
                    saved[name] = originals.plain(getattr(node, attribute))
                    continue
            except RuntimeError:
                pass
            saved[name] = _UNREAD if unread is None else unread.get(name)
        return saved


_UNREAD: Final = Kind((), torch.float32)
"""Stands for a tensor that could not be read."""


def _called_shortly(sources: dict[str, str], names: Sequence[str], makers: Sequence[str | None]) -> dict[str, str]:
    """Texts that a formula can carry: `tanh(…)` for a long one or none."""
    short = {name for name, source in sources.items() if len(source) <= LONGEST_SOURCE}
    return sources | _made(names, makers, short)


def _made(names: Sequence[str], makers: Sequence[str | None], known: Container[str]) -> dict[str, str]:
    """`tanh(…)` or `leaf` for what has no text that is known; `operand1` where two operands would be called so."""
    unknown = [
        (argnum, name, op)
        for argnum, (name, op) in enumerate(zip(names, makers, strict=True), 1)
        if op is not None and name not in known
    ]
    counts = Counter(op for _, _, op in unknown)
    said = {op: op if op == "leaf" else f"{op}(…)" for op in counts}
    return {name: said[op] if counts[op] == 1 else f"operand{argnum}" for argnum, name, op in unknown}


def _is_in(name: str, texts: Iterable[str]) -> bool:
    """Whether a text speaks of that name: `h = tanh(W @ h)` has another h on each side."""
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for text in texts)


def _texts(
    names: Sequence[str],
    operands: Sequence[Operand],
    outputs: Sequence[Output],
    result: str | None,
    ops: Sequence[str | None],
) -> Texts:
    sources = [operand.get("source") for operand in operands]
    own, *makers = ops
    text = outputs[0].get("source") if len(outputs) == 1 else None
    values = _made(names, makers, {name for name, source in zip(names, sources, strict=True) if source is not None})
    values |= {name: source for name, source in zip(names, sources, strict=True) if source is not None}
    values |= dict.fromkeys(("result", "result0"), result or text or f"{own}(…)")
    return Texts(values, sources, text)


def _said(saved: SavedTensor) -> str:
    """The variable that it was saved from, its one number, or what torch calls it."""
    value = saved["value"]
    has_number = value is not None and value["shape"] == [] and value["dtype"].startswith("float")
    number = f"{tensor_of(value).item():g}" if value is not None and has_number and "data" in value else saved["name"]
    return saved.get("alias_of", number)


def _kind(side: Side | None, operand: Operand) -> Kind | None:
    """The kind of an operand: of the output it comes from, or of the constant that the call was given."""
    if side is not None:
        return side.kind
    value = operand["value"]
    return None if value is None else Kind(tuple(value["shape"]), getattr(torch, value["dtype"]))


def _is_wrapped(tensor: torch.Tensor) -> bool:
    """True where values are not plain numbers: under torch.func, `is_grads_batched`, and in nested tensors."""
    return originals.is_functorch_wrapped(tensor) or originals.is_legacy_batched(tensor) or tensor.is_nested
