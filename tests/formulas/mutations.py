"""Changes one token of each printed formula and reads it again: `python -m tests.formulas.mutations`.

Prints the survivors: changed formulas that still read as what the engine returned, wherever that formula is printed.
LaTeX and text are changed token by token, equations in the numbers of their matrices.
"""

import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch

from gradwalk.formulas.substitute import substitution
from tests.databases import load_operators
from tests.formulas.live_nodes import operators, run_backward, sample_visits
from tests.formulas.printed import Printed, printed
from tests.formulas.samples import EDGES, HAND_SAMPLES

LATEX_TOKEN = re.compile(
    r"\\operatorname\{[^}]*\}|\\text\{[^}]*\}|\\(?:begin|end|mathrm|mathbf|mathit|hat|texttt)\{(?:\\.|[^\\}])*\}"
    r"|\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[a-zA-Z]|\S"
)
TEXT_TOKEN = re.compile(
    r"""\((?:-?\d+, )*-?\d+,?\)|\(\)|"[^"]*"|keepdim=True|\w+=(?!=)|(?:(?<=[=(\[])|(?<=, ))-\d+(?![\d.])"""
    r"""|\d+\.?\d*(?:e[+-]?\d+)?j?|\w+|\*\*|//|<=|>=|==|!=|[^\s\w]"""
)
"""A tuple of numbers is one token, as a list of dims under a sign is."""
FUNCTIONS = {
    "sum": "mean",
    "mean": "sum",
    "amax": "amin",
    "amin": "amax",
    "nansum": "nanmean",
    "triu": "tril",
    "tril": "triu",
    "cumsum": "cumprod",
    "cumprod": "cumsum",
    "prod": "sum",
    "sign": "abs",
    "sgn": "abs",
    "real": "imag",
    "imag": "real",
    "Re": "Im",
    "Im": "Re",
    "floor": "ceil",
    "ceil": "floor",
    "trunc": "sin",
    "round": "sin",
    "erf": "erfc",
    "erfc": "erf",
    "digamma": "lgamma",
    "softplus": "exp",
    "i0": "i1",
    "i1": "i0",
    "sin": "cos",
    "cos": "sin",
    "sinh": "cosh",
    "cosh": "sinh",
    "exp": "sin",
    "log": "exp",
    "tan": "tanh",
    "tanh": "tan",
    "sigmoid": "exp",
    "sqrt": "exp",
    "abs": "exp",
    "asinh": "sin",
    "acosh": "sin",
    "atanh": "sin",
    "conj": "abs",
    "softmax": "exp",
    "log_softmax": "exp",
    "inverse": "exp",
    "isnan": "isfinite",
    "isfinite": "isnan",
    "solve_triangular": "matmul",
}
LATEX_SWAPS = {
    r"\odot": "+",
    r"\cdot": "-",
    "+": "-",
    "-": "+",
    "<": ">",
    ">": "<",
    "=": r"\ne",
    r"\ne": "=",
    r"\le": r"\ge",
    r"\ge": r"\le",
    r"\land": r"\lor",
    r"\lor": r"\land",
    r"\lnot": "-",
    r"\top": "{2}",
    r"\,": r"\odot",
    r"\sin": r"\cos",
    r"\cos": r"\sin",
    r"\sinh": r"\cosh",
    r"\cosh": r"\sinh",
    r"\exp": r"\sin",
    r"\log": r"\exp",
    r"\tan": r"\tanh",
    r"\tanh": r"\tan",
    r"\sigma": r"\exp",
    r"\min": r"\max",
    r"\max": r"\min",
    r"\sqrt": r"\exp",
    r"\sum": "",
    r"\lfloor": r"\left(",
    **{rf"\operatorname{{{one}}}": rf"\operatorname{{{other}}}" for one, other in FUNCTIONS.items()},
}
TEXT_SWAPS = {
    "*": "+",
    "/": "*",
    "//": "/",
    "**": "*",
    "@": "*",
    "+": "-",
    "-": "+",
    "~": "-",
    "<": ">",
    ">": "<",
    "<=": ">=",
    ">=": "<=",
    "==": "!=",
    "!=": "==",
    "&": "|",
    "|": "&",
    "True": "False",
    "False": "True",
    "mT": "real",
    "mH": "real",
    "min": "max",
    "max": "min",
    **FUNCTIONS,
}
"""The sign, name or word that comes in the place of another. What is in no list here holds a formula together."""
NUMBER = re.compile(r"\d+\.?\d*")
MATRIX = re.compile(r"(\\begin\{bmatrix\}.*?\\end\{bmatrix\})")
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
    reading: Callable[[Printed, str], bool]
    printing: Callable[[Printed], str]

    def changed(self, formula: str) -> Iterator[tuple[int, str]]:
        """The formula with one token changed, for every token that says something, and that token's place."""
        for place, match in enumerate(self.token.finditer(formula)):
            before, after = formula[: match.start()], formula[match.end() :]
            instead = self.change(match[0], before, after)
            if instead is not None:
                yield place, f"{before}{instead}{after}"

    def pattern(self, formula: str) -> str:
        """The formula without its sizes: what the same lines of an entry print, of tensors of other shapes."""
        # Both signs are products: of a number, and of tensors.
        tokens = [match[0].replace(r"\odot", r"\cdot") for match in self.token.finditer(formula)]
        return " ".join(re.sub(r"-?#(, -?#)*,?", "#", NUMBER.sub("#", token)) for token in tokens)


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
    if token.isalpha():
        return "v"
    return _larger(token)


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


LATEX = Form(
    LATEX_TOKEN, _instead_in_latex, lambda one, latex: one.is_right(one.read_latex(latex)), lambda one: one.latex
)
TEXT = Form(TEXT_TOKEN, _instead_in_text, lambda one, text: one.is_right(one.read_text(text)), lambda one: one.text)


def surviving(ones: Iterable[Printed], form: Form) -> tuple[set[tuple[str, str]], int]:
    """Each formula with a change that reads right wherever the same lines print it; and how many changes were tried."""
    alike: dict[str, list[Printed]] = {}
    for one in ones:
        alike.setdefault(form.pattern(form.printing(one)), []).append(one)
    found, count = set(), 0
    for same in alike.values():
        formula = form.printing(same[0])
        waiting = dict(form.changed(formula))
        count += len(waiting)
        if not any(one.is_telling for one in same):
            # Of zeros any product is right.
            continue
        for one in same:
            changed = dict(form.changed(form.printing(one)))
            waiting = {place: first for place, first in waiting.items() if reads_right(form, one, changed[place])}
        found |= {(formula, changed) for changed in waiting.values() if not SAME.fullmatch(changed)}
    return found, count


def reads_right(form: Form, one: Printed, formula: str) -> bool:
    try:
        return form.reading(one, formula)
    except Exception:  # noqa: BLE001 - whatever a changed formula does, it is no value
        return False


def met() -> dict[str, list[Printed]]:
    """What is printed at every node of the operator database and of the samples, by the node's name."""
    torch.manual_seed(0)
    programs = [sample_visits(op) for op in operators(load_operators())]
    programs += [iter(run_backward([sample()])) for sample in (*HAND_SAMPLES.values(), *EDGES)]
    found: dict[str, list[Printed]] = {}
    for visit in itertools.chain(*programs):
        if visit.has_gradients:
            found.setdefault(visit.node_name, []).extend(printed(visit))
    return found


def unnoticed_digits(ones: Iterable[Printed]) -> tuple[set[tuple[str, str]], int]:
    """Each formula of which no number in an equation's left or right side matters; and how many changes were tried.

    A number may well not matter at one place, as beside a 0, but not everywhere.
    """
    noticed: dict[tuple[str, bool], bool] = {}
    count = 0
    for one in ones:
        found = substitution(one.line, one.values, one.returned, one.letters)
        if found is None or not one.is_telling:
            continue
        for is_answer, changed in _changed_digits(found["with_numbers"]):
            key = (LATEX.pattern(one.latex), is_answer)
            noticed[key] = noticed.get(key, False) or not is_true(one, changed)
            count += 1
    idle = {key for key, is_noticed in noticed.items() if not is_noticed}
    return {(formula, "answer" if is_answer else "formula") for formula, is_answer in idle}, count


def _changed_digits(equation: str) -> Iterator[tuple[bool, str]]:
    """The equation with the first digit or the sign of one number in a matrix changed, and if it is in the answer."""
    parts = MATRIX.split(equation)
    for place, part in enumerate(parts):
        if not part.startswith(r"\begin{bmatrix}"):
            continue
        is_answer = len(parts) > 3 and place == len(parts) - 2 and parts[place - 1].strip() in ("=", r"\approx")
        for digits in NUMBER.finditer(part):
            for instead in (f"{(int(digits[0][0]) + 5) % 10}{digits[0][1:]}", f"-{digits[0]}5"):
                changed = (part[: digits.start()] + instead + part[digits.end() :]).replace("--", "")
                yield is_answer, "".join((*parts[:place], changed, *parts[place + 1 :]))


def is_true(one: Printed, equation: str) -> bool:
    """Whether both sides of the printed equation are what the engine returned."""
    try:
        return one.wrong_equation(equation) is None
    except Exception:  # noqa: BLE001 - whatever a changed equation does, it is no value
        return False


def main() -> None:
    """The survivors over the whole operator database."""
    everything = met()
    for title, look in LOOKS.items():
        count = 0
        for node_name, ones in sorted(everything.items()):
            survivors, tried = look(ones)
            count += tried
            sys.stdout.writelines(f"{title} {node_name}: {one}  ->  {changed}\n" for one, changed in sorted(survivors))
        sys.stdout.write(f"{count} changes of {title}\n")


Look = Callable[[Iterable[Printed]], tuple[set[tuple[str, str]], int]]
LOOKS: Mapping[str, Look] = {
    "LaTeX": lambda ones: surviving(ones, LATEX),
    "text": lambda ones: surviving(ones, TEXT),
    "numbers": unnoticed_digits,
}
"""What is printed, and who looks for changes in it that nobody notices."""

if __name__ == "__main__":
    main()
