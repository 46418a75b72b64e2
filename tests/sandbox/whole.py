"""The whole as whoever runs it: a real server, and hostile programs against the kernel's layers alone.

`whole.py STRIDE`: of the collections, every STRIDE-th program. Prints one JSON object; used by `test_whole.py` inside
a container's limits, and by `tests/benchmarks/hosts.py` everywhere and with every program.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from gradwalk.protocol.document import encode
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import Sandbox
from tests.sandbox.programs import read_collection
from tests.sandbox.test_collections import HARMLESS, REFERENCE, children_of, judge_policed, kind_of, run_all, trace_in

SERVER = Path(__file__).parents[2] / "server"
START_SECONDS = 180.0
WALL_SECONDS = 1.0
MEMORY_BYTES = 128 << 20
HONEST = "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\nprint(x.grad)\n"
ASKED = {"honest": HONEST, "refused": "import os\n", "endless": "while True: pass\n"}


def ask_server(stride: int) -> dict[str, Any]:
    """What a real server says of itself, of three programs and of some of each collection; and how it went."""
    with tempfile.TemporaryDirectory() as home:
        log = Path(home) / "log"
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(SERVER), "GRADWALK_DATA_DIRECTORY": f"{home}/data"}
        environment |= {"GRADWALK_RUN_SECONDS": str(WALL_SECONDS)}
        with log.open("wb") as output:
            command = [sys.executable, "-m", "gradwalk", "serve", "--port", "0"]
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            with httpx.Client(base_url=await_address(log, process), timeout=60) as client:
                while client.get("/readyz").status_code != 200:
                    assert process.poll() is None, log.read_text()
                    time.sleep(0.05)
                ready = client.get("/readyz").json()
                said = {name: kind_of(ask(client, source)) for name, source in ASKED.items()}
                said |= {"wrong": ask_collections(client, stride)}
            family = children_of(process.pid)
            process.terminate()
            process.wait(30)
        finally:
            process.kill()
        gone = not any(Path(f"/proc/{pid}").exists() for pid in family)
        level = ready["protection"]["level"]
        logged = f"protection: {level}" in log.read_text()
    return {"level": level, "layers": ready["layers"], "logged": logged, "gone": gone, "said": said}


def ask_collections(client: httpx.Client, stride: int) -> list[tuple[str, str]]:
    """The policy beside the kernel: which programs did not end as they should."""
    listed = read_collection("hostile")[:: stride * 4] + read_collection("honest")[::stride]
    kinds = {each.name: (each, kind_of(ask(client, each.source))) for each in listed}
    # An honest program may be slow here, and some end with an error of their own on purpose.
    allowed = {"timeout", "error", *HARMLESS}
    return [
        (name, kind)
        for name, (each, kind) in kinds.items()
        if not (judge_policed(each, kind) if each.outcomes else kind in allowed)
    ]


def await_address(log: Path, process: subprocess.Popen[bytes]) -> str:
    """The address, once the server has said it."""
    give_up = time.monotonic() + START_SECONDS
    while not (found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text())):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < give_up
        time.sleep(0.05)
    return found.group()


def ask(client: httpx.Client, source: str) -> list[Any]:
    """The events of one program."""
    text = client.post("/api/traces", json={"source": source}, headers={"Accept": "text/event-stream"}).text
    batches = [line[len("data: ") :] for line in text.split("\n") if line.startswith("data: [")]
    return [event for batch in batches for event in json.loads(batch)]


def run_hostile(stride: int) -> dict[str, Any]:
    """Hostile programs with no policy in their way: what became of the others, and what was left."""
    hostile = read_collection("hostile")[::stride]
    limits = RunLimits(wall_seconds=WALL_SECONDS, memory_bytes=MEMORY_BYTES, policy=False)
    with Sandbox(limits) as sandbox:
        reference = encode(trace_in(sandbox, REFERENCE))
        launcher = sandbox.launcher
        run_all(sandbox, hostile, lambda *_: True, WALL_SECONDS)
        same = encode(trace_in(sandbox, REFERENCE)) == reference and sandbox.launcher is launcher
    left = len(children_of(launcher.pid))  # type: ignore[union-attr]
    return {"hostile": len(hostile), "same": same, "left": left}


def main() -> None:
    """Prints what was found."""
    stride = int(sys.argv[1])
    print(json.dumps({"user": os.geteuid()} | ask_server(stride) | run_hostile(stride)))  # noqa: T201


if __name__ == "__main__":
    main()
