"""What is printed is what the engine did: LaTeX and text of all stages, read again by others.

`formula_checked` says that the printed expression gives what the engine returned. Here somebody else reads it, who
knows nothing of our expressions: over the operator database, real and complex, every option that its samples try.
The reader is checked by changing one token of each formula: a survivor is a changed formula that still reads as what
the engine returned, wherever that formula is printed.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from gradwalk.formulas.registry import ENTRIES
from tests.formulas.live_nodes import Met
from tests.formulas.printed import Printed, printed
from tests.formulas.samples import NOT_WRITTEN, UNREACHABLE
from tests.sweeps import sampled

COVERED = [node_name for entry in ENTRIES for node_name in entry.nodes]


def wrong(visits: Iterable[Met], known: dict[str, str] | None = None) -> list[str]:
    """Every stage that does not read as it should, with the formula."""
    return [
        f"{where} {one.node_name} {stage}: {one.latex}  |  {one.text}  |  {one.returned.shape}"
        for where, visit in visits
        for one in printed(visit, known)
        for stage in one.wrong_stages()
    ]


def test_every_stage_reads_as_what_the_engine_returned(sweeps: bool, visits: dict[str, list[Met]]) -> None:
    """Of nodes that were met often an even sample, or all."""
    for met in visits.values():
        assert wrong(met[:: 1 if sweeps else -(-len(met) // 4)]) == []


def test_formulas_of_complex_tensors_read_right(complex_visits: list[Met]) -> None:
    met = [(where, visit) for where, visit in complex_visits if visit.has_gradients]
    assert len(met) > 200
    assert wrong(met) == []


def test_the_programs_own_names_read_right(visits: dict[str, list[Met]]) -> None:
    """Operands called by source text, sums among it: brackets must hold it together."""
    known = {"self": "x + y", "other": "-w", "mat2": "a @ b", "target": "labels[0]", "result": "z"}
    known["input"] = "model.0.bias"
    for name in ("MulBackward0", "DivBackward0", "SinBackward0", "MmBackward0", "MseLossBackward0", "PowBackward1"):
        assert wrong(visits[name][:20], known) == [], name


DERIVATIVES = {
    "SinBackward0": {"cos(a)"}, "NegBackward0": {"-1"}, "ExpBackward0": {"r"}, "MulBackward0": {"a", "b"},
    "ReluBackward0": {"where(r > 0, 1, 0)"}, "SoftmaxBackward0": {None}, "MmBackward0": {None},
}  # fmt: skip


@pytest.mark.parametrize("node_name", DERIVATIVES)
def test_a_derivative_is_written_as_people_write_it(node_name: str, visits: dict[str, list[Met]]) -> None:
    ones = [one for _, visit in visits[node_name] for one in printed(visit) if one.v is not None]
    assert {one.derivative for one in ones if one.returned.shape == one.v.shape} == DERIVATIVES[node_name]


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
    **dict.fromkeys((rf"\{name}" for name in ["cos", "sinh", "cosh", "exp", "log", "tan", "tanh", "sqrt"]), r"\sin"),
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
    read: Callable[[Printed, str], Any]
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
            return one.is_right(self.read(one, formula))
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
    "LaTeX": Form(LATEX_TOKEN, _instead_in_latex, Printed.read_latex, lambda one: one.latex),
    "text": Form(TEXT_TOKEN, _instead_in_text, Printed.read_text, lambda one: one.text),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("node_name", sampled(sorted(set(COVERED) - set(UNREACHABLE) - set(NOT_WRITTEN)), str, 40))
def test_a_changed_token_of_a_formula_is_noticed(node_name: str, form: Form, visits: dict[str, list[Met]]) -> None:
    assert form.survivors(one for _, visit in visits[node_name] for one in printed(visit)) == set()
