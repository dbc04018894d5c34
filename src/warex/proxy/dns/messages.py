"""Parses DNS questions and builds DNS responses (RFC 1035, RFC 6891).

A response repeats the question byte for byte: some clients randomize the case of a name and check
it (``docs/decisions/0008``).
"""

import struct
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from warex.proxy.dns import numbers

_HEAD: Final = struct.Struct("!HHHHHH")
_UDP_PAYLOAD_SIZE: Final = 1232
"""Bytes of a UDP response that fit everywhere (DNS flag day 2020)."""


class Question(Struct, frozen=True):
    """A parsed question."""

    id: int
    raw: bytes
    """Name, type and class, byte for byte."""
    name: str
    """In lower case, without the last dot."""
    qtype: int
    is_internet_class: bool = True
    is_query: bool = True
    recursion_desired: bool = True
    has_edns: bool = False
    edns_version: int = 0

    @property
    def type_name(self) -> str:
        """The type's name, such as ``AAAA``, or ``TYPE65280`` (RFC 3597 §5)."""
        return numbers.type_name(self.qtype)


def parse_question(message: bytes) -> Question | None:
    """Parse a message; return None unless it is exactly one complete question."""
    try:
        number, flags, questions, answers, authorities, others = _HEAD.unpack_from(message)
        if flags & 0x8000 or flags & 0x0200 or questions != 1 or answers or authorities:
            return None
        labels, at = _labels(message, _HEAD.size)
        kind, class_ = struct.unpack_from("!HH", message, at)
        end = at + 4
        extended, version = _extension(message, end, others)
    except (struct.error, IndexError, ValueError):
        return None
    return Question(
        id=number,
        raw=message[_HEAD.size : end],
        name=b".".join(labels).decode("latin-1").lower(),
        qtype=kind,
        is_internet_class=class_ in (numbers.IN, numbers.ANY_CLASS),
        is_query=not flags & 0x7800,
        recursion_desired=bool(flags & 0x0100),
        has_edns=extended,
        edns_version=version,
    )


def build_response(
    question: Question,
    code: int = numbers.NOERROR,
    records: Iterable[tuple[int, bytes]] = (),
) -> bytes:
    """Build a response; each record is a type and its data, with TTL 0."""
    body, count = b"", 0
    for kind, data in records:
        # 0xC00C points to the question's name.
        body += b"\xc0\x0c" + struct.pack("!HHIH", kind, numbers.IN, 0, len(data)) + data
        count += 1
    extension = b""
    if question.has_edns:
        high = 0
        if question.edns_version:
            code, high = 0, 1  # BADVERS is 16: its upper bits are in the OPT record.
        extension = b"\0" + struct.pack("!HHBBHH", numbers.OPT, _UDP_PAYLOAD_SIZE, high, 0, 0, 0)
    flags = 0x8080 | (0x0100 if question.recursion_desired else 0) | (code & 0xF)
    if not question.is_query:
        flags = (flags & ~0xF) | numbers.NOTIMP
    head = _HEAD.pack(question.id, flags, 1, count, 0, bool(extension))
    return head + question.raw + body + extension


def truncated_response(question: Question) -> bytes:
    """Build a truncated response: the client asks again over TCP (RFC 1035 §4.2.1)."""
    number, flags, *rest = _HEAD.unpack_from(response := build_response(question))
    return _HEAD.pack(number, flags | 0x0200, *rest) + response[_HEAD.size :]


def encode_name(name: str) -> bytes:
    """Encode a name for a message."""
    labels = [label.encode("latin-1") for label in name.split(".") if label]
    return b"".join(bytes((len(label),)) + label for label in labels) + b"\0"


def response_code(message: bytes) -> int:
    """Return the RCODE of a response; SERVFAIL if it is too short."""
    return message[3] & 0xF if len(message) > 3 else numbers.SERVFAIL


def _labels(message: bytes, at: int) -> tuple[list[bytes], int]:
    labels: list[bytes] = []
    began = at
    while size := message[at]:
        # A question cannot have a compression pointer: no name comes before it.
        if size > 63 or at + size - began > 254 or at + 1 + size > len(message):
            raise ValueError("no name")
        labels.append(message[at + 1 : at + 1 + size])
        at += 1 + size
    return labels, at + 1


def _extension(message: bytes, at: int, records: int) -> tuple[bool, int]:
    """Return whether there is an OPT record, and its version."""
    for _ in range(records):
        if message[at] == 0:
            at += 1
        else:
            _, at = _labels(message, at)
        kind, _, ttl, size = struct.unpack_from("!HHIH", message, at)
        at += 10 + size
        if at > len(message):
            raise ValueError("cut off")
        if kind == numbers.OPT:
            return True, ttl >> 16 & 0xFF
    return False, 0
