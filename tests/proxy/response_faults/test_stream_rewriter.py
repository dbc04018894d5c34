import gzip
import zlib
from dataclasses import dataclass
from typing import Any

import brotli
import pytest
import zstandard
from mitmproxy.test import tflow

from warex.exchange import Request, Response
from warex.proxy.response_faults.stream_rewriter import DecompressionBomb, start_rewriter
from warex.rewriting.base import ActiveRewrite, ValueChange

PAGE = b"<h1>hello</h1>" * 2000
CODINGS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": lambda body: zlib.compress(body)[2:-4],
    "br": brotli.compress,
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


def flow(**headers: str) -> Any:
    made: Any = tflow.tflow(resp=True)
    made.response.headers.clear()
    for name, value in headers.items():
        made.response.headers[name.replace("_", "-")] = value
    return made


@pytest.mark.parametrize("coding", CODINGS)
def test_an_edit_sees_the_body_without_its_coding(coding: str) -> None:
    made, body = flow(content_encoding=coding), CODINGS[coding](PAGE)

    rewriter = start_rewriter(made, Shout(), b"")

    assert rewriter is not None
    pieces = [
        part for at in range(0, len(body), 100) for part in rewriter.feed(body[at : at + 100])
    ]
    assert b"".join(pieces) + rewriter.close() == PAGE.upper() + b"!"
    assert "content-encoding" not in made.response.headers


@pytest.mark.parametrize("coding", ["x-secret", "gzip, br"])
def test_a_coding_that_is_not_read_leaves_the_answer_alone(coding: str) -> None:
    made = flow(content_encoding=coding, etag='"1"')

    assert start_rewriter(made, Shout(), b"") is None
    assert dict(made.response.headers) == {"content-encoding": coding, "etag": '"1"'}


def test_an_answer_without_anything_to_edit_is_unchanged() -> None:
    made = flow(content_length="0")
    made.response.status_code = 204

    assert start_rewriter(made, Shout(), b"") is None
    assert dict(made.response.headers) == {"content-length": "0"}


def test_the_head_says_nothing_of_the_bytes_that_there_were() -> None:
    made = flow(content_length="9", etag='"1"', last_modified="now", x_a="é", x_b="b")
    made.response.headers.add("X-A", "2")

    assert start_rewriter(made, Shout(), b"") is not None

    kept = made.response.headers.items(multi=True)
    assert [(name, value) for name, value in kept if name != "transfer-encoding"] == [
        ("x-a", "x-a=é"),
        ("x-b", "b"),
        ("X-A", "x-a=2"),
        ("cache-control", "no-store"),
    ]


@pytest.mark.parametrize(
    ("version", "framing"), [("HTTP/1.1", "chunked"), ("HTTP/1.0", None), ("HTTP/2.0", None)]
)
def test_the_body_is_framed_as_its_client_can_read_it(version: str, framing: str | None) -> None:
    made = flow(content_length="9", transfer_encoding="chunked")
    made.request.http_version = version

    start_rewriter(made, Shout(), b"")

    assert made.response.headers.get("transfer-encoding") == framing
    assert "content-length" not in made.response.headers


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_decompression_bomb_is_not_edited(coding: str) -> None:
    made, bomb = flow(content_encoding=coding, etag="1"), CODINGS[coding](bytes(17 << 20))

    with pytest.raises(DecompressionBomb):
        start_rewriter(made, Shout(), bomb)

    assert dict(made.response.headers) == {"content-encoding": coding, "etag": "1"}


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_what_shows_late_as_a_bomb_is_passed_on_decoded(coding: str) -> None:
    body = b"<p>hi" + bytes(40 << 20)
    rewriter = start_rewriter(flow(content_encoding=coding), Shout(), b"")
    assert rewriter is not None

    parts = [part for part in rewriter.feed(CODINGS[coding](body)) if part]

    assert max(map(len, parts)) <= 2 * 65_536
    assert rewriter.is_bomb
    received = b"".join(parts) + rewriter.close()
    assert received.replace(b"!", b"").replace(b"<P>HI", b"<p>hi") == body
    assert received.count(b"!") == 1
