"""Chunks as browsers read them: not strictly, and no further than they go."""

import h11
import pytest
from h11._receivebuffer import ReceiveBuffer
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import http

from warex.proxy.net.chunked import LenientChunkedReader


def read(data: bytes, step: int = 0) -> tuple[bytes, bytes, list[http.Headers]]:
    """The body, what is left behind it, and the trailers."""
    found: list[http.Headers] = []
    reader, buffer, body = LenientChunkedReader(found.append), ReceiveBuffer(), b""
    for at in range(0, len(data), step or len(data)):
        buffer += data[at : at + (step or len(data))]
        while (event := reader(buffer)) is not None:
            if isinstance(event, h11.EndOfMessage):
                return body, bytes(buffer) + data[at + (step or len(data)) :], found
            body += event.data
    reader.read_eof()
    raise AssertionError("an end that was none")


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
    assert read(data + b"next", step) == (b"hello", b"next", [])


def test_the_fields_behind_it_are_reported() -> None:
    (trailers,) = read(b"1\r\na\r\n0\r\nX: y\r\nnone\r\nZ:\xff\r\n\r\n")[2]
    assert trailers.fields == ((b"X", b"y"), (b"Z", b"\xff"))


@pytest.mark.parametrize(
    "data",
    [
        b"zz\r\n",
        b"-1\r\n",
        b"\r\n",
        b"1\r\nab\r\n",
        b"f" * 16 + b"\r\n",
        b"1;" + b"a" * 20_000,
        b"5\r\nhel",
        b"5\r\nhello\r\n0\r\n",
    ],
)
def test_what_cannot_be_read_is_a_broken_answer(data: bytes) -> None:
    with pytest.raises(h11.RemoteProtocolError):
        read(data)


@given(st.binary(min_size=1, max_size=100))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    try:
        read(data)
    except h11.RemoteProtocolError as error:
        assert str(error)  # noqa: PT017 - either may happen
