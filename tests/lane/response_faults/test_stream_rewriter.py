import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import brotli
import pytest
import zstandard

from warex.engine.http.heads import Headers, HttpVersion, RequestHead, ResponseHead
from warex.exchange import Request, Response
from warex.lane.response_faults.stream_rewriter import (
    BodyReader,
    DecodingRewriter,
    DecompressionBomb,
    StreamedRewriter,
    rewritten,
    start_rewriter,
)
from warex.rewriting.base import ActiveRewrite, ValueChange

PAGE = b"<h1>hello</h1>" * 2000
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": lambda body: zlib.compress(body)[2:-4],
    "br": lambda body: brotli.compress(body, quality=1),
    "zstd": zstandard.compress,
    "": bytes,
}


@dataclass
class Loud:
    """Makes a body upper case, and says at its end that it did."""

    applied: bool = False
    changes: tuple[ValueChange, ...] = ()

    def feed(self, data: bytes) -> bytes:
        self.applied = True
        return data.upper()

    def close(self) -> bytes:
        return b"!"


@dataclass(frozen=True)
class Shout:
    report: str = ""

    def begin(self, request: Request, response: Response) -> ActiveRewrite | None:
        if response.status == 204:
            return None
        return ActiveRewrite(
            Loud(), lambda name, value: f"{name}={value}" if name == "x-a" else value
        )


def head_of(*fields: tuple[str, str], status: int = 200) -> ResponseHead:
    pairs = ((name.encode(), value.encode("latin-1")) for name, value in fields)
    return ResponseHead(status, b"OK", "HTTP/1.1", Headers(pairs))


def start(
    head: ResponseHead, beginning: bytes = b"", version: HttpVersion = "HTTP/1.1"
) -> tuple[DecodingRewriter, ResponseHead] | None:
    asked = RequestHead("GET", "https", "shop.test", "/", version, Headers())
    return start_rewriter(asked, Request("GET", asked.url), head, Shout(), beginning)


@pytest.mark.parametrize("coding", CODINGS)
def test_an_edit_sees_the_body_without_its_coding(coding: str) -> None:
    body = CODINGS[coding](PAGE)

    started = start(head_of(("content-encoding", coding)))

    assert started is not None
    rewriter, head = started
    pieces = [
        part for at in range(0, len(body), 100) for part in rewriter.feed(body[at : at + 100])
    ]
    assert b"".join(pieces) + rewriter.close() == PAGE.upper() + b"!"
    assert "content-encoding" not in head.headers.by_name


@pytest.mark.parametrize("coding", ["x-secret", "gzip, br"])
def test_a_coding_that_is_not_read_leaves_the_answer_alone(coding: str) -> None:
    assert start(head_of(("content-encoding", coding), ("etag", '"1"'))) is None


def test_an_answer_without_anything_to_edit_is_unchanged() -> None:
    assert start(head_of(("content-length", "0"), status=204)) is None


def test_the_head_says_nothing_of_the_bytes_that_there_were() -> None:
    fields = [("content-length", "9"), ("etag", '"1"'), ("last-modified", "now")]
    fields += [("x-a", "é"), ("x-b", "b"), ("X-A", "2")]

    started = start(head_of(*fields))

    assert started is not None
    assert [pair for pair in started[1].headers if pair[0] != "transfer-encoding"] == [
        ("x-a", "x-a=é"),
        ("x-b", "b"),
        ("X-A", "x-a=2"),
        ("cache-control", "no-store"),
    ]


@pytest.mark.parametrize(
    ("version", "framing"), [("HTTP/1.1", "chunked"), ("HTTP/1.0", ""), ("HTTP/2.0", "")]
)
def test_the_body_is_framed_as_its_client_can_read_it(version: HttpVersion, framing: str) -> None:
    head = head_of(("content-length", "9"), ("transfer-encoding", "chunked"))

    started = start(head, version=version)

    assert started is not None
    assert started[1].headers.get("transfer-encoding") == framing
    assert "content-length" not in started[1].headers.by_name


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_decompression_bomb_is_not_edited(coding: str) -> None:
    with pytest.raises(DecompressionBomb):
        start(head_of(("content-encoding", coding)), CODINGS[coding](bytes(17 << 20)))


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_what_shows_late_as_a_bomb_is_passed_on_decoded(coding: str) -> None:
    body = b"<p>hi" + bytes(40 << 20)
    started = start(head_of(("content-encoding", coding)))
    assert started is not None
    rewriter = started[0]

    parts = [part for part in rewriter.feed(CODINGS[coding](body)) if part]

    assert max(map(len, parts)) <= 2 * 65_536
    assert rewriter.is_bomb
    received = b"".join(parts) + rewriter.close()
    assert received.replace(b"!", b"").replace(b"<P>HI", b"<p>hi") == body
    assert received.count(b"!") == 1


def test_readers_see_what_the_site_sent_and_rewriters_what_is_left_of_it() -> None:
    started = start(head_of())
    assert started is not None
    heard: list[bytes] = []

    class Reader(BodyReader):
        def read(self, data: bytes) -> None:
            heard.append(data)

    chain: list[StreamedRewriter] = [Reader(), started[0]]
    parts = [*rewritten(b"a", chain, last=False), *rewritten(b"", chain, last=True)]

    assert b"".join(parts) == b"A!"
    assert b"".join(heard) == b"a"
