"""A rule that is about none of the task sites is named, and one that may be is not."""

import pytest

from tests.scenarios.lint.test_unmatchable import MAY_MATCH, SITES, rule
from warex.scenarios.lint.off_site import off_site


@pytest.mark.parametrize(
    "match",
    [
        {"url": "https://other.example/*"},
        {"url": "http://shop.example/*"},
        {"url": "http://127.0.0.1:9000/*"},
        {"url": "https://www.shop.example/*"},
        {"url_exact": "https://other.example/cart"},
        {"url_regex": r"^https://other\.example/cart"},
        {"url_regex": r"https?://other\.example"},
        {"url_regex": "https://shop.example.org/"},
        {"url_regex": r"(?i)^https:\/\/OTHER\.example\/"},
        {"url_regex": r"^http://shop\.example/"},
    ],
)
def test_an_off_site_host_gives_a_warning_if_sites_are_known(
    match: dict[str, object],
) -> None:
    (messages,) = off_site(rule(match), SITES)

    assert messages == (
        "hits nothing on the task sites (https://shop.example, http://127.0.0.1:8000):"
        f" `{next(iter(match.values()))}` is elsewhere."
    )
    assert list(off_site(rule(match), ())) == []


@pytest.mark.parametrize("match", MAY_MATCH)
def test_a_rule_that_may_match_a_site_gives_no_warning(match: dict[str, object]) -> None:
    assert list(off_site(rule(match), SITES)) == []


@pytest.mark.parametrize(
    "pattern",
    [
        r"^https?://shop\.example/cart",
        r"https://shop\.example",
        r"^https://shop\.exampl.*",
        r"^https://sh.*/cart",
        r"^https://shop\.examplex?/",
        r"^http://127\.0\.0\.1:8000/",
        r"^http://127",
        r"(?i)^https:\/\/SHOP\.example\/",
        r"^https://other\.example/|cart",
        r"^https://(other|shop)\.example/",
    ],
)
def test_a_regex_that_may_match_a_site_gives_no_warning(pattern: str) -> None:
    assert list(off_site(rule({"url_regex": pattern}), SITES)) == []


@pytest.mark.parametrize(
    ("url", "kind", "reported"),
    [
        ("https://other.example/*", "connection_refused", True),
        ("https://shop.example:8443", "connection_refused", True),
        ("https://shop.example:8443", "dns_failure", False),
        ("*://127.0.0.1/*", "connection_refused", False),
        ("*://*.example/*", "dns_failure", False),
        ("{sites}", "connection_timeout", False),
        ("*", "tls_error", False),
    ],
)
def test_a_connection_fault_is_about_the_hosts_and_ports_of_sites(
    url: str, kind: str, reported: bool
) -> None:
    assert len(list(off_site(rule({"url": url}, {"kind": kind}), SITES))) == reported


def test_only_the_first_of_many_sites_are_named() -> None:
    sites = tuple(f"https://s{number}.example" for number in range(20))
    (messages,) = off_site(rule({"url": "https://other.example/*"}), sites)

    assert "https://s7.example and 12 more)" in messages
    assert "s8" not in messages
