"""The kernel's layers round one child: privileges, descriptors, resource limits, Landlock, seccomp.

The kernel is the boundary; nothing above it is relied on. Every layer that a platform lacks is left out and
*reported*, so that the level of protection can be measured instead of claimed. All of it is the standard
library and ctypes; constants are those of the Linux headers named beside them.
"""

import ctypes
import os
import platform
import resource
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

IS_LINUX = sys.platform == "linux"
UNPRIVILEGED_ID = 65_534

# linux/prctl.h
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_SIGKILL = 9

# linux/landlock.h; the numbers are the same on every architecture
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_CREATE_RULESET_VERSION = 1
_LANDLOCK_FILE_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15}
_LANDLOCK_FILE_RIGHTS_NEWEST = 16
_LANDLOCK_NETWORK_SINCE_ABI = 4
_LANDLOCK_SCOPE_SINCE_ABI = 6

_STACK_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Syscalls:
    """One architecture's numbers, from its unistd header."""

    audit_arch: int
    numbers: dict[str, int]


# fmt: off
_X86_64 = Syscalls(0xC000003E, {
    "read": 0, "write": 1, "close": 3, "fstat": 5, "lseek": 8, "mmap": 9, "mprotect": 10, "munmap": 11,
    "brk": 12, "rt_sigprocmask": 14, "rt_sigreturn": 15, "writev": 20, "sched_yield": 24, "mremap": 25,
    "madvise": 28, "nanosleep": 35, "getpid": 39, "socket": 41, "connect": 42, "clone": 56, "fork": 57,
    "vfork": 58, "execve": 59, "exit": 60, "getcwd": 79, "gettimeofday": 96, "getrusage": 98, "ptrace": 101,
    "mount": 165, "init_module": 175, "gettid": 186, "time": 201, "futex": 202, "sched_getaffinity": 204,
    "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230,
    "exit_group": 231, "tgkill": 234, "kexec_load": 246, "keyctl": 250, "unshare": 272,
    "perf_event_open": 298, "setns": 308, "getcpu": 309, "process_vm_readv": 310, "process_vm_writev": 311,
    "finit_module": 313, "getrandom": 318, "bpf": 321, "execveat": 322, "userfaultfd": 323, "rseq": 334,
    "io_uring_setup": 425, "clone3": 435, "pidfd_getfd": 438,
})
_AARCH64 = Syscalls(0xC00000B7, {
    "getcwd": 17, "mount": 40, "close": 57, "lseek": 62, "read": 63, "write": 64, "writev": 66, "fstat": 80, "exit": 93,
    "exit_group": 94, "unshare": 97, "futex": 98, "nanosleep": 101, "kexec_load": 104, "init_module": 105,
    "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115, "ptrace": 117,
    "sched_getaffinity": 123, "sched_yield": 124, "restart_syscall": 128, "tgkill": 131,
    "rt_sigprocmask": 135, "rt_sigreturn": 139, "getrusage": 165, "getcpu": 168, "gettimeofday": 169,
    "getpid": 172, "gettid": 178, "socket": 198, "connect": 203, "brk": 214, "munmap": 215, "mremap": 216,
    "keyctl": 219, "clone": 220, "execve": 221, "mmap": 222, "mprotect": 226, "madvise": 233,
    "perf_event_open": 241, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271,
    "finit_module": 273, "getrandom": 278, "bpf": 280, "execveat": 281, "userfaultfd": 282, "rseq": 293,
    "io_uring_setup": 425, "clone3": 435, "pidfd_getfd": 438,
})
# fmt: on
ARCHITECTURES = {"x86_64": _X86_64, "aarch64": _AARCH64}

ALLOWED = (
    *("futex", "mmap", "munmap", "brk", "mprotect", "madvise", "mremap", "write", "writev", "read", "close"),
    *("fstat", "lseek", "rt_sigreturn", "rt_sigprocmask", "getrandom", "clock_gettime", "clock_getres"),
    *("clock_nanosleep", "nanosleep", "gettimeofday", "time", "getpid", "gettid", "getrusage", "getcpu", "getcwd"),
    *("sched_yield", "sched_getaffinity", "restart_syscall", "rseq", "exit", "exit_group", "tgkill"),
)
"""Everything else answers EPERM, because libraries probe and cope."""

KILLED = (
    *("execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "mount", "unshare", "setns"),
    *("bpf", "io_uring_setup", "userfaultfd", "perf_event_open", "keyctl", "init_module", "finit_module"),
    *("kexec_load", "pidfd_getfd"),
)
"""No library probes these; whoever calls one is ended with SIGSYS."""

REFUSED_AS_BUSY = ("clone", "fork", "vfork")
"""RLIMIT_NPROC does not bind root, so processes and threads are refused here as well."""

# linux/bpf_common.h, linux/seccomp.h, asm-generic/errno
_LOAD_WORD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _EAGAIN, _EACCES, _ENOSYS = 1, 11, 13, 38
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_ARGUMENT_0, _OFFSET_ARGUMENT_2 = 0, 4, 16, 32
_PROT_EXEC = 4
_MADV_MERGEABLE = 12
_X32_BIT = 0x40000000


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


_libc = ctypes.CDLL(None, use_errno=True)
if IS_LINUX:
    _libc.syscall.restype = ctypes.c_long
    _libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]


def die_with_parent(parent: int) -> None:
    """SIGKILL for this process when the one that started it ends, or has ended by now. Linux only."""
    if IS_LINUX:
        _prctl(_PR_SET_PDEATHSIG, _SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def refuse_new_privileges() -> None:
    """No set-uid program, no dump, no debugger of the same user. Linux only."""
    if IS_LINUX:
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _prctl(_PR_SET_DUMPABLE, 0)


def drop_root() -> bool:
    """From root to nobody; False where there was nothing to drop."""
    if os.geteuid() != 0:
        return False
    os.setgroups([])
    os.setgid(UNPRIVILEGED_ID)
    os.setuid(UNPRIVILEGED_ID)
    return True


def close_descriptors(null: int, keep: int) -> None:
    """Standard streams become the null device; of the rest only `keep` stays open.

    `null` was opened ahead, because Landlock refuses it later.
    """
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if hasattr(_libc, "close_range"):
        _libc.close_range(3, keep - 1, 0)
        _libc.close_range(keep + 1, 0xFFFFFFFF, 0)
    else:
        os.closerange(3, keep)
        os.closerange(keep + 1, os.sysconf("SC_OPEN_MAX"))


def address_space_bytes() -> int:
    """Of this process, now; 0 where the platform does not tell."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[0]) * resource.getpagesize() if IS_LINUX else 0


def limit_resources(memory_bytes: int, cpu_seconds: int) -> None:
    """Hard limits.

    RLIMIT_NOFILE 0 means "no new descriptor of any kind" and works on every POSIX system. RLIMIT_AS counts
    shared mappings, RLIMIT_DATA does not, hence both.
    """
    nothing = (0, 0)
    limits = {
        resource.RLIMIT_CORE: nothing,
        resource.RLIMIT_FSIZE: nothing,
        resource.RLIMIT_NOFILE: nothing,
        resource.RLIMIT_NPROC: nothing,
        resource.RLIMIT_CPU: (cpu_seconds, cpu_seconds + 1),
    }
    if IS_LINUX:
        memory = (memory_bytes, memory_bytes)
        limits |= {
            resource.RLIMIT_MEMLOCK: nothing,
            resource.RLIMIT_MSGQUEUE: nothing,
            resource.RLIMIT_STACK: (_STACK_BYTES, _STACK_BYTES),
            resource.RLIMIT_AS: memory,
            resource.RLIMIT_DATA: memory,
        }
    for name, pair in limits.items():
        resource.setrlimit(name, pair)


def create_landlock_ruleset() -> int | None:
    """A descriptor of a ruleset that handles every right this kernel knows and grants none; None without Landlock."""
    abi = _create_ruleset(b"", _LANDLOCK_CREATE_RULESET_VERSION) if IS_LINUX else 0
    if abi <= 0:
        return None
    fields = [(1 << _LANDLOCK_FILE_RIGHTS_BY_ABI.get(abi, _LANDLOCK_FILE_RIGHTS_NEWEST)) - 1]
    if abi >= _LANDLOCK_NETWORK_SINCE_ABI:
        fields.append(0b11)
    if abi >= _LANDLOCK_SCOPE_SINCE_ABI:
        fields.append(0b11)
    # Some kernels report a newer ABI than they have fields for (RHEL 9), so shorter attributes are tried too.
    for count in range(len(fields), 0, -1):
        ruleset = _create_ruleset(struct.pack(f"{count}Q", *fields[:count]), 0)
        if ruleset >= 0:
            return ruleset
    return None


def _create_ruleset(attribute: bytes, flags: int) -> int:
    number, size = ctypes.c_long(_LANDLOCK_CREATE_RULESET), ctypes.c_size_t(len(attribute))
    result: int = _libc.syscall(number, attribute or None, size, ctypes.c_uint32(flags))
    return result


def enter_landlock(ruleset: int) -> None:
    """From here on no file, no TCP, no signal beyond the domain; for this process and its children."""
    if _libc.syscall(ctypes.c_long(_LANDLOCK_RESTRICT_SELF), ctypes.c_int(ruleset), ctypes.c_uint32(0)):
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")


def seccomp_is_known_here() -> bool:
    """True where there is a table of system calls for this machine."""
    return IS_LINUX and platform.machine() in ARCHITECTURES


def install_seccomp() -> None:
    """From here on only `ALLOWED`; for this process alone, which can neither fork nor start a thread any more."""
    program = build_filter(ARCHITECTURES[platform.machine()], os.getpid())
    buffer = ctypes.create_string_buffer(program, len(program))
    header = _FilterProgram(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(header))


def build_filter(syscalls: Syscalls, pid: int) -> bytes:
    """The BPF program: an allow-list that also keeps memory either writable or executable, never made executable."""
    number = syscalls.numbers
    program = [
        _instruction(_LOAD_WORD, _OFFSET_ARCH),
        _instruction(_JUMP_EQUAL, syscalls.audit_arch, 1, 0),
        _instruction(_RETURN, _KILL_PROCESS),
        _instruction(_LOAD_WORD, _OFFSET_NUMBER),
    ]
    if syscalls is _X86_64:
        program += [_instruction(_JUMP_GREATER_EQUAL, _X32_BIT, 0, 1), _instruction(_RETURN, _KILL_PROCESS)]
    for name in ALLOWED:
        if name in ("mmap", "mprotect"):
            program += _unless_argument(number[name], _OFFSET_ARGUMENT_2, _JUMP_SET, _PROT_EXEC, refuse_when=True)
        elif name == "madvise":  # the time it takes to write to a merged page tells what others have in theirs
            program += _unless_argument(
                number[name], _OFFSET_ARGUMENT_2, _JUMP_EQUAL, _MADV_MERGEABLE, refuse_when=True
            )
        elif name == "tgkill":  # abort() signals its own process
            program += _unless_argument(number[name], _OFFSET_ARGUMENT_0, _JUMP_EQUAL, pid, refuse_when=False)
        elif name in number:
            program += _answer(number[name], _ALLOW)
    for name in KILLED:
        program += _answer(number[name], _KILL_PROCESS)
    for name in REFUSED_AS_BUSY:
        if name in number:
            program += _answer(number[name], _ERRNO | _EAGAIN)
    program += _answer(number["clone3"], _ERRNO | _ENOSYS)
    program.append(_instruction(_RETURN, _ERRNO | _EPERM))
    return b"".join(program)


def _answer(number: int, action: int) -> list[bytes]:
    return [_instruction(_JUMP_EQUAL, number, 0, 1), _instruction(_RETURN, action)]


def _unless_argument(number: int, offset: int, test: int, value: int, *, refuse_when: bool) -> list[bytes]:
    """Allows one call unless the test of its argument comes out as `refuse_when`."""
    refuse, allow = _instruction(_RETURN, _ERRNO | _EACCES), _instruction(_RETURN, _ALLOW)
    return [
        _instruction(_JUMP_EQUAL, number, 0, 4),
        _instruction(_LOAD_WORD, offset),
        _instruction(test, value, 0, 1),
        *((refuse, allow) if refuse_when else (allow, refuse)),
    ]


def _instruction(code: int, value: int, jump_true: int = 0, jump_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, jump_true, jump_false, value & 0xFFFFFFFF)


def _prctl(option: int, value: int, pointer: int = 0) -> None:
    if _libc.prctl(option, value, pointer, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl {option}")
