import pytest

from warex.engine.handler import Respond, SiteFailure
from warex.engine.http.events import DataReceived
from warex.engine.http.heads import Headers, RequestHead, ResponseHead
from warex.engine.planned_messages import (
    PIECE,
    planned_response,
    spliced,
    split,
    tunnel_refusal,
    with_any_length,
    with_body,
    without_expectation,
)


def request(method: str = "POST", **fields: str) -> RequestHead:
    headers = Headers.of_text([(name.replace("_", "-"), value) for name, value in fields.items()])
    return RequestHead(method, "https", "shop.example", "/", "HTTP/1.1", headers, b"raw")


def test_a_changed_body_says_its_length_only() -> None:
    head = with_body(request(transfer_encoding="chunked", expect="100-continue", x="y"), b"abc")
    assert head.headers.by_name == {"x": "y", "content-length": "3"}
    assert head.raw == b""
    assert with_body(request(content_length="5"), b"").headers.by_name == {"content-length": "0"}
    assert with_body(request(), b"").headers.by_name == {}


def test_a_continued_request_loses_its_expect_header() -> None:
    assert without_expectation(request(expect="100-continue", x="y")).headers.by_name == {"x": "y"}
    untouched = request(x="y")
    assert without_expectation(untouched) is untouched


def test_a_body_of_any_length_says_none() -> None:
    fields = Headers.of_text([("Content-Length", "3"), ("X", "y")])
    head = with_any_length(ResponseHead(200, b"OK", "HTTP/1.1", fields, b"raw"))
    assert (head.headers.by_name, head.raw) == ({"x": "y"}, b"")
    plain = ResponseHead(200, b"OK", "HTTP/1.1", Headers(), b"raw")
    assert with_any_length(plain) is plain


def test_a_planned_response_says_its_length_unless_its_head_does() -> None:
    head, pieces = planned_response(request(), Respond(500, Headers(), (b"ab", b"c")))
    assert (head.reason, head.headers.by_name) == (
        b"Internal Server Error",
        {"content-length": "3"},
    )
    assert pieces == (b"ab", b"c")
    headers = Headers.of_text([("Content-Length", "100")])
    assert planned_response(request(), Respond(200, headers, (b"ab",)))[0].headers == headers


@pytest.mark.parametrize(
    ("method", "status", "length"),
    [("HEAD", 200, "1"), ("GET", 204, None), ("GET", 304, None), ("GET", 205, None)],
)
def test_a_response_without_a_body_stays_empty(
    method: str, status: int, length: str | None
) -> None:
    head, pieces = planned_response(request(method), Respond(status, Headers(), (b"a",)))
    assert (head.headers.by_name.get("content-length"), tuple(pieces)) == (length, ())


def test_an_unknown_status_has_no_phrase() -> None:
    assert planned_response(request(), Respond(599, Headers()))[0].reason == b""


def test_a_body_is_written_in_parts() -> None:
    body = bytes(PIECE) + b"x"
    assert [len(part) for part in split(body)] == [PIECE, 1]
    assert b"".join(split(body)) == body
    assert list(split(b"")) == []


def test_changed_content_keeps_its_framing() -> None:
    part = DataReceived(1, b"abc", b"3;x\r\nabc\r\n")
    assert spliced(part, b"abc") == part.raw
    assert spliced(part, b"xyz") == b"3;x\r\nxyz\r\n"
    with pytest.raises(ValueError, match="another length"):
        spliced(part, b"abcd")


@pytest.mark.parametrize(
    ("failure", "status"), [("connection_refused", 502), ("connection_timeout", 504)]
)
def test_a_tunnel_is_refused_by_the_status_of_what_failed(
    failure: SiteFailure, status: int
) -> None:
    head = tunnel_refusal(failure)
    assert head.status == status
    assert head.headers.get("proxy-status") == f"proxy; error={failure}"
