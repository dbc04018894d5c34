"""Blocks the address families that network namespaces do not isolate: seccomp(2), without root.

A socket of AF_VSOCK reaches the hypervisor or a host's guests from inside any namespace. So only
the families that a network namespace isolates, or that reach no network, are allowed; the others
fail with EAFNOSUPPORT. io_uring, which creates sockets past every system call filter, fails with
EPERM. Docker's default filter does the same.

Only fast standard library imports: a namespace loads this module when it starts.
"""

import ctypes
import errno
import os
import socket
import struct
from typing import Final, NamedTuple

from warex.linux.syscalls import libc

ALLOWED_FAMILIES: Final = (
    0,  # AF_UNSPEC, for which there is no socket
    socket.AF_UNIX,
    socket.AF_INET,
    socket.AF_INET6,
    socket.AF_NETLINK,
    socket.AF_PACKET,
    38,  # AF_ALG: the kernel's ciphers
)

_IO_URING_SETUP: Final = 425
_X32: Final = 0x4000_0000
"""The bit of x86-64 system calls in the x32 ABI."""


class _SyscallNumbers(NamedTuple):
    """An architecture's system call numbers."""

    architecture: int
    """AUDIT_ARCH_*."""
    sockets: tuple[int, int]
    """socket(2) and socketpair(2)."""


class _Machine(NamedTuple):
    seccomp: int
    """The system call number of seccomp(2)."""
    calls: tuple[_SyscallNumbers, ...]
    """Those of its own programs and of the 32-bit programs that it runs."""


_ARM = _SyscallNumbers(0x4000_0028, (281, 288))
_I386 = _SyscallNumbers(0x4000_0003, (359, 360))
_MACHINES: Final = {
    "x86_64": _Machine(317, (_SyscallNumbers(0xC000_003E, (41, 53)), _I386)),
    "aarch64": _Machine(277, (_SyscallNumbers(0xC000_00B7, (198, 199)), _ARM)),
    "riscv64": _Machine(277, (_SyscallNumbers(0xC000_00F3, (198, 199)),)),
}

# seccomp(2) and the kernel's linux/filter.h, linux/seccomp.h
_LOAD, _AND, _IF_EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _ERRNO = 0x7FFF_0000, 0x0005_0000
_SET_FILTER, _NO_SLOWDOWN = 1, 4


def restrict_socket_families() -> bool:
    """Filter this process and its children permanently; return False if that is impossible.

    Needs CAP_SYS_ADMIN in this process's own user namespace.
    """
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return False
    code = b"".join(struct.pack("HBBI", *step) for step in filter_program(machine.calls))
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))

    program = Program(len(code) // 8, ctypes.addressof(buffer))
    done = libc.syscall(
        ctypes.c_long(machine.seccomp),
        ctypes.c_ulong(_SET_FILTER),
        ctypes.c_ulong(_NO_SLOWDOWN),
        ctypes.byref(program),
    )
    return bool(done == 0)


def filter_program(calls: tuple[_SyscallNumbers, ...]) -> list[tuple[int, int, int, int]]:
    """Return the BPF filter as steps: code, jump if true, jump if false, value."""
    steps = [(_LOAD, 0, 0, _ARCHITECTURE)]
    for each in calls:
        block = _block(each)
        steps += [(_IF_EQUAL, 0, len(block), each.architecture), *block]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def _block(calls: _SyscallNumbers) -> list[tuple[int, int, int, int]]:
    many = len(ALLOWED_FAMILIES)
    first, second = calls.sockets
    return [
        (_LOAD, 0, 0, _NUMBER),
        (_AND, 0, 0, 0xFFFF_FFFF ^ _X32),
        (_IF_EQUAL, many + 4, 0, _IO_URING_SETUP),
        (_IF_EQUAL, 1, 0, first),
        (_IF_EQUAL, 0, many + 3, second),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        *((_IF_EQUAL, many - at + 1, 0, family) for at, family in enumerate(ALLOWED_FAMILIES)),
        (_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
