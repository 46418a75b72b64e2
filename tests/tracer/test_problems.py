"""What a person reads when the program is wrong: every promised message, its line, and what is still shown."""

import json
import re
from pathlib import Path

import pytest
import torch

from gradwalk.protocol.requests import ResolvedLimits
from gradwalk.words.problems import tell_problem
from tests.tracer.facts import spoken
from tests.tracer.programs import custom_function
from tests.twin import HANDS_OUT_SAVED, assert_same, compare, run_traced, run_watched, tensor_of

CUSTOM = (
    custom_function("Sq", "x, k", "ctx.save_for_backward(x)\nreturn x * x * k", "x, = ctx.saved_tensors\nreturn {}")
    + "a = torch.ones(2, requires_grad=True)\ny = Sq.apply(a, 3).sum()\ny.backward()\n"
)
ONCE = (
    CUSTOM.format("g * x, None")
    .replace("    def backward", "    @torch.autograd.function.once_differentiable\n    def backward")
    .replace("y.backward()", "g, = torch.autograd.grad(y, a, create_graph=True)\ng.backward(torch.ones(2))")
)
FORWARD_RAISES = custom_function("F", "x, w", "return x.mm(w.t())", "return g, g") + (
    "w = torch.ones(2, 2, requires_grad=True)\nF.apply(torch.tensor(2.0), w).sum().backward()\n"
)
PRODUCT = custom_function(
    "Product", "a, b", "ctx.save_for_backward(a, b)\nreturn a * b", "a, b = ctx.saved_tensors\nreturn g * b, g * a"
)
LEAF = "x = torch.ones(2, requires_grad=True)\n"
BOTH = "x = torch.tensor([1., 2.], requires_grad=True)\nw = torch.tensor([3., 4.], requires_grad=True)\n"
ASKED = "x = torch.tensor([1., 2.], requires_grad=True)\ny = torch.tensor([3., 4., 5.], requires_grad=True)\n"
LOOP = "w = torch.tensor([1., 2.], requires_grad=True)\nfor _ in range(2):\n    (w * w).sum().backward()\n"

MISTAKES = re.findall(
    r"### (.*), line (\d+): (.*)\n((?:.*\n)+?)--- mended\n((?:.*\n)+?)(?=###|$)",
    Path(__file__).with_name("mistakes.txt").read_text("utf-8"),
)

# By kind of problem: the program, the line, the fact.
BAD = {
    "error": {
        **{name: (source, int(line), fact) for name, line, fact, source, _ in MISTAKES if "no-history" not in fact},
        "a view in a forward that raises": (FORWARD_RAISES, 4, "problem-refused matrix self must be a matrix"),
        "unknown name": (LEAF + "for i in range(2):\n    y = lenght", 3,
            "problem-unknown-name name 'lenght' is not defined problem-assign-first"),
        "nearest name": (LEAF + "for size in x:\n    siz", 3, "problem-unknown-name name 'siz' is not defined size"),
        "not scalar": (LEAF + "y = x * 2\ny.backward()", 3, "problem-not-scalar"),
        "in place on a leaf": (LEAF + "x += 1", 2, "problem-leaf-in-place"),
        "wrong count": (CUSTOM.format("2 * x * g"), 9, "problem-grad-count-named Sq 1 2 x k"),
        "no tensor": (CUSTOM.format("3.0, None"), 9, "problem-grad-no-tensor Sq float"),
        "gradient for a number": (CUSTOM.format("g, torch.ones(2)"), 9, "problem-grad-not-none Sq k"),
        "complex for real": (CUSTOM.format("g * 1j, None"), 9, "problem-grad-complex Sq"),
        "on another device": (CUSTOM.format("g.to('meta'), None"), 9, "problem-grad-kind Sq x device meta cpu"),
        "anomaly": ("x = torch.tensor(-1., requires_grad=True)\nwith torch.autograd.detect_anomaly(check_nan=True):\n"
            "    y = x.sqrt()\n    y.backward()", 3, "problem-nan-returned SqrtBackward0 3 x"),
        "missing import": (LEAF + "for i in range(2):\n    y = np.sin(1.0)", 3,
            "problem-unknown-name name 'np' is not defined import numpy as np"),
        "endless recursion": ("def f(n):\n    return f(n + 1)\nf(0)", 2, "problem-recursion"),
        "interrupt": ("raise KeyboardInterrupt", 1, "problem-interrupted"),
        "unused input": (ASKED + "torch.autograd.grad((x * x).sum(), (x, y))", 2, "problem-unused-input-because y y"),
        "unused input, cut": (ASKED + "z = (x * y.detach()[:2]).sum()\ntorch.autograd.grad(z, (x, y))", 2,
            "problem-unused-input-because y y .detach() 3"),
        "unused input, result": (ASKED + "h = x * 3\ntorch.autograd.grad((x * x).sum(), (x, h))", 3,
            "problem-unused-input h"),
        "unused input, without a name": (LEAF +
            "torch.autograd.grad((x * 2).sum(), torch.ones(1, requires_grad=True))", 2, "problem-unused-input 1"),
        "shared part": (BOTH + "h = x.exp()\na = h.sum()\nb = (h * w).sum()\na.backward()\nb.backward()", 3,
            "problem-freed-in-line ExpBackward0 3 h 6"),
        "network": ("m = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\no = m(torch.ones(1, 2)).sum()\n"
            "for _ in range(2):\n    o.backward()", 2, "problem-freed-in-loop AddmmBackward0 2 mat1 m.2.weight.T 4"),
        "optimizer": ("m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\n"
            "o = torch.optim.SGD(m.parameters(), lr=0.1)\na = m(torch.ones(1, 2)).sum()\nb = a * a\n"
            "a.backward(retain_graph=True)\no.step()\nb.backward()", 6,
            "problem-changed-in-place AddmmBackward0 3 m.1.weight 1 2 add_ 6"),
        "written parts": (LEAF + "y = x * 1\ny[0].exp_()\ny[0].mul_(3)\ny.sum().backward()", 4,
            "problem-changed-in-place CopySlices 3 y 1 2 mul_ 4"),
        "a number's backward": ("w = torch.ones(2, requires_grad=True)\nl = [(w * k).sum().item() for k in (1, 2)]\n"
            "sum(l).backward()", 3, "problem-no-backward-cut float .item() 2"),
        "a list's backward": (LEAF + "[x * 2].backward()", 2, "problem-no-backward list several"),
        **{
            f"a hook with {returned}": (LEAF + f"y = x * 2\nz = y.sum()\n{at}(lambda g, *_: {returned})\nz.backward()",
                4, told, *steps)
            for at, returned, told, *steps in (
                ("y.register_hook", "torch.ones(3)", "problem-hook-value <lambda> shape"),
                ("x.register_hook", "g.double()", "problem-hook-value <lambda> dtype"),
                ("z.register_hook", "'g'", "problem-hook-tensor str"),
                ("y.grad_fn.register_hook", "g[:1]", "problem-hook-count 1 2"),
                ("y.grad_fn.register_hook", "3", "problem-hook-tuple int"),
                ("z.grad_fn.register_prehook", "(torch.ones(5),)", "problem-hook-value <lambda> shape"),
            )
        },
        "custom, changed": (PRODUCT + BOTH + "h = x * 1\ny = Product.apply(h, w).sum()\nh.add_(1)\ny.backward()", 14,
            "problem-changed-in-place ProductBackward 13 h 0 1 add_ 14"),
        "out": (BOTH + "h = x.detach().clone()\ny = (w * h).sum()\ntorch.add(h, 1, out=h)\ny.backward()", 5,
            "problem-changed-in-place MulBackward0 4 h 0 1 add 5"),
        "no leaf any more": (LOOP + "    w = w - 0.1 * w.grad\n", 4, "problem-grad-none-result w"),
        "in a function": ("def step(m):\n    return m.weight.grad.norm()\nstep(nn.Linear(2, 1))", 2,
            "problem-grad-none-before m.weight"),
        "without requires_grad": ("w = torch.ones(2)\nprint(2 * w.grad)", 2, "problem-grad-none-not-required w"),
        "module not set up": ("class Net(nn.Module):\n    def __init__(self):\n"
            "        self.fc = nn.Linear(2, 1)\nNet()", 3, "problem-module-init"),
        "module not set up, without a gradient": ("class Net(nn.Module):\n    def __init__(self):\n"
            "        self.w = torch.ones(2)\nnet = Net()\nprint(net.w.grad.norm())", 5,
            "problem-raised AttributeError 'NoneType' object has no attribute 'norm'"),
    },
    "syntax": {
        "syntax": ("x = (1", 1, "problem-syntax-hint '(' was never closed ("),
        "no colon": ("if x\n    y", 1, "problem-syntax-hint expected ':' problem-syntax-colon"),
        "one equals sign": ("if x = 3:\n    pass", 1, "problem-syntax-hint invalid syntax. Maybe you meant '==' or "
            "':=' instead of '='? problem-syntax-compare"),
        "an indent": ("x = 1\n  y = 2", 2, "problem-indentation-hint unexpected indent problem-syntax-indented"),
        "no block": ("def f():\nx = 1", 2,
            "problem-indentation-hint expected an indented block after function definition on line 1 "
            "problem-syntax-block"),
        "no sign of a product": ("y = 2x", 1, "problem-syntax-hint invalid decimal literal problem-syntax-times"),
        "return outside": ("é = 1; return é", 1,
            "problem-syntax-hint 'return' outside function problem-syntax-outside"),
        "a curly quote alone": ("x = \u201c1", 1,
            "problem-syntax-hint unterminated string literal problem-syntax-quotes"),
        "tabs that can be read in two ways": ("for i in a:\n    if i:\n        b = 1\n\tc = 2", 4,
            "problem-indentation-hint inconsistent use of tabs and spaces in indentation problem-syntax-tabs"),
    },
    "not_differentiable": {
        "no grad anywhere": ("x = torch.ones(2)\ny = x * 2", None, "problem-nothing-recorded"),
        "nothing calls it": (
            "def g(x):\n    return x\ndef train(net, x, epochs=3):\n    for _ in range(epochs):\n"
            "        g(net(x)).sum().backward()\nnet = nn.Linear(1, 1)", 3,
            "problem-nothing-called train train(net, x)"),
        "nothing makes one": ("class Net(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
            "    def forward(self, x):\n        return x", 1, "problem-nothing-called Net Net(n)(x)"),
        "nothing of torch is called": ("def relu(x):\n    return max(x, 0)\nx = 1", None, "problem-nothing-made"),
        "whole numbers": (LEAF + "y = (x > 0).sum()", 2, "problem-nothing-cut x gt 2"),
        "detached": (LEAF + "y = (x * 2).detach()", 2, "problem-nothing-cut x .detach() 2"),
        "gradient": (LEAF + "(x @ x).backward()\nl = x.grad.sum()\nl.backward()", 4, "problem-no-history-plain l 2"),
        "gradient of a gradient itself": (LEAF + "g, = torch.autograd.grad((x**3).sum(), x)\n"
            "g.backward(torch.ones(2))", 3, "problem-no-history-plain g 2"),
        "gradient of a constant gradient": (LEAF + "g, = torch.autograd.grad((x * 3).sum(), x, create_graph=True)\n"
            "g.backward(torch.ones(2))", 3, "problem-no-history-constant g 2 problem-because-linear"),
        "once differentiable": (ONCE, 14, "problem-no-history-constant g 13 Sq"),
        **{name: (source, int(line), fact) for name, line, fact, source, _ in MISTAKES if "no-history" in fact},
        "comments only": ("# nothing\n", None, "problem-program-empty"),
    },
    "too_big": {
        "too long": ("x = 1\n" * 10000, None, "problem-program-long 60000 20000"),
        "too nested": ("-" * 15_000 + "1", None, "problem-nested"),
    },
    "memory": {
        "tensor too large": ("torch.empty(10**14)", 1, "problem-memory-tensor"),
        "list too large": ("[0] * 10**15", 1, "problem-memory"),
    },
}  # fmt: skip

HINTED = ("problem-syntax", "problem-leaf-in-place", "problem-grad-none", *(row[2] for row in MISTAKES))


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, rows in BAD.items() for name in rows])
def test_a_mistake_is_explained(kind, name):
    source, line, fact = BAD[kind][name]
    traced, plain = run_traced(source), run_watched(source)
    [problem] = traced.of("problem")
    assert problem["kind"] == kind
    assert (problem["span"] or {}).get("line") == line
    told = spoken(problem["fact"])
    if told.endswith("problem-an-operation") and not HANDS_OUT_SAVED:
        # The error names the node and its line alone.
        assert told.split()[:3] == fact.split()[:3]
    else:
        assert told == fact
    # A hook may raise before its node begins.
    assert 0 <= len(traced.of("step")) - len(plain.steps) <= ("hook" in fact)
    assert not plain.steps or "graph" not in problem
    assert tell_problem(problem).hint or not fact.startswith(HINTED)
    assert traced.events[-1]["problems"] == 1
    if fact.startswith("problem-grad-") and " Sq" in fact:
        assert (problem["pass"], traced.nodes()[problem["node"]]["name"]) == (0, "SqBackward")
    assert kind != "error" or repr(traced.run.error) == repr(plain.error)


@pytest.mark.parametrize("mended", [pytest.param(mended, id=name) for name, *_, mended in MISTAKES])
def test_what_its_hint_says_mends_a_mistake(mended):
    assert run_watched(mended).error is None


def test_a_call_that_is_missing_comes_along_where_it_would_run() -> None:
    program = "import torch\n{}def train(data):\n    torch.ones(data).sum()\n"
    [told] = run_traced(program.format("data = 2\n")).of("problem")
    assert told["addition"] == "train(data)"
    [told] = run_traced(program.format("")).of("problem")
    assert "addition" not in told


CAUGHT = LEAF + "y = (x * x).sum()\ny.backward()\ntry:\n    y.backward()\nexcept RuntimeError as error:\n    {}\n"


def test_a_caught_error_is_told_where_it_happened_and_the_program_goes_on() -> None:
    traced = run_traced(CAUGHT.format("print('on')"))
    assert traced.run.error is None
    assert [event["type"] for event in traced.events[-3:]] == ["problem", "stdout", "finished"]
    assert traced.events[-1]["problems"] == 0
    assert traced.events[-1]["caught"] == [traced.of("problem")[0]["seq"]]


@pytest.mark.parametrize("end", ["raise", "raise ValueError from error", "1 / 0"])
def test_an_error_that_the_program_ends_with_was_not_caught(end: str) -> None:
    traced = run_traced(CAUGHT.format(end))
    assert traced.events[-1]["problems"] == len(traced.of("problem"))
    assert "caught" not in traced.events[-1]


def test_a_print_flood_is_cut_and_said() -> None:
    traced = run_traced(f"for i in range(5000):\n    print('x' * 99)\n{LEAF}(x * x).sum().backward()")
    printed = sum(len(event["text"]) for event in traced.of("stdout"))
    assert printed == ResolvedLimits().stdout_characters
    assert traced.of("problem")[0]["fact"] == {
        "kind": "problem-too-much-printed",
        "operands": {"count": ResolvedLimits().stdout_characters},
    }
    assert traced.events[-1]["truncated"] == "stdout_characters"
    assert len(traced.of("step")) == 3


WIDE = """\
w = torch.tensor([0.5, 1.5], requires_grad=True)
tied = torch.tensor([2.0, -1.0], requires_grad=True)
h = x * tied
for k in range(60):
    h = torch.sin(h * w) + h * (k % 3 == 0) + tied
"""


@pytest.mark.parametrize("end", ["h.sum().backward()", "torch.autograd.grad(h.sum(), [x, w])"])
def test_of_a_graph_over_the_limit_the_nodes_that_run_first_are_recorded(end: str) -> None:
    source = LEAF + WIDE + end + "\n"
    twin, traced = run_watched(source), run_traced(source, limits=ResolvedLimits(nodes=100, first_nodes=70))
    (problem,) = traced.of("problem")
    assert problem["kind"] == "too_big"
    assert problem["fact"]["operands"]["first"] == 70
    assert traced.events[-1]["truncated"] == "nodes"
    nodes, steps = traced.nodes(), traced.of("step")
    assert len(steps) >= 60
    for step, watched in zip(steps, twin.steps, strict=False):
        assert nodes[step["node"]]["name"] == watched.name
        compare(step["grad_outputs"], watched.grad_outputs, watched.name)
        compare(step["grad_inputs"], watched.grad_inputs, watched.name)
        [received] = watched.grad_outputs
        assert torch.allclose(sum(tensor_of(one["value"]) for one in step["contributions"]), received)
    told = {one["leaf"]: one["grad"] for event in traced.of("pass_finished") for one in event["leaf_grads"]}
    for name in ("x", "w", "tied"):
        grad = twin.namespace[name].grad
        if grad is not None:
            assert_same(told[name], grad, name)
        elif name in told:
            # No more is claimed of a leaf that lies behind what is recorded.
            assert told[name]["because"]["kind"] == "missing-grad-returned"


@pytest.mark.parametrize(("steps", "recorded", "unrecorded"), [(7, 6, 8), (2, 2, 9)])
def test_passes_over_the_limit_are_run_and_listed_and_the_first_is_recorded_as_far_as_it_goes(
    steps: int, recorded: int, unrecorded: int
) -> None:
    source = LEAF + "for _ in range(10):\n    (x * x).sum().backward()\n"
    traced = run_traced(source, limits=ResolvedLimits(steps=steps))
    assert len(traced.of("step")) == recorded
    assert traced.events[-1]["unrecorded"] == unrecorded
    assert traced.events[-1]["truncated"] == (None if steps > recorded else "steps")
    assert traced.run.namespace["x"].grad.tolist() == [20.0, 20.0]


@pytest.mark.parametrize("length", [5_000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_a_long_chain_does_not_recurse(length: int) -> None:
    source = LEAF + f"h = x\nfor _ in range({length}):\n    h = h + 1\nh.sum().backward()\n"
    limits = ResolvedLimits(nodes=length // 2, first_nodes=length // 20)
    traced = run_traced(source, limits)
    assert traced.events[-1]["truncated"] == "nodes"
    assert len(traced.of("step")) == limits.first_nodes
    assert traced.run.namespace["x"].grad.tolist() == [1.0, 1.0]


HEAD = "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\ny = torch.stack([3 * x[0], x[0] * x[1]])\n"
WRONG_INPUTS = [
    ("y = x * 2", {"x": [[1, 2], [3]]}, None, ["x"]),
    ("y = x * 2", {"x": "abc"}, None, ["'abc'"]),
    ("y = x * 2", {"x": {"value": 1.0, "dtype": "float31"}}, None, ["float31"]),
    ("y = x * 2", {"x": [1.0, 2.0]}, [1, 2, 3], ["3", "2"]),
    ("y = x * 2", {"x": [1.0, 2.0]}, "no", ["'no'"]),
    (HEAD + "y.backward(torch.ones(2))", {}, [1.0, 2.0, 3.0], ["3", "2"]),
]


@pytest.mark.parametrize(("source", "inputs", "grad_output", "operands"), WRONG_INPUTS)
def test_a_wrong_input_is_explained(source, inputs, grad_output, operands) -> None:
    (problem,) = run_traced(source, inputs=inputs, grad_output=grad_output).of("problem")
    assert problem["fact"]["kind"] == "problem-input"
    assert all(one in spoken(problem["fact"]) for one in operands)


@pytest.mark.parametrize(
    ("start", "is_used"),
    [
        ("y.backward(torch.ones(2))", True),
        ("y.backward(gradient=torch.ones(2))", True),
        ("torch.autograd.backward([y], [torch.ones(2)])", True),
        ("(x.grad,) = torch.autograd.grad(y, x, torch.ones(2))", True),
        ("y.backward(torch.ones(2), retain_graph=True)\nx.grad = None\ny.backward(torch.ones(2))", False),
        ("y.sum().backward()", False),
        ("torch.autograd.backward([y, y * 1], [torch.zeros(2), torch.ones(2)])", False),
        ("v = torch.ones(2, requires_grad=True)\n(x.grad,) = torch.autograd.grad(y, x, v, create_graph=True)", False),
    ],
)
def test_a_v_takes_the_place_of_the_programs_own_in_its_first_pass(start: str, is_used: bool) -> None:
    """J is [[3, 0], [2, 1]]: [0.2, 0.8] gives [2.2, 0.8], ones give [5, 1]."""
    traced = run_traced(HEAD + start, grad_output=[0.2, 0.8])
    assert traced.of("problem") == []
    assert traced.run.namespace["x"].grad.tolist() == pytest.approx([2.2, 0.8] if is_used else [5.0, 1.0])
    (output, *_) = traced.of("pass_started")[0]["outputs"]
    assert ("seed_requires_grad" in output) == ("v, create_graph" in start)
    if is_used:
        assert output["seed"]["data"] == pytest.approx([0.2, 0.8])
    kept = [note for note in traced.events[-1].get("notes", []) if note["kind"] == "note-v-kept"]
    assert len(kept) == ("retain_graph" not in start and not is_used)


HUGE = (
    "raise SystemExit('x' * 10 ** 7)", "raise ValueError('x' * 10 ** 7)", "getattr(torch.ones(1), 'x' * 10 ** 7)",
    "class A(BaseException):\n    def __str__(self): return 'x' * 10 ** 7\nraise A",
)  # fmt: skip


@pytest.mark.parametrize("source", HUGE)
def test_a_huge_message_is_told_in_short(source: str) -> None:
    [told] = run_traced(source).of("problem")
    assert told["kind"] == "error"
    assert len(json.dumps(told["fact"])) + len(told.get("words", "")) < 3_000


def test_time_is_up_once():
    source = (
        "from gradwalk.tracer.interruption import TimeLimitError\n"
        "x = torch.ones(2, requires_grad=True)\ndef late(g): raise TimeLimitError\nx.register_hook(late)\n"
        "try:\n    x.sum().backward()\nfinally:\n    raise TimeLimitError\n"
    )
    assert [one["kind"] for one in run_traced(source).of("problem")] == ["timeout"]
