"""Bodies under a content coding, whole, cut and broken."""

import gzip
import hashlib
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from warex.engine.http.encoding import (
    DecodedBody,
    StreamDecoder,
    begins_as_bomb,
    decode,
    encode,
    encode_broken,
)

EVENTS = [
    b'data: {"n": %d, "id": "%s"}\n\n' % (n, hashlib.md5(b"%d" % n).hexdigest().encode())
    for n in range(3000)
]
PLAIN = b"".join(EVENTS)


def _zlib(window: int) -> bytes:
    stream = zlib.compressobj(wbits=window)
    made = b"".join(stream.compress(e) + stream.flush(zlib.Z_SYNC_FLUSH) for e in EVENTS)
    return made + stream.flush()


def _brotli() -> bytes:
    stream = brotli.Compressor(quality=4)
    return bytes(b"".join(stream.process(e) + stream.flush() for e in EVENTS) + stream.finish())


def _zstd() -> bytes:
    stream = zstandard.ZstdCompressor().compressobj()
    flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
    return b"".join(stream.compress(e) + stream.flush(flush) for e in EVENTS) + stream.flush()


MADE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "gzip": ("gzip", lambda: _zlib(31)),
    "deflate": ("deflate", lambda: _zlib(15)),
    "deflate without header": ("deflate", lambda: _zlib(-15)),
    "br": ("br", _brotli),
    "zstd": ("zstd", _zstd),
}


@pytest.mark.parametrize("how", MADE)
def test_what_arrived_of_a_stream_is_read(how: str) -> None:
    name, make = MADE[how]
    sent = make()

    assert decode(sent, name).body == PLAIN
    half = decode(sent[: len(sent) // 2], name)

    assert half.error is None
    assert PLAIN.startswith(half.body)
    assert len(half.body) > len(PLAIN) * 0.4


@pytest.mark.parametrize("how", MADE)
def test_what_comes_before_a_broken_block_is_read(how: str) -> None:
    name, make = MADE[how]
    sent = make()
    broken = decode(sent[: len(sent) // 2] + b"\xff" * 400, name)

    assert broken.body[: len(PLAIN) // 3] == PLAIN[: len(PLAIN) // 3]


def test_several_codings_and_members_are_taken_off_in_turn() -> None:
    two = gzip.compress(b"a") + gzip.compress(b"b")
    assert decode(two, "gzip").body == b"ab"
    assert decode(brotli.compress(two), "X-GZIP, br").body == b"ab"
    assert decode(zstandard.compress(b"a") + zstandard.compress(b"b"), "zstd").body == b"ab"
    assert decode(b"a", "identity").body == decode(b"a", "").body == b"a"


@pytest.mark.parametrize("rest", [b"", b"\x1f", bytes(512), b"GARBAGE"])
@pytest.mark.parametrize("size", [1, 7, 20_000])
def test_a_stream_of_several_members_is_read_to_its_end(size: int, rest: bytes) -> None:
    """Servers that compress each event by itself send one member after the other."""
    sent = b"".join(gzip.compress(PLAIN[at : at + 999]) for at in range(0, len(PLAIN), 999)) + rest
    decoder = StreamDecoder("gzip")
    pieces = (sent[at : at + size] for at in range(0, len(sent), size))

    assert b"".join(part for piece in pieces for part in decoder.feed(piece)) == PLAIN
    assert decode(sent, "gzip") == DecodedBody(PLAIN)
    assert not decoder.broken


def test_a_damaged_member_is_the_end_of_a_stream() -> None:
    decoder = StreamDecoder("gzip")
    damaged = gzip.compress(b"a") + gzip.compress(b"b")[:12] + b"\xff" * 20

    assert b"".join(decoder.feed(damaged)) == b"a"
    assert decoder.broken


@pytest.mark.parametrize("name", ["rot13", "utf-8", "compress", ", ".join(["gzip"] * 50)])
def test_a_coding_that_is_not_read_is_reported(name: str) -> None:
    decoded = decode(b"abc", name)

    assert decoded.body == b""
    assert "is not read" in (decoded.error or "")


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
@given(junk=st.binary(max_size=200))
def test_nothing_is_raised(name: str, junk: bytes) -> None:
    decode(junk, name)


ZEROS = bytes(20 << 20)
BOMBS = {
    "gzip": gzip.compress(ZEROS),
    "deflate": zlib.compress(ZEROS),
    "br": brotli.compress(ZEROS, quality=1),
    "zstd": zstandard.compress(ZEROS),
}


@pytest.mark.parametrize("coding", BOMBS)
def test_a_decompression_bomb_is_read_up_to_the_body_limit(coding: str) -> None:
    decoded = decode(BOMBS[coding], coding)

    assert len(decoded.body) == 16 << 20
    assert decoded.error == (
        f"its content coding {coding} is broken: it grows beyond 16,777,216 bytes"
    )


@pytest.mark.parametrize("coding", BOMBS)
def test_a_stream_decodes_in_bounded_parts_and_reports_a_bomb(coding: str) -> None:
    decoder, size = StreamDecoder(coding), 0
    for part in decoder.feed(BOMBS[coding]):
        assert len(part) <= 2 * 65_536
        size += len(part)
        assert decoder.is_bomb == (size > 16 << 20)

    assert size == len(ZEROS)
    assert begins_as_bomb(BOMBS[coding], coding)


@pytest.mark.parametrize("how", MADE)
def test_a_stream_that_is_large_encoded_too_is_not_a_bomb(how: str) -> None:
    coding, make = MADE[how]
    sent, decoder = make(), StreamDecoder(coding)
    pieces = (sent[at : at + 999] for at in range(0, len(sent), 999))

    assert b"".join(part for piece in pieces for part in decoder.feed(piece)) == PLAIN
    assert not decoder.is_bomb
    assert not decoder.broken


def test_members_without_end_are_let_go() -> None:
    members = gzip.compress(b"") * 10_001

    assert decode(members, "gzip").error == (
        "its content coding gzip is broken: it has more than 10,000 members"
    )


@pytest.mark.parametrize(("how", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_what_is_much_smaller_compressed_is_read_whole(
    how: str, compress: Callable[[bytes], bytes]
) -> None:
    body = bytes(3_000_000) + hashlib.shake_256(b"x").digest(100_000) + bytes(100_000)

    assert decode(compress(body), how) == DecodedBody(body)


@given(
    body=st.binary(min_size=1, max_size=200),
    names=st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd", "identity"]), max_size=4),
)
def test_a_body_that_is_encoded_is_decoded_again(body: bytes, names: list[str]) -> None:
    codings = ", ".join(names)

    assert decode(encode(body, codings), codings) == DecodedBody(body)


def test_frames_of_zstd_are_read_to_a_limit_in_streams_too() -> None:
    frames = [zstandard.compress(b"%d," % number) for number in range(9999)]
    stream = StreamDecoder("zstd")
    assert b"".join(part for it in frames for part in stream.feed(it)).endswith(b"9998,")
    decoded = decode(b"".join(frames) * 3, "zstd")
    assert len(decoded.body) > 48_000
    assert decoded.error == "its content coding zstd is broken: it has more than 10,000 frames"


def test_zstd_that_decodes_to_much_more_comes_in_parts() -> None:
    stream = StreamDecoder("zstd")
    parts = list(stream.feed(zstandard.compress(bytes(3 << 20))))
    assert sum(map(len, parts)) == 3 << 20
    assert max(map(len, parts)) <= 64 * 1024


def test_half_of_a_broken_body_can_be_read_and_its_end_cannot() -> None:
    for coding in ("gzip", "br", "zstd"):
        reader = StreamDecoder(coding)
        made = b"".join(reader.feed(encode_broken(PLAIN, coding)))
        assert reader.broken, coding
        assert PLAIN.startswith(made), coding
