"""DNS messages are read with suspicion and answered by the book; mitmproxy's reader judges."""

import struct

from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import dns
from mitmproxy.net.dns import response_codes, types

from warex.proxy.dns import messages


def query(
    name: bytes = b"shop.test",
    kind: int = types.A,
    *,
    number: int = 7,
    flags: int = 0x0100,
    kind_of_net: int = 1,
    extension: bytes = b"",
) -> bytes:
    head = struct.pack("!HHHHHH", number, flags, 1, 0, 0, bool(extension))
    labels = b"".join(bytes((len(it),)) + it for it in name.split(b".") if it)
    return head + labels + b"\0" + struct.pack("!HH", kind, kind_of_net) + extension


def opt(version: int = 0) -> bytes:
    return b"\0" + struct.pack("!HHBBHH", types.OPT, 4096, 0, version, 0, 0)


def test_a_question_is_read_and_answered_in_its_own_case() -> None:
    asked = query(b"ShOp.TeSt")
    question = messages.parse_question(asked)
    assert question is not None
    assert (question.name, question.type_name, question.has_edns) == ("shop.test", "A", False)
    data = messages.build_response(question, records=[(types.A, bytes((198, 18, 0, 1)))])
    assert b"\x04ShOp\x04TeSt" in data
    read = dns.DNSMessage.unpack(data)
    assert (read.id, read.response_code, read.recursion_available) == (7, 0, True)
    [record] = read.answers
    assert (record.name, record.ttl, str(record.ipv4_address)) == ("ShOp.TeSt", 0, "198.18.0.1")


def test_edns_is_answered_and_later_versions_are_refused() -> None:
    for version, code in ((0, 0), (1, 16)):
        question = messages.parse_question(query(extension=opt(version)))
        assert question is not None
        assert question.has_edns
        data = messages.build_response(question, response_codes.NOERROR)
        [extension] = dns.DNSMessage.unpack(data).additionals
        assert extension.type == types.OPT
        assert (data[3] & 0xF) + ((extension.ttl >> 24) << 4) == code
    plain = messages.parse_question(query())
    assert plain is not None
    assert dns.DNSMessage.unpack(messages.build_response(plain)).additionals == []


def test_an_operation_that_is_not_a_query_is_not_implemented() -> None:
    question = messages.parse_question(query(flags=0x2800))
    assert question is not None
    assert not question.is_query
    assert messages.response_code(messages.build_response(question)) == response_codes.NOTIMP


def test_answers_and_cut_messages_are_nothing_to_answer() -> None:
    full = query(extension=opt())
    for length in range(len(full)):
        assert messages.parse_question(full[:length]) is None
    assert messages.parse_question(query(flags=0x8180)) is None
    assert messages.parse_question(query(flags=0x0300)) is None
    two = struct.pack("!HHHHHH", 1, 0x0100, 2, 0, 0, 0) + query()[12:] * 2
    assert messages.parse_question(two) is None
    # A name that points to itself.
    assert messages.parse_question(query()[:12] + b"\xc0\x0c\0\1\0\1") is None


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(message: bytes) -> None:
    question = messages.parse_question(message)
    assert question is None or messages.parse_question(messages.build_response(question)) is None


@given(st.binary(max_size=80))
def test_no_question_breaks_the_answer(rest: bytes) -> None:
    question = messages.parse_question(struct.pack("!HHHHHH", 1, 0x0100, 1, 0, 0, 0) + rest)
    if question is not None:
        assert messages.build_response(question, response_codes.NXDOMAIN)[12:].startswith(
            question.raw
        )
