"""What is said at each phase of a backward step: one short sentence, with the traced numbers in it."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from gradwalk.protocol.events import Accumulate, Contribution, LocalJacobian, PhaseSentences
from gradwalk.protocol.graph import Node
from gradwalk.protocol.values import Gradient, Number
from gradwalk.tracer.derivatives_in_words import DERIVATIVES
from gradwalk.tracer.spelling import is_short, scalar_of, spell_number, spell_shape, spell_value

LONGEST_SENTENCE = 140
_LONGEST_NAME = 24
_SUMMANDS_READ_ALOUD = 4
_OPERANDS_READ_ALOUD = 3
_TIMES = {2: "twice", 3: "three times"}
_SYMBOLS = ("x", "y")
_PLACES = {symbol: f"{{{symbol}}}" for symbol in (*_SYMBOLS, "z")}
_STRUCTURES = {
    "diagonal": "each entry has a factor of its own (diagonal)",
    "permutation": "entries change places (permutation)",
    "selection": "entries are picked (selection)",
    "broadcast_sum": "entries are copied or summed (broadcast and sum)",
    "kronecker": "one small matrix is used over and over (Kronecker)",
    "dense": "every entry may depend on every other (dense)",
    "zero": "nothing passes (zero)",
}

Step = Any
"""The facts of a step so far, as the protocol spells them: all but `narration` and `phases`."""


def narrate(
    node: Node, step: Step, operand_names: Sequence[str | None], receivers: Sequence[str | None] = ()
) -> tuple[str, PhaseSentences]:
    """The sentence of a whole backward step, and one for each of its phases; each at most 140 characters.

    Args:
        node: the node that ran.
        step: `grad_outputs`, `contributions`, `grad_inputs`, `local_jacobians`, `accumulate`, and `hooks` if any.
        operand_names: per grad_input, what the program calls the value it goes to (`x`, `model.0.weight`), or None.
        receivers: per grad_input, the op of the node it goes to; said where the value has no name.
    """
    arrived = [spell_value(value) for value in step["grad_outputs"]]
    collect = _collect(node, step, arrived)
    accumulate: Accumulate | None = step["accumulate"]
    if accumulate is not None:
        return _narrate_leaf(node, step, accumulate, collect)
    returned = [spell_value(value) for value in step["grad_inputs"]]
    names = [_operand_name(node, argnum, operand_names, receivers) for argnum in range(len(returned))]
    multiply = _multiply(step, arrived, returned)
    send = _send(returned, names)
    whole = f"{_word(node['op'])}: {_arrived(step, arrived)} came in; {_lower(send)}"
    if len(whole) > LONGEST_SENTENCE:
        whole = _first_fitting(f"{_word(node['op'])}: {_lower(multiply)}")
    return whole, {
        "collect": collect,
        "local_rule": _local_rule(node, step, operand_names),
        "multiply": multiply,
        "send": send,
        "land": _land(step, returned, names),
    }


def _narrate_leaf(node: Node, step: Step, accumulate: Accumulate, collect: str) -> tuple[str, PhaseSentences]:
    name = _short_name(accumulate["leaf"])
    land = _accumulated(name, accumulate, step["grad_outputs"][0] if step["grad_outputs"] else None)
    return land, {
        "collect": collect,
        "local_rule": _first_fitting(f"{name} is a leaf: it has no rule, it keeps what arrives.", _leaf_rule(node)),
        "multiply": "Nothing is multiplied at a leaf.",
        "send": "Nothing is sent on: the way ends here.",
        "land": land,
    }


def _leaf_rule(node: Node) -> str:
    return f"{_word(node['op'])} has no rule, it keeps what arrives."


def _accumulated(name: str, accumulate: Accumulate, arrived: Gradient | None) -> str:
    before, after = accumulate["before"], accumulate["after"]
    if "missing" in after:
        return _first_fitting(f"{name}.grad is still None: {spell_value(after)}.", f"{name}.grad is still None.")
    now = spell_value(after)
    if "missing" in before:
        return _first_fitting(f"{name}.grad was None, is now {now}.", f"{name}.grad was None, is now set.")
    added = [scalar_of(one) for one in (before, arrived, after)]
    if all(number is not None for number in added):
        old, new, total = (spell_number(number) for number in added if number is not None)
        return _first_fitting(f"{name}.grad: {old} + {_bracketed(new)} = {total}.", f"{name}.grad is now {total}.")
    return _first_fitting(
        f"{name}.grad had a gradient already: the new one of shape {spell_shape(after['shape'])} is added to it.",
        f"{name}.grad: the new gradient is added to the old one.",
    )


# 1 collect


def _collect(node: Node, step: Step, spelled: Sequence[str]) -> str:
    contributions: list[Contribution] = step["contributions"]
    grad_outputs: list[Gradient] = step["grad_outputs"]
    changed = _hook_changes(step)
    if not contributions:
        return _first_fitting(f"Nothing arrived at {_word(node['op'])}; undefined acts as zero.{changed}")
    if len(grad_outputs) > 1:
        arrived = len({one["output_nr"] for one in contributions})
        count = len(grad_outputs)
        listed = _and([f"{spelled[slot]} at {_output_name(node, slot)}" for slot in _present(grad_outputs)] or ["none"])
        return _first_fitting(
            f"{arrived} of {count} outputs of {_word(node['op'])} received a gradient: {listed}.{changed}",
            f"{arrived} of {count} outputs of {_word(node['op'])} received a gradient.{changed}",
            f"{arrived} of {count} outputs received a gradient.",
        )
    total = step["hooks"][0]["before"] if changed else grad_outputs[0]
    name = _output_name(node, contributions[0]["output_nr"])
    if len(contributions) == 1:
        value = contributions[0]["value"]
        text = spelled[0] if value is grad_outputs[0] else spell_value(value)
        sentence = _single(contributions[0], text, name) + changed
        return sentence if len(sentence) <= LONGEST_SENTENCE else _first_fitting(f"One gradient arrived.{changed}")
    return _first_fitting(*(sentence + changed for sentence in _several(contributions, name, total)))


def _single(contribution: Contribution, value: str, name: str) -> str:
    if contribution["edge"] == "seed":
        return f"The pass starts at {name} with the seed v = {value}."
    return f"{_upper(value)} arrived at {name}."


def _several(contributions: Sequence[Contribution], name: str, total: Gradient) -> Iterable[str]:
    """`a` was used twice: 6 + 4 = 10."""
    count = len(contributions)
    used = f"{_upper(name)} was used {_TIMES.get(count, f'{count} times')}"
    if any(one["edge"] == "seed" for one in contributions):
        used = f"{_upper(name)} got {count} gradients, the seed among them"
    numbers = [scalar_of(one["value"]) for one in contributions]
    result = scalar_of(total)
    if result is not None and count <= _SUMMANDS_READ_ALOUD and all(number is not None for number in numbers):
        first, *others = (spell_number(number) for number in numbers if number is not None)
        terms = " + ".join([first, *(_bracketed(term) for term in others)])
        yield f"{used}: {terms} = {spell_number(result)}."
    if "missing" not in total:
        if is_short(total):
            yield f"{used}: the {count} contributions add up to {spell_value(total)}."
        yield f"{used}: {count} contributions of shape {spell_shape(total['shape'])} are added up."
    yield f"{count} contributions are added up."


def _hook_changes(step: Step) -> str:
    changes = step.get("hooks") or ()
    if not changes:
        return ""
    before, after = changes[0]["before"], changes[0]["after"]
    if "missing" in before or "missing" in after or not (is_short(before) and is_short(after)):
        return " A hook then changed it."
    return f" A hook then made it {spell_value(after)}."


def _output_name(node: Node, output_nr: int) -> str:
    name = node.get("leaf")
    if name is None and output_nr < len(node["outputs"]):
        name = node["outputs"][output_nr]["name"]
    return f"the result of {_word(node['op'])}" if name is None else f"`{_short_name(name)}`"


# 2 local rule


def _local_rule(node: Node, step: Step, operand_names: Sequence[str | None]) -> str:
    jacobians: list[LocalJacobian] = step["local_jacobians"]
    if node["kind"] == "custom":
        return _first_fitting(
            f"{_word(node['op'])}.backward is the rule: the program's own code ran{_factors(jacobians)}.",
            f"{_word(node['op'])}.backward is the rule: the program's own code ran.",
            "The program's own backward is the rule.",
        )
    if node["kind"] == "view_write":
        return "Part of a tensor was written over: the rest keeps its gradient, the part's goes to what was written."
    argnum = 0
    for number, value in enumerate(step["grad_inputs"]):
        if "missing" not in value:
            argnum = number
            break
    return _first_that_fits(_rules(node, jacobians, argnum, operand_names))


def _rules(
    node: Node, jacobians: Sequence[LocalJacobian], argnum: int, operand_names: Sequence[str | None]
) -> Iterator[str]:
    """Ways to say the rule, the most telling one first."""
    known = DERIVATIVES.get(node["name"])
    if known is not None and argnum < len(known.partials) and not _has_alpha(node):
        symbols = _symbols(node, operand_names)
        if symbols["x"] != symbols["y"]:
            rule = _partial_derivative(node["name"], argnum, **symbols)
            yield f"{rule}{_saved(node, known.partials[argnum], symbols)}."
            yield f"{rule}."
    yield from _rule_by_structure(node, jacobians, argnum)
    yield f"This is the rule of {_word(node['op'])}."


@lru_cache(maxsize=1024)
def _partial_derivative(name: str, argnum: int, x: str, y: str, z: str) -> str:
    """`d(x*y)/dx = y`."""
    known = DERIVATIVES[name]
    forward, partial = (text.format(x=x, y=y, z=z) for text in (known.forward, known.partials[argnum]))
    return f"d({forward})/d{(x, y)[argnum]} = {partial}"


def _rule_by_structure(node: Node, jacobians: Sequence[LocalJacobian], argnum: int) -> Iterable[str]:
    jacobian = next((one for one in jacobians if one["argnum"] == argnum), None)
    number = None if jacobian is None else _factor(jacobian)
    if number is not None:
        yield f"At this point the derivative of {_word(node['op'])} is {spell_number(number)}."
    structure = None if jacobian is None else _STRUCTURES.get(jacobian["structure"] or "")
    text = _formula_text(node, argnum)
    if text is not None:
        if structure is not None:
            yield f"The rule of {_word(node['op'])}: {text}; {structure}."
        yield f"The rule of {_word(node['op'])}, with v for what arrived: {text}."
    if jacobian is not None and structure is not None:
        shapes = f"{spell_shape(jacobian['output_shape'])} by {spell_shape(jacobian['input_shape'])}"
        yield f"The local Jacobian of {_word(node['op'])} is {shapes}: {structure}."


def _formula_text(node: Node, argnum: int) -> str | None:
    formula = node["formula"]
    if formula is None or not formula.get("checked", True):
        return None
    return next((line["text"] for line in formula["vjp"] if line["argnum"] == argnum and line["text"]), None)


def _factors(jacobians: Sequence[LocalJacobian]) -> str:
    numbers = [_factor(one) for one in jacobians]
    if not numbers or len(numbers) > _OPERANDS_READ_ALOUD or any(number is None for number in numbers):
        return ""
    word = "factor" if len(numbers) == 1 else "factors"
    return f", {word} {', '.join(spell_number(number) for number in numbers if number is not None)}"


def _factor(jacobian: LocalJacobian) -> Number | None:
    """The Jacobian itself where it is one number."""
    value = jacobian["value"]
    if value.get("missing") == "on_demand" or "shape" not in value:
        return None
    return scalar_of(value)


def _symbols(node: Node, operand_names: Sequence[str | None]) -> dict[str, str]:
    """What stands for the operands: their names, the number of a constant, or x and y."""
    symbols = {}
    for argnum, symbol in enumerate(_SYMBOLS):
        name = operand_names[argnum] if argnum < len(operand_names) else None
        if name is None and argnum < len(node["inputs"]):
            operand = node["inputs"][argnum]
            number = None if operand["value"] is None or "edge" in operand else scalar_of(operand["value"])
            name = None if number is None else spell_number(number)
        symbols[symbol] = symbol if name is None else _short_name(name)
    output = node["outputs"][0]["name"] if node["outputs"] else None
    symbols["z"] = output or "the result"
    return symbols


def _saved(node: Node, partial: str, symbols: dict[str, str]) -> str:
    """`, and y was saved as 3`: for the first value that the partial derivative needs."""
    for argnum, symbol in enumerate(_SYMBOLS):
        if _PLACES[symbol] in partial and argnum < len(node["inputs"]):
            return _saved_as(symbols[symbol], _saved_value(node, node["inputs"][argnum]["name"]))
    return _saved_as(symbols["z"], _saved_value(node, "result")) if _PLACES["z"] in partial else ""


def _saved_value(node: Node, name: str | None) -> object:
    return next((one["value"] for one in node["saved"] if one["name"] == name), None)


def _saved_as(name: str, value: object) -> str:
    if not isinstance(value, dict):
        return ""
    number = scalar_of(value)  # type: ignore[arg-type]
    if number is None:
        return f", and {name} was saved, of shape {value['shape']}"
    spelled = spell_number(number)
    return "" if spelled == name else f", and {name} was saved as {spelled}"


def _has_alpha(node: Node) -> bool:
    return any(one["name"] == "alpha" and one["value"] not in (1, 1.0) for one in node["saved"])


# 3 multiply


def _multiply(step: Step, arrived: Sequence[str], returned: Sequence[str]) -> str:
    present = _present(step["grad_inputs"])
    if not present:
        return "Nothing is multiplied: no gradient is wanted from here."
    return _first_that_fits(_multiplications(step, arrived, returned, present))


def _multiplications(
    step: Step, arrived: Sequence[str], returned: Sequence[str], present: Sequence[int]
) -> Iterator[str]:
    """Ways to say what v times J gave, the most telling one first."""
    read_aloud = present[:_OPERANDS_READ_ALOUD]
    results = _and([returned[argnum] for argnum in read_aloud])
    grad_outputs: list[Gradient] = step["grad_outputs"]
    jacobians: list[LocalJacobian] = step["local_jacobians"]
    if _is_refuted(jacobians):
        yield f"The rule returned {results}; v times the local Jacobian is something else."
        yield "What the rule returned is not v times its local Jacobian."
    elif len(present) <= _OPERANDS_READ_ALOUD:
        products = [_product(argnum, step) for argnum in read_aloud]
        if None not in products:
            yield f"{', '.join(product for product in products if product is not None)}."
    weights = [_v_in_words(grad_outputs, slot, arrived[slot]) for slot in _present(grad_outputs)]
    if len(weights) == 1:
        yield f"{weights[0]} times the local Jacobian gives {results}."
    elif weights:
        yield f"{_and(weights)}, each times its local Jacobian, add up to {results}."
        yield f"{len(weights)} v's, each times its local Jacobian, add up to {results}."
    yield f"v times the local Jacobian gives {len(present)} gradients."


def _v_in_words(grad_outputs: Sequence[Gradient], slot: int, spelled: str) -> str:
    """`v = 3`, `v of shape [2, 3]`; of several outputs `v of output 1 = 3`."""
    value = grad_outputs[slot]
    which = "" if len(grad_outputs) == 1 else f" of output {slot}"
    if "missing" in value or is_short(value):
        return f"v{which} = {spelled}"
    return f"v{which}, shape {value['shape']}" if which else f"v of shape {value['shape']}"


def _present(gradients: Sequence[Gradient]) -> list[int]:
    """Which of them are there."""
    return [position for position, value in enumerate(gradients) if "missing" not in value]


def _is_refuted(jacobians: Sequence[LocalJacobian]) -> bool:
    return any(one.get("checked") is False for one in jacobians)


def _product(argnum: int, step: Step) -> str | None:
    """`10 x 3 = 30`, where all three are single numbers and the product was checked."""
    result = scalar_of(step["grad_inputs"][argnum])
    if result is None:
        return None
    jacobians = [one for one in step["local_jacobians"] if one["argnum"] == argnum]
    if len(jacobians) != 1 or not jacobians[0].get("checked"):
        return None
    v, factor = scalar_of(step["grad_outputs"][jacobians[0]["output_nr"]]), _factor(jacobians[0])
    if v is None or factor is None:
        return None
    return f"{spell_number(v)} \u00d7 {_bracketed(spell_number(factor))} = {spell_number(result)}"


# 4 send, 5 land


def _send(returned: Sequence[str], names: Sequence[str]) -> str:
    if not returned:
        return "Nothing is sent on."
    return _listed([f"{value} goes to {name}" for value, name in zip(returned, names, strict=True)])


def _land(step: Step, returned: Sequence[str], names: Sequence[str]) -> str:
    present = _present(step["grad_inputs"])
    if not present:
        return "Nothing lands: no gradient left this node."
    return _listed([f"{returned[argnum]} waits at {names[argnum]}" for argnum in present])


def _listed(parts: Sequence[str]) -> str:
    """As many parts as fit into one sentence."""
    for count in range(min(len(parts), _OPERANDS_READ_ALOUD + 1), 0, -1):
        rest = len(parts) - count
        more = f", and {rest} more" if rest else ""
        sentence = f"{_upper(', '.join(parts[:count]))}{more}."
        if len(sentence) <= LONGEST_SENTENCE:
            return sentence
    return f"{len(parts)} gradients, one per operand."


def _arrived(step: Step, arrived: Sequence[str]) -> str:
    present = _present(step["grad_outputs"])
    if len(present) == 1:
        return arrived[present[0]]
    if not present:
        return "nothing"
    if all(is_short(step["grad_outputs"][slot]) for slot in present[: _OPERANDS_READ_ALOUD + 1]):
        return _and([arrived[slot] for slot in present])
    return f"{len(present)} gradients"


def _operand_name(node: Node, argnum: int, operand_names: Sequence[str | None], receivers: Sequence[str | None]) -> str:
    for known in (operand_names, receivers):
        name = known[argnum] if argnum < len(known) else None
        if name is not None:
            return _short_name(_word(name) if known is receivers else name)
    if argnum < len(node["inputs"]) and node["inputs"][argnum]["name"]:
        return f"operand {_short_name(node['inputs'][argnum]['name'])}"
    return "an operand"


# Words.


def _first_fitting(*sentences: str) -> str:
    """The first sentence that is short enough; the last one cut if none is."""
    return _first_that_fits(sentences)


def _first_that_fits(sentences: Iterable[str]) -> str:
    """As `_first_fitting`; sentences after the one that fits are not made."""
    sentence = ""
    for sentence in sentences:
        if len(sentence) <= LONGEST_SENTENCE:
            return sentence
    return sentence[: LONGEST_SENTENCE - 1] + "\u2026"


@lru_cache(maxsize=1024)
def _word(op: str) -> str:
    """An op as it is said: `softmax` for torch's `_softmax`."""
    return _short_name(op.strip("_") or op)


def _short_name(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}\u2026"


def _bracketed(number: str) -> str:
    """A negative or complex number as it stands after an operator sign."""
    return f"({number})" if number.startswith("-") or " " in number else number


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith(("a ", "nothing", "the ")) else text


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:] if text.startswith(("A ", "Nothing", "The ", "An ")) else text


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
