"""What a trace says around the numbers: names, spans, groups, notes, operands, births; a program a row.

`options.inputs` reaches leaves made in any of the usual ways, and parameters; a name is offered where that is so.
"""

import pytest
import torch

from tests.tracer.facts import spoken
from tests.tracer.programs import PASS_IN_BACKWARD, PROGRAMS, custom_function, trace
from tests.twin import NEEDS_SAVED, run_plain, run_traced, tensor_of


def named(traced, name):
    """The last node of a torch name, or of an operation."""
    return [node for node in traced.nodes().values() if name in (node["name"], node["op"])][-1]


def leaves(traced):
    return [node["leaf"] for node in traced.nodes().values() if "leaf" in node]


def leaf_grads(traced, number=-1):
    return {one["leaf"]: one["grad"] for one in traced.of("pass_finished")[number]["leaf_grads"]}


def leaf_tensors(traced):
    return {name: tensor_of(grad) for name, grad in leaf_grads(traced).items()}


def noted(traced, kind):
    """The names of nodes with this note, and whether none of them has a place."""
    nodes = [node for node in traced.nodes().values() if node.get("note") == {"kind": kind}]
    return sorted(node["name"] for node in nodes), all(node["span"] is None for node in nodes)


def groups(traced):
    """By label: how many, of which kind, and the label of the group around."""
    found = traced.of("pass_started")[0]["graph"]["groups"]
    labels = {group["id"]: group["label"] for group in found}
    counted = [(group["kind"], group["label"], labels.get(group["parent"])) for group in found]
    return {(kind, label): (counted.count((kind, label, around)), around) for kind, label, around in counted}


def born(traced):
    """Of nodes that a step built: in which passes, and whether every such step is one of a node that is there."""
    found = [node["born"] for node in traced.nodes().values() if "born" in node]
    return {one["pass_index"] for one in found}, all(one["node"] in (None, *traced.nodes()) for one in found)


X = "x = torch.tensor([1., 2.], requires_grad=True)\nt = torch.tensor([3., 4.])\nm = torch.tensor([True, False])\n"
# By what is said: the program, what is asked of its trace, the answer; options of the run, where there are any.
FACTS = {
    "leaves are called what the program calls them": ("class Box:\n    pass\nbox = Box()\n"
        "box.v = torch.ones(2, requires_grad=True)\nws = [torch.ones(2, requires_grad=True) for _ in range(2)]\n"
        "net = nn.Sequential(nn.Linear(2, 2))\ndef run():\n    local = torch.ones(2, requires_grad=True)\n"
        "    (net(box.v) * ws[1] * local).sum().backward()\nrun()",
        lambda traced: set(leaves(traced)), {"box.v", "ws[1]", "net.0.weight", "net.0.bias", "local"}),
    "parameters of modules in containers": (
        "class Agent:\n    def __init__(self):\n        self.actor = nn.Linear(1, 1)\n"
        "layers, nets, agent = [nn.Linear(2, 2), nn.Linear(2, 1)], {'a': nn.Linear(1, 1)}, Agent()\n"
        "h = torch.ones(1, 2)\nfor layer in layers:\n    h = layer(h)\nagent.actor(nets['a'](h)).sum().backward()",
        lambda traced: (set(leaves(traced)), set(groups(traced))),
        ({f"{module}.{name}" for name in ("weight", "bias")
            for module in ("layers[0]", "layers[1]", "nets['a']", "agent.actor")},
         {("module", f"{path}: Linear") for path in ("layers[0]", "layers[1]", "nets['a']", "agent.actor")})),
    "what a backward pass recorded is no composite": (
        "x = torch.tensor(2., requires_grad=True)\n(g,) = torch.autograd.grad(x ** 3, x, create_graph=True)\n"
        "g.backward(create_graph=True)\n(x.grad ** 2).backward()",
        lambda traced: {one["kind"] for event in traced.of("pass_started") for one in event["graph"]["groups"]},
        {"function"}),
    "leaves of one name are numbered by what is no product": (
        "for i in range(12):\n    x = torch.tensor(float(i), requires_grad=True)\n    (3 * x ** 2).backward()",
        lambda traced: (leaves(traced)[:2], leaves(traced)[-1], named(traced, "pow")["formula"]["vjp"][0]["text"],
            named(traced, "pow")["formula"]["vjp"][0]["latex"][-6:]),
        (["x", "x₂"], "x₁₂", "2 * v * x₁₂", "x_{12}")),
    "a leaf made inside a custom forward": (PASS_IN_BACKWARD +
        "a = torch.ones(2, requires_grad=True)\nInner.apply(a).sum().backward()",
        lambda traced: {node["leaf"]: node["span"]["line"] for node in traced.nodes().values() if "leaf" in node},
        {"ctx.x": 5, "a": 11}),
    "groups are one per call and nested": ("def block(t):\n    return (t * 2).sin()\n"
        "net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())\ny = block(block(net(torch.ones(1, 2))))\n"
        "loss = F.cross_entropy(y, torch.tensor([0]))\nloss.backward()",
        lambda traced: [groups(traced)[which] for which in (("function", "block"), ("composite", "cross_entropy"),
            ("module", "net.0: Linear"))],
        [(2, None), (1, None), (1, "net: Sequential")]),
    "double backward says which step built which node": (PROGRAMS["double backward"], born, ({0, 1}, True)),
    "nested passes name their parent": (PROGRAMS["nested in a hook"],
        lambda traced: [one.get("parent") for one in traced.of("pass_started")], [None, 0]),
    "only the last of many values made at once has the name": (
        "xs = [torch.tensor(v, requires_grad=True) for v in (1.0, 2.0)]\nq = sum(map(torch.sin, xs))\nq.backward()",
        lambda traced: [(one["name"], one["outputs"][0]["name"]) for one in traced.nodes().values()
            if one["kind"] == "op"],
        [("AddBackward0", "q"), ("AddBackward0", None), ("SinBackward0", None), ("SinBackward0", None)]),
    "a write into a part makes a new version of the whole": (
        "x = torch.ones(2, requires_grad=True)\ny = x * 1\ny[0] *= 3\nz = y.exp()\nz.sum().backward()",
        lambda traced: [(one["outputs"][0]["name"], one["outputs"][0]["value"]["data"])
            for one in traced.nodes().values() if one["name"] == "CopySlices"],
        [("y", [3.0, 1.0]), (None, [3.0, 1.0])]),
    "a hook that takes a gradient away is not laid at the node's door": (X + "y = x * t.requires_grad_()\n"
        "y.grad_fn.register_hook(lambda gi, go: (None, gi[1]))\ny.sum().backward()",
        lambda traced: [one.get("because", {}).get("kind", "data" in one)
            for one in traced.of("step")[1]["grad_inputs"]],
        ["missing-hook-removed", True]),
    "an operand that was left out is told from one without grad": (
        "x = torch.randn(2, 3, requires_grad=True)\nF.layer_norm(x, (3,)).sum().backward()",
        lambda traced: [one.get("missing", {}).get("because")
            for one in named(traced, "NativeLayerNormBackward0")["inputs"][1:]],
        [{"kind": "missing-not-given", "operands": {"name": name}} for name in ("weight", "bias")]),
    "an output without gradient of a custom Function has its value": (custom_function("Sort", "x",
            "values, order = x.sort()\nctx.mark_non_differentiable(order)\n"
            "ctx.save_for_backward(order)\nreturn values, order",
            "order, = ctx.saved_tensors\nreturn torch.zeros_like(g).index_add(0, order, g)", arrived="g, _") +
        "x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)\nvalues, order = Sort.apply(x)\n"
        "(values * torch.arange(3.0)).sum().backward()",
        lambda traced: [one["value"]["data"] for one in named(traced, "SortBackward")["outputs"]],
        [[1, 2, 3], [1, 2, 0]]),
    "what a program puts among the parameters need not be a tensor": (
        "m = torch.nn.Linear(2, 2)\nm._parameters['weight'] = len\nm(torch.ones(1, 2))",
        lambda traced: [(told["kind"], told["span"]["line"]) for told in traced.of("problem")], [("error", 3)]),
    "arguments of a forward whose base sets the context up": (
        "class Base(torch.autograd.Function):\n    @staticmethod\n    def setup_context(ctx, inputs, output):\n"
        "        pass\nclass Product(Base):\n    @staticmethod\n    def forward(a, b):\n        return a * b\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g, g\n"
        "x = torch.ones(2, requires_grad=True)\nProduct.apply(x, x).sum().backward()",
        lambda traced: [one["name"] for one in named(traced, "ProductBackward")["inputs"]], ["a", "b"]),
    "what is written into a place is an operand": (X + "y = x.clone()\ny[x > 1] = 7.0\ny.sum().backward()",
        lambda traced: named(traced, "index_put")["inputs"][1]["value"]["data"], [7]),
    "stacked v run as one batched pass": ("y = x * x",
        lambda traced: (traced.of("pass_started")[0]["batch"],
            tensor_of(traced.of("pass_finished")[0]["results"][0]).tolist()),
        (3, [[2, 0], [0, 4], [2, 4]]), {"inputs": {"x": [1.0, 2.0]}, "grad_output": [[1, 0], [0, 1], [1, 1]]}),
    "a compiled function runs eagerly, said once": (PROGRAMS["compiled"] + "f(a).backward()",
        lambda traced: [one.get("notes") for one in traced.of("pass_started")],
        [[{"kind": "note-compiled-in-line", "operands": {"line": 3}}], None]),
    "a compiled function without a pass": ("f = torch.compile(lambda x: x * 2)\nprint(f(torch.ones(2)))",
        lambda traced: (traced.of("pass_started"), traced.events[-1]["notes"]),
        ([], [{"kind": "note-compiled-in-line", "operands": {"line": 2}}])),
    "nodes of another thread are not attributed": ("import threading\na = torch.ones(2, requires_grad=True)\n"
        "b = a * 3\nmade = []\nthread = threading.Thread(target=lambda: made.append((b * 2).sin()))\n"
        "thread.start()\nthread.join()\nc = b.exp()\n(made[0] + c).sum().backward()",
        lambda traced: (noted(traced, "note-thread"), named(traced, "exp")["span"]["line"],
            sorted(one["span"]["line"] for one in traced.nodes().values() if one["op"] == "mul" and one["span"])),
        ((["MulBackward0", "SinBackward0"], True), 8, [3])),
    "nodes that no call was seen to build": ("f = torch.jit.trace(lambda t: t.sin() * t, torch.ones(2))\n"
        "x = torch.ones(2, requires_grad=True)\nf(x).sum().backward()",
        lambda traced: noted(traced, "note-out-of-sight")[0], ["MulBackward0", "SinBackward0"]),
    "values that cannot be known": ("from torch.nn.attention import SDPBackend, sdpa_kernel\n"
        "x = torch.randn(2, 2, 3, requires_grad=True)\nwith sdpa_kernel(SDPBackend.MATH):\n"
        "    F.scaled_dot_product_attention(x, x, x).sum().backward()",
        lambda traced: {str(one.get("note")) for one in traced.nodes().values()
            if any(each["value"] is None for each in one["outputs"])},
        {str({"kind": "note-unseen"})}),
    "saved tensors that are packed": (PROGRAMS["checkpoint"],
        lambda traced: [one["note"] for one in named(traced, "SinBackward0")["saved"]], [{"kind": "note-packed"}]),
    "the padding of ragged values is no finding": ("a = torch.randn(2, 3, requires_grad=True)\n"
        "b = torch.randn(1, 3, requires_grad=True)\nn = torch.nested.as_nested_tensor([a, b], layout=torch.jagged)\n"
        "(n * 2).values().sum().backward()",
        lambda traced: ("findings" in traced.of("pass_finished")[0], [one["data"] for one in
            leaf_grads(traced).values()]),
        (False, [[2.0] * 6, [2.0] * 3])),
    "tensors of several shapes, which have no local Jacobian": (
        "x = torch.nested.nested_tensor([torch.ones(2), torch.full((3,), 2.)], requires_grad=True)\n"
        "(x * x).to_padded_tensor(0.).sum().backward()",
        lambda traced: ([one["data"] for one in leaf_grads(traced).values()],
            [len(step["local_jacobians"]) for step in traced.of("step")]),
        ([[2, 2, "NaN", 4, 4, 4]], [1, 0, 0, 0])),
    "an expression becomes a program with inputs": ("sin(x*y) + x",
        lambda traced: ([one["name"] for one in traced.events[0]["inputs"]], traced.of("pass_started")[0]["call"],
            [node["input"] for node in traced.nodes().values() if "leaf" in node]),
        (["x", "y"], "implicit", ["x", "y"]), {"inputs": {"x": 0.5}}),
    "an input that nothing uses, a method that nobody calls": (X + "x.sum().backward\nx.sum().backward()",
        lambda traced: ([*map(spoken, traced.of("pass_started")[0]["notes"])], traced.of("problem")),
        (["note-input nobody", "note-not-called x.sum().backward 4"], []), {"inputs": {"nobody": 2.0}}),
    "a broadcast operand does not pass v unchanged": (X + "(x + torch.ones(3, 2)).sum().backward()",
        lambda traced: [line["because"]["kind"] for line in named(traced, "add")["formula"]["vjp"]],
        ["why-add-broadcast"]),
    "nor does a broadcast second one": (X + "(torch.ones(3, 2) + x).sum().backward()",
        lambda traced: named(traced, "add")["formula"]["vjp"][0]["because"]["kind"], "why-add-broadcast"),
}  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(one, marks=NEEDS_SAVED if "packed" in one else ()) for one in FACTS])
def test_a_trace_says(name: str) -> None:
    source, ask, answer, *options = FACTS[name]
    assert ask(run_traced(source, **(options[0] if options else {}))) == answer


def test_a_custom_function_shows_its_context_and_its_backward() -> None:
    traced = trace("map")
    node = named(traced, "FBackward")
    assert (node["kind"], node["backward_span"]["line"]) == ("custom", 14)
    assert [saved["name"] for saved in node["saved"]] == ["p", "ctx.needs_input_grad"]
    assert [one["op"] for one in node["inside"]] == ["unbind", "mul", "mul", "mul", "stack"]
    assert tensor_of(node["inside"][-1]["outputs"][0]).tolist() == [4.0, 6.0, 9.0]
    step = next(step for step in traced.of("step") if step["node"] == node["id"])
    assert (step["inside"][-1]["op"], step["inside"][-1]["span"]["line"]) == ("matmul", 19)
    (jacobian,) = step["local_jacobians"]
    assert tensor_of(jacobian["value"]).tolist() == [[4, 0], [3, 2], [0, 6]]
    assert jacobian["checked"]


OPERANDS = {
    "x / 2.5": [("x", None), ("2.5", 2.5)],
    "torch.where(m, x, 0.5)": [("x", None), ("0.5", 0.5)],
    "torch.where(m, 7.0, x)": [("7.0", 7.0), ("x", None)],
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


# Of functions that torch differentiates: the call, and what its leaves are called.
IMPORTS = (
    "from torch.func import grad, vjp, vmap, jacrev, hessian, grad_and_value\nfrom torch.autograd import functional\n"
    "p = torch.tensor([1., 2.])\n"
)
ARGUMENTS = {
    "g = grad(lambda a, b: (a * b).sum(), argnums=1)(p, 2 * p)": "b",
    "H = hessian(lambda q: (q ** 3).sum())(p)": "q",
    "B = vmap(grad(lambda w, x: (w * x).sum()), in_dims=(None, 0))(p, torch.ones(3, 2))": "w",
    "g = grad(lambda params: (params['w'] * p).sum())({'w': p})": "params['w']",
    "y, pull = vjp(lambda *xs: xs[0] * xs[1], p, 3 * p)\nr = pull(torch.ones(2))": "xs[0], xs[1]",
    "y, pull = vjp(torch.sin, p)\nr = pull(torch.ones(2))": "argument 0, input",
    "H = functional.hessian(lambda q: (q ** 3).sum(), p)": "q",
}


@pytest.mark.parametrize("call", ARGUMENTS)
def test_leaves_are_called_by_the_argument(call: str) -> None:
    traced = run_traced(IMPORTS + call)
    assert leaves(traced)
    assert {leaf.split(" (")[0] for leaf in leaves(traced)} <= set(ARGUMENTS[call].split(", "))
    assert all("input" not in node for node in traced.nodes().values() if "leaf" in node)


@pytest.mark.parametrize(("given", "is_input"), [("p", True), ("torch.ones(2)", False)])
def test_an_argument_may_be_set_if_it_is_the_variable_of_that_name(given: str, is_input: bool) -> None:
    traced = run_traced(f"{IMPORTS}H = grad(lambda p: (p * p).sum())({given})", inputs={"p": [3.0, 4.0]})
    leaf = next(node for node in traced.nodes().values() if node.get("leaf"))
    assert leaf.get("input") == ("p" if is_input else None)
    assert (leaf["outputs"][0]["value"]["data"] == [3, 4]) is is_input


def test_a_constant_of_the_transform_is_not_said_to_be_cut_off() -> None:
    source = IMPORTS + "w = torch.tensor([1., 2.], requires_grad=True)\n"
    source += "g = grad(lambda u: (u * w).sum())(torch.ones(2))\n(g * w).sum().backward()\n"
    traced = run_traced(source)
    assert leaf_grads(traced, 0)["w"]["because"] == {"kind": "missing-functional", "operands": {"name": "w"}}
    assert torch.equal(tensor_of(leaf_grads(traced)["w"]), run_plain(source).namespace["w"].grad)


EXAMPLES = IMPORTS + "xs = torch.arange(6.).reshape(3, 2){}\nJ = vmap(grad(lambda x: (x * x).sum()), in_dims={})(xs)"
STACKED = {
    "jacrev": IMPORTS + "J = jacrev(lambda q: torch.stack([q[0] * q[1], q[0], q[1] ** 2]))(p)",
    "vmap of rows": EXAMPLES.format("", 0),
    "vmap of columns": EXAMPLES.format(".T", 1),
}


@pytest.mark.parametrize("name", STACKED)
def test_stacked_vs_are_a_batch_and_examples_of_vmap_come_first(name: str) -> None:
    traced = run_traced(STACKED[name])
    [started], [finished] = traced.of("pass_started"), traced.of("pass_finished")
    assert torch.equal(tensor_of(finished["results"][0]), run_plain(STACKED[name]).namespace["J"])
    is_batch = name == "jacrev"
    assert (started.get("batch"), started.get("examples")) == ((3, None) if is_batch else (None, [3]))
    if is_batch:
        assert torch.equal(tensor_of(started["outputs"][0]["seed"]), torch.eye(3))
        arrived = [one for step in traced.of("step") for one in step["grad_outputs"] if "missing" not in one]
        assert {one["shape"][0] for one in arrived} == {3}
    else:
        assert named(traced, "AccumulateGrad")["outputs"][0]["value"]["shape"] == [3, 2]


LEAF = "torch.tensor(2., requires_grad=True)"
MADE = {
    f"x = {LEAF}": True,
    f"a, x = ({LEAF} for _ in range(2))": True,
    f"def make():\n    return {LEAF}, 1\nx, a = make()": True,
    f"x: object = {LEAF}": True,
    "x = torch.tensor(2.)\nx.requires_grad_()": True,
    f"for _ in range(2):\n    x = {LEAF}": False,
    f"x = torch.tensor(1.)\nx = {LEAF}": False,
}


@pytest.mark.parametrize("made", MADE)
def test_a_name_is_offered_where_its_value_can_be_set(made: str) -> None:
    source = made + "\n(x * x).backward()"
    (leaf,) = [node for node in run_traced(source).nodes().values() if node.get("leaf", "").startswith("x")]
    other = run_traced(source, inputs={"x": 5.0})
    (moved,) = [node for node in other.nodes().values() if "leaf" in node]
    is_set = moved["outputs"][0]["value"]["data"] == [5]
    assert ("input" in leaf, is_set) == (MADE[made], MADE[made])
    [grad] = [grad for name, grad in leaf_tensors(other).items() if name.startswith("x")]
    assert grad == (10 if is_set else 4)


def test_a_wrong_count_is_pythons_own_error() -> None:
    (problem,) = run_traced("a, x = [1, 2, 3]", inputs={"x": 5}).of("problem")
    error = run_plain("a, x = [1, 2, 3]").error
    assert isinstance(error, ValueError)
    assert str(error) in str(problem)


def test_what_is_drawn_after_a_name_that_is_set_is_as_it_was() -> None:
    source = "a, (p, *b) = 1, (torch.randn(2, requires_grad=True), 7)\nq = torch.randn(2, requires_grad=True)\n"
    found = leaf_tensors(run_traced(source + "(p * q).sum().backward()", inputs={"p": [0.25, -4.0]}))
    assert torch.equal(found["p"], run_plain(source).namespace["q"].detach())
    assert found["q"].tolist() == [0.25, -4.0]


MODEL = """torch.manual_seed(1)
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
start = model[0].weight._version
{}
model(torch.tensor([1.0, -2.0])).sum().backward()
print(start, model[0].weight._version)
"""
WEIGHT = [[0.5, 0.25], [-1.0, 0.125]]


def test_a_parameter_is_set_and_its_version_stays_and_another_shape_is_refused() -> None:
    twin = run_plain(MODEL.format(f"model[0].weight.data = torch.tensor({WEIGHT})"))
    traced = run_traced(MODEL.format(""), inputs={"model.0.weight": WEIGHT})
    found = leaf_tensors(traced)
    for name, parameter in twin.namespace["model"].named_parameters():
        torch.testing.assert_close(found[f"model.{name}"], parameter.grad, msg=name)
    assert "".join(event["text"] for event in traced.of("stdout")) == twin.printed
    [problem] = run_traced(MODEL.format(""), inputs={"model.0.weight": [1.0]}).of("problem")
    assert spoken(problem["fact"]).startswith("problem-input")
    assert "[1], [2, 2]" in spoken(problem["fact"])
