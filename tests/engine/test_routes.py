from typing import Literal

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


@pytest.mark.parametrize(("scheme", "port"), [("http", 80), ("https", 443)])
def test_a_scheme_has_a_port(scheme: Literal["http", "https"], port: int) -> None:
    address = Address("shop.example", port)
    assert site_of(scheme, "shop.example") == Site(scheme, address, direct=False)
