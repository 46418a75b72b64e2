"""Runs a command as a container would: Docker's default capabilities and a filter of system calls like its own.

`container.py root|user COMMAND ...`. The filter refuses what Docker's default profile refuses; it is written from the
list in Docker's documentation ("Significant syscalls blocked by Docker's default profile"), with none of gradwalk's
code. Who is not root has no capabilities anyway, and gets the filter through no_new_privs.
"""

import ctypes
import os
import shutil
import struct
import sys
from typing import NoReturn

NOBODY = 65_534
CAPABILITIES = (
    "chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod audit_write "
    "setfcap"
)
# asm/unistd_64.h: the numbers of x86-64, as the hostile programs have them
REFUSED = {
    "acct": 163, "add_key": 248, "bpf": 321, "clock_adjtime": 305, "clock_settime": 227, "delete_module": 176,
    "finit_module": 313, "fsconfig": 431, "fsmount": 432, "fsopen": 430, "fspick": 433, "get_mempolicy": 239,
    "init_module": 175, "io_uring_enter": 426, "io_uring_register": 427, "io_uring_setup": 425, "ioperm": 173,
    "iopl": 172, "kcmp": 312, "kexec_file_load": 320, "kexec_load": 246, "keyctl": 250, "mbind": 237, "mount": 165,
    "mount_setattr": 442, "move_mount": 429, "move_pages": 279, "open_by_handle_at": 304, "open_tree": 428,
    "perf_event_open": 298, "personality": 135, "pivot_root": 155, "quotactl": 179, "reboot": 169,
    "request_key": 249, "set_mempolicy": 238, "setns": 308, "settimeofday": 164, "swapoff": 168, "swapon": 167,
    "sysfs": 139, "umount2": 166, "unshare": 272, "uselib": 134, "userfaultfd": 323, "ustat": 136, "vhangup": 153,
}  # fmt: skip
ARCHITECTURE = 0xC000003E
CLONE, CLONE3, NEW_NAMESPACES = 56, 435, 0x7E020000

LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, ERRNO, EPERM, ENOSYS = 0x7FFF0000, 0x00050000, 1, 38
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER = 22, 38, 2

libc = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def build_filter() -> bytes:
    """Everything goes through but what is refused; clone3 is unknown, clone makes no namespaces."""
    rows = [(LOAD, 4, 0, 0), (EQUAL, ARCHITECTURE, 1, 0), (RETURN, ERRNO | EPERM, 0, 0), (LOAD, 0, 0, 0)]
    for number in REFUSED.values():
        rows += [(EQUAL, number, 0, 1), (RETURN, ERRNO | EPERM, 0, 0)]
    rows += [(EQUAL, CLONE3, 0, 1), (RETURN, ERRNO | ENOSYS, 0, 0)]
    rows += [(EQUAL, CLONE, 0, 3), (LOAD, 16, 0, 0), (ANY_BIT, NEW_NAMESPACES, 0, 1)]
    rows += [(RETURN, ERRNO | EPERM, 0, 0), (RETURN, ALLOW, 0, 0)]
    return b"".join(struct.pack("HBBI", code, yes, no, value) for code, value, yes, no in rows)


def control(option: int, *arguments: int) -> None:
    """One prctl."""
    padded = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    if libc.prctl(ctypes.c_int(option), *padded):
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def as_nobody(command: list[str]) -> list[str]:
    """The command with the rights of no user but one, to read: this interpreter may lie in root's home directory."""
    right = "+dac_read_search"
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    become += [f"--inh-caps=-all,{right}", f"--ambient-caps=-all,{right}", f"--bounding-set=-all,{right}"]
    return become + command


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
    if is_root and who == "user":
        command = as_nobody(command)
    elif is_root:
        command = ["setpriv", f"--bounding-set=-all,+{CAPABILITIES.replace(' ', ',+')}", *command]
    os.execv(shutil.which(command[0]) or command[0], command)


if __name__ == "__main__":
    main()
