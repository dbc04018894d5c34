"""A complete response."""

import gzip
from typing import Any

import pytest

from tests.lane.support.traffic import response_head
from warex.lane.whole_response import WholeResponse


def test_a_made_response_has_its_length_and_its_phrase() -> None:
    made = WholeResponse.make(503, {"Content-Type": "text/html"}, b"<p>no", cookies=["a=1", "b=2"])

    assert (made.head.status, made.head.reason, made.body) == (
        503,
        b"Service Unavailable",
        b"<p>no",
    )
    assert list(made.head.headers) == [
        ("Content-Type", "text/html"),
        ("content-length", "5"),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
    ]
    assert WholeResponse.make(799).head.reason == b""


def test_a_response_to_head_says_how_long_the_body_would_be() -> None:
    made = WholeResponse.make(200, body=b"12345", to="HEAD")

    assert (made.body, made.head.headers.get("content-length")) == (b"", "5")


@pytest.mark.parametrize("length", ["", "99"])
def test_what_is_decoded_has_the_length_of_its_text(length: str) -> None:
    fields: dict[str, Any] = {"content_encoding": "gzip"} | (
        {"content_length": length} if length else {}
    )
    response = WholeResponse(response_head(**fields), gzip.compress(b"hello")).decoded()

    assert response.body == b"hello"
    assert list(response.head.headers) == ([("content-length", "5")] if length else [])


@pytest.mark.parametrize(
    ("coding", "body"), [("rot13", b"uryyb"), ("gzip", b"no gzip"), ("", b"a")]
)
def test_what_cannot_be_decoded_stays_as_it_is(coding: str, body: bytes) -> None:
    response = WholeResponse(response_head(content_encoding=coding), body)

    assert response.decoded() is response
