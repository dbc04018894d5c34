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

from warex.proxy.net.encoding import DecodedBody, decode, encode

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


@pytest.mark.parametrize("name", ["rot13", "utf-8", "compress", ", ".join(["gzip"] * 50)])
def test_a_coding_that_is_not_read_is_said(name: str) -> None:
    found = decode(b"abc", name)

    assert found.body == b""
    assert "is not read" in (found.error or "")


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
@given(junk=st.binary(max_size=200))
def test_nothing_is_raised(name: str, junk: bytes) -> None:
    decode(junk, name)


def test_a_body_that_grows_without_end_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warex.proxy.net.encoding._MAX_SIZE", 100_000)
    zeros = bytes(10_000_000)
    made = (("gzip", gzip.compress(zeros)), ("br", brotli.compress(zeros, quality=1)))
    for name, bomb in (*made, ("zstd", zstandard.compress(zeros))):
        found = decode(bomb, name)
        assert len(found.body) == 100_000
        assert "grows beyond" in (found.error or "")


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
