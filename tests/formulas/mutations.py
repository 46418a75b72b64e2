"""Changes one token of each printed formula, LaTeX and text, and reads it again: a check of the reader.

A survivor is a changed formula that still reads as what the engine returned, wherever that formula is printed.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tests.formulas.printed import Printed

LATEX_TOKEN = re.compile(
    r"\\operatorname\{[^}]*\}|\\text\{[^}]*\}|\\(?:begin|end|mathrm|mathbf|mathit|hat|texttt)\{(?:\\.|[^\\}])*\}"
    r"|\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[a-zA-Z]|\S"
)
TEXT_TOKEN = re.compile(
    r"""\((?:-?\d+, )*-?\d+,?\)|\(\)|"[^"]*"|keepdim=True|\w+=(?!=)|(?:(?<=[=(\[])|(?<=, ))-\d+(?![\d.])"""
    r"""|\d+\.?\d*(?:e[+-]?\d+)?j?|\w+|\*\*|//|<=|>=|==|!=|[^\s\w]"""
)
"""A tuple of numbers is one token, as a list of dims under a sign is."""
FUNCTIONS = """
sum mean amax amin nansum triu tril cumsum cumprod prod sign sgn real imag Re Im floor ceil trunc round erf erfc digamma
softplus i0 i1 cos sinh cosh exp log tan tanh sigmoid sqrt abs asinh acosh atanh conj softmax log_softmax inverse isnan
isfinite solve_triangular
"""
"""`sin` comes in their place. Other names may hold a formula together."""


def _pairs(words: str) -> dict[str, str]:
    """What stands at even places, and what comes in its place."""
    tokens = words.split()
    return dict(zip(tokens[::2], tokens[1::2], strict=True))


LATEX_SWAPS = {
    **_pairs(r"\odot + \cdot - + - - + \, \odot \lnot - < > > < = \ne \ne = \le \ge \ge \le \land \lor \lor \land"),
    **_pairs(
        r"\top {2} \lfloor \left( \sigma \exp \min \max \max \min \sin \cos \operatorname{sin} \operatorname{cos}"
    ),
    **_pairs(r"\cos \sin \sinh \sin \cosh \sin \exp \sin \log \sin \tan \sin \tanh \sin \sqrt \sin"),
    **{rf"\operatorname{{{name}}}": r"\operatorname{sin}" for name in FUNCTIONS.split()},
    r"\sum": "",
}
TEXT_SWAPS = {
    **_pairs("* + / * // / ** * @ * + - - + ~ - & | | & < > > < <= >= >= <= == != != == True False False True"),
    **_pairs("mT real mH real min max max min sin cos"),
    **dict.fromkeys(FUNCTIONS.split(), "sin"),
}
NUMBER = re.compile(r"\d+\.?\d*")
SAME = re.compile(
    # A column times a row: element by element, broadcast, or as a product of matrices.
    r"(0\.6 \\cdot )?\{v\}\^\\top \\odot +b"
    r"|-\{\\left\(v \\, \\operatorname\{inverse\}\\left\(A\\right\)\\right\)\}\^\\top \\odot +Z"
    r"|.*\\odot +\{\\operatorname\{reshape\}.*\\left\(Z.*|.* \* reshape\(Z, .*"
    # Its denominators on the diagonal, where the numerators are 0.
    r"|.*\\lambda.* - +\\mathbf\{I\}_.*|.*lambda_.* - eye\(.*"
)
"""Changed formulas that say the same."""


@dataclass(frozen=True)
class Form:
    """A way of printing: its tokens, what comes in their place, and who reads it."""

    token: re.Pattern[str]
    change: Callable[[str, str, str], str | None]
    """What comes in the place of a token, given what stands before and after it."""
    is_right: Callable[[Printed, str], bool]
    printing: Callable[[Printed], str]

    def changed(self, one: Printed) -> Iterator[tuple[int, str]]:
        """The formula with one token changed, for every token that says something, and that token's place."""
        formula = self.printing(one)
        for place, match in enumerate(self.token.finditer(formula)):
            before, after = formula[: match.start()], formula[match.end() :]
            instead = self.change(match[0], before, after)
            if instead is not None:
                yield place, f"{before}{instead}{after}"

    def pattern(self, one: Printed) -> str:
        """The formula without its sizes: what the same lines of an entry print, of tensors of other shapes."""
        # Both signs are products: of a number, and of tensors.
        tokens = [match[0].replace(r"\odot", r"\cdot") for match in self.token.finditer(self.printing(one))]
        return " ".join(re.sub(r"-?#(, -?#)*,?", "#", NUMBER.sub("#", token)) for token in tokens)

    def survivors(self, ones: Iterable[Printed]) -> set[str]:
        """Changed formulas that read right wherever the same lines print them."""
        alike: dict[str, list[Printed]] = {}
        for one in ones:
            alike.setdefault(self.pattern(one), []).append(one)
        found: set[str] = set()
        for same in alike.values():
            # Of zeros any product is right.
            waiting = dict(self.changed(same[0])) if any(one.is_telling for one in same) else {}
            for one in same:
                changed = dict(self.changed(one))
                waiting = {place: first for place, first in waiting.items() if self._reads_right(one, changed[place])}
            found |= {
                f"{self.printing(same[0])} -> {changed}" for changed in waiting.values() if not SAME.fullmatch(changed)
            }
        return found

    def _reads_right(self, one: Printed, formula: str) -> bool:
        try:
            return self.is_right(one, formula)
        except Exception:  # noqa: BLE001 - whatever a changed formula does, it is no value
            return False


def _instead_in_latex(token: str, before: str, after: str) -> str | None:
    if re.search(r"(_\{|\\end|\\begin)$", before) and not token.startswith(r"\text"):
        return None
    if token in LATEX_SWAPS:
        return f"{LATEX_SWAPS[token]} "
    if token.startswith(r"\text{"):
        return _with_another_option(token)
    if token == "v":
        return None if after.startswith("_") else "{v}^{2}"
    if token.startswith((r"\hat{", r"\texttt{", r"\mathit{")):
        return f"{{{token}}}^{{2}}"
    return "v" if token.isalpha() else _larger(token)


def _instead_in_text(token: str, before: str, after: str) -> str | None:
    is_function = after.startswith("(")
    if token in TEXT_SWAPS:
        return TEXT_SWAPS[token]
    if token[0] in '"(-' and len(token) > 1:
        return _with_another_option(token)
    if token.isidentifier() and not is_function and token not in ("where", "pi", "inf", "nan", "dim", "None"):
        is_meaning = bool(re.search(r"(where|;) $", before)) and after.startswith(" = ")
        return None if before.endswith(".") or is_meaning else "v" if token[0] != "v" else f"({token} * {token})"
    return _larger(token)


def _with_another_option(token: str) -> str | None:
    changed = token.replace("true", "FALSE").replace("false", "true").replace("FALSE", "false")
    changed = re.sub(r"\b\d+", lambda digits: str(int(digits[0]) + 1), changed, count=1)
    return changed if changed != token else None


def _larger(token: str) -> str | None:
    if not NUMBER.fullmatch(token):
        return None
    return str(int(token) + 1) if token.isdigit() else str(float(token) + 1)


FORMS = {
    "LaTeX": Form(
        LATEX_TOKEN, _instead_in_latex, lambda one, latex: one.is_right(one.read_latex(latex)), lambda one: one.latex
    ),
    "text": Form(
        TEXT_TOKEN, _instead_in_text, lambda one, text: one.is_right(one.read_text(text)), lambda one: one.text
    ),
}
