"""What may name a site."""

import pytest

from warex.engine.http.authority import invalid_authority_reason


@pytest.mark.parametrize(
    "authority",
    [
        "localhost",
        "a.example.:443",
        "[::1]:80",
        "a_b",
        "127.0.0.1:0",
        "xn--a",
        "a%20b:",
        "A.B:65535",
    ],
)
def test_valid_hosts_are_accepted(authority: str) -> None:
    assert invalid_authority_reason(authority) is None


@pytest.mark.parametrize(
    "authority",
    [
        "localhost:99999",
        "u:p@a",
        "[::1",
        "[zz]",
        "a b",
        "a/b",
        "é.example",
        "a..b",
        "a:b:1",
        "a" * 64,
        "a:" + "9" * 5000,
    ],
)
def test_invalid_hosts_are_refused(authority: str) -> None:
    assert invalid_authority_reason(authority)
