"""What an attempt that failed would have asked for, and what shows that the site is back."""

from typing import Literal

import pytest

from warex.analysis.recovery.connection_tries import (
    host_in,
    host_of,
    proves_reachable,
    request_of_try,
)
from warex.traces import FaultPlanned, RequestSeen


def plan(url: str, point: Literal["name", "connect", "tls"] | None = "connect") -> FaultPlanned:
    return FaultPlanned(
        injection="i1",
        exchange="a1",
        rule="gone",
        fault={"kind": "connection_refused"},
        stage="request",
        scope="",
        ordinal=1,
        effects=("refuse",),
        url=url,
        point=point,
    )


def asked(url: str) -> RequestSeen:
    seen = request_of_try(plan(url))
    assert seen is not None
    return seen


def test_an_attempt_stands_for_a_page_and_a_request_for_itself() -> None:
    seen = request_of_try(plan("https://shop.example:443/"))
    assert seen is not None
    assert (seen.method, seen.resource, seen.exchange) == ("GET", "document", "a1")
    assert request_of_try(plan("https://shop.example/cart", None)) is None


@pytest.mark.parametrize(
    ("url", "point", "request_url", "expected"),
    [
        ("https://shop.example:443/", "connect", "https://shop.example/cart", True),
        ("https://shop.example:443/", "tls", "https://shop.example/cart", True),
        ("http://shop.example:80/", "connect", "http://shop.example/", True),
        ("https://shop.example:7770/", "connect", "http://shop.example:7770/", True),
        ("https://shop.example:443/", "connect", "http://shop.example/", False),
        ("https://shop.example:443/", "connect", "https://shop.example:8443/", False),
        ("https://shop.example:443/", "connect", "https://www.shop.example/", False),
        ("https://shop.example:8443/", "tls", "http://shop.example:8443/", False),
        ("https://shop.example/", "name", "http://shop.example:7770/", True),
        ("https://shop.example/", "name", "https://other.example/", False),
        ("https://[::1]:8443/", "connect", "https://[::1]:8443/x", True),
        ("https://shop.example:443/", "connect", "https://[half", False),
        ("https://shop.example:443/", "connect", "https://shop.example:port/", False),
    ],
)
def test_a_request_reaches_what_could_not_be_reached(
    url: str, point: Literal["name", "connect", "tls"], request_url: str, expected: bool
) -> None:
    assert proves_reachable(asked(request_url), plan(url, point)) == expected


def test_the_host_is_reported_without_its_port() -> None:
    assert host_of(plan("https://shop.example:443/")) == "shop.example"


def test_a_host_is_read_out_of_an_absolute_url_only() -> None:
    assert host_in("https://shop.example/cart") == "shop.example"
    assert host_in("shop.example") is None
    assert host_in("http://[broken") is None
