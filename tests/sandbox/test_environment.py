"""Every program finds the proxy and trusts it, whatever was set before."""

import re
from pathlib import Path

import pytest

from warex.proxy.ca import CertificateAuthority, ensure_ca
from warex.sandbox import environment
from warex.sandbox.environment import behind_proxy, without_proxy

PROXY = "http://127.0.0.1:4321"
BUNDLE = Path("/scratch/bundle.pem")


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return ensure_ca(tmp_path_factory.mktemp("authority") / "ca")


@pytest.mark.parametrize("name", environment.PROXIES)
def test_every_proxy_variable_names_the_proxy_in_both_cases(
    ca: CertificateAuthority, name: str
) -> None:
    left_over = {name: "http://other:1", name.lower(): "http://other:2"}

    variables = behind_proxy(left_over, PROXY, ca, BUNDLE).variables

    assert variables[name] == variables[name.lower()] == PROXY


def test_only_loopback_goes_past_the_proxy(ca: CertificateAuthority) -> None:
    left_over = {"NO_PROXY": "*", "no_proxy": "shop.example"}

    variables = behind_proxy(left_over, PROXY, ca, BUNDLE).variables

    assert variables["NO_PROXY"] == variables["no_proxy"] == "localhost,127.0.0.1,::1"


def test_a_trust_store_left_over_from_elsewhere_is_overridden(ca: CertificateAuthority) -> None:
    names = (*environment.BUNDLES, *environment.ADDITIONS)
    left_over = dict.fromkeys(names, "/etc/other.pem") | {"SSL_CERT_DIR": "/etc/other"}

    variables = behind_proxy(left_over, PROXY, ca, BUNDLE).variables

    assert {variables[name] for name in environment.BUNDLES} == {str(BUNDLE)}
    assert {variables[name] for name in environment.ADDITIONS} == {str(ca.certificate)}
    assert "SSL_CERT_DIR" not in variables


def test_what_is_none_of_ours_stays_as_it_was(ca: CertificateAuthority) -> None:
    theirs = {"PATH": "/bin", "OPENAI_API_KEY": "k", "LANG": "C"}

    assert theirs.items() <= behind_proxy(theirs, PROXY, ca, BUNDLE).variables.items()
    assert dict(without_proxy(theirs, ca, {}).variables) == theirs


def test_the_browser_is_told_by_arguments_too(ca: CertificateAuthority) -> None:
    arguments = behind_proxy({}, PROXY, ca, BUNDLE).browser_arguments

    assert f"--proxy-server={PROXY}" in arguments
    assert f"--ignore-certificate-errors-spki-list={ca.spki}" in arguments


def test_without_a_proxy_none_is_left_over_and_the_hosts_are_found(
    ca: CertificateAuthority,
) -> None:
    left_over = {name: "http://other:1" for name in (*environment.PROXIES, "https_proxy")}

    found = without_proxy(left_over, ca, {"b.test": 2, "a.test": 1})

    assert dict(found.variables) == {}
    assert "--no-proxy-server" in found.browser_arguments
    rules = "--host-resolver-rules=MAP a.test 127.0.0.1:1,MAP b.test 127.0.0.1:2"
    assert rules in found.browser_arguments


def test_the_docs_name_every_variable_and_no_other() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "environment.md"
    documented = set(re.findall(r"`([A-Z][A-Z0-9_]{4,})`", page.read_text(encoding="utf-8")))
    ours = {
        *environment.PROXIES,
        *environment.DIRECT,
        *environment.SWITCHES,
        *environment.BUNDLES,
        *environment.ADDITIONS,
        *environment.REMOVED,
    }

    assert documented == ours
