"""Patterns over origins: what a connection fault can be about."""

import pytest

from warex.faults import ConnectionPhase
from warex.scenarios.origins import (
    ConnectionTarget,
    matches_any,
    origins_of_sites,
    parse_origin_pattern,
)
from warex.scenarios.scenario import Match


def fits(pattern: str, host: str, port: int | None, point: ConnectionPhase = "connect") -> bool:
    return parse_origin_pattern(pattern).matches(ConnectionTarget.of(point, host, port))


@pytest.mark.parametrize(
    ("pattern", "port"),
    [
        ("https://shop.example/*", 443),
        ("https://shop.example", 443),
        ("https://shop.example/", 443),
        ("HTTPS://Shop.Example", 443),
        ("wss://shop.example/*", 443),
        ("http://shop.example/*", 80),
        ("ws://shop.example", 80),
        ("https://shop.example:8443", 8443),
        ("*://shop.example:8080/*", 8080),
    ],
)
def test_the_port_is_the_one_given_or_else_the_schemes_own(pattern: str, port: int) -> None:
    assert fits(pattern, "shop.example", port)
    assert not fits(pattern, "shop.example", port + 1)
    assert not fits(pattern, "other.example", port)


@pytest.mark.parametrize("pattern", ["*", "*://*", "*://*/*", "*://*:*/*", "https://*:*"])
def test_a_star_for_scheme_or_port_is_every_port(pattern: str) -> None:
    assert fits(pattern, "any.example", 443)
    assert fits(pattern, "any.example", 7770)


def test_a_star_in_a_host_is_any_text_and_everything_else_itself() -> None:
    assert fits("https://*.shop.example/*", "www.shop.example", 443)
    assert not fits("https://*.shop.example/*", "shop.example", 443)
    assert not fits("https://www.shop.example/*", "wwwxshop.example", 443)


def test_an_ipv6_address_is_compared_without_its_brackets() -> None:
    assert fits("https://[2001:DB8::1]:8443/*", "[2001:db8::1]", 8443)
    assert ConnectionTarget.of("connect", "2001:db8::1", 8443).scope == "CONNECT [2001:db8::1]:8443"


def test_a_name_has_no_port_and_no_scheme() -> None:
    assert fits("https://shop.example:8443/*", "shop.example", None, "name")
    assert fits("http://shop.example/*", "Shop.Example.", 443, "name")
    assert ConnectionTarget.of("name", "shop.example", 443).scope == "CONNECT shop.example"


def test_tls_is_never_plain() -> None:
    assert fits("https://shop.example:8443", "shop.example", 8443, "tls")
    assert fits("*://shop.example:8443", "shop.example", 8443, "tls")
    assert not fits("http://shop.example:8443", "shop.example", 8443, "tls")
    assert fits("http://shop.example:8443", "shop.example", 8443, "connect")


@pytest.mark.parametrize(
    "pattern",
    [
        "https://shop.example/cart",
        "https://shop.example/cart/*",
        "https://shop.example/?q=*",
        "https://shop.example/#top",
        "shop.example",
        "*shop.example/*",
        "https://user@shop.example/",
        "https://shop.example:port",
        "https:///x",
        "",
    ],
)
def test_what_names_more_or_less_than_an_origin_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="is not a scheme, a host, perhaps a port, and no more"):
        parse_origin_pattern(pattern)


def test_an_invalid_scheme_or_port_is_refused() -> None:
    with pytest.raises(ValueError, match="`ftp` is not a scheme of the web; give http, https or"):
        parse_origin_pattern("ftp://shop.example")
    with pytest.raises(ValueError, match="70000 is not a port; give one from 1 to 65535"):
        parse_origin_pattern("https://shop.example:70000")


def test_an_exact_url_takes_no_star() -> None:
    assert parse_origin_pattern("https://shop.example", exact=True).port == 443
    for pattern in ("https://*.example", "*", "https://shop.example/*"):
        with pytest.raises(ValueError, match="no more"):
            parse_origin_pattern(pattern, exact=True)


def test_site_paths_are_reduced_to_origins() -> None:
    about = matches_any(
        origins_of_sites(["https://shop.example/store", "http://wiki.example:8023"])
    )
    assert about(ConnectionTarget("connect", "shop.example", 443))
    assert about(ConnectionTarget("connect", "wiki.example", 8023))
    assert not about(ConnectionTarget("connect", "wiki.example", 80))


def test_without_sites_every_valid_origin_is_a_site() -> None:
    assert matches_any(origins_of_sites([]))(ConnectionTarget("connect", "any.example", 1))
    assert not matches_any(origins_of_sites(["shop.example"]))(
        ConnectionTarget("connect", "shop.example", 443)
    )


@pytest.mark.parametrize("after", ["", "*", "/", "/*"])
def test_the_sites_placeholder_must_be_alone(after: str) -> None:
    assert Match(url=f"{{sites}}{after}").origin is None
    with pytest.raises(ValueError, match="goes on after"):
        _ = Match(url="{sites}/cart").origin


def test_a_target_has_a_url_with_the_scheme_that_its_port_says() -> None:
    assert ConnectionTarget("connect", "shop.example", 443).url == "https://shop.example:443/"
    assert ConnectionTarget("connect", "shop.example", 80).url == "http://shop.example:80/"
    assert ConnectionTarget("tls", "shop.example", 80).url == "https://shop.example:80/"
    assert ConnectionTarget("name", "shop.example").url == "https://shop.example/"


@pytest.mark.timeout(10)
def test_a_long_host_takes_no_time() -> None:
    origins = parse_origin_pattern("https://*a*a*a*b")

    assert not origins.names_host("a" * 100_000)
