"""Where children come from: forked by a zygote (Linux), or spawned one by one (elsewhere). The parent's side.

Both give out a `Child`: a pipe, a way to end it, and how it ended. Nothing here imports torch.
"""

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from gradwalk.sandbox.limits import WARM, RunLimits

START_SECONDS = 120.0
LEASE_SECONDS = 10.0
_MESSAGE_BYTES = 4_096

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "PYTHONPATH": str(Path(__file__).parents[2]),
    "PYTHONDONTWRITEBYTECODE": "1",
    # The order of a set of strings must not differ between two runs of one program.
    "PYTHONHASHSEED": "0",
    # A second thread in the parent makes a forked child hang in its first parallel operation.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "CUDA_VISIBLE_DEVICES": "",
    # FBGEMM compiles kernels of embedding_bag at run time, and crashes where memory cannot be made executable.
    "FBGEMM_NO_ASMJIT": "1",
    # torch makes this folder when it is imported: one that is there, since nothing may be writable.
    "TORCHINDUCTOR_CACHE_DIR": "/",
}
"""All of a child's environment: nothing of the server's, and no PYTHONNODEBUGRANGES, which would cost the spans."""


class LauncherGoneError(RuntimeError):
    """The process that makes children has ended or does not answer."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a child ended: exactly one of `code` and `signal` is set."""

    code: int | None
    signal: int | None
    cpu_seconds: float = field(default=0.0, compare=False)
    """Of processor time that it used; 0 of a spawned child, which only a server for its own machine has."""


def exit_of(status: int, cpu_seconds: float = 0.0) -> Exit:
    """From a status as `subprocess` and `os.waitstatus_to_exitcode` give it."""
    return Exit(status, None, cpu_seconds) if status >= 0 else Exit(None, -status, cpu_seconds)


class Child(Protocol):
    """One run's process."""

    pid: int
    """In this system's numbering."""
    channel: socket.socket
    """The job goes in, the answer comes out."""

    def kill(self) -> None:
        """SIGKILL; does not wait, does not mind a child that has ended."""

    def wait(self, seconds: float) -> Exit | None:
        """How it ended; None when it has not, or nobody can tell any more."""


def step_back(child: Child, niceness: int) -> None:
    """From now on other processes have the processor first."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.setpriority(os.PRIO_PROCESS, child.pid, niceness)


class _ForkedChild:
    """A child that the zygote forked; only the zygote can end it and knows how it ended."""

    pid: int
    channel: socket.socket

    def __init__(self, lease: int, zygote: "ForkLauncher") -> None:
        self._lease = lease
        self._zygote = zygote
        self.arrival: Future[None] = Future()
        self.exit: Future[Exit | None] = Future()

    def kill(self) -> None:
        self._zygote.say({"kill": self._lease})

    def wait(self, seconds: float) -> Exit | None:
        with contextlib.suppress(TimeoutError):
            return self.exit.result(seconds)
        return None


class ForkLauncher:
    """Starts one zygote and speaks with it. Single use: when the zygote is gone, make a new launcher."""

    def __init__(self, limits: RunLimits) -> None:
        self._leases = itertools.count()
        self._children: dict[int, _ForkedChild] = {}
        self._lock = threading.Lock()
        self.is_alive = True
        """False once no child can be had from it any more."""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._last_words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the zygote)
        self._process = _start_python("gradwalk.sandbox.zygote", limits, theirs, self._last_words)
        theirs.close()

    @property
    def pid(self) -> int:
        """Of the zygote."""
        return self._process.pid

    def start(self) -> dict[str, Any]:
        """Waits until children can be leased; the layers that lock them in.

        Raises:
            LauncherGoneError: it did not start, with its last words.
        """
        self._control.settimeout(START_SECONDS)
        try:
            raw = self._control.recv(_MESSAGE_BYTES)
        except OSError:
            raw = b""
        if not raw:
            with self._lock:  # close may have been called meanwhile
                words = _read_last_words(self._last_words)
            self.close()
            self._control.close()
            raise LauncherGoneError(f"the zygote did not start: {words}")
        self._control.settimeout(None)
        threading.Thread(target=self._listen, name="zygote-listener", daemon=True).start()
        layers: dict[str, Any] = json.loads(raw)["ready"]
        return layers

    def lease(self) -> Child:
        """A fresh child.

        Raises:
            LauncherGoneError: none can be had from this launcher any more.
        """
        lease = next(self._leases)
        child = _ForkedChild(lease, self)
        with self._lock:
            if not self.is_alive:
                raise LauncherGoneError("the zygote has ended")
            self._children[lease] = child
        self.say({"lease": lease})
        try:
            child.arrival.result(LEASE_SECONDS)
        except TimeoutError:
            raise LauncherGoneError("the zygote gave no child") from None
        return child

    def say(self, message: dict[str, Any]) -> None:
        """Sends one message; a zygote that is gone is noticed by the listener."""
        with contextlib.suppress(OSError):
            self._control.send(json.dumps(message).encode())

    def close(self) -> None:
        """Ends the launcher and every child of it."""
        self._process.kill()
        self._process.wait()
        self._forget_all()
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._last_words.close()

    def _listen(self) -> None:
        while True:
            try:
                raw, descriptors, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 1)
            except OSError:
                raw, descriptors = b"", []
            if not raw:
                break
            self._hear(json.loads(raw), descriptors)
        self._forget_all()
        self._control.close()

    def _hear(self, message: dict[str, Any], descriptors: list[int]) -> None:
        with self._lock:
            child = (self._children.get if descriptors else self._children.pop)(message["lease"], None)
        if child is None:
            return
        if descriptors:
            child.pid, child.channel = message["pid"], socket.socket(fileno=descriptors[0])
            child.arrival.set_result(None)
        else:
            child.exit.set_result(exit_of(message["status"], message["cpu_seconds"]))

    def _forget_all(self) -> None:
        with self._lock:
            self.is_alive = False
            orphans = list(self._children.values())
            self._children.clear()
        for child in orphans:
            if not child.arrival.done():
                child.arrival.set_exception(LauncherGoneError("the zygote has ended"))
            child.exit.set_result(None)


class _SpawnedChild:
    """A child with a process of its own."""

    def __init__(self, limits: RunLimits) -> None:
        self.channel, theirs = socket.socketpair()
        self._process = _start_python("gradwalk.sandbox.spawned", limits, theirs, subprocess.DEVNULL)
        self.pid = self._process.pid
        theirs.close()

    def await_warmth(self) -> None:
        """Until it can run a program, so that the time of the run does not begin before."""
        self.channel.settimeout(START_SECONDS)
        try:
            warm = self.channel.recv(len(WARM)) == WARM
        except OSError:
            warm = False
        if not warm:
            self.kill()
            raise LauncherGoneError("a spawned child did not start")

    def kill(self) -> None:
        # It leads a session of its own, so that whatever it may have started goes too.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.kill()

    def wait(self, seconds: float) -> Exit | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return exit_of(self._process.wait(seconds))
        return None


class SpawnLauncher:
    """Keeps a few single-use children warming up ahead of need; each takes seconds to start."""

    is_alive = True

    def __init__(self, limits: RunLimits) -> None:
        self._limits = limits
        self._spares: deque[_SpawnedChild] = deque()
        self._given: list[_SpawnedChild] = []
        self._lock = threading.Lock()

    def start(self) -> dict[str, Any]:
        with self._lock:
            self._refill()
        return {"landlock": False, "seccomp": False, "resource_limits": True, "dropped_root": False}

    def lease(self) -> Child:
        with self._lock:
            child = self._spares.popleft() if self._spares else _SpawnedChild(self._limits)
            self._given = [given for given in self._given if given.wait(0) is None]
            self._given.append(child)
            self._refill()
        child.await_warmth()
        return child

    def close(self) -> None:
        with self._lock:
            for child in (*self._spares, *self._given):
                child.kill()
                child.wait(1)
                child.channel.close()
            self._spares.clear()

    def _refill(self) -> None:
        while len(self._spares) < self._limits.spare_count:
            self._spares.append(_SpawnedChild(self._limits))


Launcher = ForkLauncher | SpawnLauncher


def launcher_for(limits: RunLimits) -> Launcher:
    """The best that this platform has."""
    return ForkLauncher(limits) if sys.platform == "linux" else SpawnLauncher(limits)


def _start_python(
    module: str, limits: RunLimits, pipe: socket.socket, stderr: IO[bytes] | int
) -> subprocess.Popen[bytes]:
    """A Python of its own exec, never a fork of this process; it is told the number of its pipe."""
    # Without the garbage collector, until it is warm: a fifth of the processor time of a start would go to it.
    code = f"import gc; gc.disable(); from {module} import main; main()"
    command = [sys.executable, "-s", "-P", "-c", code, limits.model_dump_json(), str(pipe.fileno())]
    return subprocess.Popen(
        command,
        env=ENVIRONMENT,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        pass_fds=(pipe.fileno(),),
    )


def _read_last_words(file: IO[bytes]) -> str:
    if file.closed:
        return "it was called off"
    file.seek(0)
    return file.read().decode("utf-8", "replace")[-2_000:].strip() or "it said nothing"
