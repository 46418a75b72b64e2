"""What a person reads when the program is wrong: every promised message, its line, and what is still shown."""

import json
from typing import NamedTuple

import pytest
import torch

from gradwalk.protocol.requests import ResolvedLimits
from gradwalk.words.problems import tell_problem
from tests.tracer.facts import spoken
from tests.twin import assert_same, run_plain, run_traced, run_watched, tensor_of


class Bad(NamedTuple):
    source: str
    kind: str
    line: int | None
    fact: str
    steps: int = 0
    """Executed nodes that are shown before the problem."""


CUSTOM = """class Sq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        return x * x * k
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return {}
a = torch.ones(2, requires_grad=True)
y = Sq.apply(a, 3).sum()
y.backward()
"""
LEAF = "x = torch.ones(2, requires_grad=True)\n"
FORWARD_RAISES = """class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        return x.mm(w.t())
    @staticmethod
    def backward(ctx, g):
        return g, g
w = torch.ones(2, 2, requires_grad=True)
F.apply(torch.tensor(2.0), w).sum().backward()
"""
BAD = {
    "a view in a forward that raises": Bad(
        FORWARD_RAISES, "error", 4, "problem-raised RuntimeError self must be a matrix"
    ),
    "syntax": Bad("x = (1", "syntax", 1, "problem-syntax-hint '(' was never closed ("),
    "unknown name": Bad(
        LEAF + "for i in range(2):\n    y = lenght",
        "error",
        3,
        "problem-unknown-name name 'lenght' is not defined problem-assign-first",
    ),
    "nearest name": Bad(
        LEAF + "length = 2\nfor i in range(2):\n    y = lenght",
        "error",
        4,
        "problem-unknown-name name 'lenght' is not defined length",
    ),
    "unknown attribute": Bad(
        "y = torch.sinn(torch.ones(2))",
        "error",
        1,
        "problem-raised-near AttributeError module 'torch' has no attribute 'sinn' sin",
    ),
    "no grad anywhere": Bad("x = torch.ones(2)\ny = x * 2", "not_differentiable", None, "problem-nothing-recorded"),
    "no tensors": Bad("x = 1\ny = x * 2", "not_differentiable", None, "problem-nothing-made"),
    "whole numbers": Bad(LEAF + "y = (x > 0).sum()", "not_differentiable", 2, "problem-nothing-cut x gt 2"),
    "detached": Bad(LEAF + "y = (x * 2).detach()", "not_differentiable", 2, "problem-nothing-cut x .detach() 2"),
    "not scalar": Bad(LEAF + "y = x * 2\ny.backward()", "error", 3, "problem-not-scalar"),
    "seed shape": Bad(LEAF + "y = x * 2\ny.backward(torch.ones(3))", "error", 3, "problem-seed-shape 3 2"),
    "twice": Bad(
        LEAF + "z = (x * x).sum()\nz.backward()\nz.backward()",
        "error",
        2,
        "problem-freed-in-line MulBackward0 2 x 3",
        4,
    ),
    "in place": Bad(
        LEAF + "y = x.exp()\nz = (y * y).sum()\ny.add_(1)\nz.backward()",
        "error",
        3,
        "problem-changed-in-place MulBackward0 3 y 0 1 add_ 4",
        1,
    ),
    "in place on a leaf": Bad(LEAF + "x += 1", "error", 2, "problem-leaf-in-place"),
    "wrong shape": Bad(CUSTOM.format("torch.ones(3), None"), "error", 11, "problem-grad-shape Sq x 3 2", 1),
    "wrong count": Bad(CUSTOM.format("2 * x * g"), "error", 11, "problem-grad-count-named Sq 1 2 x k", 1),
    "no tensor": Bad(CUSTOM.format("3.0, None"), "error", 11, "problem-grad-no-tensor Sq float", 1),
    "gradient for a number": Bad(CUSTOM.format("g, torch.ones(2)"), "error", 11, "problem-grad-not-none Sq k", 1),
    "complex for real": Bad(CUSTOM.format("g * 1j, None"), "error", 11, "problem-grad-complex Sq", 1),
    "on another device": Bad(
        CUSTOM.format("g.to('meta'), None"), "error", 11, "problem-grad-kind Sq x device meta cpu", 1
    ),
    "gradient of a gradient": Bad(
        LEAF + "g, = torch.autograd.grad((x**3).sum(), x)\ng.sum().backward()",
        "not_differentiable",
        3,
        "problem-no-history 0",
        2,
    ),
    "gradient of a gradient itself": Bad(
        LEAF + "g, = torch.autograd.grad((x**3).sum(), x)\ng.backward(torch.ones(2))",
        "not_differentiable",
        3,
        "problem-no-history-plain g 2",
        2,
    ),
    "gradient of .grad": Bad(
        LEAF + "(x**3).sum().backward()\nx.grad.backward(torch.ones(2))",
        "not_differentiable",
        3,
        "problem-no-history-plain x.grad 2",
        3,
    ),
    "gradient of a constant gradient": Bad(
        LEAF + "g, = torch.autograd.grad((x * 3).sum(), x, create_graph=True)\ng.backward(torch.ones(2))",
        "not_differentiable",
        3,
        "problem-no-history-constant g 2 problem-because-linear",
        2,
    ),
    "once differentiable": Bad(
        CUSTOM.format("g * x, None")
        .replace("    def backward", "    @torch.autograd.function.once_differentiable\n    def backward")
        .replace("y.backward()", "g, = torch.autograd.grad(y, a, create_graph=True)\ng.backward(torch.ones(2))"),
        "not_differentiable",
        14,
        "problem-no-history-constant g 13 Sq",
        2,
    ),
    "detached output": Bad(
        LEAF + "y = (x * 2).detach()\ny.backward(torch.ones(2))",
        "not_differentiable",
        3,
        "problem-no-history-cut y .detach() 2",
    ),
    "anomaly": Bad(
        "x = torch.tensor(-1., requires_grad=True)\nwith torch.autograd.detect_anomaly(check_nan=True):\n"
        "    y = x.sqrt()\n    y.backward()",
        "error",
        3,
        "problem-nan-returned SqrtBackward0 3 x",
        1,
    ),
    "missing import": Bad(
        LEAF + "for i in range(2):\n    y = np.sin(1.0)",
        "error",
        3,
        "problem-unknown-name name 'np' is not defined import numpy as np",
    ),
    "error in backward": Bad(
        CUSTOM.format("g.nope, None"),
        "error",
        9,
        "problem-raised AttributeError 'Tensor' object has no attribute 'nope'",
        1,
    ),
    "empty": Bad("", "not_differentiable", None, "problem-program-empty"),
    "comments only": Bad("# nothing\n", "not_differentiable", None, "problem-program-empty"),
    "too long": Bad("x = 1\n" * 10_000, "too_big", None, "problem-program-long 60000 20000"),
    "exit": Bad("import sys\nsys.exit(3)", "error", 2, "problem-exited-with 3"),
    "endless recursion": Bad("def f(n):\n    return f(n + 1)\nf(0)", "error", 2, "problem-recursion"),
    "tensor too large": Bad("torch.empty(10**14)", "memory", 1, "problem-memory-tensor"),
    "list too large": Bad("[0] * 10**15", "memory", 1, "problem-memory"),
    "own exception": Bad(
        "def f():\n    raise ValueError('bad thing')\nf()", "error", 2, "problem-raised ValueError bad thing"
    ),
    "interrupt": Bad("raise KeyboardInterrupt", "error", 1, "problem-interrupted"),
    "matrix shapes": Bad("a = torch.ones(2, 3)\na @ a", "error", 2, "problem-matrix-shapes 2x3 2x3 3 2"),
    "broadcast": Bad(LEAF + "y = x + torch.ones(3)", "error", 2, "problem-broadcast 2 3 0"),
    "integers": Bad("x = torch.tensor([1, 2], requires_grad=True)", "error", 1, "problem-whole-numbers"),
    "numpy": Bad(LEAF + "x.numpy()", "error", 2, "problem-needs-detach"),
    "unused input": Bad(
        LEAF + "torch.autograd.grad((x * 2).sum(), torch.ones(1, requires_grad=True))",
        "error",
        2,
        "problem-unused-input 0",
    ),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_mistake_is_explained(bad: Bad) -> None:
    traced = run_traced(bad.source)
    (problem,) = traced.of("problem")
    assert problem["kind"] == bad.kind
    assert (problem["span"] or {}).get("line") == bad.line
    assert spoken(problem["fact"]) == bad.fact
    assert len(traced.of("step")) == bad.steps
    assert traced.events[-1]["problems"] == 1


@pytest.mark.parametrize(
    "name", ["twice", "in place", "wrong shape", "wrong count", "error in backward", "matrix shapes"]
)
def test_the_program_sees_the_error_that_it_would_see_anyway(name: str) -> None:
    plain, traced = run_plain(BAD[name].source), run_traced(BAD[name].source)
    assert type(traced.run.error) is type(plain.error)
    assert str(traced.run.error) == str(plain.error)


def test_an_error_in_a_pass_names_pass_and_node() -> None:
    traced = run_traced(BAD["wrong shape"].source)
    (problem,) = traced.of("problem")
    assert problem["pass"] == 0
    assert traced.nodes()[problem["node"]]["name"] == "SqBackward"


def test_a_caught_error_is_told_where_it_happened_and_the_program_goes_on() -> None:
    source = LEAF + "y = (x * x).sum()\ny.backward()\ntry:\n    y.backward()\nexcept RuntimeError:\n    print('on')\n"
    traced = run_traced(source)
    assert traced.run.error is None
    assert [event["type"] for event in traced.events[-3:]] == ["problem", "stdout", "finished"]
    assert run_plain(source).error is None
    assert traced.events[-1]["problems"] == 0
    assert traced.events[-1]["caught"] == [traced.of("problem")[0]["seq"]]


def test_an_error_that_the_program_ends_with_was_not_caught() -> None:
    source = LEAF + "y = (x * x).sum()\ny.backward()\ntry:\n    y.backward()\nexcept RuntimeError as error:\n"
    for line in ("    raise", "    raise ValueError from error", "    1 / 0"):
        last = run_traced(source + line).events[-1]
        assert last["problems"] == len(run_traced(source + line).of("problem"))
        assert "caught" not in last


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


def test_output_stands_where_it_was_printed() -> None:
    traced = run_traced(LEAF + "print('before')\n(x * 2).sum().backward()\nprint('after')\n")
    kinds = [event["type"] for event in traced.events]
    assert kinds == [
        "started", "stdout", "pass_started", "step", "step", "step", "pass_finished", "stdout", "finished",
    ]  # fmt: skip
    assert [event["text"] for event in traced.of("stdout")] == ["before\n", "after\n"]


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
        name, grad_outputs, grad_inputs = watched.name, watched.grad_outputs, watched.grad_inputs
        assert nodes[step["node"]]["name"] == name
        for found, expected in zip(step["grad_outputs"], grad_outputs, strict=True):
            assert_same(found, expected, name)
            arrived = [tensor_of(one["value"]) for one in step["contributions"]]
            assert torch.allclose(sum(arrived), expected)
        for found, expected in zip(step["grad_inputs"], grad_inputs, strict=True):
            assert_same(found, expected, name)
    told = {one["leaf"]: one["grad"] for event in traced.of("pass_finished") for one in event["leaf_grads"]}
    for name in ("x", "w", "tied"):
        grad = twin.namespace[name].grad
        if grad is not None:
            assert_same(told[name], grad, name)
        elif name in told:
            # No more is claimed of a leaf that lies behind what is recorded.
            assert told[name]["because"]["kind"] == "missing-grad-returned"


def test_passes_over_the_limit_are_run_and_listed() -> None:
    source = LEAF + "for _ in range(10):\n    (x * x).sum().backward()\n"
    traced = run_traced(source, limits=ResolvedLimits(steps=7))
    assert len(traced.of("step")) == 6
    assert traced.events[-1]["unrecorded"] == 8
    assert traced.events[-1]["truncated"] is None
    assert traced.run.namespace["x"].grad.tolist() == [20.0, 20.0]


def test_a_pass_over_the_limit_is_recorded_as_far_as_it_goes() -> None:
    traced = run_traced(LEAF + "((x * x).sum() * 2).backward()\n", limits=ResolvedLimits(steps=2))
    assert len(traced.of("step")) == 2
    assert traced.events[-1]["truncated"] == "steps"
    assert traced.run.namespace["x"].grad.tolist() == [4.0, 4.0]


@pytest.mark.parametrize("length", [5_000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_a_long_chain_does_not_recurse(length: int) -> None:
    source = LEAF + f"h = x\nfor _ in range({length}):\n    h = h + 1\nh.sum().backward()\n"
    limits = ResolvedLimits(nodes=length // 2, first_nodes=length // 20)
    traced = run_traced(source, limits)
    assert traced.events[-1]["truncated"] == "nodes"
    assert len(traced.of("step")) == limits.first_nodes
    assert traced.run.namespace["x"].grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("inputs", "grad_output", "operands"),
    [
        ({"x": [[1, 2], [3]]}, None, ["x"]),
        ({"x": "abc"}, None, ["'abc'"]),
        ({"x": {"value": 1.0, "dtype": "float31"}}, None, ["float31"]),
        ({"x": [1.0, 2.0]}, [1, 2, 3], ["3", "2"]),
        ({"x": [1.0, 2.0]}, "no", ["'no'"]),
    ],
)
def test_a_wrong_input_is_explained(inputs: dict[str, object], grad_output: object, operands: list[str]) -> None:
    (problem,) = run_traced("y = x * 2", inputs=inputs, grad_output=grad_output).of("problem")
    assert problem["fact"]["kind"] == "problem-input"
    assert all(one in spoken(problem["fact"]) for one in operands)


@pytest.mark.parametrize(
    "source",
    [
        "raise SystemExit('x' * 10 ** 7)",
        "raise ValueError('x' * 10 ** 7)",
        "class A(BaseException):\n    def __str__(self): return 'x' * 10 ** 7\nraise A",
        "getattr(torch.ones(1), 'x' * 10 ** 7)",
    ],
)
def test_a_huge_message_is_told_in_short(source: str) -> None:
    [told] = run_traced(source).of("problem")
    assert told["kind"] == "error"
    assert len(json.dumps(told["fact"])) + len(told.get("words", "")) < 3_000


HELPED = {
    "cuda": ("x = torch.ones(2, requires_grad=True).cuda()", 1, "problem-no-gpu"),
    "to cuda": ("x = torch.ones(2).to('cuda')", 1, "problem-no-gpu"),
    "mps": ("x = torch.ones(2, device='mps')", 1, "problem-no-gpu"),
    "a class too many": (
        "s = torch.randn(2, 3, requires_grad=True)\nF.cross_entropy(s, torch.tensor([0, 3]))",
        2,
        "problem-target-too-large 3 4",
    ),
    "a leaf that is none any more": (
        "w = torch.ones(2, requires_grad=True)\nfor _ in 1, 2:\n    w.sum().backward()\n    w = w - 0.1 * w.grad",
        4,
        "problem-grad-none-result w",
    ),
    "a shell's line": ("!pip install torch", 1, "problem-syntax-hint invalid syntax problem-syntax-shell"),
    "a notebook's line": ("%matplotlib inline\nx = 1", 1, "problem-syntax-hint invalid syntax problem-syntax-magic"),
    "a prompt": (">>> x = torch.ones(2)", 1, "problem-syntax-hint invalid syntax >>>"),
    "a prompt's second line": (
        "x = [1,\n... 2]",
        2,
        "problem-syntax-hint invalid syntax. Perhaps you forgot a comma? ...",
    ),
}


@pytest.mark.parametrize("name", HELPED)
def test_what_people_paste_gets_a_hint(name):
    source, line, fact = HELPED[name]
    problem = run_traced(source).of("problem")[0]
    assert problem["span"]["line"] == line
    assert spoken(problem["fact"]) == fact
    assert tell_problem(problem).hint


def test_time_is_up_once():
    source = (
        "from gradwalk.tracer.interruption import TimeLimitError\n"
        "x = torch.ones(2, requires_grad=True)\ndef late(g): raise TimeLimitError\nx.register_hook(late)\n"
        "try:\n    x.sum().backward()\nfinally:\n    raise TimeLimitError\n"
    )
    assert [one["kind"] for one in run_traced(source).of("problem")] == ["timeout"]
