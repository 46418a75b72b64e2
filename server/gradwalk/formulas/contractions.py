"""Calls that multiply tensors and sum over the letters that they share, by the equation of an einsum."""

from string import ascii_lowercase

from gradwalk.formulas.entry import Entry, Given, Reason, Shape, Vjp, why
from gradwalk.formulas.expression import Expression, apply, conj, ones

Factor = tuple[str, Expression]
"""Something that is multiplied, and its letters."""


def _operands(n: Given) -> list[Expression]:
    return [n.operand(f"operands[{at}]") for at in range(len(n.operand_shapes))]


def _sent(n: Given) -> Expression:
    """v and the other operands, by the letters of this one."""
    given, _, result = n.equation.partition("->")
    tables = given.split(",")
    others = [(table, conj(one)) for table, one in zip(tables, _operands(n), strict=True)]
    own, _ = others.pop(n.member)
    returned, identities = _apart(own, n.shape, n.equation)
    shapes = [n.v.shape, *(n.operand_shape(at) for at in range(len(tables)) if at != n.member)]
    sizes = {
        (letter, size)
        for letters, shape in zip((result, *(table for table, _ in others)), shapes, strict=True)
        for letter, size in zip(letters, shape, strict=True)
    }
    sizes |= {(letter, size) for letter, size in zip(own, n.shape, strict=True) if own.count(letter) > 1}
    factors: list[Factor] = [(result, n.v), *others, *identities, *_repeating(own, n.shape, sizes)]
    if len(factors) == 1 and result == returned:
        return n.v
    equation = f"{','.join(letters for letters, _ in factors)}->{returned}"
    return apply("einsum", *(one for _, one in factors), equation=equation)


def _apart(own: str, shape: Shape, equation: str) -> tuple[str, list[Factor]]:
    """An operand's letters, each once: the second `i` of `ii` is another one, which an identity holds to the first."""
    fresh = (letter for letter in ascii_lowercase[8:] + ascii_lowercase[:8] if letter not in equation)
    once, identities = "", list[Factor]()
    for letter, size in zip(own, shape, strict=True):
        name = next(fresh) if letter in once else letter
        once += name
        if name != letter:
            identities.append((letter + name, apply("eye", n=size)))
    return once, identities


def _repeating(own: str, shape: Shape, known: set[tuple[str, int]]) -> list[Factor]:
    """Ones for the letters that nothing else has in full: along them the operand was only added up."""
    lacking = {
        letter: size
        for letter, size in zip(own, shape, strict=True)
        if not any(name == letter and other >= size for name, other in known)
    }
    return [("".join(lacking), ones([*lacking.values()]))] if lacking else []


def _because(n: Given) -> Reason:
    operand = f"operands[{n.member}]"
    if len(n.operand_shapes) == 1:
        return why("why-einsum-alone", operand=operand)
    return why("why-einsum", operand=operand)


CONTRACTIONS: tuple[Entry, ...] = (
    Entry(
        "einsum",
        # Of two operands, and of one.
        ("EinsumBackward0", "EinsumBackward1"),
        lambda n: apply("einsum", *_operands(n), equation=n.equation),
        (Vjp("operands", _sent, _because),),
    ),
)
