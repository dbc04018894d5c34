import pytest
from mitmproxy import http

from warex.engine.handler import Forward, Respond
from warex.engine.http.heads import Headers
from warex.mitmproxy_addon import messages


def request(url: str = "https://shop.example/a?b=1", **more: str) -> http.Request:
    fields = [(name.encode(), value.encode()) for name, value in more.items()]
    return http.Request.make("GET", url, headers=fields)


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("https://shop.example/", "shop.example"),
        ("http://shop.example:8080/", "shop.example:8080"),
        ("https://[::1]:8443/", "[::1]:8443"),
    ],
)
def test_a_request_without_host_is_named_by_its_url(url: str, authority: str) -> None:
    asked = request(url)
    asked.headers.clear()
    asked.authority = ""
    assert messages.request_head(asked).authority == authority


def test_a_request_keeps_its_fields_in_order() -> None:
    asked = request()
    asked.headers = http.Headers([(b"Host", b"shop.example"), (b"A", b"1"), (b"a", b"2")])
    head = messages.request_head(asked)
    assert list(head.headers) == [("Host", "shop.example"), ("A", "1"), ("a", "2")]
    assert (head.url, head.path) == ("https://shop.example/a?b=1", "/a?b=1")


def test_a_changed_body_has_its_length() -> None:
    asked = request()
    asked.headers["transfer-encoding"] = "chunked"
    messages.change_request(asked, Forward(body=b"abc"))
    assert asked.raw_content == b"abc"
    assert asked.headers["content-length"] == "3"
    assert "transfer-encoding" not in asked.headers


@pytest.mark.parametrize(("version", "chunked"), [("HTTP/1.1", True), ("HTTP/2.0", False)])
def test_a_body_of_any_length_is_framed_as_the_client_reads_it(version: str, chunked: bool) -> None:
    asked, answer = request(), http.Response.make(200, b"abc")
    asked.http_version = version
    messages.allow_any_length(asked, answer)
    assert "content-length" not in answer.headers
    assert ("transfer-encoding" in answer.headers) == chunked


@pytest.mark.parametrize(("version", "retained"), [("HTTP/1.1", True), ("HTTP/2.0", False)])
def test_an_answer_over_http2_has_no_transfer_encoding(version: str, retained: bool) -> None:
    asked = request()
    asked.http_version = version
    respond = Respond(200, Headers([(b"transfer-encoding", b"chunked")]), (b"a", b"b"))
    answer = messages.make_response(messages.request_head(asked), respond)
    assert answer.raw_content == b"ab"
    assert ("transfer-encoding" in answer.headers) == retained


def test_an_upgrade_to_h2c_is_left_out() -> None:
    asked = request(Connection="Upgrade, HTTP2-Settings, x", Upgrade="h2c")
    asked.headers["HTTP2-Settings"] = "AAMAAABkAAQAoAAAAAIAAAAA"
    messages.leave_out_h2c(asked)
    assert asked.headers["connection"] == "x"
    assert {"upgrade", "http2-settings"}.isdisjoint(asked.headers)


def test_another_upgrade_stays() -> None:
    asked = request(Connection="Upgrade", Upgrade="websocket")
    messages.leave_out_h2c(asked)
    assert asked.headers["upgrade"] == "websocket"
