"""A stream that is decoded a part at a time."""

import pytest

from warex.engine.http.encoding import decode, encode
from warex.lane.traffic import coded_stream
from warex.lane.traffic.coded_stream import CodedStream

BODY = b"".join(b'data: {"number": %d}\n\n' % number for number in range(20_000))


def decoded(stream: CodedStream) -> list[int]:
    """Decode all that came; return the sizes of the body after each part."""
    sizes = []
    while stream.decode_part():
        sizes.append(len(stream.body))
    return sizes


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "identity"])
@pytest.mark.parametrize("damage", ["none", "cut", "broken"])
def test_streamed_decoding_equals_that_of_the_whole_body(coding: str, damage: str) -> None:
    """The events that were read are left out of the whole body later."""
    encoded = bytearray(encode(BODY, coding))
    if damage == "cut":
        del encoded[len(encoded) // 2 :]
    elif damage == "broken":
        encoded[len(encoded) // 2] ^= 255
    stream = CodedStream(coding)
    for at in range(0, len(encoded), 5000):
        stream.add(bytes(encoded[at : at + 5000]))
        decoded(stream)
    full = decode(bytes(encoded), coding).body
    if damage == "broken":  # One may have come further.
        assert full.startswith(stream.body) or stream.body.startswith(full)
    else:
        assert stream.body == full


def test_decoded_parts_are_small_at_any_compression() -> None:
    stream = CodedStream("gzip")
    stream.add(encode(bytes(10 * 65536), "gzip"))
    assert decoded(stream) == [65536 * number for number in range(1, 11)]


def test_no_more_is_decoded_than_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coded_stream, "MAX_BODY", 100_000)
    stream = CodedStream("gzip")
    for _ in range(3):
        stream.add(encode(bytes(70_000), "gzip"))
    assert decoded(stream)[-1] <= 100_000
    stream = CodedStream("gzip")
    stream.add(encode(bytes(1_000_000), "gzip"))
    assert decoded(stream)[-1] == 100_000
    stream.add(b"more")
    assert not stream.decode_part()
