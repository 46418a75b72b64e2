"""What cannot be shown is said: raising forwards, memory that ends, odd tensors, sums and formulas that fail.

A program in forward mode is told so, with the tangents that it computed; finite differences find the same.
"""

from typing import Any

import pytest
import torch

from gradwalk.formulas import check
from gradwalk.protocol.requests import ResolvedLimits, TraceRequest
from gradwalk.tracer.run import Run
from gradwalk.tracer.values import ValueTable
from tests.twin import run_plain, run_traced, walk

SQUARED = "x = torch.tensor(3., requires_grad=True)\n(x * x).backward()\n"
# The program; the operation that fails and the shapes of its operands, where there is one.
RAISING = {
    "operation": ("x = torch.ones(2, 3, requires_grad=True)\nh = (x * 2).sin()\nh @ h\n", "matmul", [[2, 3], [2, 3]]),
    "module": ("net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(5, 2))\nnet(torch.ones(2, 3))\n",
        "linear", [[2, 4], [2, 5], [2]]),
    "not torch": ("x = torch.ones(2, requires_grad=True)\nh = x.exp()\nraise ValueError('no')\n", None, None),
}  # fmt: skip


@pytest.mark.parametrize("name", RAISING)
def test_a_forward_that_raises_gives_the_graph_up_to_there(name: str) -> None:
    source, op, shapes = RAISING[name]
    traced, twin = run_traced(source), run_plain(source)
    [found] = traced.of("problem")
    assert not traced.of("pass_started")
    names = [node["name"] for node in found["graph"]["nodes"]]
    if name == "module":
        assert names[:2] == ["ReluBackward0", "AddmmBackward0"]
    else:
        assert names == walk([twin.namespace["h"].grad_fn]).names
    assert ("failed" in found) is (op is not None)
    if op is not None:
        failed, ids = found["failed"], {node["id"] for node in found["graph"]["nodes"]}
        assert (failed["op"], failed["span"]["line"]) == (op, found["span"]["line"])
        assert [one["value"]["shape"] for one in failed["operands"]] == shapes
        assert all(one["node"] in ids for one in failed["operands"])


NO_MEMORY = [MemoryError(), RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")]


@pytest.mark.parametrize("error", NO_MEMORY)
def test_memory_that_ends_while_recording_is_the_programs_limit(error, monkeypatch):
    """Whatever is put down when memory ends, from then on nothing is: no step may follow one that is not there."""
    source = "x = torch.ones(2, requires_grad=True)\ny = (x * x).exp()\ny.sum().backward()\n"
    whole = [event["type"] for event in run_traced(source).events]
    value_of = ValueTable.value_of
    for last in range(1, 16):
        left = last

        def run_out(table: ValueTable, tensor: torch.Tensor) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise error
            return value_of(table, tensor)

        monkeypatch.setattr(ValueTable, "value_of", run_out)
        traced = run_traced(source)
        [found] = traced.of("problem")
        assert (found["kind"], found["fact"]["kind"]) == ("memory", "problem-memory-recorded")
        kinds = [event["type"] for event in traced.events]
        at = kinds.index("problem")
        assert kinds[:at] == whole[:at]
        # A pass of which nothing was put down is told in numbers, as one that is not recorded.
        assert kinds[at + 1 :] == [*([] if "pass_started" in kinds else ["unrecorded"]), "finished"]
        assert traced.events[-1]["truncated"] == "memory"
        assert torch.equal(traced.run.namespace["x"].grad, run_plain(source).namespace["x"].grad)


def test_a_wrong_sum_is_ours_even_where_the_text_speaks_of_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwalk.tracer.sums.ContributionSums._sum", lambda *_: {"missing": "undefined"})
    with pytest.raises(Exception, match="do not add up"):
        run_traced("# register_hook\n" + SQUARED)


def test_a_formula_that_does_not_hold_is_said_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check.Line, "value", lambda line, _values: torch.full(line.shape, 7.0, dtype=line.dtype))
    step = run_traced(SQUARED).of("step")[0]
    assert step["formula_checked"] is False
    assert "substitutions" not in step


ODD = "class Odd(torch.Tensor):\n"
X = "x = torch.ones(2, requires_grad=True)"
UNLIKELY = {
    "methods": ODD + "    def detach(self): return 'forged'\n    def tolist(self): return ['<b>']\n"
        "y = (torch.ones(1, requires_grad=True) * 2).as_subclass(Odd)\n",
    "history": ODD + "    @property\n    def grad_fn(self):\n        raise ValueError('no')\n" + X +
        ".as_subclass(Odd)\n(x * 2).sum().backward()\n",
    "version": ODD + "    def is_inference(self): return 1 / 0\n    _version = 'forged'\n" + X +
        "\ny = (x * 2).as_subclass(Odd).mul_(3)\ny.sum().backward()\n",
    "attributes": ODD + "    dtype = shape = is_cpu = 'forged'\n" + X +
        "\ny = (x * 2).as_subclass(Odd)\n(y * y).sum().backward()\n",
    "wrappers": "f = torch.sin\nfor _ in range(3000): f = torch.func.grad(f)\nf(torch.ones(()))\n",
}  # fmt: skip
SOAKED = [pytest.param(name, marks=pytest.mark.soak if name == "wrappers" else ()) for name in UNLIKELY]


@pytest.mark.parametrize("name", SOAKED)
def test_no_program_makes_us_say_that_it_is_our_fault(name: str) -> None:
    assert all(found["kind"] != "internal" for found in run_traced(UNLIKELY[name]).of("problem"))


def test_what_is_read_of_a_tensor_is_not_seen_by_its_torch_function() -> None:
    source = (
        "seen = []\n" + ODD + "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n        seen.append(func.__name__)\n"
        "        return super().__torch_function__(func, types, args, kwargs or {})\n"
        "x = torch.ones(2).as_subclass(Odd).requires_grad_()\ny = torch.sin(x * 2).mul_(2)\ny.sum().backward()\n"
    )
    assert run_traced(source).run.namespace["seen"] == run_plain(source).namespace["seen"]


def test_code_of_the_program_that_fails_when_it_is_looked_at_is_not_ours() -> None:
    source = ODD + "    @property\n    def requires_grad(self):\n        return 1 / 0\n"
    events: list[Any] = []
    request = TraceRequest(source=f"{source}{X}.as_subclass(Odd)\n(x * 2).sum()\n")
    Run(request, events.append, ResolvedLimits()).play()
    found = next(event for event in events if event["type"] == "problem")
    assert (found["kind"], found["span"]["line"], found["fact"]["kind"]) == ("error", 4, "problem-intrusion")


FORWARD = (
    "import torch\nx = torch.tensor([2.0, 3.0], dtype=torch.float64)\n"
    "d = torch.tensor([1.0, -0.5], dtype=torch.float64)\n"
    "def f(x):\n    return torch.stack([x[0] * x[1], torch.sin(x[0])])\n"
)
SPACE: dict[str, Any] = {}
exec(FORWARD, SPACE)


def slope(along: torch.Tensor) -> torch.Tensor:
    return (SPACE["f"](SPACE["x"] + 1e-6 * along) - SPACE["f"](SPACE["x"] - 1e-6 * along)) / 2e-6


COLUMNS = torch.stack([slope(one) for one in torch.eye(2, dtype=torch.float64)], dim=1)
TANGENTS = {
    "from torch.func import jvp\ny, t = jvp(f, (x,), (d,))": ("t", slope(SPACE["d"])),
    "import torch.autograd.forward_ad as fwAD\nwith fwAD.dual_level():\n"
    "    y, t = fwAD.unpack_dual(f(fwAD.make_dual(x, d)))": ("t", slope(SPACE["d"])),
    "J = torch.func.jacfwd(f)(x)": ("J", COLUMNS),
}


# torch.func.jvp compiles its decompositions with torch.jit.script.
scripts = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")


@scripts
@pytest.mark.parametrize("source", TANGENTS)
def test_tangents_are_told_and_their_function_is_a_pass(source: str) -> None:
    name, expected = TANGENTS[source]
    traced = run_traced(FORWARD + source, grad_output=[3.0, 5.0])
    (started,), (finished,) = traced.of("pass_started"), traced.of("pass_finished")
    assert not traced.of("problem")
    (note,) = started["notes"]
    (tangent,) = note["operands"]["tangents"]
    value = tangent["operands"]["value"]
    assert (tangent["operands"]["name"], value["shape"]) == (name, [*expected.shape])
    torch.testing.assert_close(torch.tensor(value["numbers"]).double(), expected.flatten(), rtol=1e-5, atol=1e-6)
    pushed = [one["value"]["data"] for one in started.get("tangents", [])]
    assert pushed == ([] if name == "J" else [SPACE["d"].tolist()])
    (grad,) = finished["leaf_grads"]
    found = torch.tensor(grad["grad"]["data"], dtype=torch.float64)
    torch.testing.assert_close(found, torch.tensor([3.0, 5.0], dtype=torch.float64) @ COLUMNS, rtol=1e-5, atol=1e-6)
    assert traced.run.namespace["x"].requires_grad is False
    assert traced.run.namespace["x"].grad is None


@scripts
@pytest.mark.parametrize(
    "source",
    [
        "y, t = torch.func.jvp(lambda x: x * torch.rand(2), (x,), (d,))",
        "import random; t = torch.func.jacfwd(lambda x: x * random.random())(x)",
        "import numpy; t = torch.func.jacfwd(lambda x: x * float(numpy.random.rand()))(x)",
        "y, t = torch.func.jvp(f, (x,), (d,))\nx = x * 2",
        "y, t = torch.func.jvp(lambda x, y: x * y, (x, x), (d, d))",
        "n = []; y, t = torch.func.jvp(lambda x: exit() if n else n.append(0) or x * x, (x,), (d,))",
        "t = torch.vmap(lambda t: torch.func.jvp(f, (x,), (t,))[1])(torch.eye(2, dtype=x.dtype))",
    ],
)
def test_a_function_that_is_another_the_second_time_is_no_pass(source: str) -> None:
    """Random, of another input, of one leaf pushed twice, one that exits, under a transform."""
    (problem,) = run_traced(FORWARD + source).of("problem")
    assert problem["fact"]["kind"].startswith("problem-forward-mode")
    assert problem["span"]["line"] == 6


@scripts
def test_neither_a_name_nor_a_forward_mode_is_made_up() -> None:
    own = "def jvp(x):\n    return x, f(x)\ny, t = jvp(x)\n"
    (started,) = run_traced(FORWARD + "print(torch.func.jvp(f, (x,), (d,)))").of("pass_started")
    assert [note["kind"] for note in started["notes"]] == ["note-forward-mode"]
    (problem,) = run_traced(FORWARD + own).of("problem")
    assert problem["fact"]["kind"] == "problem-nothing-recorded"
