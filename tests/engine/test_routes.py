import pytest

from warex.engine.handler import Address, Site
from warex.engine.routes import site_of, split_authority


@pytest.mark.parametrize(
    ("authority", "expected"),
    [
        ("shop.example", ("shop.example", 443)),
        ("shop.example:8443", ("shop.example", 8443)),
        ("shop.example:", ("shop.example", 443)),
        ("[2001:db8::1]", ("2001:db8::1", 443)),
        ("[2001:db8::1]:8443", ("2001:db8::1", 8443)),
        ("192.0.2.1:80", ("192.0.2.1", 80)),
    ],
)
def test_an_authority_is_a_host_and_a_port(authority: str, expected: tuple[str, int]) -> None:
    assert split_authority(authority, 443) == expected


def test_a_scheme_has_a_port() -> None:
    assert site_of("http", "shop.example") == Site("http", Address("shop.example", 80))
    assert site_of("https", "shop.example") == Site("https", Address("shop.example", 443))
