"""Tables and chains of nf_tables, asked for and deleted by netlink: only what stands empty.

iptables makes its tables and built-in chains when it first needs them and has no means to delete
them. Here it is the kernel that looks whether they are empty, in the transaction that deletes them.
"""

import socket
import struct
from typing import Final

from warex.sandbox.iptables.rules import Family

_NETFILTER: Final = 12
_NFTABLES: Final = 10
_GET_TABLE, _DELETE_TABLE, _GET_CHAIN, _DELETE_CHAIN = 1, 2, 4, 5
_TABLE_NAME, _CHAIN_TABLE, _CHAIN_NAME = 1, 1, 3
_ERROR, _BATCH_BEGINS, _BATCH_ENDS = 0x02, 0x10, 0x11
_REQUEST, _ONLY_IF_EMPTY = 0x01, 0x100


def exists(family: Family, table: str, chain: str = "") -> bool:
    """Whether there is this table, or this chain in it."""
    kind = _GET_CHAIN if chain else _GET_TABLE
    with _netlink() as netlink:
        netlink.send(_message(kind, _REQUEST, family, table, chain))
        _, answered = struct.unpack_from("=IH", netlink.recv(65536))
    return bool(answered != _ERROR)


def delete_if_empty(family: Family, table: str, chain: str = "") -> None:
    """Delete a table without chains, or a chain without rules to which none jumps."""
    kind = _DELETE_CHAIN if chain else _DELETE_TABLE
    edge = struct.pack("=BB", 0, 0) + struct.pack("!H", _NFTABLES)
    with _netlink() as netlink:
        # Refused by the kernel where that is not so, or where it is not there: what is wanted.
        netlink.send(
            _packed(_BATCH_BEGINS, _REQUEST, edge)
            + _message(kind, _REQUEST | _ONLY_IF_EMPTY, family, table, chain)
            + _packed(_BATCH_ENDS, _REQUEST, edge)
        )


def _netlink() -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETFILTER)


def _message(kind: int, flags: int, family: Family, table: str, chain: str) -> bytes:
    number = socket.AF_INET if family == "ip" else socket.AF_INET6
    body = struct.pack("=BBH", number, 0, 0)
    if chain:
        body += _attribute(_CHAIN_TABLE, table) + _attribute(_CHAIN_NAME, chain)
    else:
        body += _attribute(_TABLE_NAME, table)
    return _packed(_NFTABLES << 8 | kind, flags, body)


def _attribute(kind: int, text: str) -> bytes:
    value = text.encode() + b"\0"
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def _packed(kind: int, flags: int, body: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, flags, 0, 0) + body
