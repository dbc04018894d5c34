"""Where a body ends: leniently in responses, strictly in requests."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.engine.http.heads import Headers
from warex.engine.http.http1.framing import (
    ChunkReader,
    EofReader,
    InvalidFraming,
    LengthReader,
    chunk,
    last_chunk,
)


def read(data: bytes, step: int = 0, *, strict: bool = False) -> tuple[bytes, bytes, Headers]:
    """The body, what is left behind it, and the trailers."""
    reader, body = ChunkReader(strict=strict), b""
    for at in range(0, len(data), step or len(data)):
        piece = data[at : at + (step or len(data))]
        taken = 0
        while taken < len(piece):
            payload, used, ended = reader.feed(piece[taken:])
            body, taken = body + payload, taken + used
            if ended:
                return body, data[at + taken :], reader.trailers
    raise InvalidFraming(reader.eof())


@pytest.mark.parametrize("step", [0, 1, 3])
@pytest.mark.parametrize(
    "data",
    [
        b"5\r\nhello\r\n0\r\n\r\n",
        b"5\nhello\n0\n\n",
        b"3;a=b\r\nhel\r\n2  \r\nlo\r\n000\r\n\r\n",
    ],
)
def test_a_body_is_read_to_its_end_and_no_further(data: bytes, step: int) -> None:
    assert read(data + b"next", step) == (b"hello", b"next", Headers())


def test_trailers_are_reported() -> None:
    trailers = read(b"1\r\na\r\n0\r\nX: y\r\nnone\r\nZ:\xff\r\n\r\n")[2]
    assert trailers.fields == ((b"X", b"y"), (b"Z", b"\xff"))


INVALID = [
    b"zz\r\n",
    b"-1\r\n",
    b"\r\n",
    b"1\r\nab\r\n",
    b"f" * 16 + b"\r\n",
    b"1;" + b"a" * 20_000,
    b"5\r\nhel",
    b"5\r\nhello\r\n0\r\n",
    b"0\r\n" + b"a: b\r\n" * 50_000,
]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("data", INVALID)
def test_what_cannot_be_read_is_invalid(data: bytes, strict: bool) -> None:
    with pytest.raises(InvalidFraming):
        read(data, strict=strict)


@pytest.mark.parametrize(
    "data",
    [
        b"5\nhello\r\n0\r\n\r\n",
        b"5\r\nhello\n0\r\n\r\n",
        b"5\r\nhello\r\r\n0\r\n\r\n",
        b"5;a\rb\r\nhello\r\n0\r\n\r\n",
        b"5;a\0b\r\nhello\r\n0\r\n\r\n",
        b"5 x\r\nhello\r\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b" 5\r\nhello\r\n0\r\n\r\n",
        b"0\r\n\n",
        b"0\r\nX : y\r\n\r\n",
        b"0\r\n folded\r\n\r\n",
        b"0\r\nX: a\rb\r\n\r\n",
        b"0\r\nContent-Length: 5\r\n\r\n",
        b"0\r\nX: y\r\ntransfer-encoding: chunked\r\n\r\n",
        b"0\r\nHOST: other.example\r\n\r\n",
    ],
)
def test_ambiguous_chunks_are_refused_in_requests(
    data: bytes,
) -> None:
    with pytest.raises(InvalidFraming):
        read(data, strict=True)


def test_what_comes_before_an_error_is_read() -> None:
    reader = ChunkReader(strict=True)
    assert reader.feed(b"2\r\nab\r\nzz\r\n") == (b"ab", 7, False)
    with pytest.raises(InvalidFraming, match="illegal chunk header"):
        reader.feed(b"zz\r\n")


@given(st.lists(st.binary(max_size=20), max_size=5), st.integers(0, 7), st.booleans())
def test_what_is_written_can_be_read(bodies: list[bytes], step: int, strict: bool) -> None:
    trailers = Headers([(b"X", b"y")])
    data = b"".join(map(chunk, bodies)) + last_chunk(trailers)
    assert read(data + b"z", step, strict=strict) == (b"".join(bodies), b"z", trailers)


@given(st.binary(min_size=1, max_size=100), st.booleans())
def test_no_bytes_raise_anything_else(data: bytes, strict: bool) -> None:
    with suppress(InvalidFraming):
        read(data, strict=strict)


def test_a_length_and_the_end_of_the_connection_end_a_body() -> None:
    reader = LengthReader(5)
    assert reader.feed(b"hel") == (b"hel", 3, False)
    assert "(received 3 bytes, expected 5)" in reader.eof()
    assert reader.feed(b"lo next") == (b"lo", 2, True)
    assert EofReader().feed(b"any") == (b"any", 3, False)
