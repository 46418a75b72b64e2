"""The warm parent of all children. Started by its own exec with an empty environment, never forked from the server.

It imports torch and the tracer once, and then only ever forks: no program runs in it. It speaks JSON messages
over one socket: `lease` asks for a child and is answered with the descriptor of its pipe, `kill` ends one, `status`
reports how a child went. When the socket closes, it exits and takes its children along: that, and not a
parent-death signal, because the kernel sends the latter already when the *thread* that started us ends.
"""

import fcntl
import json
import os
import select
import signal
import socket
import sys
import termios
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from gradwalk.sandbox import lockdown
from gradwalk.sandbox.child import Confinement, run_child
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.warm import assert_forkable, gather_into_large_pages, warm_up

_MESSAGE_BYTES = 4_096
_IDLE_BEFORE_REFILL_MS = 3
_BACKSTOP_SECONDS = 1.0
"""How long after its wall time the zygote itself ends a child that nobody has ended."""


@dataclass(slots=True)
class Forked:
    """A child, before or after it was leased."""

    pid: int
    pidfd: int
    channel: socket.socket | None
    """The parent's end, until it is handed over."""
    lease: int | None = None
    deadline: float | None = None


class Zygote:
    """The loop: fork, hand over, reap."""

    def __init__(self, control: socket.socket, confinement: Confinement) -> None:
        self._control = control
        self._confinement = confinement
        self._limits = confinement.limits
        self._spares: list[Forked] = []
        self._children: dict[int, Forked] = {}
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def serve(self) -> NoReturn:
        """Until the control socket closes."""
        while True:
            events = self._poll.poll(self._patience_ms())
            for descriptor, _ in events:
                if descriptor == self._control.fileno():
                    self._obey()
                elif descriptor in self._children:
                    self._reap(self._children[descriptor])
            self._end_overdue()
            if not events and len(self._spares) < self._limits.spare_count:
                self._spares.append(self._fork())

    def _patience_ms(self) -> float | None:
        if len(self._spares) < self._limits.spare_count:
            return _IDLE_BEFORE_REFILL_MS
        deadlines = [child.deadline for child in self._children.values() if child.deadline is not None]
        return max(0.0, (min(deadlines) - time.monotonic()) * 1e3) + 1 if deadlines else None

    def _obey(self) -> None:
        raw = self._control.recv(_MESSAGE_BYTES)
        if not raw:
            os._exit(0)
        message = json.loads(raw)
        if "lease" in message:
            self._lease(message["lease"])
        else:
            self._kill(message["kill"])

    def _lease(self, lease: int) -> None:
        child = self._spares.pop() if self._spares else self._fork()
        child.lease = lease
        child.deadline = time.monotonic() + self._limits.total_seconds + _BACKSTOP_SECONDS
        if child.channel is not None:
            self._say({"lease": lease, "pid": child.pid}, child.channel)
            child.channel.close()
            child.channel = None

    def _kill(self, lease: int) -> None:
        for child in self._children.values():
            if child.lease == lease:
                signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)

    def _end_overdue(self) -> None:
        now = time.monotonic()
        for child in self._children.values():
            if child.deadline is not None and child.deadline <= now:
                signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)
                child.deadline = None

    def _fork(self) -> Forked:
        ours, theirs = socket.socketpair()
        zygote = os.getpid()
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            run_child(theirs.fileno(), self._confinement, zygote)
        theirs.close()
        child = Forked(pid, os.pidfd_open(pid), ours)
        self._children[child.pidfd] = child
        self._poll.register(child.pidfd, select.POLLIN)
        return child

    def _reap(self, child: Forked) -> None:
        del self._children[child.pidfd]
        self._poll.unregister(child.pidfd)
        os.close(child.pidfd)
        _, status, used = os.wait4(child.pid, 0)
        if child.channel is None:
            cpu_seconds = used.ru_utime + used.ru_stime
            self._say({"lease": child.lease, "status": os.waitstatus_to_exitcode(status), "cpu_seconds": cpu_seconds})
        else:  # a spare that died before it was needed
            child.channel.close()
            self._spares.remove(child)

    def _say(self, message: dict[str, Any], channel: socket.socket | None = None) -> None:
        try:
            socket.send_fds(self._control, [json.dumps(message).encode()], [channel.fileno()] if channel else [])
        except OSError:
            os._exit(0)


def _leave_terminal() -> None:
    """Of the session only, which stays the server's: a kernel that groups by session compares `nice` within one."""
    with suppress(OSError):
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        fcntl.ioctl(terminal, termios.TIOCNOTTY)
        os.close(terminal)


def main() -> NoReturn:
    """Warms up, locks itself in, says `ready`, serves. Arguments: its limits, the number of its control socket."""
    started = time.monotonic()
    limits = RunLimits.model_validate_json(sys.argv[1])
    control = socket.socket(fileno=int(sys.argv[2]))
    _leave_terminal()
    ordinary = warm_up()
    # Takes most of a second, and each fork gains a little: where nothing is forked ahead, a program or two are run.
    large_page_bytes = gather_into_large_pages() if limits.spare_count else 0
    assert_forkable()
    dropped_root = lockdown.drop_root()
    lockdown.refuse_new_privileges()
    confinement = Confinement.prepare(limits, ordinary)
    if confinement.landlock_ruleset is not None:
        lockdown.enter_landlock(confinement.landlock_ruleset)
    zygote = Zygote(control, confinement)
    ready = {
        "landlock": confinement.landlock_ruleset is not None,
        "seccomp": confinement.seccomp,
        "resource_limits": limits.resource_limits,
        "dropped_root": dropped_root,
        "base_bytes": confinement.base_bytes,
        "large_page_bytes": large_page_bytes,
        "warm_up_seconds": time.monotonic() - started,
    }
    control.send(json.dumps({"ready": ready}).encode())
    zygote.serve()
