"""Netlink messages and attributes (netlink(7)), and their exchange with the kernel.

Only fast standard library imports: a namespace loads this module when it starts.
"""

import socket
import struct
from collections.abc import Iterator
from typing import Final

NETFILTER: Final = 12
"""NETLINK_NETFILTER, which some Python builds lack."""
ERROR: Final = 2
REQUEST, ACKNOWLEDGE, EXCLUSIVE, CREATE, APPEND = 1, 4, 0x200, 0x400, 0x800
"""Flags of a request; ``message`` always sets ``REQUEST``."""


def attribute(kind: int, data: bytes) -> bytes:
    """Encode one attribute."""
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def nested(kind: int, attributes: bytes) -> bytes:
    """Encode an attribute that contains others."""
    return attribute(kind | 0x8000, attributes)


def text(kind: int, value: bytes) -> bytes:
    """Encode a zero-terminated text attribute."""
    return attribute(kind, value + b"\0")


def message(kind: int, flags: int, sequence: int, body: bytes) -> bytes:
    """Encode a request."""
    packet = struct.pack("IHHII", 16 + len(body), kind, REQUEST | flags, sequence, 0) + body
    return packet + bytes(-len(packet) % 4)


def messages(received: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the kind, sequence number and body of each received message."""
    at = 0
    while at + 16 <= len(received):
        length, kind, _, sequence, _ = struct.unpack_from("IHHII", received, at)
        if length < 16:
            return
        yield kind, sequence, received[at + 16 : at + length]
        at += length + (-length % 4)


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the kind and the value of each attribute."""
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("HH", data, at)
        if length < 4:
            return
        yield kind & 0x3FFF, data[at + 4 : at + length]
        at += length + (-length % 4)


def exchange(netlink: socket.socket, request: bytes, last: int, family: str) -> None:
    """Send messages, and read the kernel's answers up to the acknowledgement of number ``last``.

    The answers are available as soon as ``send`` returns. Raises OSError if the kernel refuses a
    message; its text begins with ``family``.
    """
    netlink.send(request)
    done, refused = False, None
    while True:
        try:
            answer = netlink.recv(65536, socket.MSG_DONTWAIT)
        except BlockingIOError:
            break
        for kind, sequence, body in messages(answer):
            if kind == ERROR and (error := struct.unpack_from("i", body)[0]):
                refused = refused or OSError(-error, f"{family}, message {sequence}")
            done = done or sequence == last
    if refused is not None:
        raise refused
    if not done:
        raise OSError(71, f"{family} did not answer")  # EPROTO
