"""Harmless attempts at what a program must not be able to do, made inside a locked child.

None of them changes anything where it goes through: what is opened is closed, a new process exits at once, memory
is reserved but not touched, the parent gets signal 0. The parent's side is `selftest.py`.
"""

import _thread
import contextlib
import mmap
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from gradwalk.sandbox.jobs import ProbeName

_CLOSED_PORT = 9
"""Of "discard", where nobody listens: being refused there means that the network was reached."""
_MEMORY_BYTES = 4 << 30


def probe(name: ProbeName) -> dict[str, Any]:
    """Tries one thing: `{"probe", "is_open", "said"}`. `exec` and `loop` may not come back."""
    try:
        PROBES[name]()
    except (OSError, MemoryError, RuntimeError, ValueError) as error:
        return {"probe": name, "is_open": False, "said": f"{type(error).__name__}: {error}"[:200]}
    return {"probe": name, "is_open": True, "said": ""}


def _connect() -> None:
    with socket.socket() as ours:
        try:
            ours.connect(("127.0.0.1", _CLOSED_PORT))
        except ConnectionRefusedError:
            return


def _fork() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _start_thread() -> None:
    started = _thread.allocate_lock()
    started.acquire()
    _thread.start_new_thread(started.release, ())
    started.acquire()


def _reserve_memory() -> None:
    # Without MAP_NORESERVE a small machine would refuse, and it is the limit that is asked about.
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    mmap.mmap(-1, _MEMORY_BYTES, flags=flags).close()


def _raise_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_AS, (hard + 1, hard + 1))


def _exec() -> None:
    # By its path, a program may be out of reach for reasons that are no lock, such as a private home directory.
    with contextlib.suppress(FileNotFoundError):
        os.execv("/proc/self/exe", [sys.executable, "-I", "-S", "-c", ""])
    os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", ""])


def _loop() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        pass


PROBES: dict[ProbeName, Callable[[], Any]] = {
    "read": Path(__file__).read_bytes,
    "list": partial(os.listdir, "/"),
    "stat": partial(os.stat, "/"),
    "connect": _connect,
    "fork": _fork,
    "thread": _start_thread,
    "signal": lambda: os.kill(os.getppid(), 0),
    "memory": _reserve_memory,
    "raise": _raise_limit,
    "exec": _exec,
    "loop": _loop,
}
