"""Runs a command as a container would: Docker's default capabilities and a filter of system calls like its own.

`container.py root|user COMMAND ...`. The filter refuses what Docker's default profile refuses; it is written from the
list in Docker's documentation ("Significant syscalls blocked by Docker's default profile"), with none of gradwalk's
code. Who is not root has no capabilities anyway, and gets the filter through no_new_privs.
"""

import ctypes
import os
import platform
import shutil
import struct
import sys
from typing import NoReturn

NOBODY = 65_534

# linux/capability.h
CAPABILITIES = {
    "chown": 0, "dac_override": 1, "fowner": 3, "fsetid": 4, "kill": 5, "setgid": 6, "setuid": 7, "setpcap": 8,
    "net_bind_service": 10, "net_raw": 13, "sys_chroot": 18, "mknod": 27, "audit_write": 29, "setfcap": 31,
}  # fmt: skip
LAST_CAPABILITY = 40

# asm/unistd_64.h and asm-generic/unistd.h; what one of them lacks is not there to be refused
REFUSED = {
    "x86_64": {
        "acct": 163, "add_key": 248, "bpf": 321, "clock_adjtime": 305, "clock_settime": 227, "delete_module": 176,
        "finit_module": 313, "fsconfig": 431, "fsmount": 432, "fsopen": 430, "fspick": 433, "get_mempolicy": 239,
        "init_module": 175, "io_uring_enter": 426, "io_uring_register": 427, "io_uring_setup": 425, "ioperm": 173,
        "iopl": 172, "kcmp": 312, "kexec_file_load": 320, "kexec_load": 246, "keyctl": 250, "mbind": 237, "mount": 165,
        "mount_setattr": 442, "move_mount": 429, "move_pages": 279, "open_by_handle_at": 304, "open_tree": 428,
        "perf_event_open": 298, "personality": 135, "pivot_root": 155, "quotactl": 179, "reboot": 169,
        "request_key": 249, "set_mempolicy": 238, "setns": 308, "settimeofday": 164, "swapoff": 168, "swapon": 167,
        "sysfs": 139, "umount2": 166, "unshare": 272, "uselib": 134, "userfaultfd": 323, "ustat": 136, "vhangup": 153,
    },
    "aarch64": {
        "acct": 89, "add_key": 217, "bpf": 280, "clock_adjtime": 266, "clock_settime": 112, "delete_module": 106,
        "finit_module": 273, "init_module": 105, "io_uring_enter": 426, "io_uring_register": 427, "io_uring_setup": 425,
        "kcmp": 272, "kexec_load": 104, "keyctl": 219, "mount": 40, "open_by_handle_at": 265, "perf_event_open": 241,
        "personality": 92, "pivot_root": 41, "reboot": 142, "request_key": 218, "setns": 268, "settimeofday": 170,
        "swapoff": 225, "swapon": 224, "umount2": 39, "unshare": 97, "userfaultfd": 282,
    },
}  # fmt: skip
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CLONE = {"x86_64": 56, "aarch64": 220}
CLONE3 = 435
NEW_NAMESPACES = 0x7E020000

LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, ERRNO, EPERM, ENOSYS = 0x7FFF0000, 0x00050000, 1, 38
PR_CAPBSET_DROP, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER = 24, 22, 38, 2

libc = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def build_filter() -> bytes:
    """Everything goes through but what is refused; clone3 is unknown, clone makes no namespaces."""
    machine = platform.machine()
    rows = [(LOAD, 4, 0, 0), (EQUAL, ARCHITECTURES[machine], 1, 0), (RETURN, ERRNO | EPERM, 0, 0), (LOAD, 0, 0, 0)]
    for number in REFUSED[machine].values():
        rows += [(EQUAL, number, 0, 1), (RETURN, ERRNO | EPERM, 0, 0)]
    rows += [(EQUAL, CLONE3, 0, 1), (RETURN, ERRNO | ENOSYS, 0, 0)]
    rows += [(EQUAL, CLONE[machine], 0, 3), (LOAD, 16, 0, 0), (ANY_BIT, NEW_NAMESPACES, 0, 1)]
    rows += [(RETURN, ERRNO | EPERM, 0, 0), (RETURN, ALLOW, 0, 0)]
    return b"".join(struct.pack("HBBI", code, yes, no, value) for code, value, yes, no in rows)


def control(option: int, *arguments: int) -> None:
    """One prctl."""
    padded = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    if libc.prctl(ctypes.c_int(option), *padded):
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def main() -> NoReturn:
    """Becomes the command."""
    who, command = sys.argv[1], sys.argv[2:]
    is_root = os.geteuid() == 0
    if not is_root:
        control(PR_SET_NO_NEW_PRIVS, 1)
    text = build_filter()
    buffer = ctypes.create_string_buffer(text, len(text))
    program = Program(len(text) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    control(PR_SET_SECCOMP, MODE_FILTER, ctypes.addressof(program))
    # An ordinary user keeps one right, to read: this interpreter may lie in root's own home directory.
    kept = set(CAPABILITIES.values()) if who == "root" else {CAPABILITIES["setuid"], CAPABILITIES["setgid"], 2, 8}
    if is_root:
        for capability in set(range(LAST_CAPABILITY + 1)) - kept:
            control(PR_CAPBSET_DROP, capability)
        if who == "user":
            right = "+dac_read_search"
            become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            become += [f"--inh-caps=-all,{right}", f"--ambient-caps=-all,{right}", f"--bounding-set=-all,{right}"]
            command = become + command
    os.execv(shutil.which(command[0]) or command[0], command)


if __name__ == "__main__":
    main()
