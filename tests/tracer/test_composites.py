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
# The call, the shapes of its operands, and the equation where it has one.
CALLS = {
    "a batch of matrices, one matrix": ("a @ b", {"a": (4, 3, 5), "b": (5, 2)}),
    "a vector on the left": ("a @ b", {"a": (3,), "b": (3, 2)}),
    "one matrix, a batch of square ones": ("a @ b", {"a": (3, 3), "b": (3, 3, 3)}),
    "a batch of matrices, a vector": ("a @ b", {"a": (4, 2, 3), "b": (3,)}),
    "a vector, a batch of matrices": ("a @ b", {"a": (3,), "b": (4, 3, 2)}),
    "both batches repeated": ("a @ b", {"a": (4, 1, 2, 3), "b": (5, 3, 2)}),
    "linear": ("F.linear(a, b, c)", {"a": (3, 2), "b": (4, 2), "c": (4,)}),
    "linear of a vector": ("F.linear(a, b, c)", {"a": (2,), "b": (4, 2), "c": (4,)}),
    "linear of a batch": ("F.linear(a, b, c)", {"a": (2, 3, 2), "b": (4, 2), "c": (4,)}),
    "linear of one number": ("F.linear(a, b, c)", {"a": (1,), "b": (1, 1), "c": (1,)}),
    "a product of matrices": ("torch.einsum('ij,jk->ik', a, b)", {"a": (2, 3), "b": (3, 4)}, "ij,jk->ik"),
    "no result written": ("torch.einsum('ji,jk', a, b)", {"a": (2, 3), "b": (2, 4)}, "ji,jk->ik"),
    "dots of two": ("torch.einsum('...i,...i->...', a, b)", {"a": (2, 2, 3), "b": (2, 3)}, "abi,bi->ab"),
    "large letters": ("torch.einsum('Ij,I->j', a, b)", {"a": (2, 3), "b": (2,)}, "aj,a->j"),
    "lists of numbers": ("torch.einsum(a, [0, 1], b, [2, 1], [0, 2])", {"a": (2, 3), "b": (4, 3)}, "ab,cb->ac"),
    "letters that only one has": ("torch.einsum('ij,k->k', a, b)", {"a": (2, 3), "b": (4,)}, "ij,k->k"),
    "a batch of one repeated": ("torch.einsum('bij,bjk->bik', a, b)", {"a": (1, 2, 3), "b": (2, 3, 2)}, "bij,bjk->bik"),
    "a shared letter of size 1": ("torch.einsum('ij,jk->ik', a, b)", {"a": (2, 1), "b": (3, 2)}, "ij,jk->ik"),
    "a diagonal and a vector": ("torch.einsum('iij,j->i', a, b)", {"a": (3, 3, 2), "b": (2,)}, "iij,j->i"),
    "one tensor twice": ("torch.einsum('ij,kj->ik', a, a)", {"a": (2, 3)}, "ij,kj->ik"),
    "the trace": ("torch.einsum('ii->', a)", {"a": (3, 3)}, "ii->"),
    "the sum": ("torch.einsum('ij->', a)", {"a": (2, 3)}, "ij->"),
    "a bilinear form": ("torch.einsum('i,oij,j->o', a, b, c)", {"a": (2,), "b": (3, 2, 4), "c": (4,)}, "i,oij,j->o"),
    "four": ("torch.einsum('i,ij,j,k->k', a, b, c, a)", {"a": (2,), "b": (2, 3), "c": (3,)}, "i,ij,j,k->k"),
    "tensordot by a count": ("torch.tensordot(a, b, 1)", {"a": (2, 3), "b": (3, 4)}, "ij,jl->il"),
    "tensordot by dims": ("torch.tensordot(a, b, ([1, 2], [1, 0]))", {"a": (2, 3, 4), "b": (4, 3, 2)}, "ijk,kjn->in"),
    "outer": ("torch.outer(a, b)", {"a": (2,), "b": (3,)}, "i,j->ij"),
    "inner of matrices": ("torch.inner(a, b)", {"a": (2, 3), "b": (4, 3)}, "ik,jk->ij"),
    "inner of a vector and a matrix": ("torch.inner(a, b)", {"a": (3,), "b": (2, 3)}, "j,ij->i"),
}


def program(text, shapes, constant=None):
    leaves = "".join(
        f"{one} = torch.randn({shape}, requires_grad={one != constant})\n" for one, shape in shapes.items()
    )
    return f"{MADE}{leaves}y = {text}\n"


def calls(traced):
    return [group["call"] for group in traced.of("pass_started")[0]["graph"]["groups"] if "call" in group]


def told(traced):
    """The op of the program's call, and its formula where that was found to hold."""
    (call,) = calls(traced)
    (step,) = [step for step in traced.of("step") if step["node"] == call["node"]]
    return call["op"], step.get("call")


def judged(source, operands, **known):
    """The one call that made `y` and its formula, which gave the gradients of plain torch, read as text and as LaTeX.

    Args:
        operands: the names of the call's operands, in order.
        known: what else stands in the formula, or stands there in another shape.
    """
    plain = {}
    exec(source, plain)  # noqa: S102
    v = torch.randn_like(plain["y"])
    wanted = [one for one in dict.fromkeys(operands) if plain[one].requires_grad]
    expected = dict(zip(wanted, torch.autograd.grad(plain["y"], [plain[one] for one in wanted], v), strict=True))

    traced = run_traced(f"{source}y.backward(torch.tensor({v.tolist()}))\n")
    (call,), (_, formula) = calls(traced), told(traced)
    values = {name: one.detach() for name, one in plain.items() if isinstance(one, torch.Tensor)} | {"v": v} | known
    tables = {one["name"]: values[name] for one, name in zip(call["operands"], operands, strict=False)} | {"v0": v}
    moves = {one["argnum"]: one["moves"] for one in formula.get("moves", ())}
    found = dict.fromkeys(wanted, 0)
    for line in formula["formula"]["vjp"]:
        name = operands[line["argnum"]]
        shape = [*plain[name].shape]
        by_text, by_latex = read_text(line["text"], values), read_latex(line["latex"], values)
        torch.testing.assert_close(by_latex.reshape(shape).float(), by_text.reshape(shape).float())
        if line["argnum"] in moves:
            cells = read(
                moves[line["argnum"]], lambda role: (tables[role].reshape(-1).tolist(), [*tables[role].shape]), shape
            )
            torch.testing.assert_close(torch.tensor(cells).reshape(shape), by_text.reshape(shape).float())
        found[name] = found[name] + by_text.reshape(shape).float()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-4, atol=1e-5)
    return call, formula


# A constant is turned without a node: what is left is the one node that computes, or a product without a formula.
WITHOUT = {("outer", "a"), ("linear", "b"), ("a vector, a batch of matrices", "b")}
WITH_CONSTANTS = [
    (name, constant)
    for name, (_, shapes, *_) in CALLS.items()
    for constant in (None, *(shapes if len(shapes) > 1 else ()))
    if (name, constant) not in WITHOUT
]


@pytest.mark.parametrize(("name", "constant"), WITH_CONSTANTS)
def test_the_formula_of_a_call_gives_the_gradients_of_the_whole_call(name, constant):
    text, shapes, *equation = CALLS[name]
    operands = [*shapes, "a"] if name in ("one tensor twice", "four") else [*shapes]
    call, formula = judged(program(text, shapes, constant), operands)
    assert call["op"] == ("matmul" if "@" in text else text.partition("(")[0].partition(".")[2])
    assert [one for key, one in call.get("options", {}).items() if key == "equation"] == equation
    assert "moves" in formula or not equation and name != "linear of one number"


def test_a_constant_of_an_einsum_is_called_by_its_variable():
    source = program("torch.einsum('ji,kj->ik', data, a)", {"a": (4, 3)}).replace(
        "y =", "data = torch.randn(3, 2)\ny ="
    )
    _, formula = told(run_traced(f"{source}y.sum().backward()\n"))
    assert [line["text"] for line in formula["formula"]["vjp"]] == ['einsum("ik,ji->kj", v, data)']


SEVERAL = [
    "torch.einsum('ij->ji', a)",  # one node, which says it already
    "a[0, 1]",
    # Two of its tensors are multiplied where nothing is recorded.
    "torch.einsum('ij,jk,kl->il', torch.ones(4, 3), torch.ones(3, 2), a)",
    "F.normalize(a)",
]


@pytest.mark.parametrize("text", SEVERAL)
def test_a_call_of_one_node_or_of_several_operations_is_no_single_one(text):
    assert calls(run_traced(program(text, {"a": (2, 3)}) + "y.sum().backward()\n")) == []


# The options, the shape of the scores, the targets: classes, or a distribution for each.
LOSSES = {
    "the mean": ("", (2, 3), [0, 2]),
    "the sum": ("reduction='sum'", (2, 3), [0, 2]),
    "of one target": ("", (3,), 1),
    "with class weights and a class left out": ("weight=w, ignore_index=1", (3, 3), [0, 1, 2]),
    "of rows": ("weight=w", (2, 3, 2), [[0, 1], [1, -100]]),
    "with smoothed labels": ("label_smoothing=0.1", (2, 3), [0, 2]),
    "with smoothed labels and a class left out": ("label_smoothing=0.1, ignore_index=1", (3, 3), [0, 1, 2]),
    "of rows with smoothed labels": ("weight=w, label_smoothing=0.1", (2, 3, 2), [[0, 1], [1, -100]]),
    "of images": ("reduction='none'", (1, 3, 2, 2), [[[0, 1], [1, 2]]]),
}
DISTRIBUTIONS = {
    "the mean": ("", (2, 3)),
    "each by itself": ("reduction='none'", (2, 3)),
    "smoothed": ("label_smoothing=0.2", (2, 3)),
    "of rows": ("weight=w", (2, 3, 2)),
    "a single one": ("", (3,)),
}


def loss_of(options, shape, target):
    return (
        f"{MADE}x = torch.randn({shape}, requires_grad=True)\nt = {target}\n"
        f"w = torch.tensor([1.0, 2.0, 4.0])\ny = F.cross_entropy(x, t, {options})\n"
    )


@pytest.mark.parametrize(("options", "shape", "target"), LOSSES.values(), ids=LOSSES)
def test_cross_entropy_is_one_call_whose_formula_gives_its_gradient(options, shape, target):
    classes = torch.tensor(target)
    counted = [one for one in classes.reshape(-1).tolist() if one >= 0 and f"ignore_index={one}" not in options]
    weights = torch.tensor([1.0, 2.0, 4.0]) if "weight=" in options else torch.ones(3)
    # torch makes an image of a row.
    known = {"t": classes.unsqueeze(1)} if len(shape) == 3 else {}  # noqa: PLR2004
    call, formula = judged(
        loss_of(options, shape, f"torch.tensor({target})"), ["x", "t"], N=weights[counted].sum(), **known
    )
    assert (call["op"], len(formula["formula"]["vjp"])) == ("cross_entropy", 1)


@pytest.mark.parametrize("kind", ["softmax(1 if x.dim() > 1 else 0)", "exp()", "exp().requires_grad_()"])
@pytest.mark.parametrize(("options", "shape"), DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_cross_entropy_with_a_distribution_is_one_call_with_a_gradient_for_each(options, shape, kind):
    call, formula = judged(loss_of(options, shape, f"torch.randn({shape}).{kind}"), ["x", "t"])
    lines = formula["formula"]["vjp"]
    assert (call["op"], [line["argnum"] for line in lines]) == ("cross_entropy", [0, 1] if "requires" in kind else [0])
    if "weight" not in options and "softmax" in kind:
        assert "sum" not in lines[0]["text"]


WITHOUT_A_FORMULA = {
    "class weights that have a gradient": ("F.cross_entropy(a, torch.tensor([[0.5, 0.5, 0]]), weight=b)", (3,), ""),
    "all targets are left out, of which the engine makes 0": ("F.cross_entropy(a, torch.tensor([-100]))", (), ""),
    "written behind autograd's back after forward": ("a @ b", (3, 2), "b.data.mul_(2)\n"),
}


@pytest.mark.parametrize("name", WITHOUT_A_FORMULA)
def test_a_formula_that_does_not_give_what_the_engine_returned_is_not_told(name):
    text, shape, write = WITHOUT_A_FORMULA[name]
    source = program(text, {"a": (1, 3) if "cross" in text else (2, 4, 3), "b": shape})
    op, formula = told(run_traced(f"{source}{write}y.sum().backward()\n"))
    assert (op in text or op == "matmul", formula) == (True, None)


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
