"""Sandbox for a process that works on strangers' input: it can open no socket, whatever it is made to run.

`shut` is called in the child itself, needs no privileges and cannot be undone. The first method that works on
the kernel is taken: a filter of system calls (seccomp: Linux on x86-64 and AArch64, in containers too), else
an empty network namespace of its own. Where neither works, a child that has all its files open can still be
forbidden to open further descriptors (`limits.forbid_new_descriptors`). `python -m crawler.isolation.walls`
prints what this kernel supports.
"""

from __future__ import annotations

import ctypes
import os
import platform
import socket
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass

SECCOMP, NAMESPACE = "seccomp", "network namespace"

_NO_NEW_PRIVILEGES = 38
_FILTER_MODE, _ALL_THREADS = 1, 1
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
"""Answers of a filter: do it; do not, and say EPERM."""

_LOAD, _EQUALS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _MACHINE_AT = 0, 4
_OTHER_ABI = 0x40000000
"""Numbers from here on are those of x32, the same calls once more."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine as the kernel knows it: its ABI, its number of seccomp(2), and the system calls to refuse.

    Refused are all calls that make or use sockets, io_uring (which can do so without such a call), and calls
    that start a program or reach into another process, which may have sockets. Numbers are from Linux's
    tables.
    """

    abi: int
    seccomp: int
    refused: tuple[int, ...]


_BOTH = (425, 426, 427, 434, 438)  # io_uring_setup, _enter, _register, pidfd_open, pidfd_getfd
MACHINES = {
    # socket, connect, accept, sendto, recvfrom, sendmsg, recvmsg, bind, listen, socketpair, execve, ptrace,
    # accept4, recvmmsg, sendmmsg, process_vm_readv, process_vm_writev, bpf, execveat
    "x86_64": Machine(
        0xC000003E,
        317,
        (41, 42, 43, 44, 45, 46, 47, 49, 50, 53, 59, 101, 288, 299, 307, 310, 311, 321, 322, *_BOTH),
    ),
    # The same: ptrace, socket, socketpair, bind, listen, accept, connect, sendto, recvfrom, sendmsg, recvmsg,
    # execve, accept4, recvmmsg, sendmmsg, process_vm_readv, process_vm_writev, bpf, execveat
    "aarch64": Machine(
        0xC00000B7,
        277,
        (117, *range(198, 204), 206, 207, 211, 212, 221, 242, 243, *range(269, 272), 280, 281, *_BOTH),
    ),
}


_KEPT = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "PYTHONHOME", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip


standing: list[str] = []
"""The method that closed the network to this process, if any did."""


class _Program(ctypes.Structure):
    """The C struct `sock_fprog`: the number of instructions, and their address."""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def shut(ways: Sequence[str] = (SECCOMP, NAMESPACE)) -> str:
    """Close the network to this process. Returns the name of the method that worked, empty for none."""
    for way in ways:
        try:
            stands = _filter_calls() if way == SECCOMP else _leave_network()
        except (OSError, AttributeError):  # no such call in this kernel, or none in this C library
            stands = False
        if stands:
            standing.append(way)
            return way
    return ""


def environment() -> dict[str, str]:
    """Return the environment a child needs to start: no keys, passwords or addresses of services."""
    return {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("LD_")}


def program(machine: Machine) -> bytes:
    """Build the filter: refuse calls of another ABI and those of the list, allow the rest."""
    checks = [(_AT_LEAST, _OTHER_ABI), *((_EQUALS, number) for number in machine.refused)]
    lines = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_EQUALS, 0, len(checks) + 2, machine.abi),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    lines += [(code, len(checks) - place, 0, value) for place, (code, value) in enumerate(checks)]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _filter_calls() -> bool:
    machine = MACHINES.get(platform.machine())
    if sys.platform != "linux" or machine is None or struct.calcsize("P") != 8:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return False
    lines = program(machine)
    filter_program = _Program(len(lines) // 8, lines)
    libc.syscall(machine.seccomp, _FILTER_MODE, _ALL_THREADS, ctypes.byref(filter_program))
    return _no_socket()


def _no_socket() -> bool:
    """Try to open a socket. Returns whether the kernel refuses it."""
    try:
        socket.socket().close()
    except PermissionError:
        return True
    return False


def _leave_network() -> bool:
    """Enter an empty network namespace, without even loopback. Tries a new user namespace first."""
    libc = ctypes.CDLL(None, use_errno=True)
    return any(libc.unshare(flags) == 0 for flags in (_NEW_USER | _NEW_NET, _NEW_NET))


if __name__ == "__main__":
    sys.stdout.write(shut())
