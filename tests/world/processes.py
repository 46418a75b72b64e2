"""Processes that tests start: wait until one is ready, end one for certain, run one to its end."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psutil

T = TypeVar("T")

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": f"{ROOT / 'server'}:{ROOT}"}
"""Of every process that a test starts: this checkout, and nothing of the machine's settings."""
PATIENCE_SECONDS = 180.0
"""Before a process counts as hanging; no test measures time by it."""


def wait_until(
    look: Callable[[], T | None], process: subprocess.Popen[Any] | None = None, log: Path | None = None
) -> T:
    """What `look` returns, as soon as it is true.

    Raises AssertionError, with the log if there is one, when the process ends before that, or after three minutes.
    """
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        said = log.read_text(errors="replace") if log is not None else "nothing came"
        assert process is None or process.poll() is None, said
        assert time.monotonic() < give_up, said
        time.sleep(0.02)
    return found


def end(process: subprocess.Popen[Any], seconds: float = 30.0) -> None:
    """SIGTERM, and SIGKILL where that was not enough."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def children_of(pid: int, *, recursive: bool = False) -> set[int]:
    """Processes whose parent is `pid`; their children and so on as well where that is asked for."""
    try:
        return {child.pid for child in psutil.Process(pid).children(recursive)}
    except psutil.NoSuchProcess:
        return set()


def descendants_of(pid: int) -> set[int]:
    """Its children, their children, and so on."""
    return children_of(pid, recursive=True)


def command_of(pid: int) -> str:
    """Its command line; empty once it has ended."""
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""


def is_alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def run_program(command: Sequence[object], /, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end and captures what it printed.

    `status` is the exit status that is right, 0 unless given, None for any; another raises AssertionError with the
    output. `environment` adds variables; other options are those of `subprocess.run`.
    """
    environment = {**ENVIRONMENT, **options.pop("environment", {})}
    status = options.pop("status", 0)
    options = {"capture_output": True, "text": True, "timeout": PATIENCE_SECONDS, "env": environment, **options}
    done = subprocess.run([str(part) for part in command], check=False, **options)
    assert status in (None, done.returncode), f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def run_python(arguments: Sequence[object], /, **options: Any) -> subprocess.CompletedProcess[str]:
    """`run_program` with this Python."""
    return run_program([sys.executable, *arguments], **options)


@contextmanager
def running(command: Sequence[object], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose output goes to `log`; ended afterwards."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(part) for part in command], env={**ENVIRONMENT, **environment}, stdout=output, stderr=output
        )
    try:
        yield process
    finally:
        end(process)
