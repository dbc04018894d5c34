"""The nftables rules of a namespace, sent to the kernel in atomic batches.

A machine may lack the ``nft`` program and its library, so the rules are encoded here, each below
its line of nft. The kernel answers a batch before ``send`` returns, and also accepts it from
outside the namespace through a socket that was opened inside.

Only fast standard library imports: a namespace loads this module when it starts.
"""

import socket
import struct
from collections.abc import Collection, Iterable, Iterator
from typing import Final, Literal, NamedTuple

from warex.linux.netlink import (
    ACKNOWLEDGE,
    APPEND,
    CREATE,
    ERROR,
    NETFILTER,
    attribute,
    attributes,
    exchange,
    message,
    messages,
    nested,
    text,
)

TABLE: Final = b"warex"
BLOCKLIST_CHAIN: Final = b"blocklist"
"""Chain in which connections are refused before they are redirected."""
PACKET_CHAIN: Final = b"packets"
"""Chain in which packets of open connections are lost or held, where they arrive: the sender of a
packet that is dropped as it leaves would know."""
LOG_GROUP: Final = 8
"""Log group of the connection tries that the blocklist stops, and of lost packets."""
REFUSED_GROUP: Final = 9
"""Log group of the connections that the namespace's own loopback refuses."""
QUEUE: Final = 8
"""Queue of the packets that a process releases one by one."""

_BATCH_BEGIN, _BATCH_END = 0x10, 0x11
_NFTABLES, _LOG = 10, 4
_NEW_TABLE, _GET_TABLE, _DELETE_TABLE = 0, 1, 2
_NEW_CHAIN, _GET_CHAIN, _DELETE_CHAIN = 3, 4, 5
_NEW_RULE, _DELETE_RULE = 6, 8
_ONLY_IF_EMPTY: Final = 0x100
_NAME: Final = "netfilter"
_INET: Final = 1
_LOCAL_IN, _LOCAL_OUT = 1, 3
_RETURN, _DROP, _ACCEPT = -5, 0, 1
_SYN, _SYN_ACK = 0x02, 0x12
_RST_ACK, _RST_SYN_ACK = 0x14, 0x16
_TCP, _UDP = socket.IPPROTO_TCP, socket.IPPROTO_UDP

type _Expressions = bytes
type IpFamily = Literal["ip", "ip6"]
type BlockAction = Literal["refuse", "drop", "pass"]
"""``pass`` excepts one port of an address from a later entry for all its ports."""


class BlocklistEntry(NamedTuple):
    """What happens to new connections to an address, on one port or (None) on all."""

    address: str
    port: int | None
    how: BlockAction


class PacketEntry(NamedTuple):
    """What happens to the packets of a connection from a client's address and port."""

    address: str
    port: int
    lost: float = 0.0
    """The share of them that is lost."""
    is_queued: bool = False
    """Whether the others wait in ``QUEUE``; they pass while no process reads it."""


class PacketEnds(NamedTuple):
    """The two ends of a packet, such as a connection try that the blocklist stopped."""

    source: str
    source_port: int
    address: str
    port: int


class RedirectConfig(NamedTuple):
    """Where a namespace's traffic is redirected."""

    tcp: int
    """Loopback port of the listener for every connection."""
    dns: int
    """Loopback port of the DNS server, for every port 53."""
    own: Collection[str]
    """Addresses of the namespace's device."""
    host_ports: Collection[int] = ()
    """Ports of 127.0.0.0/8 that belong to the host, not the namespace."""
    host_ports_six: Collection[int] = ()
    """The same for ::1."""


def open_socket() -> socket.socket:
    """Return a socket that sets the rules of the current network namespace."""
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETFILTER)


def set_rules(netlink: socket.socket, to: RedirectConfig) -> None:
    """Make the table of a new namespace; raise OSError if the kernel refuses it."""
    _send(
        netlink,
        [
            # table inet warex
            _request(_NEW_TABLE, CREATE, text(1, TABLE)),
            # chain blocklist { type filter hook output priority -150; }: before the redirect
            _chain(BLOCKLIST_CHAIN, b"filter", -150),
            # chain capture { type nat hook output priority -100; }
            _chain(b"capture", b"nat", -100),
            # chain output { type filter hook output priority 0; }
            _chain(b"output", b"filter", 0),
            # chain packets { type filter hook input priority 0; }
            _chain(PACKET_CHAIN, b"filter", 0, _LOCAL_IN),
            *(_rule(b"capture", expressions) for expressions in _redirect_rules(to)),
            *(_rule(b"output", expressions) for expressions in _filter_rules(to)),
        ],
    )


def set_blocklist(netlink: socket.socket, entries: Iterable[BlocklistEntry]) -> None:
    """Replace the blocklist by these entries; raise OSError if the kernel refuses.

    Open connections are not affected: only new ones are blocked.
    """
    # flush chain inet warex blocklist
    flush = _request(_DELETE_RULE, 0, text(1, TABLE) + text(2, BLOCKLIST_CHAIN))
    _send(netlink, [flush, *(_rule(BLOCKLIST_CHAIN, _block_rule(entry)) for entry in entries)])


def set_packet_entries(netlink: socket.socket, entries: Collection[PacketEntry]) -> None:
    """Replace the connections of which packets are lost or queued.

    Raises OSError if the kernel refuses.
    """
    # flush chain inet warex packets
    flush = _request(_DELETE_RULE, 0, text(1, TABLE) + text(2, PACKET_CHAIN))
    for queue in (_queue(), _queue_of_iptables()):
        rules = (rule for entry in entries for rule in _packet_rules(entry, queue))
        try:
            return _send(netlink, [flush, *(_rule(PACKET_CHAIN, rule) for rule in rules)])
        except FileNotFoundError as error:  # The kernel does not have this kind of expression.
            refused = error
    raise refused


def listen_to(group: int) -> socket.socket:
    """Return a socket that receives what the current namespace logs to a group."""
    log = open_socket()
    # Send each entry immediately, with the packet's head: addresses and ports.
    bind = attribute(1, b"\x01")
    copy = attribute(2, struct.pack(">IBx", 128, 2))
    at_once = attribute(5, struct.pack(">I", 1))
    head = struct.pack(">BBH", 0, 0, group)
    exchange(log, message((_LOG << 8) | 1, ACKNOWLEDGE, 1, head + bind + copy + at_once), 1, _NAME)
    return log


def read_log(received: bytes) -> Iterator[PacketEnds]:
    """Parse a message of a log's socket."""
    for kind, _, body in messages(received):
        if kind != _LOG << 8:
            continue
        packet = next((value for number, value in attributes(body[4:]) if number == 9), b"")
        ends = ends_of(packet)
        if ends is not None:
            yield ends


def ends_of(packet: bytes) -> PacketEnds | None:
    """Return the ends of an IP packet of TCP; None if it is cut short."""
    version = packet[0] >> 4 if packet else 0
    if version == 4 and len(packet) >= (size := 4 * (packet[0] & 15)) + 4:
        family, addresses = socket.AF_INET, (packet[12:16], packet[16:20])
    elif version == 6 and len(packet) >= (size := 40) + 4:
        family, addresses = socket.AF_INET6, (packet[8:24], packet[24:40])
    else:
        return None
    source, target = (socket.inet_ntop(family, address) for address in addresses)
    source_port, port = struct.unpack_from(">HH", packet, size)
    return PacketEnds(source, source_port, target, port)


def exists(family: IpFamily, table: str, chain: str = "") -> bool:
    """Whether there is this table, or this chain in it."""
    kind = _GET_CHAIN if chain else _GET_TABLE
    with open_socket() as netlink:
        netlink.send(message((_NFTABLES << 8) | kind, 0, 0, _place(family, table, chain)))
        return all(kind != ERROR for kind, _, _ in messages(netlink.recv(65536)))


def delete_if_empty(family: IpFamily, table: str, chain: str = "") -> None:
    """Delete a table without chains, or an unreferenced chain without rules.

    iptables creates its tables and built-in chains on demand and cannot delete them. The kernel
    checks in the same transaction that they are empty; a refusal is ignored.
    """
    kind = _DELETE_CHAIN if chain else _DELETE_TABLE
    place = _place(family, table, chain)
    with open_socket() as netlink:
        netlink.send(_batch([message((_NFTABLES << 8) | kind, _ONLY_IF_EMPTY, 0, place)]))


# ---- the rules


def _redirect_rules(to: RedirectConfig) -> Iterator[_Expressions]:
    # On loopback, too: the namespace must not reach a resolver that listens on the host's loopback.
    for protocol in (_UDP, _TCP):
        # udp dport 53 redirect to :DNS, tcp dport 53 redirect to :DNS
        yield _protocol(protocol) + _to_port(53) + _redirect(to.dns)
    for port in sorted(to.host_ports):
        # ip daddr 127.0.0.0/8 tcp dport PORT redirect to :TCP
        yield _loopback_four() + _protocol(_TCP) + _to_port(port) + _redirect(to.tcp)
    for port in sorted(to.host_ports_six):
        # ip6 daddr ::1 tcp dport PORT redirect to :TCP
        yield _to_address("::1") + _protocol(_TCP) + _to_port(port) + _redirect(to.tcp)
    for own in _own(to):
        # ip daddr OWN return
        yield own + _verdict(_RETURN)
    # meta l4proto tcp redirect to :TCP
    yield _protocol(_TCP) + _redirect(to.tcp)


def _filter_rules(to: RedirectConfig) -> Iterator[_Expressions]:
    # A reset in answer to a SYN has sequence number 0 (RFC 9293, 3.10.7.1).
    # tcp flags & (rst | syn | ack) == rst | ack tcp sequence 0 log group N
    reset = _protocol(_TCP) + _payload(2, 13, 1) + _masked(_RST_SYN_ACK) + _equal(bytes([_RST_ACK]))
    log = _log_to(REFUSED_GROUP)
    for here in _from_loopback():
        yield here + reset + _payload(2, 4, 4) + _equal(bytes(4)) + log
    for own in _own(to):
        # By address: a redirected packet still has its original output device.
        # ip daddr OWN accept
        yield own + _verdict(_ACCEPT)
    # meta l4proto tcp accept
    yield _protocol(_TCP) + _verdict(_ACCEPT)
    # reject with icmpx admin-prohibited
    yield _expression(b"reject", _number(1, 2) + attribute(2, b"\x03"))


def _own(to: RedirectConfig) -> Iterator[_Expressions]:
    yield _loopback_four()
    yield _to_address("::1")
    for address in to.own:
        yield _to_address(address)


def _block_rule(entry: BlocklistEntry) -> _Expressions:
    """Encode a blocklist entry: log group N, then reject with tcp reset, or drop."""
    # ip daddr ADDRESS meta l4proto tcp [tcp dport PORT] tcp flags & (syn | ack) == syn
    match = _to_address(entry.address) + _protocol(_TCP)
    if entry.port is not None:
        match += _to_port(entry.port)
    if entry.how == "pass":
        # … return
        return match + _verdict(_RETURN)
    match += _payload(2, 13, 1) + _masked(_SYN_ACK) + _equal(bytes([_SYN]))
    log = _log_to(LOG_GROUP)
    if entry.how == "drop":
        return match + log + _verdict(_DROP)
    return match + log + _expression(b"reject", _number(1, 1) + attribute(2, b"\x00"))


def _packet_rules(entry: PacketEntry, queue: _Expressions) -> Iterator[_Expressions]:
    """Encode what happens to the packets from and to a client."""
    ways = (
        # ip saddr ADDRESS tcp sport PORT …
        _from_address(entry.address) + _protocol(_TCP) + _from_port(entry.port),
        # ip daddr ADDRESS tcp dport PORT …
        _to_address(entry.address) + _protocol(_TCP) + _to_port(entry.port),
    )
    for way in ways:
        if entry.lost:
            # meta random < SHARE log group N drop
            yield way + _with_probability(entry.lost) + _log_to(LOG_GROUP) + _verdict(_DROP)
        if entry.is_queued:
            yield way + queue


# ---- expressions; each uses register 1


def _loopback_four() -> _Expressions:
    # ip daddr 127.0.0.0/8
    return _family(socket.AF_INET) + _payload(1, 16, 1) + _equal(b"\x7f")


def _from_loopback() -> Iterator[_Expressions]:
    # ip saddr 127.0.0.0/8, ip6 saddr ::1
    yield _family(socket.AF_INET) + _payload(1, 12, 1) + _equal(b"\x7f")
    here = socket.inet_pton(socket.AF_INET6, "::1")
    yield _family(socket.AF_INET6) + _payload(1, 8, 16) + _equal(here)


def _to_address(address: str) -> _Expressions:
    # ip daddr ADDRESS, ip6 daddr ADDRESS
    if ":" in address:
        raw = socket.inet_pton(socket.AF_INET6, address)
        return _family(socket.AF_INET6) + _payload(1, 24, 16) + _equal(raw)
    return _family(socket.AF_INET) + _payload(1, 16, 4) + _equal(socket.inet_aton(address))


def _from_address(address: str) -> _Expressions:
    # ip saddr ADDRESS, ip6 saddr ADDRESS
    if ":" in address:
        raw = socket.inet_pton(socket.AF_INET6, address)
        return _family(socket.AF_INET6) + _payload(1, 8, 16) + _equal(raw)
    return _family(socket.AF_INET) + _payload(1, 12, 4) + _equal(socket.inet_aton(address))


def _family(family: int) -> _Expressions:
    # meta nfproto ipv4, meta nfproto ipv6
    return _expression(b"meta", _number(1, 1) + _number(2, 15)) + _equal(bytes([family]))


def _protocol(number: int) -> _Expressions:
    # meta l4proto NUMBER
    return _expression(b"meta", _number(1, 1) + _number(2, 16)) + _equal(bytes([number]))


def _to_port(port: int) -> _Expressions:
    # th dport PORT
    return _payload(2, 2, 2) + _equal(struct.pack(">H", port))


def _from_port(port: int) -> _Expressions:
    # th sport PORT
    return _payload(2, 0, 2) + _equal(struct.pack(">H", port))


def _with_probability(share: float) -> _Expressions:
    # meta random < SHARE of 2^32
    below = attribute(1, struct.pack(">I", min(round(share * 2**32), 2**32 - 1)))
    load = _expression(b"meta", _number(1, 1) + _number(2, 24))
    return load + _expression(b"cmp", _number(1, 1) + _number(2, 2) + nested(3, below))


def _payload(base: int, offset: int, length: int) -> _Expressions:
    """Load bytes of the packet: base 1 is the network header, 2 the transport header."""
    numbers = ((1, 1), (2, base), (3, offset), (4, length))
    return _expression(b"payload", b"".join(_number(*pair) for pair in numbers))


def _masked(mask: int) -> _Expressions:
    where = _number(1, 1) + _number(2, 1) + _number(3, 1)
    bits = nested(4, attribute(1, bytes([mask]))) + nested(5, attribute(1, b"\x00"))
    return _expression(b"bitwise", where + bits)


def _equal(value: bytes) -> _Expressions:
    return _expression(b"cmp", _number(1, 1) + _number(2, 0) + nested(3, attribute(1, value)))


def _redirect(port: int) -> _Expressions:
    # redirect to :PORT
    value = nested(2, attribute(1, struct.pack(">H", port)))
    load = _expression(b"immediate", _number(1, 1) + value)
    return load + _expression(b"redir", _number(1, 1))


def _log_to(group: int) -> _Expressions:
    # log group N
    return _expression(b"log", attribute(1, struct.pack(">H", group)))


def _queue() -> _Expressions:
    # queue flags bypass to N
    numbers = ((1, QUEUE), (2, 1), (3, 1))
    pairs = (attribute(kind, struct.pack(">H", value)) for kind, value in numbers)
    return _expression(b"queue", b"".join(pairs))


def _queue_of_iptables() -> _Expressions:
    # -j NFQUEUE --queue-num N --queue-bypass, as iptables-nft has it: struct xt_NFQ_info_v3
    where = struct.pack("HHHxx", QUEUE, 1, 1)
    return _expression(b"target", text(1, b"NFQUEUE") + _number(2, 3) + attribute(3, where))


def _verdict(code: int) -> _Expressions:
    value = nested(2, nested(2, attribute(1, struct.pack(">i", code))))
    return _expression(b"immediate", _number(1, 0) + value)


# ---- messages


def _chain(name: bytes, kind: bytes, priority: int, at: int = _LOCAL_OUT) -> bytes:
    hook = _number(1, at) + attribute(2, struct.pack(">i", priority))
    body = text(1, TABLE) + text(3, name) + nested(4, hook) + text(7, kind)
    return _request(_NEW_CHAIN, CREATE, body)


def _rule(chain: bytes, expressions: _Expressions) -> bytes:
    body = text(1, TABLE) + text(2, chain) + nested(4, expressions)
    return _request(_NEW_RULE, CREATE | APPEND, body)


def _expression(name: bytes, data: bytes) -> _Expressions:
    return nested(1, text(1, name) + nested(2, data))


def _number(kind: int, value: int) -> bytes:
    return attribute(kind, struct.pack(">I", value))


def _request(kind: int, flags: int, body: bytes) -> bytes:
    head = struct.pack(">BBH", _INET, 0, 0)
    return struct.pack("HH", (_NFTABLES << 8) | kind, flags) + head + body


def _place(family: IpFamily, table: str, chain: str) -> bytes:
    number = socket.AF_INET if family == "ip" else socket.AF_INET6
    names = text(1, table.encode()) + (text(3, chain.encode()) if chain else b"")
    return struct.pack(">BBH", number, 0, 0) + names


def _batch(requests: Iterable[bytes], end: int = 0) -> bytes:
    """Return messages as an atomic batch; its end has the number ``end``."""
    mark = struct.pack(">BBH", 0, 0, _NFTABLES)
    return b"".join(
        (message(_BATCH_BEGIN, 0, 0, mark), *requests, message(_BATCH_END, 0, end, mark))
    )


def _send(netlink: socket.socket, requests: list[bytes]) -> None:
    """Send one batch, with an acknowledgement of the last message."""
    last = len(requests)
    numbered = []
    for sequence, request in enumerate(requests, 1):
        kind, flags = struct.unpack_from("HH", request)
        flags |= ACKNOWLEDGE if sequence == last else 0
        numbered.append(message(kind, flags, sequence, request[4:]))
    exchange(netlink, _batch(numbered, last + 1), last, _NAME)
