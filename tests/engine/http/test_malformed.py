"""Answers with a defect are correct in all else."""

from typing import get_args

import jh2.connection
import jh2.exceptions
import pytest

from warex.engine.http.heads import Headers, ResponseHead
from warex.engine.http.http1.response_head import InvalidResponse, head_end, parse_response
from warex.engine.http.http1.response_head import response_body_size as body_size
from warex.engine.http.http2.header_lists import MalformedMessage, response_head, response_list
from warex.engine.http.malformed import Defect, is_of, malformed

BODY = b"0123456789"
HEAD = ResponseHead(
    200, b"OK", "HTTP/1.1", Headers(((b"Content-Length", b"10"), (b"Content-Type", b"text/html")))
)


def test_a_browser_would_refuse_each_broken_head_but_a_stray_line() -> None:
    def read(defect: Defect) -> int:
        raw = malformed(HEAD, BODY, defect, 1, is_http2=False).head.raw
        assert head_end(raw) == len(raw)
        head = parse_response(raw)
        assert head.headers.get("content-type") == "text/html"
        return body_size("GET", head)

    assert read("header") == 10
    with pytest.raises(InvalidResponse, match="several lengths: 11, 10"):
        read("two_lengths")
    with pytest.raises(InvalidResponse):
        read("status_line")


def test_only_a_stray_line_lets_the_connection_go_on() -> None:
    of_http1 = [it for it in get_args(Defect.__value__) if is_of(it, is_http2=False)]
    going_on = [it for it in of_http1 if not malformed(HEAD, BODY, it, 1, is_http2=False).ends]
    assert going_on == ["header"]
    assert "frame" not in of_http1


def test_a_head_without_a_body_says_no_length() -> None:
    bare = ResponseHead(204, b"No Content", "HTTP/1.1", Headers())
    raw = malformed(bare, b"", "header", 1, is_http2=False).head.raw
    assert raw == b"HTTP/1.1 204 No Content\r\nCache-Status hit\r\n\r\n"


def test_half_of_the_body_comes_before_a_broken_chunk() -> None:
    answer = malformed(HEAD, BODY, "chunk", 1, is_http2=False)
    assert (answer.body, answer.rest) == (b"01234", b"2o\r\n")
    assert body_size("GET", answer.head) == -1
    assert answer.head.headers.get("content-length") == ""


def test_two_statuses_are_not_a_head_of_http2() -> None:
    answer = malformed(HEAD, BODY, "status_line", 1, is_http2=True)
    with pytest.raises(MalformedMessage):
        response_head(response_list(answer.head))
    assert not answer.ends


@pytest.mark.parametrize("defect", ["chunk", "frame"])
def test_a_broken_frame_ends_its_connection(defect: Defect) -> None:
    client = jh2.connection.H2Connection()
    client.initiate_connection()
    fields = [(":method", "GET"), (":path", "/"), (":scheme", "https"), (":authority", "a")]
    client.send_headers(1, fields)
    client.receive_data(b"\0\0\0\4\0\0\0\0\0")  # Its peer's settings.
    with pytest.raises(jh2.exceptions.ProtocolError):
        client.receive_data(malformed(HEAD, BODY, defect, 1, is_http2=True).rest)
