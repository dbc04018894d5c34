import pytest

from warex.exchange import Request, Response
from warex.rewriting.header_edit import HeaderEdit

GET = Request("GET", "https://shop.example/")
COOKIES = HeaderEdit(remove=("set-cookie",), html_only=False)
HTML = {"content-type": "text/html; charset=utf-8"}
POLICY = HeaderEdit(add=(("content-security-policy", "script-src 'none'"),))


@pytest.mark.parametrize("status", [200, 303, 304])
def test_cookies_are_lost_wherever_they_are_set(status: int) -> None:
    begun = COOKIES.begin(GET, Response(status, {"set-cookie": "a=1"}))

    assert begun is not None
    assert begun.header("set-cookie", "a=1") is None
    assert begun.header("x-a", "b") == "b"


def test_where_no_field_is_to_be_lost_there_is_nothing_to_change() -> None:
    assert COOKIES.begin(GET, Response(200)) is None


@pytest.mark.parametrize("status", [204, 206, 301, 304])
def test_a_response_that_is_not_shown_gets_no_policy(status: int) -> None:
    assert POLICY.begin(GET, Response(status, HTML)) is None
    assert POLICY.begin(Request("HEAD", GET.url), Response(200, HTML)) is None


@pytest.mark.parametrize("kind", ["image/png", "application/json", "text/javascript", ""])
def test_what_is_not_a_page_gets_no_policy(kind: str) -> None:
    assert POLICY.begin(GET, Response(200, {"content-type": kind})) is None


def test_a_body_passes_as_it_is() -> None:
    begun = POLICY.begin(GET, Response(200, HTML))

    assert begun is not None
    assert begun.keeps_body
    assert begun.body.feed(b"\x1f\x8b") + begun.body.close() == b"\x1f\x8b"
