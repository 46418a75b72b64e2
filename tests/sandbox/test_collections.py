"""Hostile programs in real children, held by the kernel's layers alone. Ring 3 runs all of them.

Each ends as its collection says; afterwards the reference program must give the same bytes as ever, no child may be
left, and no file may have come or gone.
"""

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.protocol.document import encode
from gradwalk.protocol.wire import read_events
from gradwalk.sandbox.supervisor import Sandbox
from tests.sandbox.programs import Listed, read_collection, stratify
from tests.twin import check_pass, run_plain, run_watched
from tests.world.processes import children_of, wait_until
from tests.world.sandbox import REFERENCE, trace_in
from tests.world.stream import kind_of

AT_ONCE = 3
PLACES = (Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"), Path.cwd())  # noqa: S108
HARMLESS = {"ok", "not_differentiable"}
"""Nothing failed; a program without a graph gets a message."""
LIMITED = {"timeout", "memory", "too_big", "crashed"}
UNDEFINED = "undefined"
"""The program writes or reads memory that is not its own: its own run may end anyhow, and nothing else may change."""
HOSTILE = read_collection("hostile")
FILES = sorted({listed.name.partition("/")[0] for listed in HOSTILE})
SAMPLE = [each for each in stratify(HOSTILE, by_outcome=True, each=3) if each.outcomes != {"timeout"}]
PARTS = ["sample", *(pytest.param(name, marks=pytest.mark.sweep) for name in FILES)]


def judge(listed: Listed, kind: str) -> bool:
    """The expected class; a shared machine may be too slow for what the limits cut anyway."""
    expected = set(listed.outcomes)
    return (
        kind in expected
        or UNDEFINED in expected
        or (kind in HARMLESS and "harmless" in expected)
        or bool(kind in LIMITED and expected & LIMITED)
    )


def marks() -> set[str]:
    """Files that a hostile program of the collection would leave."""
    return {str(path) for place in PLACES for path in place.glob("*gradwalk-escaped*")}


def contain(sandbox: Sandbox, programs: list[Listed]) -> None:
    """Runs every program in a child of its own, a few at a time, and looks at what they may have left."""
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    reference = encode(trace_in(sandbox, REFERENCE))
    launcher = sandbox.launcher
    with ThreadPoolExecutor(AT_ONCE) as pool:
        kinds = list(pool.map(lambda listed: kind_of(trace_in(sandbox, listed.source)), programs))
    assert encode(trace_in(sandbox, REFERENCE)) == reference
    assert sandbox.launcher is launcher, "the zygote was lost"
    wait_until(lambda: len(children_of(launcher.pid)) <= 1)
    assert marks() == set()
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 1  # noqa: PTH208
    ended = zip(programs, kinds, strict=True)
    assert [(one.name, sorted(one.outcomes), kind) for one, kind in ended if not judge(one, kind)] == []


@pytest.mark.parametrize("part", PARTS)
def test_hostile_programs_are_contained(sandboxes: Callable[..., Sandbox], part: str, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("here")
    before = victim.stat()
    chosen = SAMPLE if part == "sample" else [each for each in HOSTILE if each.name.startswith(f"{part}/")]
    programs = [each._replace(source=each.source.replace("E_VICTIM", str(victim))) for each in chosen]
    endless = [listed for listed in programs if listed.outcomes & {*LIMITED, UNDEFINED}]
    if endless:
        contain(sandboxes(is_hasty=True), endless)
    contain(sandboxes(), [listed for listed in programs if listed not in endless])
    after = victim.stat()
    assert (after.st_ino, after.st_mode, victim.read_text()) == (before.st_ino, before.st_mode, "here")


@pytest.fixture
def without_fused_layers() -> Iterator[None]:
    """As in a locked child; torch's own tests, once imported, forbid the public switch."""
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    yield
    torch._C._set_mkldnn_enabled(before)


@pytest.mark.parametrize("part", ["sample", pytest.param("all", marks=pytest.mark.sweep)])
@pytest.mark.usefixtures("without_fused_layers")
def test_honest_programs_do_in_a_locked_child_what_plain_torch_does(sandboxes, part):
    """Nothing that they, or the examples, need is imported, opened or compiled after the lockdown."""
    shipped = [Listed(f"examples/{each.slug}", frozenset(), each.source) for each in EXAMPLES if not each.options]
    honest = read_collection("honest") + shipped
    for listed in stratify(honest, by_outcome=False, each=2) if part == "sample" else honest:
        events: list[Any] = read_events(json.loads(encode(trace_in(sandboxes(), listed.source))))
        # The last program may have set them, and this process is not left behind like a child.
        torch.set_printoptions(profile="default")
        plain, twin = run_plain(listed.source), run_watched(listed.source)
        assert kind_of(events) in HARMLESS or plain.error is not None, (listed.name, kind_of(events))
        for index, watched in enumerate(twin.passes):
            check_pass(events, watched, index)
        printed = "".join(event["text"] for event in events if event["type"] == "stdout")
        assert printed == plain.printed or "timing" in listed.name, listed.name
