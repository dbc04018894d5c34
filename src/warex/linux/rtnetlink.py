"""A network device, its addresses and routes, set up through rtnetlink(7).

The ``ip`` program may be missing, and would not have its caller's capabilities in the namespace.
Only fast standard library imports: a namespace loads this module when it starts.
"""

import socket
import struct
from contextlib import suppress
from typing import Final

from warex.linux.netlink import ACKNOWLEDGE, CREATE, EXCLUSIVE, attribute, exchange, message, text

DEVICE: Final = "warex0"
_PEER: Final = "warex1"
_ETHERNET_BYTES: Final = 1500

_NEW_LINK, _NEW_ADDRESS, _NEW_ROUTE = 16, 20, 24
_UP: Final = 1
_NO_DUPLICATE_DETECTION: Final = 2
_TABLE_MAIN, _BY_ADMINISTRATOR, _UNIVERSE, _UNICAST = 254, 4, 0, 1


def create_device() -> None:
    """Make a device that can have an address, of the first kind that this kernel supports.

    With loopback alone Chromium assumes that it is offline, and reports another error for an
    unknown name than on a real network. Raises the OSError of the last kind tried.
    """
    refused = OSError(95, "no kind of device can be made")
    for kind in ("veth", "dummy", "bridge"):
        try:
            return _make(kind)
        except OSError as error:
            refused = error
    raise refused


def bring_up(name: str) -> None:
    """Bring a device up."""
    _request(_NEW_LINK, 0, _link(socket.if_nametoindex(name), up=True))


def bring_up_device() -> None:
    """Bring up the device, and its peer if it has one, without IPv6 link-local addresses.

    A link-local address appears a second later; Chromium would treat it as a change of network and
    abort its requests.
    """
    names = {name for _, name in socket.if_nameindex()}
    none = attribute(26, attribute(socket.AF_INET6, attribute(8, b"\x01")))
    for name in (DEVICE, _PEER):
        if name not in names:
            continue
        with suppress(OSError):  # A kernel without IPv6 has none anyway.
            _request(_NEW_LINK, 0, _link(socket.if_nametoindex(name)) + none)
        bring_up(name)


def add_address(address: str) -> None:
    """Give the device a single address, and route all traffic of its family over it."""
    index = socket.if_nametoindex(DEVICE)
    six = ":" in address
    family, bits = (socket.AF_INET6, 128) if six else (socket.AF_INET, 32)
    raw = socket.inet_pton(family, address)
    # Duplicate address detection would delay the use of the address by a second.
    head = struct.pack("BBBBI", family, bits, _NO_DUPLICATE_DETECTION if six else 0, 0, index)
    _request(_NEW_ADDRESS, CREATE | EXCLUSIVE, head + attribute(1, raw) + attribute(2, raw))
    route = (family, 0, 0, 0, _TABLE_MAIN, _BY_ADMINISTRATOR, _UNIVERSE, _UNICAST, 0)
    body = struct.pack("BBBBBBBBI", *route) + attribute(4, struct.pack("I", index))
    _request(_NEW_ROUTE, CREATE | EXCLUSIVE, body)


def split_packets(netlink: socket.socket) -> None:
    """Have loopback pass on single packets of TCP, none of which is longer than on Ethernet.

    It would otherwise pass up to 64 kB at once. ``netlink``: as of ``open_socket``.
    """
    body = _link(0) + text(3, b"lo") + _number(4, _ETHERNET_BYTES) + _number(40, 1)
    exchange(netlink, message(_NEW_LINK, ACKNOWLEDGE, 1, body), 1, "rtnetlink, segments")


def open_socket() -> socket.socket:
    """Return a socket that sets the devices of the current network namespace."""
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)


def _number(kind: int, value: int) -> bytes:
    return attribute(kind, struct.pack("I", value))


def _make(kind: str) -> None:
    info = attribute(1, kind.encode())
    if kind == "veth":
        info += attribute(2, attribute(1, _link(0) + attribute(3, _PEER.encode() + b"\0")))
    body = _link(0) + attribute(3, DEVICE.encode() + b"\0") + attribute(18, info)
    _request(_NEW_LINK, CREATE | EXCLUSIVE, body)


def _link(index: int, *, up: bool = False) -> bytes:
    return struct.pack("BxHiII", 0, 0, index, _UP if up else 0, _UP if up else 0)


def _request(kind: int, flags: int, body: bytes) -> None:
    with open_socket() as netlink:
        request = message(kind, ACKNOWLEDGE | flags, 1, body)
        exchange(netlink, request, 1, f"rtnetlink, kind {kind}")
