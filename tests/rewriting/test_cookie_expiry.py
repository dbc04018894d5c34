from http.cookiejar import CookieJar
from urllib.request import Request as Asked

import pytest

from warex.exchange import Request, Response
from warex.rewriting.base import ValueChange
from warex.rewriting.cookie_expiry import CookieExpiry

PAGE = Request("GET", "https://www.shop.example/account/orders/7")


def added(edit: CookieExpiry, request: Request = PAGE, set_cookie: str = "") -> list[str]:
    headers = {"set-cookie": set_cookie} if set_cookie else {}
    begun = edit.begin(request, Response(200, headers))
    assert begun is not None
    assert begun.keeps_body
    assert {name for name, _ in begun.extra_headers} <= {"set-cookie"}
    return [value for _, value in begun.extra_headers]


class Answer:
    """An answer with these fields, as the standard library's jar reads it."""

    def __init__(self, cookies: list[str]) -> None:
        self._cookies = cookies

    def info(self) -> "Answer":
        return self

    def get_all(self, name: str, default: list[str]) -> list[str]:
        return self._cookies if name.lower() == "set-cookie" else default


@pytest.mark.parametrize(
    "cookie",
    [
        "sid=1; Path=/",
        "sid=1; Path=/account",
        "sid=1; Path=/account/orders",
        "sid=1; Path=/; Domain=shop.example",
        "sid=1; Path=/account; Domain=www.shop.example; HttpOnly; Secure",
    ],
)
def test_a_client_forgets_a_cookie_wherever_it_has_it_from(cookie: str) -> None:
    jar = CookieJar()
    asked = Asked(PAGE.url)
    jar.extract_cookies(Answer([cookie]), asked)  # type: ignore[arg-type]
    assert len(jar) == 1
    jar.extract_cookies(Answer(added(CookieExpiry(("sid",)))), asked)  # type: ignore[arg-type]

    assert len(jar) == 0


def test_a_cookie_that_the_site_sets_again_stays() -> None:
    fresh = "sid=2; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT, cart=3"
    edit = CookieExpiry(("sid", "cart", "user"))

    assert {it.partition("=")[0] for it in added(edit, set_cookie=fresh)} == {"user"}


def test_what_was_lost_is_named_without_its_value() -> None:
    begun = CookieExpiry(("sid",)).begin(PAGE, Response(302))

    assert begun is not None
    assert list(begun.body.changes) == [ValueChange("cookie", "sid", None)]
    assert begun.body.feed(b"a") + begun.body.close() == b"a"


def test_without_a_cookie_nothing_is_changed() -> None:
    begun = CookieExpiry(()).begin(PAGE, Response(200))

    assert begun is not None
    assert not begun.body.applied
    assert not begun.extra_headers


def test_a_cookie_of_one_host_keeps_its_conditions() -> None:
    for value in added(CookieExpiry(("__Host-sid",))):
        assert "Path=/;" in value
        assert "Secure" in value
        assert "Domain" not in value


def test_expired_cookies_are_bounded_and_skip_parents_of_addresses() -> None:
    plain = Request("GET", "http://127.0.0.1/" + "a/" * 50 + ";b")
    values = added(CookieExpiry(tuple(f"c{number}" for number in range(90))), plain)

    assert len(values) == 200
    assert not any("Domain" in it or "Secure" in it for it in values)
