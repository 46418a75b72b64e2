"""Every entry against the engine: in float64 over the operator database, by finite differences, at special points."""

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from gradwalk.formulas import check
from gradwalk.formulas.check import check_formula, out_of_sight
from gradwalk.formulas.derivatives import derivative_line
from gradwalk.formulas.display import formula_of, letters_of
from gradwalk.formulas.entry import Kind, Reason
from gradwalk.formulas.expression import number
from gradwalk.formulas.registry import ENTRIES
from gradwalk.formulas.specialise import Line, lines, values_of
from gradwalk.words.catalogue import tell
from tests.formulas.live_nodes import Met, database_visits
from tests.formulas.samples import NOT_WRITTEN, UNREACHABLE

COVERED = [node_name for entry in ENTRIES for node_name in entry.nodes]


def test_every_entry_has_its_reasons_and_a_vjp_for_each_operand() -> None:
    assert len(COVERED) == len(set(COVERED))
    for entry in ENTRIES:
        reasons = [vjp.because for vjp in entry.vjps if isinstance(vjp.because, Reason)]
        for reason in (*reasons, *entry.special_cases):
            assert tell(reason.told(lambda symbol: f"<{symbol}>")).endswith(".")
        for node_name in entry.nodes:
            table = derivative_line(node_name)
            assert table is None or all(entry.vjp_for(operand) for operand in table.operands), node_name


def test_each_formula_is_what_the_engine_returns(visits: dict[str, list[Met]], sweeps: bool) -> None:
    # Some nodes are met by late samples of the database alone.
    assert not sweeps or set(COVERED) - visits.keys() == set(UNREACHABLE)
    assert [
        (node_name, where)
        for node_name, met in visits.items()
        for where, visit in met
        if visit.check() is not (None if node_name in NOT_WRITTEN else True)
    ] == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex128], ids=str)
def test_the_formulas_hold_in_other_dtypes(dtype, operator_database, complex_visits):
    # torch's own matrix exponential in bfloat16 is off by more than its rounding.
    left_out = {"LinalgMatrixExpBackward0", *NOT_WRITTEN} if dtype == torch.bfloat16 else {*NOT_WRITTEN}
    met = complex_visits if dtype.is_complex else database_visits(operator_database, dtype, limit=1)
    wrong = [
        (where, visit.node_name)
        for where, visit in met
        if visit.node_name in COVERED and visit.has_gradients and visit.node_name not in left_out
        if visit.check() is not True
    ]
    assert not wrong


def test_a_wrong_formula_is_caught(visits: dict[str, list[Met]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every vjp made wrong by a thousandth, one node type after the other."""
    original = check.lines

    def off(line: Line | None) -> Line | None:
        return line and dataclasses.replace(line, expression=number(1.001) * line.expression)

    monkeypatch.setattr(check, "lines", lambda *node: tuple(map(off, original(*node))))
    telling = [[visit for _, visit in met if visit.is_telling][:1] for met in visits.values()]
    caught = {one.node_name: one.check() for ones in telling for one in ones if one.node_name not in NOT_WRITTEN}
    assert caught
    assert [name for name, verdict in caught.items() if verdict is not False] == []


def test_an_infinity_is_no_rounding() -> None:
    zeros, infinite = torch.zeros(2), torch.tensor([torch.inf, 0])
    assert check.close(zeros, zeros + 1e-7, noise=1e-6)
    assert not check.close(infinite, zeros, noise=1e-6)
    assert not check.close(zeros, infinite, noise=1e-6)


FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "sin": torch.sin,
    "softmax": lambda x: x.softmax(-1),
    "layer_norm": lambda x: functional.layer_norm(x, (3,)),
    "cumprod": lambda x: x.cumprod(1),
    "inverse": lambda x: torch.linalg.inv_ex(x)[0],
    "index": lambda x: x[torch.tensor([0, 0, 1])],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_formula_agrees_with_finite_differences(name: str) -> None:
    """A second oracle: the engine's backward is not used."""

    class ByFormula(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            with torch.enable_grad():
                output = FUNCTIONS[name](x.detach().requires_grad_())
            ctx.node, ctx.operand = output.grad_fn, Kind.of(x)
            return output.detach()

        @staticmethod
        def backward(ctx: Any, v: Tensor) -> Tensor:
            saved = {one.removeprefix("_saved_"): getattr(ctx.node, one) for one in dir(ctx.node) if "_saved_" in one}
            operands = [following and ctx.operand for following, _ in ctx.node.next_functions]
            line, *_ = lines(ctx.node.name(), saved, [Kind.of(v)], operands)
            return line.value(values_of(saved, [v]))

    torch.manual_seed(3)
    assert torch.autograd.gradcheck(ByFormula.apply, torch.randn(3, 3, dtype=torch.float64, requires_grad=True))


def test_the_rms_norm_of_other_backends_against_the_same_function_here() -> None:
    """Of linear and matmul they are calls here, which `tests/tracer/test_composites.py` judges by the same formulas."""
    x, w = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in ((4, 3), (3,)))
    output = functional.rms_norm(x, (3,), w, 1e-5)
    v = torch.randn_like(output)
    saved: dict[str, Any] = {"input": x.detach(), "weight": w.detach(), "normalized_shape": (3,)}
    saved["result1"] = (saved["input"].pow(2).mean(-1, keepdim=True) + 1e-5).rsqrt()
    assert check_formula("FusedRmsNormBackward0", saved, [v], torch.autograd.grad(output, (x, w), v)).holds is True


def test_what_cannot_be_checked_says_so() -> None:
    one, saved = torch.ones(()), {"_saved_other": torch.ones(())}
    assert check_formula("NobodyWroteThisBackward0", {}, [one], [one]).holds is None
    assert check_formula("MulBackward0", {}, [one], [one, None]).holds is None
    assert check_formula("MulBackward0", saved, [one], [None, None]).holds is None
    assert check_formula("MulBackward0", saved, [one], [one, None], element_limit=2).holds is None
    assert check_formula("MulBackward0", saved, [one], [one, None]).holds is True
    assert check_formula("MulBackward0", saved, [one], [2 * one, None]).holds is False


def test_a_node_without_an_entry_shows_its_table_line() -> None:
    formula = formula_of("CholeskyInverseBackward0", {}, [], [], letters_of("", {}))
    table = ["self: cholesky_inverse_backward(grad, self, upper, result)"]
    assert (formula["forward"], formula["vjp"], formula["derivatives_yaml"]) == ("", [], table)
    assert formula_of("MyFunctionBackward", {}, [], [], letters_of("", {})) is None


def test_checking_warns_nobody_and_leaves_filters_and_grad_mode_alone() -> None:
    one = torch.ones(2, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        filters = [*warnings.filters]
        with out_of_sight():
            warnings.warn("from Python", stacklevel=1)
            torch.nn.functional.mse_loss(torch.ones(2), torch.ones(2, 1))
            assert not (one * 2).requires_grad
        assert check_formula("MulBackward0", {"self": one, "other": one}, [one], [one, one]).holds is True
        assert warnings.filters == filters
        with pytest.raises(UserWarning, match="from Python"):
            warnings.warn("from Python", stacklevel=1)
    assert (one * 2).requires_grad
