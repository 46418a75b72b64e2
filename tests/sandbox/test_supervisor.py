"""Programs that break out of what a program should do, each with its outcome. Real children throughout.

The kernel's layers and the parent hold by themselves: nothing forbids a program anything before it runs.
"""

import os
import pty
import re
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from gradwalk.protocol.document import encode
from gradwalk.protocol.events import Event
from gradwalk.protocol.versions import installed_versions
from gradwalk.protocol.wire import read_events
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.launcher import Exit, ForkLauncher, LauncherGoneError, SpawnLauncher
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import ReplayProblemError, Sandbox
from tests.world.processes import children_of, is_alive, wait_until
from tests.world.sandbox import HASTY_SECONDS, REFERENCE, jacobian_job_of, job_of, trace_in
from tests.world.stream import assert_whole

Start = Callable[..., Sandbox]
CHANNEL = 200
KILL_LATENCY_SECONDS = 1.5
"""Of processor, which a run that nobody ends goes on to take; a busy machine gives it no more than a quiet one."""


def problem_of(events: list[Event]) -> Any:
    """The one problem of a whole stream."""
    read_events(events)
    assert_whole(events)
    (found,) = [event for event in events if event["type"] == "problem"]
    assert events[-1]["problems"] == 1
    return found


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        pytest.param("import torch\ntorch.zeros(2_000_000_000)", "memory", id="8 GB tensor"),
        pytest.param("import os\nos._exit(70)", "internal", id="leaves like our own fault"),
        pytest.param("import os\nif os.fork() == 0:\n    os._exit(0)", "error", id="fork"),
        pytest.param("import os\nos.execv('/bin/true', ['true'])", "forbidden", id="exec"),
        pytest.param("import socket\nsocket.socket()", "error", id="socket"),
        pytest.param("open('/etc/passwd').read()", "error", id="read a file"),
        pytest.param("import os\nos.rmdir('/tmp')", "error", id="delete a directory"),
        pytest.param("import mmap\nmmap.mmap(-1, 4096, prot=7)", "error", id="code written at run time"),
        pytest.param("import os\nos.write(200, b'\\xff\\xff\\xff\\xff')", "too_big", id="endless frame"),
        pytest.param("import os, time\nos.close(200)\ntime.sleep(60)", "protocol", id="closes the pipe"),
    ],
)
def test_a_program_that_breaks_out_is_told_so_and_harms_nobody(sandboxes: Start, source: str, kind: str) -> None:
    before = encode(trace_in(sandboxes(), REFERENCE))
    assert problem_of(trace_in(sandboxes(), source))["kind"] == kind
    assert encode(trace_in(sandboxes(), REFERENCE)) == before


def test_an_endless_loop_is_stopped_at_its_line(sandboxes: Start) -> None:
    hasty = sandboxes(is_hasty=True)
    before = spent_by_children(hasty)
    events = trace_in(hasty, "print('before')\nn = 0\nwhile True:\n    n += 1\n")
    found = problem_of(events)
    assert found["kind"] == "timeout"
    assert found["span"]["line"] in (3, 4)
    assert [event["text"] for event in events if event["type"] == "stdout"] == ["before\n"]
    assert spent_by_children(hasty) - before < HASTY_SECONDS + KILL_LATENCY_SECONDS


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import builtins\nbuiltins.sum(range(10**11))", id="loop in C"),
        pytest.param("while True:\n    try:\n        while True: pass\n    except BaseException: pass", id="swallows"),
        pytest.param("import time\ntime.sleep(60)", id="sleeps"),
    ],
)
def test_what_no_alarm_can_stop_is_killed_at_the_limit(sandboxes: Start, source: str) -> None:
    hasty = sandboxes(is_hasty=True)
    before = spent_by_children(hasty)
    found = problem_of(trace_in(hasty, source))
    assert found["kind"] in ("timeout", "memory")
    assert spent_by_children(hasty) - before < HASTY_SECONDS + 2 * KILL_LATENCY_SECONDS


def test_a_program_that_leaves_no_memory_to_tell_of_it_is_told_so(sandboxes: Start) -> None:
    """Even what would tell the trace finds none: the child then says with its exit status what happened.

    Which allocation fails first depends on the layout of its memory, and torch's C++ does not survive all of them.
    """
    fill = "try:\n    while True: x.append(bytes({}))\nexcept MemoryError: pass\n"
    nest = "y = []\ntry:\n    while True: y = [y]\nexcept MemoryError: pass\n"
    source = "import torch\nx = []\n" + fill.format(10**5) + fill.format(600) + nest
    events = trace_in(sandboxes(), source + "w = torch.ones(2, requires_grad=True)\n(w * 2).sum().backward()\n")
    assert problem_of(events)["kind"] in ("memory", "crashed")
    assert events[-1]["type"] == "finished"


def test_a_stranger_cannot_read_the_server_s_environment(sandboxes: Start) -> None:
    events = trace_in(sandboxes(), "import os\nprint(sorted(os.environ))")
    (line,) = [event["text"] for event in events if event["type"] == "stdout"]
    assert "PYTEST_CURRENT_TEST" not in line
    assert "OMP_NUM_THREADS" in line


def test_the_kernel_tells_of_every_layer_round_a_running_child(sandboxes: Start) -> None:
    """Read from outside, while the program runs: nothing that it says is asked for."""
    launcher = sandboxes().launcher
    stream = sandboxes().trace(
        job_of("print('on', flush=True)\nwhile True: pass"), installed_versions(), Cancellation()
    )
    next(stream)
    statuses = {pid: status_of(pid) for pid in children_of(launcher.pid)}
    [pid] = [pid for pid, status in statuses.items() if status["Seccomp"] == "2"]
    status = statuses[pid]
    assert (status["NoNewPrivs"], status["Threads"], int(status["CapEff"], 16)) == ("1", "1", 0)
    assert "0" not in status["Uid"].split()
    assert status["NSpgid"] == status["NSpid"], "a group of its own"
    assert Path(f"/proc/{pid}/status").stat().st_uid == 0, "no dump, and no debugger of the same user"
    limits = re.findall(r"^Max (.+?) {2,}(\S+) +(\S+)", Path(f"/proc/{pid}/limits").read_text(), re.MULTILINE)
    none = {name for name, soft, hard in limits if (soft, hard) == ("0", "0")}
    assert none >= {"open files", "file size", "processes", "core file size", "locked memory", "msgqueue size"}
    assert not {name for name, _, hard in limits if hard == "unlimited"} & {
        "address space",
        "data size",
        "cpu time",
        "stack size",
    }
    if os.geteuid() == 0:
        held = {int(one.name): str(one.readlink()) for one in Path(f"/proc/{pid}/fd").iterdir()}
        assert {number: held[number] for number in (0, 1, 2)} == dict.fromkeys((0, 1, 2), "/dev/null")
        assert held.keys() == {0, 1, 2, CHANNEL}
        assert held[CHANNEL].startswith("socket:")
    stream.close()


IN_A_TERMINAL = """
import fcntl, os, psutil, termios
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import Sandbox
fcntl.ioctl(0, termios.TIOCSCTTY)
with Sandbox(RunLimits()) as sandbox:
    for pid in (os.getpid(), sandbox.launcher.pid):
        print(os.getsid(pid) == os.getpid(), psutil.Process(pid).terminal() is not None)
"""


def test_children_have_no_terminal_and_the_session_within_which_priorities_count(run: Callable[..., Any]) -> None:
    primary, terminal = pty.openpty()
    try:
        told = run(["-c", IN_A_TERMINAL], stdin=terminal, start_new_session=True)
    finally:
        os.close(primary)
        os.close(terminal)
    assert told.stdout.split("\n")[:2] == ["True True", "True False"]


def test_no_file_is_left_and_no_child(sandboxes: Start, tmp_path: Path) -> None:
    trace_in(sandboxes(), f"import os\ntry:\n    open({str(tmp_path / 'left')!r}, 'w')\nexcept OSError: pass")
    assert not any(tmp_path.iterdir())
    launcher = sandboxes().launcher
    wait_until(lambda: len(children_of(launcher.pid)) <= 1)  # the spare


def test_a_killed_child_is_a_problem_and_a_killed_zygote_is_replaced(sandboxes: Start) -> None:
    sandbox = sandboxes()
    launcher = sandbox.launcher
    # Printed addresses, the order of sets and random numbers are the same in every child of every zygote.
    addresses = REFERENCE + "import random, numpy as np\n"
    addresses += "print({'a', 'b', 'c'}, random.random(), np.random.rand(), torch.rand(1))\n"
    addresses += "y = x * 2\nprint(y.grad_fn, object(), 'at 12', ' at 0xg')\nraise ValueError(object())"
    before = encode(trace_in(sandbox, addresses))
    assert "<MulBackward0 object at 0x…> <object object at 0x…> at 12  at 0xg".encode() in before
    wait_until(lambda: len(children_of(launcher.pid)) == 1)  # the spare
    (spare,) = children_of(launcher.pid)
    endless = "torch.ones(1, requires_grad=True).sum().backward()\nimport time\ntime.sleep(600)"
    events: list[Event] = []
    for batch in sandbox.trace(job_of(endless), installed_versions(), Cancellation()):
        # What the child sent before it was killed may come in more batches than one.
        is_first = not any(event["type"] == "step" for event in events)
        events += batch
        if is_first and any(event["type"] == "step" for event in batch):
            os.kill(spare, signal.SIGKILL)
    assert problem_of(events)["kind"] == "memory"
    assert any(event["type"] == "step" for event in events)
    events.clear()
    for batch in sandbox.trace(job_of(REFERENCE), installed_versions(), Cancellation()):
        if not events:
            os.kill(launcher.pid, signal.SIGKILL)
            wait_until(lambda: not launcher.is_alive)
        events += batch
    assert_whole(events)
    assert not any(event["type"] == "problem" for event in events)
    sandbox.start()
    assert sandbox.launcher is not launcher
    assert encode(trace_in(sandbox, addresses)) == before


@pytest.mark.usefixtures("sandboxes")
def test_closing_does_not_wait_for_a_start() -> None:
    starting = threading.Event()

    class Slow(ForkLauncher):
        def start(self) -> dict[str, Any]:
            starting.set()
            return super().start()

    sandbox = Sandbox(RunLimits(spare_count=0), Slow)
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(sandbox.start)
        starting.wait()
        sandbox.close()
        with pytest.raises(LauncherGoneError):
            started.result()


def test_a_replay_that_dies_says_why(sandboxes: Start) -> None:
    with pytest.raises(ReplayProblemError) as caught:
        sandboxes().replay(jacobian_job_of("import os\nos.abort()"), Cancellation())
    assert caught.value.problem["kind"] == "crashed"


@pytest.mark.soak
def test_a_spawned_child_gives_the_bytes_of_a_forked_one(sandboxes: Start, start_sandbox: Start) -> None:
    spawning = start_sandbox(SpawnLauncher, wall_seconds=60.0)
    assert encode(trace_in(spawning, REFERENCE)) == encode(trace_in(sandboxes(), REFERENCE))


@pytest.mark.usefixtures("sandboxes")
def test_a_zygote_that_cannot_start_says_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("gradwalk.sandbox.launcher", fromlist=["x"]).ENVIRONMENT, "PYTHONPATH", "/nowhere")
    monkeypatch.setattr("sys.executable", "/usr/bin/python3")
    with pytest.raises(LauncherGoneError, match="did not start"):
        ForkLauncher(RunLimits()).start()


def test_no_child_outlives_its_time_nor_its_zygote(start_sandbox: Start) -> None:
    """Though nobody ends it: these wait for a job that never comes."""
    launcher = start_sandbox(wall_seconds=0.1, recording_seconds=0.0).launcher
    overdue = launcher.lease()
    assert overdue.wait(60) == Exit(None, signal.SIGKILL)
    orphan = launcher.lease()
    os.kill(launcher.pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(orphan.pid))
    overdue.channel.close()
    orphan.channel.close()


def status_of(pid: int) -> dict[str, str]:
    """What the kernel says of a process."""
    pairs = (line.partition(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {name: value.strip() for name, _, value in pairs}


def spent_by_children(sandbox: Sandbox) -> float:
    """Seconds of processor that ended children took, once all but the spare have ended."""
    launcher = sandbox.launcher
    wait_until(lambda: len(children_of(launcher.pid)) <= 1)
    return sum(psutil.Process(launcher.pid).cpu_times()[2:4])
