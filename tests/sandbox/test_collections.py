"""The hostile collection in real children: with the policy, and with the kernel's layers alone. A sample of one program
in five, or with `--sweeps` all of them.

After every batch the reference program must give the same bytes as ever, no child may be left, and no file
may have come or gone.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gradwalk.protocol.document import encode
from gradwalk.protocol.events import Event
from gradwalk.protocol.requests import TraceRequest, resolve_limits
from gradwalk.protocol.versions import installed_versions
from gradwalk.protocol.wire import read_events
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.jobs import TraceJob
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.words.problems import tell_problem
from tests.sandbox.programs import Listed, read_collection
from tests.sweeps import is_sampled

WALL_SECONDS = 1.5
"""For programs that never end."""
PATIENT_SECONDS = 10.0
"""For those that end by themselves, however little of a busy machine they get."""
MEMORY_BYTES = 128 << 20
AT_ONCE = 3
REFERENCE = "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\nprint(x.grad)\n"
VICTIM = Path("/tmp/gradwalk-victim")  # noqa: S108 (the programs name it)
PLACES = (Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"), Path.cwd())  # noqa: S108
HARMLESS = {"ok", "not_differentiable"}
"""A program that makes no graph is told so; nothing was refused and nothing failed."""
LIMITED = {"timeout", "memory", "too_big", "crashed"}
HOSTILE = read_collection("hostile")


def kind_of(events: list[Event]) -> str:
    """How a whole stream says that the run went."""
    read_events(events)
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "started"
    assert events[-1]["type"] == "finished"
    kinds = [event["kind"] for event in events if event["type"] == "problem"]
    return kinds[0] if kinds else "ok"


def trace_in(sandbox: Sandbox, source: str) -> list[Event]:
    request = TraceRequest(source=source)
    job = TraceJob(request=request, limits=resolve_limits(request.options.limits))
    return [event for batch in sandbox.trace(job, installed_versions(), Cancellation()) for event in batch]


def run_all(
    sandbox: Sandbox, programs: list[Listed], judge: Callable[[Listed, str], bool], wall_seconds: float
) -> list[Any]:
    """Every program in a child of its own, a few at a time; those that did not end as they should."""
    lock, wrong = threading.Lock(), []

    def run(listed: Listed) -> None:
        start = time.monotonic()
        events = trace_in(sandbox, listed.source)
        kind = kind_of(events)
        for event in events:
            if event["type"] == "problem" and event["kind"] == "rejected":
                check_sentence(listed, event)
        spent = time.monotonic() - start
        if not judge(listed, kind) or spent > wall_seconds + 8:
            with lock:
                wrong.append((listed.name, sorted(listed.outcomes), kind, round(spent, 1)))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(run, programs))
    return wrong


def check_sentence(listed: Listed, problem: Any) -> None:
    """A refusal names the line, the thing and the reason, and says what to do."""
    assert problem["span"], (listed.name, problem)
    line = problem["span"]["line"]
    assert 1 <= line <= listed.source.count("\n"), (listed.name, problem)
    assert problem["fact"]["kind"] == "refusal", (listed.name, problem)
    told = tell_problem(problem)
    assert "is not available here: it " in told.message, (listed.name, problem)
    assert told.title.endswith("is not available here"), (listed.name, problem)
    assert told.hint is not None, (listed.name, problem)
    assert told.hint.endswith((".", "?", "...`")), (listed.name, problem)


def children_of(pid: int) -> set[int]:
    """Processes whose parent is `pid`."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            if parent == pid:
                found.add(int(entry.name))
    return found


def marks() -> set[str]:
    """Files that a hostile program of the collection would leave."""
    return {str(path) for place in PLACES for path in place.glob("*gradwalk-escaped*")}


@pytest.fixture
def victim() -> Iterator[Path]:
    """A file that the programs try to rename, change and delete."""
    VICTIM.write_text("here")
    before = VICTIM.stat()
    yield VICTIM
    after = VICTIM.stat()
    assert (after.st_ino, after.st_mode, VICTIM.read_text()) == (before.st_ino, before.st_mode, "here")
    VICTIM.unlink()


def contain(programs: list[Listed], policy: bool, wall_seconds: float) -> None:
    """Runs hostile programs in one sandbox, and looks at what they may have left after each batch."""
    limits = RunLimits(wall_seconds=wall_seconds, memory_bytes=MEMORY_BYTES, policy=policy)
    with Sandbox(limits) as sandbox:
        reference = encode(trace_in(sandbox, REFERENCE))
        launcher = sandbox.launcher
        zygote = launcher.pid  # type: ignore[union-attr]
        wrong = []
        for start in range(0, len(programs), 100):
            batch = programs[start : start + 100]
            wrong += run_all(sandbox, batch, judge_policed if policy else judge_unpoliced, wall_seconds)
            assert encode(trace_in(sandbox, REFERENCE)) == reference, batch[0].name
            assert sandbox.launcher is launcher, f"the zygote was lost after {batch[0].name}"
            assert len(children_of(zygote)) <= limits.spare_count + 1, batch[0].name
            assert marks() == set()
    assert not wrong
    assert children_of(zygote) == set()
    assert not Path(f"/proc/{zygote}").exists()


@pytest.mark.parametrize("policy", [True, False], ids=["policy", "kernel alone"])
def test_hostile_programs_are_contained(policy: bool, victim: Path, sweeps: bool) -> None:
    programs = [listed for listed in HOSTILE if sweeps or is_sampled(listed.name, one_in=5)]
    # Without the policy any of them may run on until its time is up.
    endless = [listed for listed in programs if not policy or "timeout" in listed.outcomes]
    ending = [listed for listed in programs if listed not in endless]
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    contain(endless, policy, WALL_SECONDS)
    contain(ending, policy, PATIENT_SECONDS)
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 1  # noqa: PTH208


def test_honest_programs_run_in_locked_children() -> None:
    """Nothing that an honest program needs is imported, opened or compiled after the lockdown."""
    with Sandbox(RunLimits(wall_seconds=30)) as sandbox:
        kinds = {listed.name: kind_of(trace_in(sandbox, listed.source)) for listed in read_collection("honest")}
    failed = {name: kind for name, kind in kinds.items() if kind not in HARMLESS and "uncaught" not in name}
    assert not failed


def judge_policed(listed: Listed, kind: str) -> bool:
    """The expected class; a shared machine may be too slow for what the limits cut anyway."""
    expected = set(listed.outcomes)
    if kind in HARMLESS:
        return "ok" in expected
    if expected & LIMITED or "ok" in expected:
        expected |= LIMITED
    return kind in expected


def judge_unpoliced(listed: Listed, kind: str) -> bool:
    """A whole stream is enough; that the zygote lives and nothing has changed is asked after every batch."""
    return kind != "busy"
