"""In a namespace only address families that it holds are open, whichever the kernel has."""

import errno
import json
import os
import socket
import struct
import sys

import pytest

from tests.sandbox.support.fake_proxy import open_fake_network
from warex.linux.seccomp import _IO_URING_SETUP, _MACHINES, ALLOWED_FAMILIES, filter_program
from warex.proxy.certificates.ca import CertificateAuthority

_ALLOWED = 0x7FFF_0000
_ALL_FAMILIES = range(64)

_TRIED = """
import ctypes, json, socket, sys
def error(family):
    for kind in (1, 2, 3, 5):
        try:
            socket.socket(family, kind).close()
            return 0
        except OSError as problem:
            number = problem.errno
    return number
libc = ctypes.CDLL(None, use_errno=True)
ring = libc.syscall(425, 1, ctypes.create_string_buffer(120))
pair = [each.close() for each in socket.socketpair()]
print(json.dumps([{family: error(family) for family in range(64)}, ring, ctypes.get_errno()]))
"""


def answer(architecture: int, number: int, argument: int) -> int:
    """Run the filter for a system call, as the kernel would."""
    machine = next(it for it in _MACHINES.values() if architecture in {c[0] for c in it.calls})
    steps = filter_program(machine.calls)
    call = struct.pack("<iIQQ", number, architecture, 0, argument)
    at = value = 0
    while True:
        code, if_so, if_not, operand = steps[at]
        at += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("<I", call, operand)
            case 0x54:
                value &= operand
            case 0x15:
                at += if_so if value == operand else if_not
            case _:
                return operand


@pytest.mark.parametrize(
    ("architecture", "calls"),
    [(calls.architecture, calls) for machine in _MACHINES.values() for calls in machine.calls],
)
def test_only_families_that_a_namespace_holds_can_be_asked_for(
    architecture: int, calls: tuple[int, tuple[int, int]]
) -> None:
    for number in calls[1]:
        opened = {it for it in _ALL_FAMILIES if answer(architecture, number, it) == _ALLOWED}
        assert opened == set(ALLOWED_FAMILIES)
    assert answer(architecture, _IO_URING_SETUP, 0) == 0x0005_0000 | errno.EPERM
    others = set(range(600)) - {_IO_URING_SETUP, *calls[1]}
    assert all(answer(architecture, it, socket.AF_VSOCK) == _ALLOWED for it in others)


def test_the_short_pointers_of_x32_do_not_bypass_the_filter() -> None:
    refused = answer(0xC000_003E, 0x4000_0000 | 41, socket.AF_VSOCK)
    assert refused == 0x0005_0000 | errno.EAFNOSUPPORT


@pytest.mark.wire
def test_a_command_opens_no_socket_that_leads_past_its_network(ca: CertificateAuthority) -> None:
    with open_fake_network(ca, os.environ) as inside:
        assert not inside.namespace.notices
        code, message = inside.run(sys.executable, "-c", _TRIED)
    assert code == 0, message
    families, ring, why = json.loads(message)
    closed = {int(it) for it, number in families.items() if number == errno.EAFNOSUPPORT}
    assert closed >= set(_ALL_FAMILIES) - set(ALLOWED_FAMILIES)
    assert closed.isdisjoint({socket.AF_UNIX, socket.AF_INET, socket.AF_NETLINK})
    assert (ring, why) == (-1, errno.EPERM)
