"""The whole as whoever runs it: a real server, and hostile programs against the kernel's layers alone.

`whole.py STRIDE`: of the collections, every STRIDE-th program. Prints one JSON object; used by `test_whole.py` inside
a container's limits.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx

from gradwalk.protocol.document import encode
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import Sandbox
from tests.sandbox.programs import read_collection
from tests.sandbox.test_collections import HARMLESS, judge_policed, run_all
from tests.world.processes import children_of, wait_until
from tests.world.sandbox import MEMORY_BYTES, REFERENCE, trace_in
from tests.world.server import Server
from tests.world.stream import kind_of, trace_events

WALL_SECONDS = 1.0
ASKED = {"honest": REFERENCE, "refused": "import os\n", "endless": "while True: pass\n"}


def ask_server(stride: int) -> dict[str, Any]:
    """What a real server says of itself, of three programs and of some of each collection; and how it went."""
    with tempfile.TemporaryDirectory() as home:
        server = Server(Path(home), run_seconds=WALL_SECONDS)
        try:
            ready = server.client.get("/readyz").json()
            said = {name: kind_of(trace_events(server.client, source)) for name, source in ASKED.items()}
            said |= {"wrong": ask_collections(server.client, stride)}
            family = server.family()
        finally:
            server.stop()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family))
        level = ready["protection"]["level"]
        logged = f"protection: {level}" in server.log.read_text()
    return {"level": level, "layers": ready["layers"], "logged": logged, "said": said}


def ask_collections(client: httpx.Client, stride: int) -> list[tuple[str, str]]:
    """The policy beside the kernel: which programs did not end as they should."""
    listed = read_collection("hostile")[:: stride * 4] + read_collection("honest")[::stride]
    kinds = {each.name: (each, kind_of(trace_events(client, each.source))) for each in listed}
    # An honest program may be slow here, and some end with an error of their own on purpose.
    allowed = {"timeout", "error", *HARMLESS}
    return [
        (name, kind)
        for name, (each, kind) in kinds.items()
        if not (judge_policed(each, kind) if each.outcomes else kind in allowed)
    ]


def run_hostile(stride: int) -> dict[str, Any]:
    """Hostile programs with no policy in their way: what became of the others, and what was left."""
    hostile = read_collection("hostile")[::stride]
    limits = RunLimits(wall_seconds=WALL_SECONDS, memory_bytes=MEMORY_BYTES, policy=False)
    with Sandbox(limits) as sandbox:
        reference = encode(trace_in(sandbox, REFERENCE))
        launcher = sandbox.launcher
        run_all(sandbox, hostile, lambda *_: True)
        same = encode(trace_in(sandbox, REFERENCE)) == reference and sandbox.launcher is launcher
    left = len(children_of(launcher.pid))  # type: ignore[union-attr]
    return {"hostile": len(hostile), "same": same, "left": left}


def main() -> None:
    """Prints what was found."""
    stride = int(sys.argv[1])
    print(json.dumps({"user": os.geteuid()} | ask_server(stride) | run_hostile(stride)))  # noqa: T201


if __name__ == "__main__":
    main()
