from typing import Any

import pytest

from warex.traces.redaction.named.logins import password_of
from warex.traces.redaction.structured import redact_json


@pytest.mark.parametrize(
    "name",
    ["auth", "basic_auth", "basicAuth", "http-auth", "proxy_auth", "login", "userpass"],
)
def test_the_password_beside_its_user_is_gone_and_the_user_stays(name: str) -> None:
    assert redact_json({name: "bob:meadow"}) == {name: "bob:[redacted]"}
    assert redact_json({name: ["bob", "meadow"]}) == {name: ["bob", "[redacted]"]}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("login", "bob"),
        ("login", "https://shop.example/login"),
        ("login", "see: below"),
        ("login", "shop.example:8443"),
        ("auth", ["oauth2"]),
        ("auth", ["basic", "digest", "none"]),
        ("auth", {"type": "none"}),
        ("auth", True),
        ("title", "bob:meadow"),
        ("pair", ["bob", "meadow"]),
    ],
)
def test_what_is_not_a_login_stays(name: str, value: Any) -> None:
    assert password_of(name, value) == ""
    assert redact_json({name: value}) == {name: value}
