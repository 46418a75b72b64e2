"""Programs that break out of what a program should do, each with its outcome. Real children throughout.

Most run with the language policy switched off: the kernel's layers and the parent have to hold by themselves.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from gradwalk.protocol.document import encode
from gradwalk.protocol.events import Event
from gradwalk.protocol.merging import merge
from gradwalk.protocol.requests import TraceRequest, resolve_limits
from gradwalk.protocol.versions import installed_versions
from gradwalk.protocol.wire import read_events
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.jobs import JacobianJob, TraceJob
from gradwalk.sandbox.launcher import ForkLauncher, LauncherGoneError, SpawnLauncher
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import ReplayProblemError, Sandbox

Trace = Callable[..., list[Event]]
KILL_LATENCY_SECONDS = 1.5
"""Of processor, which a run that nobody ends goes on to take; a busy machine gives it no more than a quiet one."""

REFERENCE = "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\n"


def problem_of(events: list[Event]) -> Any:
    """The one problem of a whole stream."""
    read_events(events)
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "started"
    assert events[-1]["type"] == "finished"
    (found,) = [event for event in events if event["type"] == "problem"]
    assert events[-1]["problems"] == 1
    return found


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        pytest.param("import torch\ntorch.zeros(2_000_000_000)", "memory", id="8 GB tensor"),
        pytest.param("hoard = []\nwhile True:\n    hoard.append(bytearray(1 << 20))", "memory", id="list bomb"),
        pytest.param("text = 'a'\nwhile True:\n    text += text", "memory", id="string bomb"),
        pytest.param("import os\nos._exit(0)", "protocol", id="leaves quietly"),
        pytest.param("import os\nos._exit(70)", "internal", id="leaves like our own fault"),
        pytest.param("import os\nos.abort()", "crashed", id="aborts"),
        pytest.param("import os\nos.kill(os.getpid(), 9)", "error", id="signals itself"),
        pytest.param("import os\nif os.fork() == 0:\n    os._exit(0)", "error", id="fork"),
        pytest.param("import threading\nthreading.Thread(target=int).start()", "error", id="thread"),
        pytest.param("import os\nos.execv('/bin/true', ['true'])", "forbidden", id="exec"),
        pytest.param("import socket\nsocket.socket()", "error", id="socket"),
        pytest.param("open('/etc/passwd').read()", "error", id="read a file"),
        pytest.param("import os\nos.rmdir('/tmp')", "error", id="delete a directory"),
        pytest.param("import os\nos.kill(os.getppid(), 0)", "error", id="signal the parent"),
        pytest.param("import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))", "error", id="raise a limit"),
        pytest.param("import mmap\nmmap.mmap(-1, 4096, prot=7)", "error", id="code written at run time"),
        pytest.param("import os\nos.write(200, b'\\0\\0\\0\\2{}')", "protocol", id="forged frame"),
        pytest.param("import os\nos.write(200, b'\\xff\\xff\\xff\\xff')", "too_big", id="endless frame"),
        pytest.param("import os\nos.write(200, b'\\0\\0\\1\\0{')\nwhile True: pass", "protocol", id="half a frame"),
        pytest.param("import os, time\nos.close(200)\ntime.sleep(60)", "protocol", id="closes the pipe"),
        pytest.param("def f():\n    f()\nf()", "error", id="endless recursion"),
        pytest.param(
            "import torch, torch.nn as nn\nnn.LSTMCell(5, 3)(torch.ones(5), (torch.ones(3, 3), torch.ones(3, 3)))",
            "crashed",
            id="segmentation fault inside torch",
        ),
    ],
)
def test_a_program_that_breaks_out_is_told_so_and_harms_nobody(survive: Trace, source: str, kind: str) -> None:
    events = survive(source)
    assert problem_of(events)["kind"] == kind


@pytest.mark.parametrize("name", ["requires_grad", "dtype", "grad_fn", "shape"])
def test_a_property_that_loops_is_the_programs_own_timeout(trace: Trace, name: str) -> None:
    source = (
        f"class Odd(torch.Tensor):\n    @property\n    def {name}(self):\n        while True: pass\n"
        "x = torch.ones(2, requires_grad=True).as_subclass(Odd)\n(x * 2).sum()\n"
    )
    [problem] = [event for event in trace(source) if event["type"] == "problem"]
    assert problem["kind"] == "timeout"
    assert problem["span"]["line"] == 4


def test_an_endless_loop_is_stopped_at_its_line(trace: Trace, offered: Sandbox) -> None:
    before = spent_by_children(offered)
    events = trace("print('before')\nn = 0\nwhile True:\n    n += 1\n")
    found = problem_of(events)
    assert found["kind"] == "timeout"
    assert found["span"]["line"] in (3, 4)
    assert [event["text"] for event in events if event["type"] == "stdout"] == ["before\n"]
    assert spent_by_children(offered) - before < 2.0 + KILL_LATENCY_SECONDS


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import builtins\nbuiltins.sum(range(10**11))", id="loop in C"),
        pytest.param("while True:\n    try:\n        while True: pass\n    except BaseException: pass", id="swallows"),
        pytest.param("import torch\na = torch.ones(9000, 9000)\na @ a @ a", id="one long call of torch"),
        pytest.param("import time\ntime.sleep(60)", id="sleeps"),
    ],
)
def test_what_no_alarm_can_stop_is_killed_at_the_limit(survive: Trace, unpoliced: Sandbox, source: str) -> None:
    before = spent_by_children(unpoliced)
    found = problem_of(survive(source))
    assert found["kind"] in ("timeout", "memory")
    assert spent_by_children(unpoliced) - before < 2.0 + 2 * KILL_LATENCY_SECONDS


def test_a_print_flood_is_cut_and_says_so(trace: Trace) -> None:
    events = trace("for n in range(1000):\n    print('x' * 100)\n" + REFERENCE)
    text = "".join(event["text"] for event in events if event["type"] == "stdout")
    assert len(text) <= 64_000
    assert problem_of(events)["kind"] == "too_big"
    assert events[-1]["truncated"] == "stdout_characters"


def test_a_graph_of_a_million_nodes_ends_in_a_problem(trace: Trace) -> None:
    source = "x = torch.ones(1, requires_grad=True)\nfor n in range(10**6):\n    x = x + 1\nx.backward()\n"
    events = trace("import torch\n" + source)
    assert problem_of(events)["kind"] in ("too_big", "timeout")


def test_a_program_that_leaves_no_memory_to_tell_of_it_is_told_so(trace: Trace) -> None:
    """Even what would tell the trace finds none: the child then says with its exit status what happened."""
    fill = "try:\n    while True: x.append(bytes({}))\nexcept MemoryError: pass\n"
    nest = "y = []\ntry:\n    while True: y = [y]\nexcept MemoryError: pass\n"
    source = "import torch\nx = []\n" + fill.format(10**5) + fill.format(600) + nest
    events = trace(source + "w = torch.ones(2, requires_grad=True)\n(w * 2).sum().backward()\n")
    assert problem_of(events)["kind"] == "memory"
    assert events[-1]["type"] == "finished"


def test_a_megabyte_of_source_is_refused_with_a_sentence(trace: Trace) -> None:
    found = problem_of(trace("x = 1\n" * 170_000))
    assert found["kind"] == "too_big"


def test_a_stranger_cannot_read_the_server_s_environment(survive: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    events = survive("import os\nprint(sorted(os.environ))")
    (line,) = [event["text"] for event in events if event["type"] == "stdout"]
    assert "PYTEST_CURRENT_TEST" not in line
    assert "OMP_NUM_THREADS" in line


def test_no_file_is_left_and_no_child(survive: Trace, unpoliced: Sandbox, tmp_path: Path) -> None:
    survive(f"import os\ntry:\n    open({str(tmp_path / 'left')!r}, 'w')\nexcept OSError: pass")
    assert not any(tmp_path.iterdir())
    launcher = unpoliced.launcher
    assert isinstance(launcher, ForkLauncher)
    wait_until(lambda: len(children_of(launcher.pid)) <= 1)  # the spare


def test_twenty_runs_are_the_same_bytes(trace: Trace) -> None:
    source = """
import random
import numpy as np
import torch
x = torch.randn(3, requires_grad=True)
y = (x * random.random() * float(np.random.rand())).sum()
y.backward()
print({"a", "b", "c"}, x.grad)
"""
    assert len({encode(trace(source)) for _ in range(20)}) == 1


def test_printed_addresses_are_the_same_in_every_zygote() -> None:
    source = REFERENCE + "y = x * 2\nprint(y.grad_fn, object(), 'at 12', ' at 0xg')\nraise ValueError(object())"
    texts = set()
    for _ in range(5):
        with Sandbox(RunLimits(wall_seconds=5.0, spare_count=0)) as sandbox:
            events = [e for batch in sandbox.trace(job_of(source), installed_versions(), Cancellation()) for e in batch]
            texts.add(encode(events))
    (text,) = texts
    assert "<MulBackward0 object at 0x…> <object object at 0x…> at 12  at 0xg".encode() in text


def test_a_killed_child_is_a_problem_and_the_next_run_works(unpoliced: Sandbox, survive: Trace) -> None:
    events: list[Event] = []
    job = job_of(
        "import time\nprint('ready', flush=True)\ntorch.ones(1, requires_grad=True).sum().backward()\ntime.sleep(60)"
    )
    launcher = unpoliced.launcher
    assert isinstance(launcher, ForkLauncher)
    before = children_of(launcher.pid)
    for batch in unpoliced.trace(job, installed_versions(), Cancellation()):
        events += batch
        if any(event["type"] == "step" for event in batch):
            for pid in children_of(launcher.pid) & (before or children_of(launcher.pid)):
                os.kill(pid, signal.SIGKILL)
    assert problem_of(events)["kind"] == "memory"
    assert any(event["type"] == "step" for event in events)


def test_a_killed_zygote_is_replaced_and_the_run_goes_on_without_a_gap() -> None:
    with Sandbox(RunLimits(wall_seconds=5.0, policy=False)) as sandbox:
        launcher = sandbox.launcher
        assert isinstance(launcher, ForkLauncher)
        job = job_of(REFERENCE + "import time\ntime.sleep(0.5)\nprint('end')")
        events: list[Event] = []
        for batch in sandbox.trace(job, installed_versions(), Cancellation()):
            events += batch
            if sandbox.launcher is launcher and any(event["type"] == "step" for event in batch):
                os.kill(launcher.pid, signal.SIGKILL)
        assert [event["seq"] for event in events] == list(range(len(events)))
        assert events[-1]["type"] == "finished"
        assert not any(event["type"] == "problem" for event in events)
        assert sandbox.launcher is not launcher


def test_a_dead_zygote_is_noticed_before_the_next_run() -> None:
    with Sandbox(RunLimits(spare_count=0)) as sandbox:
        launcher = sandbox.launcher
        assert isinstance(launcher, ForkLauncher)
        os.kill(launcher.pid, signal.SIGKILL)
        wait_until(lambda: not sandbox.is_ready)
        sandbox.start()
        assert sandbox.is_ready


def test_closing_does_not_wait_for_a_start() -> None:
    sandbox = Sandbox(RunLimits(spare_count=0))
    outcome: list[BaseException] = []

    def start() -> None:
        try:
            sandbox.start()
        except LauncherGoneError as error:
            outcome.append(error)

    starter = threading.Thread(target=start)
    starter.start()
    wait_until(lambda: sandbox._starting is not None)
    sandbox.close()
    starter.join()
    assert len(outcome) == 1


def test_a_cancelled_run_is_killed_before_its_limit() -> None:
    cancellation = Cancellation()
    events: list[Event] = []
    spent: list[float] = []

    def run() -> None:
        with Sandbox(RunLimits(wall_seconds=3_600, spare_count=0)) as sandbox:
            for batch in sandbox.trace(job_of("while True: pass"), installed_versions(), cancellation):
                events.extend(batch)
                cancellation.cancel()
            spent.append(spent_by_children(sandbox))

    running = threading.Thread(target=run, daemon=True)
    running.start()
    running.join(60)
    assert not running.is_alive()
    assert problem_of(events)["fact"] == {"kind": "problem-left"}
    assert spent[0] < KILL_LATENCY_SECONDS


def test_a_reader_that_gives_up_leaves_no_child(unpoliced: Sandbox) -> None:
    launcher = unpoliced.launcher
    assert isinstance(launcher, ForkLauncher)
    stream = unpoliced.trace(job_of("while True: pass"), installed_versions(), Cancellation())
    next(stream)
    stream.close()
    wait_until(lambda: len(children_of(launcher.pid)) <= 1)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_a_locked_child_has_everything_that_an_example_needs(trace: Trace, example: Example) -> None:
    events = trace(example.source, **example.options)
    problems = [event for event in events if event["type"] == "problem"]
    assert not [one for one in problems if one["kind"] not in ("error", "not_differentiable")], problems
    assert "No module named" not in str(problems)
    assert events[-1]["type"] == "finished"


def test_a_step_s_jacobian_is_what_the_trace_said(offered: Sandbox, trace: Trace) -> None:
    (step,) = [
        e for e in merge(read_events(trace(REFERENCE))) if e["type"] == "step" and len(e["local_jacobians"]) == 2
    ]
    request = TraceRequest(source=REFERENCE)
    for argnum in (0, 1):
        job = JacobianJob(request=request, limits=resolve_limits(request.options.limits), index=1, argnum=argnum)
        assert offered.replay(job, Cancellation()) == [step["local_jacobians"][argnum]]


def test_a_replay_that_dies_says_why(unpoliced: Sandbox) -> None:
    request = TraceRequest(source="import os\nos.abort()")
    job = JacobianJob(request=request, limits=resolve_limits(request.options.limits), index=0, argnum=0)
    with pytest.raises(ReplayProblemError) as caught:
        unpoliced.replay(job, Cancellation())
    assert caught.value.problem["kind"] == "crashed"


def test_a_spawned_child_gives_the_bytes_of_a_forked_one(offered: Sandbox) -> None:
    def bytes_of(sandbox: Sandbox) -> bytes:
        stream = sandbox.trace(job_of(REFERENCE), installed_versions(), Cancellation())
        return encode([event for batch in stream for event in batch])

    with Sandbox(RunLimits(wall_seconds=60.0, spare_count=0), SpawnLauncher) as spawning:
        assert bytes_of(spawning) == bytes_of(offered)


def test_a_zygote_that_cannot_start_says_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("gradwalk.sandbox.launcher", fromlist=["x"]).ENVIRONMENT, "PYTHONPATH", "/nowhere")
    monkeypatch.setattr("sys.executable", "/usr/bin/python3")
    with pytest.raises(LauncherGoneError, match="did not start"):
        ForkLauncher(RunLimits()).start()


def test_nobody_waits_for_a_child_of_a_launcher_that_is_gone() -> None:
    launcher = ForkLauncher(RunLimits(spare_count=0))
    launcher.start()
    child = launcher.lease()
    launcher.close()
    # Asked twice, as a conversation does; whoever waited would do so for an hour.
    asking = threading.Thread(target=lambda: [child.wait(3_600) for _ in range(2)], daemon=True)
    asking.start()
    asking.join(30)
    assert not asking.is_alive()
    child.channel.close()


def job_of(source: str) -> TraceJob:
    request = TraceRequest(source=source)
    return TraceJob(request=request, limits=resolve_limits(request.options.limits))


def children_of(pid: int) -> set[int]:
    """Of a single-threaded process."""
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def spent_by_children(sandbox: Sandbox) -> float:
    """Seconds of processor that those took which are gone, once all but the spare are."""
    launcher = sandbox.launcher
    assert isinstance(launcher, ForkLauncher)
    wait_until(lambda: len(children_of(launcher.pid)) <= 1)
    _, _, fields = Path(f"/proc/{launcher.pid}/stat").read_text().rpartition(")")
    user, system = fields.split()[13:15]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def wait_until(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    """Polls; fails with the condition when time is over."""
    give_up = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < give_up, "the condition did not come about"
        time.sleep(0.02)
