"""Runs a command as a container would: Docker's default capabilities and a filter of system calls like its own.

`container.py root|user COMMAND ...`. The filter refuses what Docker's default profile refuses; it is written from the
list in Docker's documentation ("Significant syscalls blocked by Docker's default profile"), and made by libseccomp, as
Docker's is, with none of gradwalk's code. Who is not root has no capabilities anyway, and gets the filter through
no_new_privs.
"""

import ctypes
import errno
import os
import shutil
import sys
from typing import NoReturn

NOBODY = 65_534
CAPABILITIES = (
    "chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod audit_write "
    "setfcap"
)
REFUSED = """
acct add_key bpf clock_adjtime clock_settime delete_module finit_module fsconfig fsmount fsopen fspick get_mempolicy
init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl mbind
mount mount_setattr move_mount move_pages open_by_handle_at open_tree perf_event_open personality pivot_root quotactl
reboot request_key set_mempolicy setns settimeofday swapoff swapon sysfs umount2 unshare uselib userfaultfd ustat
vhangup
"""
NEW_NAMESPACES = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
# seccomp.h
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
OF_OTHER_ARCHITECTURES, NO_NEW_PRIVS = 2, 3
MASKED_EQUAL = 7


class Compared(ctypes.Structure):
    """`struct scmp_arg_cmp`: an argument, how, the mask, what it is compared with."""

    _fields_ = (("argument", ctypes.c_uint), ("how", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


def refuse_calls(*, no_new_privs: bool) -> None:
    """Everything goes through but what is refused; clone3 is unknown, clone makes no namespaces."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ALLOW))

    def refuse(name: str, number: int, *where: Compared) -> None:
        call = library.seccomp_syscall_resolve_name(name.encode())
        added = library.seccomp_rule_add_array(rules, ERRNO | number, call, len(where), (Compared * len(where))(*where))
        assert added == 0, (name, added)

    for name in REFUSED.split():
        refuse(name, errno.EPERM)
    refuse("clone3", errno.ENOSYS)
    for flag in NEW_NAMESPACES:
        refuse("clone", errno.EPERM, Compared(0, MASKED_EQUAL, flag, flag))
    assert library.seccomp_attr_set(rules, OF_OTHER_ARCHITECTURES, ERRNO | errno.EPERM) == 0
    assert library.seccomp_attr_set(rules, NO_NEW_PRIVS, int(no_new_privs)) == 0
    assert library.seccomp_load(rules) == 0


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
    refuse_calls(no_new_privs=not is_root)
    if is_root and who == "user":
        command = as_nobody(command)
    elif is_root:
        command = ["setpriv", f"--bounding-set=-all,+{CAPABILITIES.replace(' ', ',+')}", *command]
    os.execv(shutil.which(command[0]) or command[0], command)


if __name__ == "__main__":
    main()
