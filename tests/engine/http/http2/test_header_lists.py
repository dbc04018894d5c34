"""Header lists as heads and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jh2.hpack import NeverIndexedHeaderTuple

from warex.engine.http.heads import Headers, RequestHead, ResponseHead
from warex.engine.http.http2.header_lists import (
    MalformedMessage,
    _is_field,
    content_length,
    request_head,
    request_line,
    request_list,
    response_head,
    response_list,
    trailer_list,
    trailers,
)
from warex.text.short_cache import LONGEST

GET = [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"a"), (b":path", b"/")]


def test_what_must_not_be_compressed_stays_so() -> None:
    secret = NeverIndexedHeaderTuple(b"cookie", b"s3cret")
    listed = request_list(request_head([*GET, secret]))
    assert type(listed[-1]) is NeverIndexedHeaderTuple


def test_a_host_field_replaces_a_missing_authority() -> None:
    assert request_head([*GET[:2], GET[3], (b"host", b"b:1")]).authority == "b:1"
    assert request_head([*GET, (b"host", b"a")]).headers.get("host") == "a"


def test_pseudo_fields_come_once_and_first() -> None:
    for headers in ([*GET, GET[0]], [(b"x", b"y"), *GET], GET[1:]):
        with pytest.raises(MalformedMessage):
            request_head(headers)


def test_the_line_of_a_malformed_request_is_what_there_is() -> None:
    assert request_line([(b":path", b"nowhere"), (b":method", b"GET")]) == b"GET nowhere"
    assert request_line([]) == b" "


@given(
    st.lists(
        st.tuples(
            st.from_regex(rb"[a-z][a-z0-9-]{0,8}", fullmatch=True),
            st.binary(max_size=8).filter(lambda it: not set(it) & set(b"\0\r\n")),
        )
    )
)
def test_fields_of_http2_pass_as_they_came(fields: list[tuple[bytes, bytes]]) -> None:
    fields = [it for it in fields if it[0] not in (b"te", b"host", b"connection", b"upgrade")]
    head = response_head([(b":status", b"200"), *fields])
    assert response_list(head) == [(b":status", b"200"), *fields]
    assert trailer_list(trailers(fields)) == fields


def test_fields_of_http1_lose_their_case_and_what_is_of_their_connection() -> None:
    fields = Headers(
        [
            (b"Host", b"a"),
            (b"Connection", b"Close, X-Hop"),
            (b"X-Hop", b"1"),
            (b"Transfer-Encoding", b"chunked"),
            (b"TE", b"trailers"),
            (b"no token", b"1"),
            (b"X", b"a\nb"),
        ]
    )
    head = RequestHead("GET", "https", "a", "/", "HTTP/1.1", fields)
    assert request_list(head)[4:] == [(b"x", b"a b")]
    answer = ResponseHead(200, b"OK", "HTTP/1.1", fields)
    assert response_list(answer) == [(b":status", b"200"), (b"host", b"a"), (b"x", b"a b")]


@pytest.mark.parametrize("length", [b"", b"x", b"-1", b"1, 1", b"1" * 19, "²".encode()])
def test_a_length_is_a_number(length: bytes) -> None:
    with pytest.raises(MalformedMessage):
        content_length(request_head([*GET, (b"content-length", length)]))


def test_a_repeated_content_length_is_refused() -> None:
    twice = [(b"content-length", b"1"), (b"content-length", b"1")]
    with pytest.raises(MalformedMessage):
        content_length(request_head([*GET, *twice]))
    assert content_length(request_head([*GET, twice[0]])) == 1
    assert content_length(request_head(GET)) is None


def test_no_cache_keeps_a_long_name_of_a_field() -> None:
    name = b"x" * (LONGEST + 1)
    request_head(GET)
    retained = _is_field.cache_info().currsize
    assert request_head([*GET, (name, b"a")]).headers.get(name.decode()) == "a"
    assert _is_field.cache_info().currsize == retained
    with pytest.raises(MalformedMessage):
        request_head([*GET, (name + b" ", b"a")])
