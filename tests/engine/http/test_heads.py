from warex.engine.http.heads import Headers, RequestHead, _lower_token, parse_fields
from warex.text.short_cache import LONGEST


def test_fields_keep_their_order_case_and_repetition() -> None:
    headers = Headers([(b"B", b"1"), (b"a", b"2"), (b"b", b"3")])
    assert list(headers) == [("B", "1"), ("a", "2"), ("b", "3")]
    assert headers.get("b") == "1, 3"
    assert headers.get_all("b") == ["1", "3"]
    assert headers.with_field("b", "4").fields == ((b"B", b"4"), (b"a", b"2"))
    assert headers.without("b").fields == ((b"a", b"2"),)


def test_cookies_that_http2_has_divided_are_one_field() -> None:
    headers = Headers([(b"cookie", b"a=1"), (b"Cookie", b"b=2")])
    assert headers.get("cookie") == "a=1; b=2"


def test_a_url_leaves_out_the_port_of_its_scheme_only() -> None:
    def url(scheme: str, authority: str) -> str:
        assert scheme in ("http", "https")
        head = RequestHead("GET", scheme, authority, "/a?b", "HTTP/1.1", Headers())  # type: ignore[arg-type]
        return head.url

    assert url("https", "shop.example:443") == "https://shop.example/a?b"
    assert url("http", "shop.example:443") == "http://shop.example:443/a?b"


def test_no_cache_keeps_a_long_name_of_a_field() -> None:
    for name in ("x" * (LONGEST + 1), "y" * 100_000):
        retained = _lower_token.cache_info().currsize
        head = f"GET / HTTP/1.1\r\n{name}: a\r\n\r\n".encode()
        headers = parse_fields(head, len(b"GET / HTTP/1.1\r\n"))
        assert headers is not None
        assert headers.get(name) == "a"
        assert _lower_token.cache_info().currsize == retained


def test_header_fields_are_cached_across_first_lines() -> None:
    lines = b"Host: shop.example\r\nAccept: */*\r\n\r\n"
    former, latter = (
        parse_fields(first + lines, len(first))
        for first in (b"GET /a HTTP/1.1\r\n", b"GET /long/b HTTP/1.1\r\n")
    )
    assert former is latter
    assert former is not None
    assert former.get("host") == "shop.example"


def test_a_first_line_with_a_stray_return_or_zero_byte_is_refused() -> None:
    lines = b"Host: shop.example\r\n\r\n"
    for first in (b"HTTP/1.1 200 a\0b\r\n", b"HTTP/1.1 200 a\rb\r\n"):
        assert parse_fields(first + lines, len(first)) is None
