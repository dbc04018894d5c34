import pytest
from pydantic import ValidationError

from warex.effects import Rewrite
from warex.exchange import Exchange, Request
from warex.faults import FaultState
from warex.faults.world.cookie_loss import CookieLoss
from warex.rewriting.cookie_expiry import CookieExpiry
from warex.seeds import KeyedRng


def page(cookie: str, at: float = 10.0) -> Exchange:
    headers = {"cookie": cookie} if cookie else {}
    return Exchange("1", Request("GET", "https://shop.test/cart", headers), at=at)


def lost(fault: CookieLoss, exchange: Exchange, state: FaultState | None = None) -> Rewrite:
    (effect,), _ = fault.effects(exchange, state or {}, KeyedRng(1, "rule"))
    assert isinstance(effect, Rewrite)
    assert effect.edit == CookieExpiry(effect.drops)
    return effect


def after(fault: CookieLoss, exchange: Exchange, state: FaultState | None = None) -> FaultState:
    return fault.effects(exchange, state or {}, KeyedRng(1, "rule"))[1]


@pytest.mark.parametrize(
    ("cookie", "names"),
    [
        ("PHPSESSID=a; theme=dark", ("PHPSESSID",)),
        ("connect.sid=s%3Aa; _ga=GA1.2.3; cart=7", ("connect.sid", "cart")),
        ("csrftoken=abc; sessionid=x", ("sessionid",)),
        ("JSESSIONID=a; XSRF-TOKEN=b; lang=de", ("JSESSIONID",)),
        ("__Host-session=1; cookie_consent=yes", ("__Host-session",)),
        (".AspNetCore.Identity.Application=a", (".AspNetCore.Identity.Application",)),
        ("sb-access-token=a; remember_me=1", ("sb-access-token", "remember_me")),
        ("x9=8f14e45fceea167a5a36dedd4bea2543; lang=de", ("x9",)),
        ("theme=dark; _gid=GA1.2.1234567890.1234567890", ()),
        ("", ()),
        ("novalue; =b", ()),
    ],
)
def test_what_looks_like_a_session_is_lost(cookie: str, names: tuple[str, ...]) -> None:
    assert lost(CookieLoss(), page(cookie)).drops == names


def test_cookies_are_chosen_by_their_names() -> None:
    fault = CookieLoss(cookies=("theme", "c*"))

    assert lost(fault, page("sid=1; theme=dark; cart=2; crumb=3")).drops == (
        "theme", "cart", "crumb",
    )  # fmt: skip


def test_where_no_cookie_is_there_yet_the_next_request_with_one_loses_it() -> None:
    fault = CookieLoss()
    state = after(fault, page(""))
    assert fault.still_applies(page("sid=1"), state)

    state = after(fault, page("sid=1"), state)
    assert not fault.still_applies(page("sid=2"), state)


def test_a_request_that_was_under_way_loses_it_too_and_a_new_session_lasts() -> None:
    fault = CookieLoss()
    state = after(fault, page("sid=1; a=b"))

    assert fault.reaches(page("sid=1", at=11), state)
    assert lost(fault, page("sid=1; cart=2", at=11), state).drops == ("sid",)
    assert not fault.reaches(page("sid=2", at=11), state)
    # A site may give who signs in again the same value.
    assert not fault.reaches(page("sid=1", at=13), state)


def test_no_value_is_remembered() -> None:
    assert "secret" not in str(after(CookieLoss(), page("sid=secret")))


@pytest.mark.parametrize("cookies", [[], [""], ["a=b"], ["a;b"], "sid"])
def test_what_is_not_a_name_of_a_cookie_is_refused(cookies: object) -> None:
    with pytest.raises(ValidationError, match="cookies"):
        CookieLoss.model_validate({"cookies": cookies})
