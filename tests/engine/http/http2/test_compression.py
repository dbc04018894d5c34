"""Blocks of fields: those that are written can be read, and none that is read breaks anything."""

from contextlib import suppress

import h2.events
import pytest
from hpack import Decoder as ReferenceDecoder
from hpack import Encoder as ReferenceEncoder
from hpack.exceptions import HPACKError
from hypothesis import given, settings
from hypothesis import strategies as st
from jh2.config import H2Configuration
from jh2.connection import H2Connection
from jh2.exceptions import DenialOfServiceError, H2Error, ProtocolError

from tests.engine.http.http2.peers import ServedClient
from warex.engine.http.events import RequestReceived
from warex.engine.http.heads import Headers, ResponseHead
from warex.engine.http.http2.compression import MAX_HEADER_LIST, decode_fields


def decode(block: bytes) -> list[tuple[bytes, bytes]]:
    decoder = H2Connection(H2Configuration(client_side=False)).decoder
    decoder.max_header_list_size = MAX_HEADER_LIST
    return decode_fields(decoder, block)


# The peer sends no TE but "trailers" (RFC 9113 §8.2.2).
NAMES = st.from_regex(rb"[a-z][a-z0-9-]{0,6}", fullmatch=True).filter(lambda it: it != b"te")
VALUES = st.binary(max_size=30).filter(lambda it: not set(it) & set(b"\0\r\n") and it == it.strip())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from([0, 1, 50, 100, 200, 4096, 65536]), max_size=3),
            st.lists(st.tuples(NAMES, VALUES), max_size=6),
        ),
        max_size=6,
    )
)
def test_fields_arrive_with_any_table_size(
    rounds: list[tuple[list[int], list[tuple[bytes, bytes]]]],
) -> None:
    pair = ServedClient()
    for sizes, fields in rounds:
        for size in sizes:
            pair.client.update_settings({1: size})
            pair.server.receive(pair.client.data_to_send())
        (received,) = [it for it in pair.ask() if isinstance(it, RequestReceived)]
        head = ResponseHead(200, b"", "HTTP/2.0", Headers(fields))
        pair.server.send_response(received.stream, head)
        pair.server.send_end(received.stream)
        (response,) = [
            it for it in pair.exchange()[1] if isinstance(it, h2.events.ResponseReceived)
        ]
        assert response.headers == [(b":status", b"200"), *fields]


@pytest.mark.parametrize(
    "block",
    [
        b"\x82\xff",
        b"\x40",
        b"\x00\x05ab",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x80",
        b"\x20\x20\x20",
        b"\x82\x20",
    ],
)
def test_an_invalid_block_is_an_error_of_the_peer(block: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(block)


@given(st.binary(max_size=100))
def test_no_block_raises_anything_else(block: bytes) -> None:
    try:
        decode(block)
    except H2Error as error:
        assert str(error)  # noqa: PT017 - either may happen


@pytest.mark.timeout(10)
def test_a_small_block_may_not_become_a_large_list() -> None:
    # A field of 4,000 bytes in the table, and a byte for each time that it comes again.
    block = b"\x40\x01x\x7f\xa1\x1e" + b"y" * 4000 + b"\xbe" * 100_000
    with pytest.raises(DenialOfServiceError):
        decode(block)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("byte", [b"\xff", b"\x00", b"\x20", b"\x82", b"\x1f", b"\x7f", b"\xbf"])
def test_no_block_takes_long_to_read(byte: bytes) -> None:
    with pytest.raises(H2Error):
        decode(byte * MAX_HEADER_LIST)


@given(st.lists(st.tuples(NAMES, VALUES, st.booleans()), max_size=8), st.data())
def test_two_decoders_read_the_same(
    fields: list[tuple[bytes, bytes, bool]], data: st.DataObject
) -> None:
    """But for the padding behind compressed strings, which jh2's does not look at."""
    block = bytearray(ReferenceEncoder().encode(fields, huffman=False))
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(block)))
        block[at : at + 1] = data.draw(st.binary(max_size=3))
    try:
        expected = [tuple(it) for it in ReferenceDecoder().decode(bytes(block), raw=True)]
    except (HPACKError, IndexError) as error:
        if "Huffman" in str(error):
            return
        with pytest.raises(H2Error):
            decode(bytes(block))
        return
    with suppress(H2Error):  # An integer that is longer than it need be.
        assert [tuple(it) for it in decode(bytes(block))] == expected
