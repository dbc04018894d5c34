from warex.effects import Reply
from warex.exchange import Exchange, Request
from warex.faults.walls.session_expired import SessionExpired
from warex.seeds import KeyedRng

URL = "https://www.shop.test/cart?a=1"


def answered(fault: SessionExpired, cookie: str) -> Reply:
    exchange = Exchange("1", Request("GET", URL, {"cookie": cookie} if cookie else {}))
    (reply,), _ = fault.effects(exchange, {}, KeyedRng(1, "rule"))
    assert isinstance(reply, Reply)
    return reply


def test_the_browser_comes_again_without_its_cookies() -> None:
    reply = answered(SessionExpired(), "sid=secret; theme=dark=1")

    assert (reply.status, reply.headers["location"]) == (307, "/cart?a=1")
    assert reply.headers["clear-site-data"] == '"cookies"'
    assert reply.cookies == (
        "sid=; Max-Age=0; Path=/",
        "sid=; Max-Age=0; Path=/; Domain=www.shop.test",
        "sid=; Max-Age=0; Path=/; Domain=shop.test",
        "theme=; Max-Age=0; Path=/",
        "theme=; Max-Age=0; Path=/; Domain=www.shop.test",
        "theme=; Max-Age=0; Path=/; Domain=shop.test",
    )


def test_without_cookies_none_is_cleared() -> None:
    assert answered(SessionExpired(), "").cookies == ()


def test_a_login_of_ours_leaves_the_sites_session_alone() -> None:
    reply = answered(SessionExpired(login="own"), "sid=secret")

    assert reply.cookies == ()
    assert "clear-site-data" not in reply.headers
    assert b'type="password"' in reply.body
