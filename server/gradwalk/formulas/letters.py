r"""What symbols are called in a formula: by the program's own name or source text where it is short, else by a letter.

No letter is one of the program's own variables, so that a formula never says `x` of something that is not the reader's x.
"""

import ast
import keyword
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from gradwalk.formulas.expression import Symbol
from gradwalk.formulas.notation import Strength
from gradwalk.formulas.writing import Form, Spell, Written

LONGEST_SOURCE = 24
"""Characters of source text that a formula can carry."""

LETTERS: Mapping[str, tuple[str, ...]] = {
    "self": ("x", "y", "a", "u"),
    "input": ("x", "y", "a", "u"),
    "other": ("y", "b", "w", "q"),
    "end": ("y", "b", "q"),
    "result": ("z", "r", "s"),
    "result0": ("z", "r", "s"),
    "values": ("z", "r", "s"),
    "weight": ("W", "K", "M"),
    "bias": ("b", "c"),
    "target": ("t", "y"),
    "mat": ("A", "M"),
    "mat1": ("A", "M"),
    "mat2": ("B", "N"),
    "batch1": ("A", "M"),
    "batch2": ("B", "N"),
    "vec": ("y", "b"),
    "vec1": ("a", "p"),
    "vec2": ("b", "q"),
    "tensor": ("y", "b"),
    "tensor1": ("a", "p"),
    "tensor2": ("b", "q"),
    "tensors": ("x", "y"),
    "operands": ("a", "b", "c"),
    "exponent": ("p", "k"),
    "scale": (r"\gamma",),
    "value": ("c", "a"),
    "index": ("i", "j", "k"),
    "indices": ("i", "j", "k"),
    "mask": ("m", r"\mu"),
    "condition": ("c", "m"),
    "sign": ("s", "q"),
    "src": ("s", "u"),
    "x1": ("a", "p"),
    "x2": ("b", "q"),
    "source": ("s", "u"),
    "pos_weight": ("p", r"\pi"),
    "total_weight": ("w", r"\Omega"),
    "query": ("Q",),
    "key": ("K",),
    "attn_mask": ("M",),
    "abs": ("r",),
    "angle": (r"\varphi",),
    "grad_output": ("g", "h"),
    "grad_out": ("g", "h"),
    "grad_in": ("g", "h"),
    "self_or_result": ("x", "y", "a", "u"),
    "output": ("s", "o"),
    "noise": (r"\eta",),
    "eigenvalues": (r"\lambda",),
    "eigenvectors": ("Q",),
    "inverse": ("Z",),
    "min": (r"\ell",),
    "max": ("u",),
    "real": ("a",),
    "imag": ("b",),
    # Parts of a formula with a letter of their own.
    "g": ("g", "h"),
    "xhat": (r"\hat{x}", r"\hat{y}"),
    "what": (r"\hat{w}",),
    "s": (r"\sigma",),
    "mu": (r"\mu",),
    "M": ("M",),
    "P": ("P",),
    "R": ("R",),
    "S": ("S",),
    "D": ("D",),
    "count": ("n", "c"),
    "bag": ("b", "q"),
    "q": ("q", "p"),
    "E": ("E",),
    "F": ("F",),
    "Phi": (r"\Phi",),
    "phi": (r"\phi",),
    "T": ("T",),
}
"""By the name derivatives.yaml gives it, the letters to try in this order; further ones by adding a prime.

Letters of torch's own names that stand nowhere in this list are the names themselves."""


def is_seed(name: str) -> bool:
    """Whether a symbol is a grad_output: `v`, or `v0`, `v1`, ... of a node with several outputs."""
    return name == "v" or (name[:1] == "v" and name[1:].isdigit())


_GREEK_TEXT = str.maketrans({"\\": "", "{": "", "}": ""})


@dataclass(frozen=True, slots=True)
class Letters:
    """The names of one node's symbols. Two symbols never share a name unless they are the same variable."""

    known: Mapping[str, str] = field(default_factory=dict)
    """Source text by symbol: `{"self": "x*y", "other": "w"}`."""
    taken: Collection[str] = ()
    """Variables of the program."""
    preferred: Mapping[str, str] = field(default_factory=dict)
    """The entry's own letters."""
    longest: int = LONGEST_SOURCE
    """Source text of more characters gets a letter."""

    _chosen: dict[tuple[str, Form], Written] = field(default_factory=dict, init=False, compare=False)
    _used: set[str] = field(default_factory=set, init=False, compare=False)

    def spell(self, form: Form) -> Spell:
        """How symbols are written in that form."""
        return lambda one: self.written(one.name if isinstance(one, Symbol) else one.letter, form)

    def write(self, name: str, form: Form) -> str:
        """The name of one symbol."""
        return self.written(name, form).text

    def written(self, name: str, form: Form) -> Written:
        """The name of one symbol, and how tightly it holds together."""
        if (name, form) not in self._chosen:
            latex, text = self._choose(name)
            self._chosen[name, "latex"], self._chosen[name, "text"] = latex, text
        return self._chosen[name, form]

    def _choose(self, name: str) -> tuple[Written, Written]:
        if is_seed(name):
            return self._seed(name, "latex"), self._seed(name, "text")
        source = self.known.get(name)
        if source is not None and len(source) <= self.longest:
            return _source(source, "latex"), _source(source, "text")
        letters = LETTERS.get(name.partition("[")[0], (name,))
        used = self._used.union(self.known.values(), self.taken)
        letter = _free_letter((self.preferred[name], *letters) if name in self.preferred else letters, used)
        self._used.add(_plain(letter))
        latex = letter if len(letter) == 1 or not letter[0].isalpha() or "_" in letter else rf"\mathit{{{letter}}}"
        return Written(latex), Written(_plain(letter))

    def _seed(self, name: str, form: Form) -> Written:
        """v, unless an operand has that name."""
        number = name[1:]
        if "v" not in self.known.values():
            return Written(f"v_{{{number}}}" if form == "latex" and number else name)
        full = f"grad_output{number}"
        return Written(_typewriter(full) if form == "latex" else full)


def _free_letter(letters: tuple[str, ...], used: Collection[str]) -> str:
    for letter in letters:
        if _plain(letter) not in used:
            return letter
    number = 1
    while f"{_plain(letters[0])}_{number}" in used:
        number += 1
    return f"{letters[0]}_{{{number}}}"


def _plain(latex: str) -> str:
    r"""`\gamma` as text: `gamma`; `\hat{x}` as `xhat`; `\lambda`, which is Python's own, as `lambda_`."""
    if latex.startswith(r"\hat{"):
        return latex[5:-1] + "hat"
    plain = latex.translate(_GREEK_TEXT)
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def _source(source: str, form: Form) -> Written:
    if _NUMBER.fullmatch(source):
        return Written(source, Strength.SUM if source[0] == "-" else Strength.ATOM)
    if numbered := _NUMBERED.fullmatch(source):
        stem = _source(numbered[1], form)
        number = numbered[2].translate(_DIGITS)
        return Written(source if form == "text" else f"{stem.text}_{{{number}}}", stem.strength)
    # `model.0.weight` is the path of a parameter.
    is_atom = source.endswith("(…)") or _PATH.fullmatch(source) is not None
    strength = Strength.ATOM if is_atom else source_strength(source)
    if form == "text":
        return Written(source, strength)
    if len(source) == 1 and source.isalpha():
        return Written(source)
    return Written(_typewriter(source), strength)


SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
"""Of several leaves with one name, the second is called `x₂`."""
_DIGITS = {subscript: digit for digit, subscript in SUBSCRIPTS.items()}
_NUMBERED = re.compile("(.*?)([₀-₉]+)")
_PATH = re.compile(r"[^\W\d]\w*(\.\w+)+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def _typewriter(source: str) -> str:
    escaped = "".join(rf"\{character}" if character in "_%#$&{}" else character for character in source)
    return rf"\texttt{{{escaped}}}"


_BINARY: Mapping[type[ast.operator], Strength] = {
    ast.Add: Strength.SUM,
    ast.Sub: Strength.SUM,
    ast.Pow: Strength.POWER,
}


def source_strength(source: str) -> Strength:
    """How tightly a piece of Python holds together; what is no expression needs parentheses everywhere."""
    try:
        parsed = ast.parse(source, mode="eval").body
    except SyntaxError:
        return Strength.CONDITION
    match parsed:
        case ast.Name() | ast.Constant() | ast.Call() | ast.Attribute() | ast.Subscript() | ast.Tuple() | ast.List():
            return Strength.CONDITION if keyword.iskeyword(source) else Strength.ATOM
        case ast.BinOp():
            return _BINARY.get(type(parsed.op), Strength.PRODUCT)
        case ast.UnaryOp():
            return Strength.SUM
    return Strength.CONDITION
