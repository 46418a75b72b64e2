r"""A formula in three stages: symbols, then v filled in, then all numbers (`v \cdot y`, `10 \cdot y`, `10 \cdot 3 = 30`).

Works on protocol objects alone, so it can be done for a recorded step as well as for a live one. Only what can be
read at a glance is filled in: scalars, vectors of up to four entries, matrices of up to four by four.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from gradwalk.formulas.derivatives import operand_names
from gradwalk.formulas.formula import BROADCAST, Entry, Vjp, fill, placeholder_names, render
from gradwalk.formulas.registry import entry_of
from gradwalk.protocol.events import Substitution
from gradwalk.protocol.graph import Node
from gradwalk.protocol.values import Gradient, Number, TensorValue

LONGEST_SIDE = 4
_FORMAT = ".4g"
"""Of a number, four significant digits."""

Known = Mapping[str, "Shown"]

_NEUTRAL_AT_ONE = ("alpha", "beta")
_PLACEHOLDER_AT_END = re.compile(r"@(\{\w+\}|[A-Za-z]+\d*)$")
_SYMBOL_AT_END = re.compile(r"\\(pi|gamma|kappa|lambda|alpha|beta)$")
_NOT_A_FACTOR = re.compile(r"\\(begin|operatorname|text|mathbin|mathrel|mathrm)$|\\(sum|prod)[_^]$")
_OPENING = "{(|[,<>="


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as LaTeX."""

    latex: str
    is_scalar: bool
    is_exact: bool
    """False where digits were left out."""

    @property
    def needs_parentheses(self) -> bool:
        """Signs and sums do, unless brackets stand round it already."""
        return self.is_scalar and (self.latex.startswith("-") or "\\cdot" in self.latex or self.latex.endswith("i"))


def substitutions(node: Node, grad_outputs: Sequence[Gradient], grad_inputs: Sequence[Gradient]) -> list[Substitution]:
    """The three stages for every operand whose formula is known and whose numbers are small enough.

    The result is empty where nothing can be shown. The last stage ends in what the engine returned, so it is true
    only if the formula was checked; `check_formula` says so.
    """
    plan = _plan(node["name"], len(grad_inputs))
    seeds = {} if plan is None else _shown_seeds(grad_outputs)
    if plan is None or not seeds:
        return []
    known: dict[str, Shown] | None = None
    found: list[Substitution] = []
    for argnum, (vjp, returned) in enumerate(zip(plan.vjps, grad_inputs, strict=True)):
        answer = None if vjp is None else _show_gradient(returned)
        if vjp is None or answer is None or "data" not in returned:
            continue
        if known is None:
            known = _known_values(node, plan)
        template = _without_ones(vjp.latex, known)
        summed = _is_summed(plan.is_broadcast, vjp, grad_outputs, returned)
        filled = {**seeds, **known}
        if "count" in template:
            filled |= _count(grad_outputs, returned)
        found.append(
            {
                "argnum": argnum,
                "symbols": _wrap(_rendered(node["name"], template), summed),
                "with_v": _wrap(_substitute(plan.entry, template, seeds), summed),
                "with_numbers": _with_numbers(plan.entry, template, filled, answer, summed),
            }
        )
    return found


class _Plan(NamedTuple):
    """What is the same at every node of a kind."""

    entry: Entry
    names: tuple[str, ...]
    vjps: tuple[Vjp | None, ...]
    """One per operand."""
    wanted: frozenset[str]
    """What some formula of its names."""
    is_broadcast: bool
    """Its operands may be broadcast."""


@lru_cache(maxsize=4_096)
def _plan(node_name: str, count: int) -> _Plan | None:
    entry = entry_of(node_name)
    if entry is None:
        return None
    names = operand_names(node_name, count)
    vjps = tuple(entry.vjp_for(name.partition("[")[0]) for name in names)
    wanted = frozenset(name for vjp in vjps if vjp is not None for name in placeholder_names(vjp.latex))
    return _Plan(entry, names, vjps, wanted | {*_NEUTRAL_AT_ONE}, BROADCAST in entry.special_cases)


def _with_numbers(entry: Entry, template: str, known: Known, answer: Shown, summed: bool) -> str:
    used: list[Shown] = []
    written = _wrap(_substitute(entry, template, known, used), summed)
    if written == answer.latex:
        return written
    relation = "=" if answer.is_exact and all(value.is_exact for value in used) else r"\approx"
    return f"{written} {relation} {answer.latex}"


def _substitute(entry: Entry, template: str, known: Known, used: list[Shown] | None = None) -> str:
    places, rest = _places(template)
    shown_here: list[Shown] = []
    written: list[str] = []
    for place in places:
        written.append(place.before)
        value = None if place.has_subscript else known.get(place.name)
        if value is None:
            written.append(entry.symbol(place.name))
            continue
        shown_here.append(value)
        latex = f"({value.latex})" if place.may_clash and value.needs_parentheses else value.latex
        written.append(rf"\cdot {latex}" if place.follows_factor else latex)
    written.append(rest)
    text = "".join(written)
    if used is not None:
        used.extend(shown_here)
    for value in shown_here:
        if not value.is_scalar:
            return text
    return text.replace(r"\odot", r"\cdot") if shown_here else text


class _Place(NamedTuple):
    """A placeholder in its template."""

    before: str
    """What stands between the placeholder before and this one."""
    name: str
    has_subscript: bool
    """A subscript picks one entry of many; the whole value would be wrong in its place."""
    may_clash: bool
    """A sign or a sum would be misread here."""
    follows_factor: bool


@lru_cache(maxsize=4_096)
def _places(template: str) -> tuple[tuple[_Place, ...], str]:
    """The placeholders of a template in order, and what follows the last one."""
    places: list[_Place] = []
    reached = 0

    def note(name: str, start: int, end: int) -> str:
        nonlocal reached
        before, after = template[:start].rstrip(), template[end:].lstrip()
        may_clash = (bool(before) and before[-1] not in _OPENING) or after.startswith("^")
        places.append(
            _Place(template[reached:start], name, after.startswith("_"), may_clash, _ends_with_factor(before))
        )
        reached = end
        return ""

    fill(template, note)
    return tuple(places), template[reached:]


@lru_cache(maxsize=4_096)
def _rendered(node_name: str, template: str) -> str:
    """The template with symbols, which are the same at every node of a kind."""
    entry = entry_of(node_name)
    return template if entry is None else render(entry, template)


def _ends_with_factor(before: str) -> bool:
    """Whether a number that follows would be read as one with what stands before it: `2 10` for 2 times 10."""
    before = before.removesuffix("\\,").removesuffix("\\;").rstrip()
    if not before.endswith("}"):
        return bool(before) and bool(
            before[-1].isdigit()
            or (before[-1] == ")" and not before.endswith("\\right)"))
            or _PLACEHOLDER_AT_END.search(before)
            or _SYMBOL_AT_END.search(before)
        )
    if _PLACEHOLDER_AT_END.search(before):
        return True
    depth, start = 0, len(before)
    while start and (depth or start == len(before)):
        start -= 1
        depth += {"}": 1, "{": -1}.get(before[start], 0)
    return not _NOT_A_FACTOR.search(before[:start])


def _without_ones(template: str, known: Known) -> str:
    """The template without factors that are 1 unless someone asks for more."""
    for name in _NEUTRAL_AT_ONE:
        if name in known and known[name].latex == "1":
            template = _without(template, name)
    return template


@lru_cache(maxsize=4_096)
def _without(template: str, name: str) -> str:
    return re.sub(rf"@{name}(\s|\\,)*", "", template)


def _wrap(latex: str, summed: bool) -> str:
    return rf"\textstyle\sum \left({latex}\right)" if summed else latex


def _is_summed(is_broadcast: bool, vjp: Vjp, grad_outputs: Sequence[Gradient], returned: Gradient) -> bool:
    """Whether the engine added the formula's value up over axes along which the operand was broadcast."""
    if not is_broadcast or r"\top" in vjp.latex or "sum" in vjp.latex:
        return False
    first = next((grad for grad in grad_outputs if "shape" in grad), None)
    return (
        first is not None
        and "shape" in first
        and "shape" in returned
        and math.prod(first["shape"]) > math.prod(returned["shape"])
    )


def _shown_seeds(grad_outputs: Sequence[Gradient]) -> dict[str, Shown]:
    """`v` for the first grad_output that arrived, `v0`, `v1`, ... for each."""
    seeds: dict[str, Shown] = {}
    for position, grad in enumerate(grad_outputs):
        shown = _show_gradient(grad)
        if shown is not None:
            seeds[f"v{position}"] = shown
            seeds.setdefault("v", shown)
    return seeds


def _known_values(node: Node, plan: _Plan) -> dict[str, Shown]:
    """What the formulas name: results, operands, and what was saved, the last with the last word."""
    known: dict[str, Shown | None] = {}
    wanted = plan.wanted
    if "result" in wanted or "values" in wanted:
        for output in node["outputs"][:1]:
            if output["value"] is not None:
                known["result"] = known["values"] = _show_tensor(output["value"])
    for name, operand in zip(plan.names, node["inputs"], strict=False):
        if name in wanted and operand["value"] is not None:
            known[name] = _show_tensor(operand["value"])
    for saved in node["saved"]:
        name = saved["name"].removeprefix("_saved_")
        if name not in wanted:
            continue
        value = saved["value"]
        if isinstance(value, dict):
            known[name] = _show_tensor(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            known[name] = _show_number(value)
    return {name: shown for name, shown in known.items() if shown is not None}


def _count(grad_outputs: Sequence[Gradient], returned: Gradient) -> dict[str, Shown]:
    """n, the number of operand elements behind one element of v."""
    first = next((grad for grad in grad_outputs if "shape" in grad), None)
    if first is None or "shape" not in first or "shape" not in returned or not math.prod(first["shape"]):
        return {}
    return {"count": _show_number(math.prod(returned["shape"]) // math.prod(first["shape"]))}


def _show_gradient(gradient: Gradient) -> Shown | None:
    return _show_tensor(gradient) if "shape" in gradient else None


def _show_tensor(value: TensorValue) -> Shown | None:
    """None for what is too large to be read at a glance."""
    data = value.get("data")
    if data is None or len(data) > LONGEST_SIDE**2:
        return None
    known = _latest.get(id(value))
    if known is not None and known[0] is value:
        return known[1]
    shown = _show_entries(data, value["shape"])
    if len(_latest) >= _VALUES_KEPT:
        _latest.clear()
    _latest[id(value)] = value, shown
    return shown


_VALUES_KEPT = 2_048
_latest: dict[int, tuple[TensorValue, Shown | None]] = {}
"""By identity: one value is the grad_input of a step, the grad_output of the next, and an operand of a third."""


def _show_entries(data: Sequence[Number], shape: Sequence[int]) -> Shown | None:
    pattern = _pattern(tuple(shape))
    if pattern is None:
        return None
    if not shape:
        return _show_number(data[0])
    if set(map(type, data)) != {float}:
        numbers = [_show_number(number) for number in data]
        texts, is_exact = tuple([number.latex for number in numbers]), all(number.is_exact for number in numbers)
        return Shown(_in_brackets(pattern.of_texts % texts), False, is_exact)
    # Adding 0 turns a negative zero into the one that is written without a sign.
    signless: Any = [number + 0.0 for number in data] if 0.0 in data else data  # type: ignore[operator]
    body = pattern.of_numbers % tuple(signless)
    if "e" in body:
        # The longest first: one may begin another.
        for exponent in sorted({*_EXPONENT.findall(body)}, key=len, reverse=True):
            body = body.replace(exponent, _power(exponent))
    return Shown(_in_brackets(body), False, all(map(_is_short, signless)))


class _Pattern(NamedTuple):
    """The inside of a bracket, to be filled with entries."""

    of_numbers: str
    of_texts: str


@lru_cache(maxsize=256)
def _pattern(shape: tuple[int, ...]) -> _Pattern | None:
    if len(shape) > 2 or any(not 1 <= size <= LONGEST_SIDE for size in shape):
        return None
    rows, columns = (*shape, 1, 1)[:2]
    number, text = (r" \\ ".join([" & ".join([entry] * columns)] * rows) for entry in (f"%{_FORMAT}", "%s"))
    return _Pattern(number, text)


_EXPONENT = re.compile(r"e[+-]\d+")


@lru_cache(maxsize=1_024)
def _power(exponent: str) -> str:
    """`e-05` as LaTeX."""
    return rf" \cdot 10^{{{int(exponent[1:])}}}"


def _in_brackets(body: str) -> str:
    return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"


def _is_short(number: float) -> bool:
    """Whether no digit is left out."""
    return float(format(number, _FORMAT)) == number


def _show_number(number: Number) -> Shown:
    if isinstance(number, bool):
        return Shown(rf"\mathrm{{{str(number).lower()}}}", True, True)
    if isinstance(number, str):
        return Shown({"NaN": r"\mathrm{NaN}", "Infinity": r"\infty", "-Infinity": r"-\infty"}[number], True, True)
    if isinstance(number, list):
        real, imaginary = (_show_number(part) for part in number)
        return Shown(
            f"{real.latex} + {imaginary.latex} i".replace("+ -", "- "), True, real.is_exact and imaginary.is_exact
        )
    # Adding 0 turns a negative zero into the one that is written without a sign.
    return _show_real(number + 0.0)


@lru_cache(maxsize=16_384)
def _show_real(number: float) -> Shown:
    text = format(number, _FORMAT)
    return Shown(_in_latex(text), True, float(text) == number)


def _in_latex(text: str) -> str:
    mantissa, mark, exponent = text.partition("e")
    return mantissa + _power(mark + exponent) if exponent else text
