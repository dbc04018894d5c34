"""A client that does not trust us voids the trial where it concerns what the trial is about."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from warex.lane.config import ProxyConfig
from warex.lane.connection_faults.distrust import Distrust

ALERT = (
    "The client does not trust the proxy's certificate for shop.test (OpenSSL Error([('SSL"
    " routines', '', 'ssl/tls alert unknown ca')]))"
)


@dataclass(frozen=True, slots=True)
class Authority:
    certificate: Path = Path("ca") / "certificate.pem"
    spki: str = "c3BraQ=="


@pytest.fixture
def ca() -> Authority:
    return Authority()


@pytest.fixture
def named(ca: Authority) -> Distrust:
    sites = ("https://shop.test", "https://*.shop.test")
    return Distrust(
        ProxyConfig(ca=Path("ca"), sites=sites), ca, lambda host, port: host == "mapped.test"
    )


@pytest.fixture
def unnamed(ca: Authority) -> Distrust:
    never = ("https://never.test/*",)
    return Distrust(ProxyConfig(ca=Path("ca"), never=never), ca, lambda host, port: False)


@pytest.mark.parametrize("host", ["shop.test", "SHOP.test", "api.shop.test", "mapped.test"])
def test_distrust_for_a_trials_site_voids_it_with_remedies(
    host: str, named: Distrust, ca: Authority
) -> None:
    void = named.rejected(host, 443, ALERT, by_browser=False)

    assert void is not None
    for part in (
        host,
        "TLS alert: unknown ca",
        ca.spki,
        "ignore_https_errors",
        "certificate.pem",
    ):
        assert part in void


def test_a_pinned_host_that_is_not_a_site_of_the_trial_voids_nothing(named: Distrust) -> None:
    assert named.rejected("telemetry.test", 443, ALERT, by_browser=True) is None
    assert named.at_the_end(page_was_read=False) is None


@pytest.mark.parametrize(
    ("by_browser", "read", "page_was_read", "void"),
    [
        (True, "shop.test", True, False),
        (True, "shop.test", False, True),
        (True, None, False, True),
        (False, "shop.test", False, False),
        (False, "api.openai.com", False, True),
        (False, None, False, True),
    ],
)
def test_without_named_sites_a_trial_of_which_nothing_was_read_is_void(
    by_browser: bool, read: str | None, page_was_read: bool, void: bool, unnamed: Distrust
) -> None:
    assert unnamed.rejected("other.test", 443, ALERT, by_browser=by_browser) is None
    if read is not None:
        unnamed.requested("c1", read)

    sentence = unnamed.at_the_end(page_was_read=page_was_read)

    assert (sentence is not None) == void
    assert sentence is None or sentence.endswith("--pass-through other.test")


@pytest.mark.parametrize("host", ["api.openai.com", "never.test"])
def test_a_model_and_an_excluded_host_may_distrust_us(host: str, unnamed: Distrust) -> None:
    assert unnamed.rejected(host, 443, ALERT, by_browser=False) is None
    assert unnamed.at_the_end(page_was_read=False) is None


@pytest.mark.parametrize(
    ("host", "after", "requests", "void"),
    [
        ("shop.test", 0.01, 0, True),
        ("shop.test", 0.01, 1, False),
        ("shop.test", 5.0, 0, False),
        ("cdn.test", 0.01, 0, False),
    ],
)
def test_closing_after_every_handshake_counts_as_distrust(
    host: str, after: float, requests: int, void: bool, named: Distrust
) -> None:
    named.requested("c0", "other.test")
    named.established("c1", host, 443, 10.0)
    named.closed("c1", 10.0 + after)
    if requests:
        named.established("c2", host, 443, 20.0)
        named.requested("c2", host)
        named.closed("c2", 20.01)

    assert (named.at_the_end(page_was_read=False) is not None) == void


def test_a_client_that_leaves_each_handshake_distrusts_us(named: Distrust) -> None:
    named.requested("c0", "other.test")
    named.left("cdn.test", 443)
    assert named.at_the_end(page_was_read=False) is None
    named.left("shop.test", 443)
    assert named.at_the_end(page_was_read=False) is not None
    named.requested("c1", "shop.test")
    assert named.at_the_end(page_was_read=False) is None


def test_a_browser_that_accepts_the_second_handshake_trusts_us(
    named: Distrust,
) -> None:
    assert named.rejected("shop.test", 443, ALERT, by_browser=True, final=False) is None
    assert named.at_the_end(page_was_read=False) is not None
    named.accepted("shop.test", by_browser=True)
    assert named.at_the_end(page_was_read=False) is None
    # A connection begun before the browser asked again.
    assert named.rejected("shop.test", 443, ALERT, by_browser=True, final=False) is None
    assert named.at_the_end(page_was_read=False) is None
