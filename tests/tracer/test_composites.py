"""Calls that built several nodes, read as one operation; every formula of one is read again and run on tensors."""

import pytest
import torch

from tests.formulas.cells import read
from tests.formulas.reading import read_latex, read_text
from tests.twin import run_traced

MADE = """\
import torch
import torch.nn.functional as F
torch.manual_seed(0)
"""
CALLS = {
    "a batch of matrices, one matrix": ("a @ b", {"a": (4, 3, 5), "b": (5, 2)}),
    "two batches": ("a @ b", {"a": (2, 3, 2), "b": (2, 2, 3)}),
    "more dims in front": ("torch.matmul(a, b)", {"a": (2, 2, 3, 2), "b": (2, 2)}),
    "a vector on the left": ("a @ b", {"a": (3,), "b": (3, 2)}),
    "one matrix, a batch of matrices": ("a @ b", {"a": (2, 3), "b": (4, 3, 5)}),
    "one matrix, a batch of square ones": ("a @ b", {"a": (3, 3), "b": (3, 3, 3)}),
    "a batch of matrices, a vector": ("a @ b", {"a": (4, 2, 3), "b": (3,)}),
    "a vector, a batch of matrices": ("a @ b", {"a": (3,), "b": (4, 3, 2)}),
    "a batch without gradients, a vector": ("a.detach() @ b", {"a": (4, 2, 3), "b": (3,)}),
    "both batches repeated": ("a @ b", {"a": (4, 1, 2, 3), "b": (5, 3, 2)}),
    "one batch repeated": ("a @ b", {"a": (2, 4, 3, 5), "b": (4, 5, 2)}),
    "a batch of one repeated": ("a @ b", {"a": (1, 2, 3), "b": (4, 3, 2)}),
    "a batch without gradients": ("a.detach() @ b", {"a": (2, 2, 3, 5), "b": (2, 2, 5, 2)}),
    "a batch without gradients, one matrix on the left": ("a @ b.detach()", {"a": (2, 3), "b": (4, 3, 5)}),
    "a batch without gradients, which is repeated": ("a @ b.detach()", {"a": (2, 4, 3, 5), "b": (4, 5, 2)}),
    "only the batch": ("a @ b.detach()", {"a": (2, 3, 2), "b": (2, 4)}),
    "only the matrix": ("a.detach() @ b", {"a": (2, 3, 2), "b": (2, 4)}),
    "linear": ("F.linear(a, b, c)", {"a": (3, 2), "b": (4, 2), "c": (4,)}),
    "linear of a vector": ("F.linear(a, b, c)", {"a": (2,), "b": (4, 2), "c": (4,)}),
    "linear of a batch": ("F.linear(a, b, c)", {"a": (2, 3, 2), "b": (4, 2), "c": (4,)}),
    "without a bias": ("F.linear(a, b)", {"a": (2, 3, 2), "b": (4, 2)}),
}


def program(text, shapes):
    leaves = "".join(f"{name} = torch.randn({shape}, requires_grad=True)\n" for name, shape in shapes.items())
    return f"{MADE}{leaves}y = {text}\n"


def calls(traced):
    return [group["call"] for group in traced.of("pass_started")[0]["graph"]["groups"] if "call" in group]


def told(traced):
    """The op of the program's call, and its formula where that was found to hold."""
    (call,) = calls(traced)
    (step,) = [step for step in traced.of("step") if step["node"] == call["node"]]
    return call["op"], step.get("call")


@pytest.mark.parametrize(("text", "shapes"), CALLS.values(), ids=CALLS)
def test_the_formula_of_a_call_gives_the_gradients_of_the_whole_call(text, shapes):
    source = program(text, shapes)
    plain = {}
    exec(source, plain)  # noqa: S102
    v = torch.randn_like(plain["y"])
    expected = torch.autograd.grad(plain["y"], [plain[name] for name in shapes], v, allow_unused=True)

    traced = run_traced(f"{source}y.backward(torch.tensor({v.tolist()}))\n")
    op, formula = told(traced)

    assert op == ("linear" if "linear" in text else "matmul")
    values = {"v": v, **{name: plain[name].detach() for name in shapes}}
    # What has no name of its own is called by a letter.
    values["B"] = values.get("b")
    by_argnum = {line["argnum"]: read_text(line["text"], values) for line in formula["formula"]["vjp"]}
    assert by_argnum.keys() == {at for at, gradient in enumerate(expected) if gradient is not None}
    for argnum, found in by_argnum.items():
        torch.testing.assert_close(found.reshape(expected[argnum].shape), expected[argnum], rtol=1e-4, atol=1e-5)


EINSUMS = {
    "a product of matrices": ("einsum('ij,jk->ik', a, b)", {"a": (2, 3), "b": (3, 4)}, "ij,jk->ik"),
    "attention scores": ("einsum('bhqd,bhkd->bhqk', a, b)", {"a": (2, 2, 3, 2), "b": (2, 2, 3, 2)}, "bhqd,bhkd->bhqk"),
    "no result written": ("einsum('ji,jk', a, b)", {"a": (2, 3), "b": (2, 4)}, "ji,jk->ik"),
    "dots that are several dims": ("einsum('...ij, jk -> ...ik', a, b)", {"a": (2, 2, 3), "b": (3, 2)}, "aij,jk->aik"),
    "dots of two": ("einsum('...i,...i->...', a, b)", {"a": (2, 2, 3), "b": (2, 3)}, "abi,bi->ab"),
    "large letters": ("einsum('Ij,I->j', a, b)", {"a": (2, 3), "b": (2,)}, "aj,a->j"),
    "lists of numbers": ("einsum(a, [0, 1], b, [2, 1], [0, 2])", {"a": (2, 3), "b": (4, 3)}, "ab,cb->ac"),
    "letters that only one has": ("einsum('ij,k->k', a, b)", {"a": (2, 3), "b": (4,)}, "ij,k->k"),
    "a batch of one repeated": ("einsum('bij,bjk->bik', a, b)", {"a": (1, 2, 3), "b": (2, 3, 2)}, "bij,bjk->bik"),
    "a shared letter of size 1": ("einsum('ij,jk->ik', a, b)", {"a": (2, 1), "b": (3, 2)}, "ij,jk->ik"),
    "a diagonal and a vector": ("einsum('iij,j->i', a, b)", {"a": (3, 3, 2), "b": (2,)}, "iij,j->i"),
    "one tensor twice": ("einsum('ij,kj->ik', a, a)", {"a": (2, 3)}, "ij,kj->ik"),
    "the diagonal": ("einsum('ii->i', a)", {"a": (3, 3)}, "ii->i"),
    "the trace": ("einsum('ii->', a)", {"a": (3, 3)}, "ii->"),
    "the sum": ("einsum('ij->', a)", {"a": (2, 3)}, "ij->"),
    "the sum of a single row": ("einsum('ij->', a)", {"a": (1, 3)}, "ij->"),
    "sums of columns": ("einsum('ij->j', a)", {"a": (2, 3)}, "ij->j"),
    "tensordot by a count": ("tensordot(a, b, 1)", {"a": (2, 3), "b": (3, 4)}, "ij,jl->il"),
    "tensordot by dims": ("tensordot(a, b, ([1, 2], [1, 0]))", {"a": (2, 3, 4), "b": (4, 3, 2)}, "ijk,kjn->in"),
    "outer": ("outer(a, b)", {"a": (2,), "b": (3,)}, "i,j->ij"),
    "inner of matrices": ("inner(a, b)", {"a": (2, 3), "b": (4, 3)}, "ik,jk->ij"),
    "inner of a vector and a matrix": ("inner(a, b)", {"a": (3,), "b": (2, 3)}, "j,ij->i"),
}


# What has no gradient is turned without a node: a constant on the left leaves `outer` but one.
EINSUMS_AND_CONSTANTS = [
    (name, constant)
    for name, (_, shapes, _) in EINSUMS.items()
    for constant in ("", *(shapes if len(shapes) > 1 else ()))
    if (name, constant) != ("outer", "a")
]


@pytest.mark.parametrize(("name", "constant"), EINSUMS_AND_CONSTANTS)
def test_an_einsum_is_one_call_by_its_equation(name, constant):
    text, shapes, equation = EINSUMS[name]
    leaves = "".join(
        f"{one} = torch.randn({shape}, requires_grad={one != constant})\n" for one, shape in shapes.items()
    )
    source = f"{MADE}{leaves}y = torch.{text}\n"
    plain = {}
    exec(source, plain)  # noqa: S102
    v = torch.randn_like(plain["y"])
    wanted = [one for one in shapes if one != constant]
    expected = dict(zip(wanted, torch.autograd.grad(plain["y"], [plain[one] for one in wanted], v), strict=True))

    traced = run_traced(f"{source}y.backward(torch.tensor({v.tolist()}))\n")
    (call,) = calls(traced)
    op, formula = told(traced)

    assert (op, call["options"]["equation"]) == (text.partition("(")[0], equation)
    values = {"v": v, **{one: plain[one].detach() for one in shapes}}
    operands = [*shapes] if len(shapes) == len(call["operands"]) else ["a", "a"]
    found = dict.fromkeys(wanted, 0)
    for line in formula["formula"]["vjp"]:
        operand = operands[line["argnum"]]
        shape = expected[operand].shape
        by_text = read_text(line["text"], values).reshape(shape)
        torch.testing.assert_close(by_text, read_latex(line["latex"], values).reshape(shape))
        torch.testing.assert_close(by_text.float(), by_moves(formula, line["argnum"], values, operands))
        found[operand] = found[operand] + by_text.float()
    for operand, gradient in expected.items():
        torch.testing.assert_close(found[operand], gradient, rtol=1e-4, atol=1e-5)


def by_moves(formula, argnum, values, operands):
    """What a reader of the moves makes, cell by cell."""
    named = {f"operands[{at}]": values[operand] for at, operand in enumerate(operands)} | {"v0": values["v"]}
    shape = [*values[operands[argnum]].shape]
    (moves,) = [one["moves"] for one in formula["moves"] if one["argnum"] == argnum]
    cells = read(moves, lambda name: (named[name].reshape(-1).tolist(), [*named[name].shape]), shape)
    return torch.tensor(cells).reshape(shape)


def test_a_constant_of_an_einsum_is_called_by_its_variable():
    source = program("torch.einsum('ji,kj->ik', data, a)", {"a": (4, 3)}).replace(
        "y =", "data = torch.randn(3, 2)\ny ="
    )
    _, formula = told(run_traced(f"{source}y.sum().backward()\n"))
    assert [line["text"] for line in formula["formula"]["vjp"]] == ['einsum("ik,ji->kj", v, data)']


@pytest.mark.parametrize(
    "text",
    [
        # One node, which says it already.
        "torch.einsum('ij->ji', a)",
        # Two products one after the other.
        "torch.einsum('ij,jk,kl->il', a, torch.ones(3, 2), torch.ones(2, 2))",
        "torch.einsum('ij,jk,kl->il', torch.ones(2, 2), a, torch.ones(3, 2))",
    ],
)
def test_an_einsum_of_one_node_or_of_several_products_is_no_single_call(text):
    assert calls(run_traced(program(text, {"a": (2, 3)}) + "y.sum().backward()\n")) == []


CROSS_ENTROPIES = {
    "the mean": ("", (2, 3), [0, 2]),
    "the sum": ("reduction='sum'", (2, 3), [0, 2]),
    "each by itself": ("reduction='none'", (2, 3), [0, 2]),
    "of one target": ("", (3,), 1),
    "with class weights": ("weight=weights", (4, 3), [0, 2, 1, 1]),
    "of one target with class weights": ("weight=weights", (3,), 1),
    "with a target left out": ("", (3, 3), [0, -100, 2]),
    "with a class left out": ("ignore_index=1", (3, 3), [0, 1, 2]),
    "with class weights and a class left out": ("weight=weights, ignore_index=1", (3, 3), [0, 1, 2]),
    "of rows": ("weight=weights", (2, 3, 2), [[0, 1], [1, -100]]),
    "with smoothed labels": ("label_smoothing=0.1", (2, 3), [0, 2]),
    "the sum with smoothed labels": ("label_smoothing=0.1, reduction='sum'", (2, 3), [0, 2]),
    "each by itself with smoothed labels": ("label_smoothing=0.1, reduction='none'", (2, 3), [0, 2]),
    "of one target with smoothed labels": ("label_smoothing=0.1", (3,), 1),
    "with class weights and smoothed labels": ("weight=weights, label_smoothing=0.1", (3, 3), [0, 2, 1]),
    "with smoothed labels and a class left out": ("label_smoothing=0.1, ignore_index=1", (3, 3), [0, 1, 2]),
    "of rows with smoothed labels": ("weight=weights, label_smoothing=0.1", (2, 3, 2), [[0, 1], [1, -100]]),
    "of images": ("reduction='none'", (1, 3, 2, 2), [[[0, 1], [1, 2]]]),
}


@pytest.mark.parametrize(("options", "shape", "target"), CROSS_ENTROPIES.values(), ids=CROSS_ENTROPIES)
def test_cross_entropy_is_one_call_whose_formula_gives_its_gradient(options, shape, target):
    source = (
        f"{MADE}scores = torch.randn({shape}, requires_grad=True)\ntarget = torch.tensor({target})\n"
        f"weights = torch.tensor([1.0, 2.0, 4.0])\nloss = F.cross_entropy(scores, target, {options})\n"
    )
    plain = {}
    exec(source, plain)  # noqa: S102
    v = torch.randn_like(plain["loss"])
    (expected,) = torch.autograd.grad(plain["loss"], plain["scores"], v)
    counted = [one for one in plain["target"].reshape(-1).tolist() if one >= 0 and f"ignore_index={one}" not in options]
    weights = plain["weights"] if "weight=" in options else torch.ones(3)

    op, formula = told(run_traced(f"{source}loss.backward(torch.tensor({v.tolist()}))\n"))

    assert op == "cross_entropy"
    (line,) = formula["formula"]["vjp"]
    known = {name: plain[name].detach() for name in ("scores", "target", "weights")}
    if len(shape) == 3:  # noqa: PLR2004
        # torch makes an image of a row.
        known["target"] = known["target"].unsqueeze(1)
    found = read_text(line["text"], {**known, "v": v, "N": weights[counted].sum()})
    torch.testing.assert_close(found.reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)


DISTRIBUTIONS = {
    "the mean": ("", (2, 3)),
    "the sum": ("reduction='sum'", (2, 3)),
    "each by itself": ("reduction='none'", (2, 3)),
    "smoothed": ("label_smoothing=0.2", (2, 3)),
    "with class weights": ("weight=weights", (2, 3)),
    "with class weights and smoothed": ("weight=weights, label_smoothing=0.2", (2, 3)),
    "of rows": ("weight=weights", (2, 3, 2)),
    "a single one": ("", (3,)),
}


@pytest.mark.parametrize("kind", ["softmax(1 if x.dim() > 1 else 0)", "exp()", "exp().requires_grad_()"])
@pytest.mark.parametrize(("options", "shape"), DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_cross_entropy_with_a_distribution_is_one_call_with_a_gradient_for_each(options, shape, kind):
    source = (
        f"{MADE}x = torch.randn({shape}, requires_grad=True)\nt = torch.randn({shape}).{kind}\n"
        f"weights = torch.tensor([1.0, 2.0, 4.0])\nloss = F.cross_entropy(x, t, {options})\n"
    )
    plain = {}
    exec(source, plain)  # noqa: S102
    v = torch.randn_like(plain["loss"])
    asked = [plain[name] for name in "xt" if plain[name].requires_grad]
    expected = torch.autograd.grad(plain["loss"], asked, v)

    op, formula = told(run_traced(f"{source}loss.backward(torch.tensor({v.tolist()}))\n"))

    assert op == "cross_entropy"
    known = {name: plain[name].detach() for name in ("x", "t", "weights")}
    lines = formula["formula"]["vjp"]
    assert [line["argnum"] for line in lines] == [*range(len(asked))]
    for line, gradient in zip(lines, expected, strict=True):
        found = read_text(line["text"], {**known, "v": v}).reshape(gradient.shape)
        torch.testing.assert_close(found.to(gradient.dtype), gradient, rtol=1e-4, atol=1e-5)
    if "weight" not in options and "softmax" in kind:
        assert "sum" not in lines[0]["text"]


def test_class_weights_that_have_a_gradient_leave_a_cross_entropy_its_nodes():
    source = program("F.cross_entropy(a, torch.tensor([[0.5, 0.5, 0]]), weight=b)", {"a": (1, 3), "b": (3,)})
    assert told(run_traced(f"{source}y.backward()\n")) == ("cross_entropy", None)


def test_where_all_targets_are_left_out_no_formula_gives_the_0_of_the_engine():
    source = program("F.cross_entropy(a, torch.tensor([-100, -100]))", {"a": (2, 3)})
    assert told(run_traced(f"{source}y.backward()\n")) == ("cross_entropy", None)


def test_a_linear_module_is_the_call_with_its_parameters():
    source = MADE + "layer = torch.nn.Linear(3, 2)\nlayer(torch.randn(2, 2, 3)).sum().backward()\n"
    op, formula = told(run_traced(source))
    assert (op, len(formula["formula"]["vjp"])) == ("linear", 2)  # noqa: PLR2004 (weight and bias)


def test_what_only_arranges_is_marked_and_borders_are_where_operands_come_in():
    traced = run_traced(program("a @ b", {"a": (2, 3, 2), "b": (2, 4)}) + "y.sum().backward()\n")
    (call,) = calls(traced)
    nodes = traced.nodes()
    arranging = {node["id"] for node in nodes.values() if node.get("arranges")}
    assert {nodes[one]["op"] for one in arranging} == {"view", "_unsafe_view"}
    assert nodes[call["node"]]["op"] == "mm"
    assert nodes[call["output"]]["op"] == "_unsafe_view"
    borders = [nodes[one["border"]["node"]]["inputs"][one["border"]["argnum"]]["source"] for one in call["operands"]]
    assert borders == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("F.normalize(a)", {"a": (2, 3)}),
        ("a[0, 1]", {"a": (2, 3)}),
    ],
)
def test_a_call_of_several_operations_is_no_single_one(text, shapes):
    assert calls(run_traced(program(text, shapes) + "y.sum().backward()\n")) == []


def test_a_formula_that_does_not_give_what_the_engine_returned_is_not_told():
    # Written behind autograd's back: the backward pass reads other values than the forward pass did.
    source = program("a @ b", {"a": (4, 3, 5), "b": (5, 2)}) + "b.data.mul_(2)\ny.sum().backward()\n"
    assert told(run_traced(source)) == ("matmul", None)
