"""The hostile programs in real children: with the policy, and with the kernel's layers alone. Ring 3 runs all of them.

Afterwards the reference program must give the same bytes as ever, no child may be left, and no file may have come or
gone.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gradwalk.protocol.document import encode
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.words.problems import tell_problem
from tests.sandbox.programs import Listed, read_collection, stratify
from tests.world.processes import children_of, wait_until
from tests.world.sandbox import REFERENCE, trace_in
from tests.world.stream import kind_of

AT_ONCE = 3
PLACES = (Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"), Path.cwd())  # noqa: S108
HARMLESS = {"ok", "not_differentiable"}
"""A program without a graph gets a message; nothing was refused and nothing failed."""
LIMITED = {"timeout", "memory", "too_big", "crashed"}
HOSTILE = read_collection("hostile")
SAMPLES = {
    True: [each for each in stratify(HOSTILE, by_outcome=True, each=1) if "timeout" not in each.outcomes],
    False: stratify(HOSTILE, by_outcome=False, each=2),
}
"""With the policy, one of each file and outcome that ends by itself; with the kernel alone, two of each file."""
FILES = sorted({listed.name.partition("/")[0] for listed in HOSTILE})
PARTS = ["sample", *(pytest.param(name, marks=pytest.mark.sweep) for name in FILES)]


def run_all(sandbox: Sandbox, programs: list[Listed], judge: Callable[[Listed, str], bool]) -> list[Any]:
    """Every program in a child of its own, a few at a time; gives those that did not end as they should."""

    def run(listed: Listed) -> tuple[str, list[str], str] | None:
        events: list[Any] = trace_in(sandbox, listed.source)
        kind = kind_of(events)
        for event in events:
            if event["type"] == "problem" and event["kind"] == "rejected":
                check_refusal(listed, event)
        return None if judge(listed, kind) else (listed.name, sorted(listed.outcomes), kind)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [found for found in pool.map(run, programs) if found]


def check_refusal(listed: Listed, problem: Any) -> None:
    """A refusal names the line, the thing and the reason, and a way to go on."""
    assert problem["span"], (listed.name, problem)
    assert 1 <= problem["span"]["line"] <= listed.source.count("\n"), (listed.name, problem)
    assert problem["fact"]["kind"] == "refusal", (listed.name, problem)
    assert {"thing", "reason", "instead"} <= set(problem["fact"]["operands"]), (listed.name, problem)
    assert tell_problem(problem).hint, (listed.name, problem)


def marks() -> set[str]:
    """Files that a hostile program of the collection would leave."""
    return {str(path) for place in PLACES for path in place.glob("*gradwalk-escaped*")}


def contain(sandbox: Sandbox, programs: list[Listed], judge: Callable[[Listed, str], bool]) -> None:
    """Runs hostile programs, and looks at what they may have left."""
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    reference = encode(trace_in(sandbox, REFERENCE))
    launcher = sandbox.launcher
    wrong = run_all(sandbox, programs, judge)
    assert encode(trace_in(sandbox, REFERENCE)) == reference
    assert sandbox.launcher is launcher, "the zygote was lost"
    wait_until(lambda: len(children_of(launcher.pid)) <= 1)  # type: ignore[union-attr]
    assert marks() == set()
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 1  # noqa: PTH208
    assert not wrong


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("policy", [pytest.param(True, marks=pytest.mark.sweep), False], ids=["policy", "kernel alone"])
def test_hostile_programs_are_contained(
    sandboxes: Callable[..., Sandbox], policy: bool, part: str, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("here")
    before = victim.stat()
    chosen = SAMPLES[policy] if part == "sample" else [each for each in HOSTILE if each.name.startswith(f"{part}/")]
    programs = [each._replace(source=each.source.replace("E_VICTIM", str(victim))) for each in chosen]
    # Without the policy any of them may run on until its time is up.
    endless = [listed for listed in programs if not policy or "timeout" in listed.outcomes]
    judge = judge_policed if policy else judge_unpoliced
    if endless:
        contain(sandboxes(policy=policy, is_hasty=True), endless, judge)
    if policy:
        contain(sandboxes(), [listed for listed in programs if listed not in endless], judge)
    after = victim.stat()
    assert (after.st_ino, after.st_mode, victim.read_text()) == (before.st_ino, before.st_mode, "here")


@pytest.mark.parametrize("part", ["sample", pytest.param("all", marks=pytest.mark.sweep)])
def test_honest_programs_do_what_they_do_without_the_policy(sandboxes: Callable[..., Sandbox], part: str) -> None:
    """In locked children: nothing that they need is imported, opened or compiled after the lockdown."""
    honest = read_collection("honest")
    for listed in stratify(honest, by_outcome=False, each=1) if part == "sample" else honest:
        offered, plain = (trace_in(sandboxes(policy=policy), listed.source) for policy in (True, False))
        assert kind_of(plain) in HARMLESS or "uncaught" in listed.name, listed.name
        assert encode(offered) == encode(plain) or "timing" in listed.name, listed.name


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
