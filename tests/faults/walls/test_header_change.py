import pytest
from pydantic import ValidationError

from warex.effects import Rewrite
from warex.exchange import Exchange, Request, Response
from warex.faults.walls.header_change import HeaderChange
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.example/"))


def changed(fault: HeaderChange, **headers: str) -> dict[str, str] | None:
    (effect,), _ = fault.effects(PAGE, {}, KeyedRng(1, "rule"))
    assert isinstance(effect, Rewrite)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    begun = effect.edit.begin(PAGE.request, Response(200, named))
    if begun is None:
        return None
    retained = {name: begun.header(name, value) for name, value in named.items()}
    return {name: value for name, value in retained.items() if value is not None} | dict(
        begun.extra_headers
    )


def test_the_cookies_are_lost_and_nothing_else() -> None:
    assert changed(HeaderChange(change="cookies"), set_cookie="a=1", x_a="b") == {"x-a": "b"}


def test_a_page_that_sets_no_cookie_is_left_alone() -> None:
    assert changed(HeaderChange(change="cookies"), x_a="b") is None


def test_a_type_takes_the_place_of_the_sites() -> None:
    fault = HeaderChange(change="type", content_type="application/octet-stream")
    expected = {"content-type": "application/octet-stream"}
    assert changed(fault, content_type="text/html") == expected


def test_an_added_policy_is_beside_the_sites() -> None:
    assert changed(HeaderChange(), content_type="text/html") == {
        "content-type": "text/html",
        "content-security-policy": "script-src 'none'",
    }


@pytest.mark.parametrize("value", ["", " a", "a\r\nx-b: c", "é"])
def test_a_value_that_is_not_a_field_value_is_refused(value: str) -> None:
    with pytest.raises(ValidationError):
        HeaderChange(change="type", content_type=value)
