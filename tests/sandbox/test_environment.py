"""Every program finds the proxy and trusts it, whatever was set before."""

import re
from pathlib import Path

import pytest

from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.sandbox import environment, isolation
from warex.sandbox.env_mode import browser_shims, prepare
from warex.sandbox.environment import direct_environment, proxied_environment

PROXY = "http://127.0.0.1:4321"
BUNDLE = Path("/scratch/bundle.pem")


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return ensure_ca(tmp_path_factory.mktemp("authority") / "ca")


@pytest.mark.parametrize("name", environment.PROXY_VARIABLES)
def test_every_proxy_variable_names_the_proxy_in_both_cases(
    ca: CertificateAuthority, name: str
) -> None:
    left_over = {name: "http://other:1", name.lower(): "http://other:2"}

    variables = proxied_environment(left_over, PROXY, ca, BUNDLE).variables

    assert variables[name] == variables[name.lower()] == PROXY


@pytest.mark.parametrize("name", environment.PROGRAM_PROXY_VARIABLES)
def test_a_program_is_recognised_by_its_own_variable(ca: CertificateAuthority, name: str) -> None:
    left_over = {name: "http://other:1", name.upper(): "http://other:2"}

    variables = proxied_environment(left_over, PROXY, ca, BUNDLE).variables

    assert {key: value for key, value in variables.items() if key.upper() == name.upper()} == {
        name: PROXY
    }


def test_git_settings_are_added_to_the_users(ca: CertificateAuthority) -> None:
    theirs = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "me",
    }

    variables = proxied_environment(theirs, PROXY, ca, BUNDLE).variables

    assert variables["GIT_CONFIG_COUNT"] == "2"
    assert (variables["GIT_CONFIG_KEY_0"], variables["GIT_CONFIG_VALUE_0"]) == ("user.name", "me")
    assert (variables["GIT_CONFIG_KEY_1"], variables["GIT_CONFIG_VALUE_1"]) == ("http.proxy", PROXY)


def test_java_options_are_added_to_the_users(ca: CertificateAuthority) -> None:
    options = proxied_environment({"JAVA_TOOL_OPTIONS": "-Xmx1g"}, PROXY, ca, BUNDLE).variables[
        "JAVA_TOOL_OPTIONS"
    ]

    assert options.startswith("-Xmx1g -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=4321")
    assert "-Dhttp.nonProxyHosts=localhost|127.*|[::1]" in options


def test_certificates_of_the_users_own_keep_their_file(ca: CertificateAuthority) -> None:
    own = {"REQUESTS_CA_BUNDLE": Path("/scratch/own-1.pem")}

    variables = proxied_environment({}, PROXY, ca, BUNDLE, own).variables

    assert variables["REQUESTS_CA_BUNDLE"] == "/scratch/own-1.pem"
    assert variables["SSL_CERT_FILE"] == str(BUNDLE)


def test_only_loopback_goes_past_the_proxy(ca: CertificateAuthority) -> None:
    left_over = {"NO_PROXY": "*", "no_proxy": "shop.example"}

    variables = proxied_environment(left_over, PROXY, ca, BUNDLE).variables

    assert variables["NO_PROXY"] == variables["no_proxy"] == "localhost,127.0.0.1,::1"


def test_a_trust_store_left_over_from_elsewhere_is_overridden(ca: CertificateAuthority) -> None:
    names = (*environment.CA_BUNDLE_VARIABLES, *environment.EXTRA_CA_VARIABLES)
    left_over = dict.fromkeys(names, "/etc/other.pem") | {"SSL_CERT_DIR": "/etc/other"}

    variables = proxied_environment(left_over, PROXY, ca, BUNDLE).variables

    assert {variables[name] for name in environment.CA_BUNDLE_VARIABLES} == {str(BUNDLE)}
    assert {variables[name] for name in environment.EXTRA_CA_VARIABLES} == {str(ca.certificate)}
    assert "SSL_CERT_DIR" not in variables


def test_other_variables_stay_unchanged(ca: CertificateAuthority) -> None:
    theirs = {"PATH": "/bin", "OPENAI_API_KEY": "k", "LANG": "C"}

    assert theirs.items() <= proxied_environment(theirs, PROXY, ca, BUNDLE).variables.items()
    assert dict(direct_environment(theirs, ca, {}).variables) == theirs


def test_the_browser_gets_arguments_too(ca: CertificateAuthority) -> None:
    arguments = proxied_environment({}, PROXY, ca, BUNDLE).browser_arguments

    assert f"--proxy-server={PROXY}" in arguments
    assert f"--ignore-certificate-errors-spki-list={ca.spki}" in arguments


def test_without_a_proxy_none_is_left_over_and_the_hosts_are_found(
    ca: CertificateAuthority,
) -> None:
    left_over = {name: "http://other:1" for name in (*environment.PROXY_VARIABLES, "https_proxy")}

    result = direct_environment(left_over, ca, {"b.test": 2, "a.test": 1})

    assert dict(result.variables) == {}
    assert "--no-proxy-server" in result.browser_arguments
    rules = "--host-resolver-rules=MAP a.test 127.0.0.1:1,MAP b.test 127.0.0.1:2"
    assert rules in result.browser_arguments


def test_the_docs_name_every_variable_and_no_other() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "environment.md"
    text = page.read_text(encoding="utf-8")
    documented = set(re.findall(r"`([A-Z][A-Z0-9_]{4,}|npm_config_\w+)`", text))
    ours = {
        *environment.PROGRAM_PROXY_VARIABLES,
        *environment.PROGRAM_NO_PROXY_VARIABLES,
        environment.GIT,
        environment.JAVA,
        *browser_shims.BROWSER_CACHE_VARIABLES,
        *browser_shims.BROWSER_PATH_VARIABLES,
        prepare.DATA_HOME,
        prepare.NODE,
        "WGETRC",
        "WAREX_COMMAND",
        *isolation.WAREX_VARIABLES,
        *environment.PROXY_VARIABLES,
        *environment.NO_PROXY_VARIABLES,
        *environment.SWITCHES,
        *environment.CA_BUNDLE_VARIABLES,
        *environment.EXTRA_CA_VARIABLES,
        *environment.UNSET_VARIABLES,
    }

    assert documented == ours
