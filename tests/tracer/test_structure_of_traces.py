"""What the graph says around the numbers: names, spans, groups, reasons, operands, births."""

from typing import Any

import pytest
import torch

from gradwalk.protocol.requests import Options, ResolvedLimits, TraceRequest
from gradwalk.tracer.replay import jacobian_of_step
from tests.tracer.programs import PASS_IN_BACKWARD, PROGRAMS, custom_function, trace
from tests.tracer.test_source import text_of
from tests.twin import run_plain, run_traced, tensor_of


def named(traced: Any, name: str) -> Any:
    """The last node of a torch name."""
    return [node for node in traced.nodes().values() if node["name"] == name][-1]


def leaf_grads(traced: Any) -> dict[str, Any]:
    return {one["leaf"]: one["grad"] for one in traced.of("pass_finished")[-1]["leaf_grads"]}


def test_an_expression_becomes_a_program_with_inputs() -> None:
    traced = run_traced("sin(x*y) + x", inputs={"x": 0.5})
    assert [one["name"] for one in traced.events[0]["inputs"]] == ["x", "y"]
    assert traced.of("pass_started")[0]["call"] == "implicit"
    x, y = torch.tensor(0.5, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    (torch.sin(x * y) + x).backward()
    grads = leaf_grads(traced)
    assert torch.equal(tensor_of(grads["x"]), x.grad)
    assert torch.equal(tensor_of(grads["y"]), y.grad)
    assert {node["leaf"]: node["input"] for node in traced.nodes().values() if "leaf" in node} == {"x": "x", "y": "y"}


@pytest.mark.parametrize(
    ("lines", "op", "text"),
    [
        ("y = (x.sin() +\n     x.cos())", "cos", "x.cos()"),
        ("y = (x\n     .sin()\n     .mean())", "mean", "x\n     .sin()\n     .mean()"),
        ("'𝔊'; y = x.exp()", "exp", "x.exp()"),
        ("y = sum([x[i] * 2 for i in range(2)])", "mul", "x[i] * 2"),
    ],
)
def test_spans_are_the_sub_expression(lines: str, op: str, text: str) -> None:
    source = f"x = torch.ones(2, requires_grad=True)\n{lines}\ny.sum().backward()"
    node = next(node for node in run_traced(source).nodes().values() if node["op"] == op)
    assert text_of(source, node["span"]) == text


def test_leaves_are_called_what_the_program_calls_them() -> None:
    source = """
class Box:
    pass
box = Box()
box.v = torch.ones(2, requires_grad=True)
ws = [torch.ones(2, requires_grad=True) for _ in range(2)]
net = nn.Sequential(nn.Linear(2, 2))
def run():
    local = torch.ones(2, requires_grad=True)
    (net(box.v) * ws[1] * local).sum().backward()
run()
"""
    leaves = {node["leaf"] for node in run_traced(source).nodes().values() if "leaf" in node}
    assert leaves == {"box.v", "ws[1]", "net.0.weight", "net.0.bias", "local"}


def test_groups_are_one_per_call_and_nested() -> None:
    source = """
def block(t):
    return (t * 2).sin()
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
y = block(block(net(torch.ones(1, 2))))
loss = F.cross_entropy(y, torch.tensor([0]))
loss.backward()
"""
    groups = run_traced(source).of("pass_started")[0]["graph"]["groups"]
    kinds = [(group["kind"], group["label"]) for group in groups]
    assert kinds.count(("function", "block")) == 2
    assert ("composite", "cross_entropy") in kinds
    assert ("module", "net.0: Linear") in kinds
    linear = next(group for group in groups if group["label"] == "net.0: Linear")
    assert next(group for group in groups if group["id"] == linear["parent"])["label"] == "net: Sequential"


def test_a_custom_function_shows_its_context_and_its_backward() -> None:
    traced = run_traced(PROGRAMS["map of the forum"])
    node = named(traced, "F2Backward")
    assert node["kind"] == "custom"
    assert [saved["name"] for saved in node["saved"]] == ["p", "ctx.needs_input_grad"]
    assert node["backward_span"]["line"] == 8
    assert [one["op"] for one in node["inside"]] == ["unbind", "pow", "mul", "pow", "stack"]
    assert tensor_of(node["inside"][-1]["outputs"][0]).tolist() == [4.0, 6.0, 9.0]
    step = next(step for step in traced.of("step") if step["node"] == node["id"])
    assert step["inside"][-1]["op"] == "matmul"
    assert step["inside"][-1]["span"]["line"] == 13
    (jacobian,) = step["local_jacobians"]
    assert tensor_of(jacobian["value"]).tolist() == [[4, 0], [3, 2], [0, 6]]
    assert jacobian["checked"]


def test_a_backward_with_side_effects_runs_once() -> None:
    loud = custom_function("Loud", "x", "return x * 2", "calls.append(1)\nprint('backward')\nreturn g * 2")
    source = f"calls = []\n{loud}x = torch.ones(2, requires_grad=True)\nLoud.apply(x).sum().backward()\n"
    traced = run_traced(source)
    assert traced.run.namespace["calls"] == [1]
    assert [event["text"] for event in traced.of("stdout")] == ["backward\n"]
    index = next(step["index"] for step in traced.of("step") if step["local_jacobians"][:1] and "inside" in step)
    (jacobian,) = jacobian_of_step(TraceRequest(source=source, options=Options()), index, 0, ResolvedLimits())
    assert tensor_of(jacobian["value"]).tolist() == [[2, 0], [0, 2]]


def test_double_backward_says_which_step_built_which_node() -> None:
    traced = run_traced(PROGRAMS["double backward"])
    nodes = traced.nodes()
    born = [node["born"] for node in nodes.values() if "born" in node]
    assert {one["pass_index"] for one in born} == {0, 1}
    assert all(one["node"] in nodes for one in born if one["node"] is not None)
    twin = run_plain(PROGRAMS["double backward"])
    assert torch.equal(tensor_of(leaf_grads(traced)["a"]), twin.namespace["a"].grad)


def test_nested_passes_name_their_parent() -> None:
    passes = run_traced(PROGRAMS["nested in a hook"]).of("pass_started")
    assert [one.get("parent") for one in passes] == [None, 0]


def test_saved_tensors_that_are_packed_say_so() -> None:
    (saved,) = named(trace("checkpoint"), "SinBackward0")["saved"]
    assert saved["note"] == {"kind": "note-packed"}


def test_a_step_without_numbers_is_recorded() -> None:
    traced = run_traced("w = torch.ones(2, 3, device='meta', requires_grad=True)\n(w * 2).sum().backward()\n")
    assert (len(traced.of("step")), traced.of("problem")) == (3, [])


def test_only_the_last_of_many_values_made_at_once_has_the_name() -> None:
    source = (
        "xs = [torch.tensor(v, requires_grad=True) for v in (1.0, 2.0)]\nq = sum(map(torch.sin, xs))\nq.backward()\n"
    )
    nodes = run_traced(source).nodes().values()
    names = [(node["name"], node["outputs"][0]["name"]) for node in nodes if node["kind"] == "op"]
    assert names == [("AddBackward0", "q"), ("AddBackward0", None), ("SinBackward0", None), ("SinBackward0", None)]


def test_a_write_into_a_part_makes_a_new_version_of_the_whole() -> None:
    source = "x = torch.ones(2, requires_grad=True)\ny = x * 1\ny[0] *= 3\nz = y.exp()\nz.sum().backward()\n"
    traced = run_traced(source)
    write = named(traced, "ExpBackward0")["inputs"][0]
    [edge] = [one for one in traced.of("pass_started")[0]["graph"]["edges"] if one["id"] == write["edge"]]
    written = traced.nodes()[edge["from"]["node"]]
    assert (written["name"], written["outputs"][0]["name"]) == ("CopySlices", "y")
    assert tensor_of(written["outputs"][0]["value"]).tolist() == [3.0, 1.0]


X = "x = torch.tensor([1., 2.], requires_grad=True)\nt = torch.tensor([3., 4.])\nm = torch.tensor([True, False])\n"
OPERANDS = {
    "x / 2.5": [("x", None), ("2.5", 2.5)],
    "torch.where(m, x, 0.5)": [("x", None), ("0.5", 0.5)],
    "torch.where(m, 7.0, x)": [("7.0", 7.0), ("x", None)],
    "torch.where(m, t, x)": [("t", [3, 4]), ("x", None)],
    "torch.addcmul(t, x, t, value=3)": [("t", [3, 4]), ("x", None), ("t", [3, 4])],
    "torch.lerp(t, x, 0.25)": [("t", [3, 4]), ("x", None)],
    "x.masked_scatter(m, t)": [("x", None), ("t", [3, 4])],
    "torch.atan2(t, x)": [("t", [3, 4]), ("x", None)],
}


@pytest.mark.parametrize("call", OPERANDS)
def test_an_operand_is_the_argument_that_it_is(call):
    [started] = run_traced(f"{X}y = {call}\ny.sum().backward()").of("pass_started")
    node = started["graph"]["nodes"][1]
    assert [operand["source"] for operand in node["inputs"]] == [name for name, _ in OPERANDS[call]]
    for operand, (_, value) in zip(node["inputs"], OPERANDS[call], strict=True):
        if value is not None:
            data = operand["value"]["data"]
            assert (data if operand["value"]["shape"] else data[0]) == value
            is_number = isinstance(value, float | int)
            assert operand["missing"]["missing"] == "not_required"
            assert operand["missing"]["because"]["kind"] == ("missing-number" if is_number else "missing-not-asked")


def test_a_hook_that_takes_a_gradient_away_is_not_laid_at_the_node_s_door():
    source = f"{X}y = x * t.requires_grad_()\ny.grad_fn.register_hook(lambda gi, go: (None, gi[1]))\ny.sum().backward()"
    step = run_traced(source).of("step")[1]
    assert step["grad_inputs"][0]["because"]["kind"] == "missing-hook-removed"
    assert "data" in step["grad_inputs"][1]


def test_an_operand_that_was_left_out_is_told_from_one_without_grad() -> None:
    norm = named(run_traced("x = torch.randn(2, 3, requires_grad=True)\nF.layer_norm(x, (3,)).sum().backward()\n"),
                 "NativeLayerNormBackward0")  # fmt: skip
    assert [one.get("missing", {}).get("because") for one in norm["inputs"][1:]] == [
        {"kind": "missing-not-given", "operands": {"name": name}} for name in ("weight", "bias")
    ]


def test_an_output_without_gradient_of_a_custom_function_has_its_value() -> None:
    source = custom_function(
        "Sort", "x",
        "values, order = x.sort()\nctx.mark_non_differentiable(order)\n"
        "ctx.save_for_backward(order)\nreturn values, order",
        "order, = ctx.saved_tensors\nreturn torch.zeros_like(g).index_add(0, order, g)", arrived="g, _",
    ) + (
        "x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)\nvalues, order = Sort.apply(x)\n"
        "(values * torch.arange(3.0)).sum().backward()\n"
    )  # fmt: skip
    node = named(run_traced(source), "SortBackward")
    assert [one["value"]["data"] for one in node["outputs"]] == [[1, 2, 3], [1, 2, 0]]


def test_a_leaf_made_inside_a_custom_forward_has_its_place_and_name() -> None:
    source = f"""{PASS_IN_BACKWARD}
a = torch.ones(2, requires_grad=True)
Inner.apply(a).sum().backward()
"""
    leaves = {node["leaf"]: node["span"]["line"] for node in run_traced(source).nodes().values() if "leaf" in node}
    assert leaves == {"ctx.x": 5, "a": 12}


def test_what_a_program_puts_among_the_parameters_need_not_be_a_tensor() -> None:
    source = "m = torch.nn.Linear(2, 2)\nm._parameters['weight'] = len\nm(torch.ones(1, 2))\n"
    [told] = run_traced(source).of("problem")
    assert told["kind"] == "error"
    assert told["span"]["line"] == 3


def test_arguments_of_a_forward_whose_base_sets_the_context_up() -> None:
    source = (
        "class Base(torch.autograd.Function):\n    @staticmethod\n    def setup_context(ctx, inputs, output):\n"
        "        pass\nclass Product(Base):\n    @staticmethod\n    def forward(a, b):\n        return a * b\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g, g\n"
        "x = torch.ones(2, requires_grad=True)\nProduct.apply(x, x).sum().backward()\n"
    )
    [node] = [node for node in run_traced(source).nodes().values() if node["kind"] == "custom"]
    assert [operand["name"] for operand in node["inputs"]] == ["a", "b"]


def test_stacked_vs_run_as_one_batched_pass() -> None:
    traced = run_traced("y = x * x", inputs={"x": [1.0, 2.0]}, grad_output=[[1, 0], [0, 1], [1, 1]])
    started = traced.of("pass_started")[0]
    assert started["batch"] == 3
    assert tensor_of(traced.of("pass_finished")[0]["results"][0]).tolist() == [[2, 0], [0, 4], [2, 4]]
