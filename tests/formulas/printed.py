"""What is printed of a node's formulas, read again by others and compared with what the engine returned."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gradwalk.formulas.check import check_formula, out_of_sight
from gradwalk.formulas.display import letters_of
from gradwalk.formulas.expression import symbols_of
from gradwalk.formulas.factors import factor_of
from gradwalk.formulas.letters import Letters, is_seed
from gradwalk.formulas.specialise import Line
from gradwalk.formulas.substitute import substitution
from gradwalk.formulas.writing import write, write_explained
from tests.formulas.live_nodes import Visit
from tests.formulas.reading import read_latex, read_text

ROUNDING = 1e-13
"""What is left of a 0 where normalisation cancels numbers of size 1."""
RELATION = re.compile(r" (=|\\approx) (?!.*(?: = | \\approx ))")


@dataclass(frozen=True)
class Printed:
    """One operand's formula at one node, with what it must give."""

    node_name: str
    line: Line
    values: Mapping[str, Tensor]
    returned: Tensor
    letters: Letters
    v: Tensor | None
    """What arrived at the node, where that is one dense tensor."""

    @property
    def latex(self) -> str:
        return write_explained(self.line.expression, "latex", self.letters.spell("latex"))

    @property
    def text(self) -> str:
        return write_explained(self.line.expression, "text", self.letters.spell("text"))

    @property
    def is_telling(self) -> bool:
        """Whether the gradient is more than zeros, of which any product is right."""
        return self.returned.layout == torch.strided and bool((self.returned.abs() > 1e-6).any())

    def named(self, form: Any) -> dict[str, Tensor]:
        """The values by the names that are printed."""
        names = symbols_of(self.line.expression)
        return {self.letters.write(name, form): self.values[name] for name in names if name in self.values}

    def read_latex(self, latex: str) -> Any:
        return self._settled(read_latex(latex, self.named("latex"), rows_are_vectors=self.is_of_vectors))

    def read_text(self, text: str) -> Any:
        return self._settled(read_text(text, self.named("text")))

    @property
    def is_of_vectors(self) -> bool:
        """Whether no tensor in it has more than one dim, so that a row of numbers is a vector."""
        return all(value.dim() < 2 for value in self.named("latex").values())

    def is_right(self, value: Any, tolerance: float = 1e-7) -> bool:
        """Whether it is what the engine returned."""
        expected = self.returned.to_dense() if self.returned.layout != torch.strided else self.returned
        real = [one for one in self.values.values() if one.numel() and (one.is_floating_point() or one.is_complex())]
        noise = ROUNDING * max((float(torch.nan_to_num(one.abs(), posinf=0.0).max()) for one in real), default=0.0)
        return isinstance(value, Tensor) and value.shape == expected.shape and agree(value, expected, tolerance, noise)

    def _settled(self, value: Any) -> Any:
        """Brought to the gradient's shape: dims of size 1 are not told apart in print, and 0 stands for zeros."""
        value = torch.as_tensor(value)
        value = value.to_dense() if value.layout != torch.strided else value
        if not value.dim():
            return value.expand(self.returned.shape)
        same = [size for size in value.shape if size != 1] == [size for size in self.returned.shape if size != 1]
        return value.reshape(self.returned.shape) if same else value

    @property
    def derivative(self) -> str | None:
        """The derivative that a sentence states, as text: v times it, entry by entry, is what was returned."""
        factor = factor_of(self.line.expression)
        if factor is None or self.v is None or self.returned.shape != self.v.shape:
            return None
        assert not any(map(is_seed, symbols_of(factor)))
        return write(factor, "text", self.letters.spell("text"))

    def is_derivative(self, text: str) -> bool:
        """Whether v times it gives what was returned."""
        value = torch.as_tensor(read_text(text, self.named("text"))).to(self.v.dtype)
        # 0 times infinity is what the engine avoids by choosing a case first.
        product = torch.where(self.v.isfinite() & (self.v != 0), self.v * value, self.returned)
        return agree(product, self.returned, 1e-7)

    def wrong_stages(self) -> Iterator[str]:
        """What does not read as it should: `latex`, `text`, `derivative`, `with_v`, `with_numbers`, `answer`."""
        if not self.is_right(self.read_latex(self.latex)):
            yield "latex"
        if not self.is_right(self.read_text(self.text)):
            yield "text"
        if self.derivative is not None and not self.is_derivative(self.derivative):
            yield "derivative"
        found = substitution(self.line, self.values, self.returned, self.letters)
        if found is None:
            return
        if not self.is_right(self.read_latex(found["symbols"])):
            yield "symbols"
        if not self.is_right(self.read_latex(found["with_v"]), 5e-3):
            yield "with_v"
        if (wrong := self.wrong_equation(found["with_numbers"])) is not None:
            yield wrong

    def wrong_equation(self, equation: str) -> str | None:
        """What does not read as it should of an equation of numbers: `answer`, or `with_numbers`."""
        formula, answer, is_exact = split_equation(equation)
        if not self.is_right(self.read_latex(answer), 1e-3):
            return "answer"
        left, right = self.read_latex(formula), self.read_latex(answer)
        holds = left.shape == right.shape and agree(left, right, 1e-9 if is_exact else 5e-3)
        return None if holds else "with_numbers"


def split_equation(equation: str) -> tuple[str, str, bool]:
    """Both sides, and whether an equals sign stands between them; a formula without one is its own answer."""
    parts = RELATION.split(equation)
    return (parts[0], parts[2], parts[1] == "=") if len(parts) == 3 else (equation, equation, True)


def agree(value: Tensor, expected: Tensor, tolerance: float, noise: float = 0.0) -> bool:
    """Equal up to rounding, judged against the largest entry: sums of many terms cancel, down to `noise`."""
    wide = torch.complex128 if value.is_complex() or expected.is_complex() else torch.float64
    value, expected = value.to(wide), expected.to(wide)
    finite = expected[torch.isfinite(expected)].abs()
    scale = max(float(finite.max()) if finite.numel() else 0.0, 1e-12)
    return torch.allclose(value, expected, rtol=tolerance, atol=tolerance * scale + noise, equal_nan=True)


def printed(visit: Visit, known: Mapping[str, str] | None = None) -> Iterator[Printed]:
    """The formulas of a node that the page would show."""
    checked = check_formula(visit.node_name, visit.saved, visit.grad_outputs, visit.grad_inputs, visit.operand_shapes)
    letters = letters_of(visit.node_name, known or {}, ("x", "y", "z"))
    seeds = [one for one in visit.grad_outputs if one is not None]
    v = seeds[0] if len(seeds) == 1 and seeds[0].layout == torch.strided else None
    for line, returned in zip(checked.lines, visit.grad_inputs, strict=False):
        if checked.holds is not False and line is not None and returned is not None:
            with out_of_sight():
                yield Printed(visit.node_name, line, checked.values, returned, letters, v)
