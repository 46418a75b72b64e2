"""Sentences of a step: the promised ones word for word, and no number that was not traced."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwalk.tracer.narration import LONGEST_SENTENCE, narrate
from gradwalk.tracer.spelling import spell_number, spell_value
from tests.tracer.oracle import run_traced

UNDEFINED = {"missing": "undefined"}


def scalar(number):
    return {"shape": [], "dtype": "float32", "data": [number]}


def vector(*numbers):
    return {"shape": [len(numbers)], "dtype": "float32", "data": list(numbers)}


def matrix(rows, columns):
    return {"shape": [rows, columns], "dtype": "float32", "data": [0.5] * rows * columns}


def make_node(name="MulBackward0", kind="op", operands=("self", "other"), saved=(), output="a", **more):
    return {
        "id": "n0",
        "name": name,
        "op": re.sub(r"Backward\d*$", "", name).lower() if kind == "op" else name.removesuffix("Backward"),
        "kind": kind,
        "inputs": [{"argnum": k, "name": one, "value": None, "edge": f"e{k}"} for k, one in enumerate(operands)],
        "outputs": [{"value": None, "name": output}],
        "saved": [{"name": key, "value": value} for key, value in saved],
        "formula": None,
        **more,
    }


def make_step(arrived, returned, *, seed=False, total=None, jacobians=(), accumulate=None, hooks=None):
    step = {
        "grad_outputs": [total or arrived[-1]] if arrived else [UNDEFINED],
        "contributions": [
            {"output_nr": 0, "edge": "seed" if seed else f"e{10 + k}", "from_step": k, "value": value}
            for k, value in enumerate(arrived)
        ],
        "grad_inputs": list(returned),
        "local_jacobians": [
            {
                "argnum": argnum,
                "output_nr": 0,
                "structure": "scalar",
                "value": scalar(factor),
                "output_shape": [],
                "input_shape": [],
                "checked": True,
            }
            for argnum, factor in enumerate(jacobians)
        ],
        "accumulate": accumulate,
    }
    return step | ({"hooks": hooks} if hooks else {})


def test_the_sentences_of_a_product():
    node = make_node(saved=[("self", scalar(2.0)), ("other", scalar(3.0))])
    step = make_step([scalar(6.0), scalar(4.0)], [scalar(30.0), scalar(20.0)], total=scalar(10.0), jacobians=(3.0, 2.0))
    whole, phases = narrate(node, step, ["x", "y"])
    assert whole == "mul: 10 came in; 30 goes to x, 20 goes to y."
    assert phases == {
        "collect": "`a` was used twice: 6 + 4 = 10.",
        "local_rule": "d(x*y)/dx = y, and y was saved as 3.",
        "multiply": "10 \u00d7 3 = 30, 10 \u00d7 2 = 20.",
        "send": "30 goes to x, 20 goes to y.",
        "land": "30 waits at x, 20 waits at y.",
    }


def leaf_step(before, arrived, after):
    return make_step([arrived], [], accumulate={"leaf": "x", "before": before, "after": after})


@pytest.mark.parametrize(
    ("before", "arrived", "after", "sentence"),
    [
        ({"missing": "no_path"}, scalar(30.0), scalar(30.0), "x.grad was None, is now 30."),
        (scalar(30.0), scalar(-30.0), scalar(0.0), "x.grad: 30 + (-30) = 0."),
        (UNDEFINED, vector(1.0, 2.0), vector(1.0, 2.0), "x.grad was None, is now [1, 2]."),
        (UNDEFINED, matrix(2, 3), matrix(2, 3), "x.grad was None, is now a gradient of shape [2, 3]."),
        (
            matrix(2, 3),
            matrix(2, 3),
            matrix(2, 3),
            "x.grad had a gradient already: the new one of shape [2, 3] is added to it.",
        ),
        (UNDEFINED, UNDEFINED, UNDEFINED, "x.grad is still None: nothing (undefined)."),
    ],
)
def test_a_leaf_lands(before, arrived, after, sentence):
    node = make_node("AccumulateGrad", "accumulate_grad", (), leaf="x")
    whole, phases = narrate(node, leaf_step(before, arrived, after), [])
    assert whole == phases["land"] == sentence
    assert phases["local_rule"] == "x is a leaf: it has no rule, it keeps what arrives."


@pytest.mark.parametrize(
    ("arrived", "more", "sentence"),
    [
        ([scalar(1.0)], {"seed": True}, "The pass starts at `a` with the seed v = 1."),
        ([scalar(1.0)], {}, "1 arrived at `a`."),
        ([matrix(2, 3)], {}, "A gradient of shape [2, 3] arrived at `a`."),
        (
            [matrix(2, 3)] * 3,
            {},
            "`a` was used three times: 3 contributions of shape [2, 3] are added up.",
        ),
        ([scalar(1.0)] * 9, {"total": scalar(9.0)}, "`a` was used 9 times: the 9 contributions add up to 9."),
        ([scalar(2.0), scalar(-3.0)], {"total": scalar(-1.0)}, "`a` was used twice: 2 + (-3) = -1."),
        ([], {}, "Nothing arrived at mul; undefined acts as zero."),
        (
            [scalar(6.0)],
            {"hooks": [{"output_nr": 0, "before": scalar(6.0), "after": scalar(60.0), "span": None}]},
            "6 arrived at `a`. A hook then made it 60.",
        ),
    ],
)
def test_what_is_collected(arrived, more, sentence):
    assert narrate(make_node(), make_step(arrived, [], **more), [])[1]["collect"] == sentence


def test_missing_gradients_are_said_in_words():
    node = make_node("FBackward", "custom", ("p", "q", "r"))
    returned = [scalar(2.0), {"missing": "returned_none"}, {"missing": "not_required"}]
    whole, phases = narrate(node, make_step([scalar(1.0)], returned, jacobians=(2.0,)), ["p", "q", "r"])
    assert phases["send"] == (
        "2 goes to p, nothing (backward returned None) goes to q, nothing (it does not require grad) goes to r."
    )
    assert phases["land"] == "2 waits at p."
    assert phases["local_rule"] == "F.backward is the rule: the program's own code ran, factor 2."
    assert "F: 1 came in" in whole


def test_constants_and_unnamed_operands():
    node = make_node(saved=[("other", scalar(2.0))], output=None)
    node["inputs"][1] = {"argnum": 1, "name": "other", "value": scalar(2.0), "missing": {"missing": "not_required"}}
    step = make_step([scalar(5.0)], [scalar(10.0), {"missing": "not_required"}], jacobians=(2.0,))
    _, phases = narrate(node, step, ["h", None])
    assert phases["local_rule"] == "d(h*2)/dh = 2."
    assert phases["collect"] == "5 arrived at the result of mul."
    assert phases["multiply"] == "5 \u00d7 2 = 10."
    assert phases["send"].startswith("10 goes to h, nothing (it does not require grad) goes to operand other")


def test_alpha_is_not_forgotten():
    node = make_node("SubBackward0", saved=[("alpha", 2.5)])
    _, phases = narrate(node, make_step([scalar(1.0)], [scalar(1.0), scalar(-2.5)], jacobians=(1.0, -2.5)), ["x", "y"])
    assert phases["local_rule"] == "At this point the derivative of sub is 1."
    assert phases["multiply"] == "1 \u00d7 1 = 1, 1 \u00d7 (-2.5) = -2.5."


def test_an_unchecked_product_is_not_written_as_an_equation():
    step = make_step([scalar(3.0)], [scalar(9.0)], jacobians=(1.0,))
    step["local_jacobians"][0]["checked"] = False
    _, phases = narrate(make_node("WBackward", "custom", ("x",)), step, ["x"])
    assert phases["multiply"] == "The rule returned 9; v times the local Jacobian is something else."


def test_a_value_without_a_name_goes_to_the_operation_that_made_it():
    _, phases = narrate(make_node(), make_step([matrix(2, 3)], [matrix(2, 3)]), [None], ["_softmax"])
    assert phases["send"] == "A gradient of shape [2, 3] goes to softmax."
    assert phases["multiply"] == "v of shape [2, 3] times the local Jacobian gives a gradient of shape [2, 3]."


def test_the_rule_is_the_formula_and_what_its_jacobian_looks_like():
    line = {"argnum": 0, "latex": "", "text": "v * p * x^(p-1)", "because": ""}
    formula = {"forward": "", "vjp": [line], "derivatives_yaml": []}
    node = make_node("PowBackward0", formula=formula)
    step = make_step([matrix(2, 3)], [matrix(2, 3)], jacobians=(1.0,))
    step["local_jacobians"][0] |= {"structure": "diagonal", "value": {"missing": "on_demand"}}
    said = narrate(node, step, ["x"])[1]["local_rule"]
    assert said == "The rule of pow: v * p * x^(p-1); each entry has a factor of its own (diagonal)."
    node["formula"]["checked"] = False
    assert "p-1" not in narrate(node, step, ["x"])[1]["local_rule"]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (30.0, "30"),
        (1 / 3, "0.3333"),
        (123456789.0, "1.235e+08"),
        (-0.0, "0"),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ([1.0, -2.5], "1 - 2.5i"),
        ([0.0, 1.0], "0 + 1i"),
        (True, "true"),
        (12345, "12345"),
    ],
)
def test_numbers_are_short(number, text):
    assert spell_number(number) == text


NUMBER = re.compile(r"(?<![\w.\]])-?\d+(?:\.\d+)?(?:e[+-]\d+)?")
FLOATS = st.floats(width=32).map(lambda number: float(np.float32(number)))
SCALARS = FLOATS.map(lambda n: scalar(n if np.isfinite(n) else "NaN" if n != n else "Infinity"))
VALUES = st.one_of(
    SCALARS,
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6).map(lambda numbers: vector(*numbers)),
    st.tuples(st.integers(1, 9), st.integers(1, 9)).map(lambda shape: matrix(*shape)),
    st.sampled_from([{"missing": one} for one in ("undefined", "not_required", "returned_none", "no_path")]),
)
NAMES = st.one_of(st.none(), st.text("abcxyz_.", min_size=1, max_size=60))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(VALUES, max_size=6),
    st.lists(VALUES, max_size=5),
    VALUES,
    st.lists(FLOATS, max_size=3),
    st.lists(NAMES, min_size=5, max_size=5),
    st.sampled_from(["MulBackward0", "AddBackward0", "SoftmaxBackward", "UnknownBackward"]),
)
def test_every_number_was_traced_and_every_sentence_is_short(arrived, returned, total, factors, names, name):
    factors = [one for one in factors if np.isfinite(one)][: len(returned)]
    operands = [f"op{'abcde'[k]}" for k in range(len(returned))]
    saved = [(operands[k], scalar(one)) for k, one in enumerate(factors)]
    step = make_step(arrived, returned, total=total if arrived else None, jacobians=factors)
    node = make_node(name, operands=operands, saved=saved)
    whole, phases = narrate(node, step, names)
    values = [*arrived, *returned, *step["grad_outputs"], *(scalar(one) for one in factors)]
    told = {text for value in values for text in NUMBER.findall(f" {spell_value(value)} ")}
    told |= {str(length) for value in values for length in value.get("shape", ())}
    counts = {str(count) for count in range(max(len(arrived), len(returned), 1) + 1)}
    for phase, sentence in {"whole": whole, **phases}.items():
        assert len(sentence) <= LONGEST_SENTENCE
        assert sentence.endswith((".", "\u2026"))
        # Counts of contributions and operands, and the 1 and -1 that are derivatives of sums.
        assert set(NUMBER.findall(f" {sentence} ")) <= told | counts | {"1", "-1"}, phase


def test_every_v_of_a_node_with_several_outputs_is_named():
    source = "b, c = torch.tensor([3.0, 4.0], requires_grad=True).unbind()\n(b * c).backward()\n"
    traced = run_traced(source)
    [step] = [one for one in traced.of("step") if traced.nodes()[one["node"]]["name"] == "UnbindBackward0"]
    assert step["phases"]["collect"] == "2 of 2 outputs of unbind received a gradient: 4 at `b` and 3 at `c`."
    assert step["phases"]["multiply"] == (
        "v of output 0 = 4 and v of output 1 = 3, each times its local Jacobian, add up to [4, 3]."
    )
    assert step["narration"].startswith("unbind: 4 and 3 came in")
