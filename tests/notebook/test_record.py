"""A stretch of somebody's own script, recorded while it runs."""

import linecache
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from pypdf import PdfReader

import gradwalk
from gradwalk.protocol.events import EVENT
from gradwalk.tracer.passes import RecordingEngine
from tests.tracer.programs import custom_function
from tests.twin import check_pass, random_states, run_watched, seed

WATCHED = """
w = torch.ones(2, requires_grad=True)
with gradwalk.record() as trace:
    (w * 2).sum().backward()
"""
HEAD = "import torch\nfrom torch import nn\n"
TRAIN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.drop, self.outer = nn.Linear(2, 3), nn.Dropout(0.2), nn.Linear(3, 1)

    def forward(self, x):
        return self.outer(self.drop(torch.tanh(self.inner(x))))


def train():
    net, x, target = Net(), torch.randn(4, 2), torch.randn(4, 1)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = ((net(x) - target) ** 2).mean()
        loss.backward()
        optimizer.step()
    return [one.detach().clone() for one in net.parameters()]


trained = train()
"""
ADVERSARIES = """
real, fake = nn.Linear(2, 1), nn.Linear(2, 2)
for turn in range(200):
    made = fake(torch.randn(3, 2))
    real(made.detach()).sum().backward()
    real(made).mean().backward()
"""
SPEAKING = """
import sys, warnings
for turn in range(3):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    print("turn", turn, x)
    warnings.warn("in each turn")
    (x * x).sum().backward()
    sys.stdout.writelines([str(x.grad), "\\n"])
nn.functional.mse_loss(x, torch.ones(1))
print("end")
"""
CARRIED = """
w = torch.full((2,), 0.5, requires_grad=True)
state = torch.ones(2)
for turn in range(40):
    state = torch.tanh(w * state)
    state.sum().backward(retain_graph=True)
"""


def run_script(path: Path, text: str) -> dict[str, Any]:
    """The namespace of a script in a file."""
    path.write_text(text)
    namespace: dict[str, Any] = {"__name__": "script"}
    seed()
    exec(compile(text, str(path), "exec"), namespace)
    return namespace


def run_recorded(path: Path, source: str, call: str = "gradwalk.record()") -> dict[str, Any]:
    """The namespace of a script that records all but its imports; `trace` is what it recorded."""
    body = "".join(f"    {line}\n" if line else "\n" for line in source.splitlines())
    return run_script(path, f"{HEAD}import gradwalk\nwith {call} as trace:\n{body}")


def starts(trace: gradwalk.Trace) -> list[Any]:
    return [event for event in trace.events if event["type"] == "pass_started"]


def test_a_script_computes_what_it_computes_without_and_every_pass_is_that_of_plain_torch(tmp_path: Path) -> None:
    """Its nodes stand at their lines, and its leaves have the names that functions give them."""
    path = tmp_path / "train.py"
    recorded = run_recorded(path, TRAIN)
    states, trace = random_states(), recorded["trace"]
    twin = run_watched(HEAD + TRAIN)
    assert all(map(torch.equal, recorded["trained"], twin.namespace["trained"]))
    assert twin.random_states == states
    for event in trace.events:
        EVENT.validate_python(event)
    assert len(trace.passes) == len(twin.passes) == 3
    for index, watched in enumerate(twin.passes):
        check_pass(trace.events, watched, index)
    assert trace.document["source"] == path.read_text()
    lines, nodes = path.read_text().splitlines(), starts(trace)[0]["graph"]["nodes"]
    at = {node["op"]: lines[node["span"]["line"] - 1] for node in nodes if node["span"] is not None}
    assert "torch.tanh" in at["tanh"]
    assert ".mean()" in at["mean"]
    assert {node["label"] for node in nodes if "leaf" in node} == {
        f"net.{layer}.{kind}" for layer in ("inner", "outer") for kind in ("weight", "bias")
    }


def test_what_it_prints_and_is_warned_of_is_told_as_of_a_program_and_goes_where_it_went(tmp_path, capsys) -> None:
    def said(trace: gradwalk.Trace) -> list[tuple[str, str, str]]:
        lines = trace.document["source"].splitlines()
        at = [(event, event.get("span") or {"line": 1}) for event in trace.events]
        return [
            (event["type"], event.get("text", ""), lines[span["line"] - 1].strip())
            for event, span in at
            if event["type"] in ("stdout", "warning", "pass_started", "pass_finished")
        ]

    file, write = sys.stdout, sys.stdout.write
    with pytest.warns(UserWarning, match=".") as heard:
        trace = run_recorded(tmp_path / "speaking.py", SPEAKING)["trace"]
    assert (sys.stdout, sys.stdout.write) == (file, write)
    written = capsys.readouterr().out
    with pytest.warns(UserWarning, match=".") as heard_of_twin:
        exec(compile(HEAD + SPEAKING, "speaking.py", "exec"), {})
    assert written == capsys.readouterr().out
    assert [str(one.message) for one in heard] == [str(one.message) for one in heard_of_twin]
    assert said(trace) == said(gradwalk.trace(HEAD + SPEAKING))
    assert "".join(text for kind, text, _ in said(trace) if kind == "stdout") == written
    (repeated,) = trace.events[-1]["repeated_warnings"]
    assert (trace.events[repeated["seq"]]["text"], repeated["count"]) == ("in each turn", 3)


ASKED = {
    "in turns": (ADVERSARIES, "gradwalk.record(passes=[3, 300])", [3, 300]),
    "carried": (CARRIED, "gradwalk.record(passes=[3, 39])", [3, 39]),
    "of a watched model": (ADVERSARIES, "gradwalk.watch(real, passes=[3, 300])", [3, 300]),
}


@pytest.mark.parametrize("name", ASKED)
def test_passes_that_are_asked_for_are_recorded_alone_and_whole(tmp_path: Path, name: str) -> None:
    source, call, passes = ASKED[name]
    if "watch" in call:
        text = f"{HEAD}import gradwalk\n{source.replace('for turn', f'trace = {call}{chr(10)}for turn')}"
        recorded = run_script(tmp_path / "loop.py", text)
    else:
        recorded = run_recorded(tmp_path / "loop.py", source, call)
    states, trace = random_states(), recorded["trace"]
    assert [started["number"] for started in starts(trace)] == passes
    twin = run_watched(HEAD + source)
    assert twin.random_states == states
    for index, (number, started) in enumerate(zip(passes, starts(trace), strict=True)):
        check_pass(trace.events, twin.passes[number], index)
        assert all(node["span"] for node in started["graph"]["nodes"] if "leaf" not in node)
    if "watch" in call:
        assert {"real.weight", "real.bias"} <= {*trace.leaf_grads}
        assert not isinstance(torch.autograd.Variable._execution_engine, RecordingEngine)


WITHOUT_NUMBERS = """
with torch.device("meta"):
    net = nn.Linear(3, 3)
    for turn in range({turns}):
        h = torch.tanh(net(torch.ones(2, 3)))
        (h * h + net(h)).sum().backward()
"""
FAKE = """
from torch._subclasses.fake_tensor import FakeTensorMode
mode = FakeTensorMode()
x = mode.from_tensor(torch.ones(2, 3, requires_grad=True))
with mode:
    loss = (x.tanh() * x + F1.apply(x)).sum()
loss.backward()
"""
SQUARED = custom_function(
    "F1", "x", "ctx.save_for_backward(x)\nreturn x * x", "x, = ctx.saved_tensors\nreturn 2 * x * g"
)
ELSEWHERE = """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
net = {net}
with torch.autocast("cpu", torch.bfloat16, enabled={autocast}):
    loss = net(torch.ones(2, 3)).sum()
loss.backward()
found = [one.grad for one in net.parameters()]
"""


@pytest.mark.parametrize("source", [WITHOUT_NUMBERS.format(turns=200), SQUARED + FAKE], ids=["of a loop", "fake"])
def test_of_tensors_without_numbers_the_graph_is_recorded(tmp_path: Path, source: str) -> None:
    trace = run_recorded(tmp_path / "script.py", source)["trace"]
    assert trace.problems == []
    assert trace.events[-1]["passes"] + trace.events[-1].get("unrecorded", 0) == (200 if "for turn" in source else 1)
    names = {step.node.name for step in trace.steps}
    assert {"TanhBackward0", "MulBackward0", "AddmmBackward0" if "for turn" in source else "F1Backward"} <= names
    assert trace.steps[0].written["grad_outputs"][0]["unavailable"]["kind"] == "note-meta"


@pytest.mark.parametrize(
    ("net", "autocast"),
    [
        ("net", True),
        ("nn.DataParallel(net)", False),
        ('torch.compile(net, backend="eager")', False),
        ('torch.compile(net, backend="aot_eager")', False),
    ],
    ids=["autocast", "wrapped", "compiled by eager", "compiled by aot_eager"],
)
@pytest.mark.filterwarnings("default:Using `torch.compile", "default:Guards may run slower")
def test_under_autocast_and_in_wrapped_and_compiled_modules(tmp_path: Path, net: str, autocast: bool) -> None:
    source = ELSEWHERE.format(net=net, autocast=autocast)
    recorded = run_recorded(tmp_path / "script.py", source)
    trace = recorded["trace"]
    assert trace.problems == []
    assert "TanhBackward0" in {step.node.name for step in trace.steps}
    assert [event for event in trace.events if event["type"] == "warning"] == []
    seed()
    twin: dict[str, Any] = {"__name__": "twin"}
    exec(compile(HEAD + source, "twin.py", "exec"), twin)
    assert all(map(torch.equal, recorded["found"], twin["found"]))


def test_an_error_goes_on_and_is_explained_at_its_line() -> None:
    recording = gradwalk.record()
    with pytest.raises(RuntimeError, match="only for scalar outputs"), recording:
        torch.ones(2, requires_grad=True).backward()
    (problem,) = recording.trace.problems
    assert problem["fact"]["kind"] == "problem-not-scalar"
    assert "torch.ones" in Path(__file__).read_text().splitlines()[problem["span"]["line"] - 1]


@pytest.mark.parametrize(("status", "kinds"), [(None, []), (0, []), (3, ["problem-exited-with"])])
def test_a_script_that_ends_itself_ends_well_unless_its_status_says_otherwise(status: int | None, kinds: list) -> None:
    recording = gradwalk.record()

    @recording
    def script() -> None:
        torch.ones(1, requires_grad=True).backward()
        sys.exit(status)

    with pytest.raises(SystemExit):
        script()
    assert [one["fact"]["kind"] for one in recording.trace.problems] == kinds


def test_one_recording_at_a_time_read_when_it_has_ended_and_nothing_is_left_behind() -> None:
    engine = torch.autograd.Variable._execution_engine
    with gradwalk.record() as trace:
        with pytest.raises(RuntimeError), gradwalk.record():
            pass
        with pytest.raises(RuntimeError):
            len(trace.events)
        x = torch.tensor([2.0], requires_grad=True)
        (x * x).backward()
    assert torch.autograd.Variable._execution_engine is engine
    assert torch.equal(trace.passes[-1].steps[0].grad_inputs[0], torch.tensor([2.0]))


def test_a_decorated_function_is_recorded_at_each_call() -> None:
    recording = gradwalk.record()

    @recording
    def double(factor: float) -> torch.Tensor:
        x = torch.tensor([1.0], requires_grad=True)
        (x * factor).backward()
        return x

    traces = []
    for factor in (2.0, 3.0):
        x = double(factor)
        assert torch.equal(recording.trace.leaf_grads["x"], x.grad)
        traces.append(recording.trace)
    assert torch.equal(traces[0].leaf_grads["x"], torch.tensor([2.0]))


def test_a_text_that_is_not_the_programs_own_does_not_break_a_recording(tmp_path: Path) -> None:
    """A script that was cut short after Python had read it; the text of `python -c` for all that `exec` runs."""
    cut = tmp_path / "cut.py"
    cut.write_text("import torch\n")
    for name in (str(cut), "<string>"):
        lines = cut.read_text().splitlines(keepends=True)
        linecache.cache[name] = (len(lines), None, lines, name)
        recording: dict[str, Any] = {}
        exec(compile(f"{HEAD}import gradwalk\n{WATCHED}", name, "exec"), recording)
        trace = recording["trace"]
        assert (trace.problems, len(trace.passes)) == ([], 1)
        del linecache.cache[name]
    assert trace.document["source"] == ""


def test_without_a_backward_it_says_so() -> None:
    with gradwalk.record() as trace:
        torch.ones(2, requires_grad=True).sum()
    assert [one["fact"]["kind"] for one in trace.problems] == ["problem-no-pass"]


def test_a_script_runs_as_python_runs_it_and_its_page_needs_no_compiler(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "model.py").write_text("FACTOR = 3.0\n")
    script = tmp_path / "train.py"
    script.write_text(
        "import atexit, sys, torch\nfrom model import FACTOR\nx = torch.tensor([2.0], requires_grad=True)\n"
        "(x * FACTOR).backward()\nprint(__name__, sys.argv[1:], x.grad.item())\n"
        "atexit.register(lambda: print('compiler:', 'torch._dynamo' in sys.modules))\nsys.exit(3)\n"
    )
    recorded = run(["-m", "gradwalk", str(script), "--epochs", "2"], status=3)
    assert recorded.stdout == "__main__ ['--epochs', '2'] 3.0\ncompiler: False\n"
    (page,) = re.findall(r"\S+\.html", recorded.stderr)
    assert '"formula_checked":true' in Path(page).read_text()
    Path(page).unlink()


@pytest.mark.usefixtures("run")
def test_a_trace_is_saved_in_the_form_that_the_ending_asks_for(tmp_path: Path) -> None:
    trace = gradwalk.trace("x * y", inputs={"x": 1.0, "y": 2.0})
    beginnings = {"json": b"{", "html": b"<!doctype html>", "svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    for ending, beginning in beginnings.items():
        trace.save(tmp_path / f"walk.{ending}")
        assert (tmp_path / f"walk.{ending}").read_bytes().startswith(beginning)
    assert len(PdfReader(tmp_path / "walk.pdf").pages) > 1
    trace.save(tmp_path / "one.pdf", step=1)
    assert len(PdfReader(tmp_path / "one.pdf").pages) == 1
    assert gradwalk.Trace.load(tmp_path / "walk.json").document == trace.document
    with pytest.raises(ValueError, match=r"walk\.docx"):
        trace.save(tmp_path / "walk.docx")
