"""Calls that multiply tensors and sum over the letters that they share, by the equation of an einsum."""

from collections.abc import Sequence
from string import ascii_lowercase

from gradwalk.formulas.entry import Entry, Given, Reason, Shape, Vjp, why
from gradwalk.formulas.expression import Expression, apply, conj, ones

Factor = tuple[str, Expression]
"""Something that is multiplied, and its letters."""
_THREE = ("i1", "i2", "i3")


def _operands(n: Given) -> list[Expression]:
    return [n.operand(f"operands[{at}]") for at in range(len(n.operand_shapes))]


def _contracted(n: Given) -> Expression:
    return _sent(n, n.equation, _operands(n), n.member)


def _trilinear_equation(n: Given) -> str:
    """Three tensors are repeated along dims of their own, multiplied, and summed over some: `bi,oij,bj->bo`."""
    letters = ascii_lowercase[8 : 8 + len(n.operand_shape(0)) + len(n.expand1)]
    *tables, result = (
        "".join(letter for dim, letter in enumerate(letters) if dim not in without)
        for without in (n.expand1, n.expand2, n.expand3, n.sumdim)
    )
    return f"{','.join(tables)}->{result}"


def _of_three(n: Given) -> Expression:
    return _sent(n, _trilinear_equation(n), [*map(n.operand, _THREE)], n.argnum)


def _sent(n: Given, written: str, operands: Sequence[Expression], own_place: int) -> Expression:
    """v and the other operands, by the letters of this one."""
    given, _, result = written.partition("->")
    tables = given.split(",")
    others = [(table, conj(one)) for table, one in zip(tables, operands, strict=True)]
    own, _ = others.pop(own_place)
    returned, identities = _apart(own, n.shape, written)
    shapes = [n.v.shape, *(n.operand_shape(at) for at in range(len(tables)) if at != own_place)]
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
        # Of one operand, and of several.
        ("EinsumBackward0", "EinsumBackward1", "EinsumBackward2", "EinsumBackward3"),
        lambda n: apply("einsum", *_operands(n), equation=n.equation),
        (Vjp("operands", _contracted, _because),),
    ),
    Entry(
        "_trilinear",
        ("TrilinearBackward0",),
        lambda n: apply("einsum", *map(n.operand, _THREE), equation=_trilinear_equation(n)),
        tuple(Vjp(name, _of_three, why("why-einsum", operand=name)) for name in _THREE),
    ),
)
