"""What a tap hears of an answer, however it is compressed and cut."""

import gzip
import zlib

import brotli
import pytest
import zstandard

from warex.lane.traffic.mcp_tap import McpSession, McpTap

STREAM = b"event: endpoint\ndata: /messages\n\n" + b"data: hello\n\n" * 1000


class Heard:
    """Notes what is reported."""

    def __init__(self) -> None:
        self.endpoints: list[str] = []
        self.data: list[bytes] = []

    def opened(self, tap: McpTap, endpoint: str) -> None:
        tap.may_not_be_mcp = False
        self.endpoints.append(endpoint)

    def handle_message(self, tap: McpTap, data: bytes, now: float) -> None:
        self.data.append(data)


def tap_of(heard: Heard, **headers: str) -> McpTap:
    tap = McpTap(heard, McpSession(), "x1", "https://tools.test/sse")
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    tap.begin(named)
    return tap


def zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


@pytest.mark.parametrize(
    ("coding", "compress"),
    [
        ("", bytes),
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("br", brotli.compress),
        ("zstd", zstd),
    ],
)
def test_events_are_reported_as_they_come(coding: str, compress: object) -> None:
    assert callable(compress)
    heard = Heard()
    tap = tap_of(heard, content_type="text/event-stream", content_encoding=coding)
    sent = compress(STREAM + b"data: it breaks off")
    inputs = b"".join(tap.feed(sent[at : at + 7], 0.0) for at in range(0, len(sent), 7))

    assert inputs + tap.feed(b"", 0.0) == sent
    assert heard.endpoints == ["/messages"]
    assert heard.data == [b"hello"] * 1000


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate", "compress", "gzip, br"])
def test_a_coding_that_is_broken_or_unknown_is_not_read_and_breaks_nothing(coding: str) -> None:
    heard = Heard()
    tap = tap_of(heard, content_type="text/event-stream", content_encoding=coding)
    tap.feed(STREAM, 0.0)
    tap.feed(STREAM, 0.0)

    assert heard.data == []


def test_an_unrecognised_stream_is_not_reported_as_mcp() -> None:
    heard = Heard()
    tap = tap_of(heard, content_type="text/event-stream")
    tap.may_not_be_mcp = True
    tap.feed(b"data: 1\n\ndata: 2\n\nevent: endpoint\ndata: /x\n\n", 0.0)

    assert tap.is_over
    assert (heard.data, heard.endpoints) == ([], [])


def test_an_answer_in_one_piece_is_reported_when_it_is_whole() -> None:
    heard = Heard()
    tap = tap_of(heard, content_type="application/json", content_encoding="gzip")
    sent = gzip.compress(b"{}")
    tap.feed(sent[:5], 0.0)
    tap.feed(sent[5:], 0.0)

    assert heard.data == []
    assert tap.decoded_body("gzip") == b"{}"
