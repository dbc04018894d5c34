"""Patterns over origins: what a connection fault can be about."""

import time

import pytest

from warex.faults import Point
from warex.scenarios.origins import (
    Target,
    fits_any,
    origin_mistake,
    origins_of_sites,
    read_origins,
)


def fits(pattern: str, host: str, port: int | None, point: Point = "connect") -> bool:
    return read_origins(pattern).fits(Target.of(point, host, port))


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
    assert Target.of("connect", "2001:db8::1", 8443).scope == "CONNECT [2001:db8::1]:8443"


def test_a_name_has_no_port_and_no_scheme() -> None:
    assert fits("https://shop.example:8443/*", "shop.example", None, "name")
    assert fits("http://shop.example/*", "Shop.Example.", 443, "name")
    assert Target.of("name", "shop.example", 443).scope == "CONNECT shop.example"


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
        read_origins(pattern)


def test_a_scheme_or_port_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="`ftp` is no scheme of the web; give http, https or"):
        read_origins("ftp://shop.example")
    with pytest.raises(ValueError, match="70000 is no port; give one from 1 to 65535"):
        read_origins("https://shop.example:70000")


def test_an_exact_url_takes_no_star() -> None:
    assert read_origins("https://shop.example", exact=True).port == 443
    for pattern in ("https://*.example", "*", "https://shop.example/*"):
        with pytest.raises(ValueError, match="no more"):
            read_origins(pattern, exact=True)


def test_the_sites_are_origins_whatever_their_paths() -> None:
    about = fits_any(origins_of_sites(["https://shop.example/store", "http://wiki.example:8023"]))
    assert about(Target("connect", "shop.example", 443))
    assert about(Target("connect", "wiki.example", 8023))
    assert not about(Target("connect", "wiki.example", 80))


def test_without_sites_every_origin_is_one_and_a_broken_site_is_none() -> None:
    assert fits_any(origins_of_sites([]))(Target("connect", "any.example", 1))
    assert not fits_any(origins_of_sites(["shop.example"]))(Target("connect", "shop.example", 443))


@pytest.mark.parametrize("after", ["", "*", "/", "/*"])
def test_the_sites_may_stand_for_themselves_only(after: str) -> None:
    assert origin_mistake(f"{{sites}}{after}", None, "{sites}") is None
    assert origin_mistake("{sites}/cart", None, "{sites}") is not None


def test_a_target_has_a_url_with_the_scheme_that_its_port_says() -> None:
    assert Target("connect", "shop.example", 443).url == "https://shop.example:443/"
    assert Target("connect", "shop.example", 80).url == "http://shop.example:80/"
    assert Target("tls", "shop.example", 80).url == "https://shop.example:80/"
    assert Target("name", "shop.example").url == "https://shop.example/"


def test_a_long_host_takes_no_time() -> None:
    origins = read_origins("https://*a*a*a*b")
    began = time.process_time()

    assert not origins.names_host("a" * 100_000)

    assert time.process_time() - began < 1
