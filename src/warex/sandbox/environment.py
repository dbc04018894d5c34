"""The environment of a command behind the proxy: variables for programs, flags for the browser.

Each program reads its own variable, so all are set. They are listed in
``docs/reference/environment.md``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from warex.sandbox.chromium import spki_flag

if TYPE_CHECKING:
    from warex.proxy.certificates.ca import CertificateAuthority

PROXY_VARIABLES: Final = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "WS_PROXY",
    "WSS_PROXY",
    "GRPC_PROXY",
)
"""Name the proxy; set in upper and lower case, since programs differ in which they read."""

PROGRAM_PROXY_VARIABLES: Final = (
    "PIP_PROXY",
    "CARGO_HTTP_PROXY",
    "GLOBAL_AGENT_HTTP_PROXY",
    "GLOBAL_AGENT_HTTPS_PROXY",
    "npm_config_proxy",
    "npm_config_https_proxy",
)
"""Name the proxy for one program each, over its configuration file."""

NO_PROXY_VARIABLES: Final = ("NO_PROXY",)
"""Name what bypasses the proxy, in both cases: loopback only."""

PROGRAM_NO_PROXY_VARIABLES: Final = ("GLOBAL_AGENT_NO_PROXY", "npm_config_noproxy")
"""The same for single programs."""

SWITCHES: Final = {"NODE_USE_ENV_PROXY": "1", "ELECTRON_GET_USE_PROXY": "1"}
"""Make a program read the proxy variables, such as Node's own fetch."""

CA_BUNDLE_VARIABLES: Final = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "AWS_CA_BUNDLE",
    "CARGO_HTTP_CAINFO",
    "PIP_CERT",
    "HTTPLIB2_CA_CERTS",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "NIX_SSL_CERT_FILE",
    "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
    "PERL_LWP_SSL_CA_FILE",
    "HEX_CACERTS_PATH",
    "npm_config_cafile",
)
"""Variables that replace a trust store; set to the system's certificates and the CA."""

EXTRA_CA_VARIABLES: Final = ("NODE_EXTRA_CA_CERTS", "DENO_CERT")
"""Variables that add to a trust store; set to the CA alone."""

UNSET_VARIABLES: Final = ("SSL_CERT_DIR",)
"""Variables that would take precedence over the bundle."""

GIT: Final = "GIT_CONFIG_COUNT"
"""Number of git configuration entries in the environment."""

JAVA: Final = "JAVA_TOOL_OPTIONS"
"""Options of every Java program; those on the command line override them."""

NO_PROXY_HOSTS: Final = "localhost,127.0.0.1,::1"

_NOTHING: Mapping[str, Path] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Environment:
    """Variables and browser arguments of a command."""

    variables: Mapping[str, str]
    browser_arguments: tuple[str, ...] = field(default=())
    """For a Chromium that ignores the variables or has its own certificate store."""


def proxied_environment(
    base: Mapping[str, str],
    proxy: str,
    ca: "CertificateAuthority",
    bundle: Path,
    own: Mapping[str, Path] = _NOTHING,
) -> Environment:
    """Return the environment in which programs use the proxy and trust the CA.

    ``bundle`` is a PEM file of the system's certificates and the CA's; ``own`` maps variables that
    named the user's certificates to other files. Loopback stays direct, for drivers and debugging
    channels: sites on this machine are reached by a mapped name.
    """
    variables = without_variables(
        base, *ALL_PROXY_VARIABLES, *CA_BUNDLE_VARIABLES, *UNSET_VARIABLES
    )
    variables |= dict.fromkeys((*both_cases(PROXY_VARIABLES), *PROGRAM_PROXY_VARIABLES), proxy)
    direct = (*both_cases(NO_PROXY_VARIABLES), *PROGRAM_NO_PROXY_VARIABLES)
    variables |= dict.fromkeys(direct, NO_PROXY_HOSTS) | SWITCHES
    variables |= dict.fromkeys(CA_BUNDLE_VARIABLES, str(bundle))
    variables |= dict.fromkeys(EXTRA_CA_VARIABLES, str(ca.certificate))
    variables |= {name: str(path) for name, path in own.items()}
    variables |= {JAVA: _java(base, proxy)} | _git(base, proxy)
    # A Chromium on a desktop reads the desktop's settings, not the variables.
    return Environment(variables, (f"--proxy-server={proxy}", spki_flag(ca)))


def direct_environment(
    base: Mapping[str, str], ca: "CertificateAuthority", hosts: Mapping[str, int]
) -> Environment:
    """Return the environment without a proxy.

    ``hosts`` maps names to the loopback port that serves their TLS, with a certificate of the CA.
    """
    variables = without_variables(base, *both_cases(PROXY_VARIABLES))
    rules = ",".join(f"MAP {host} 127.0.0.1:{port}" for host, port in sorted(hosts.items()))
    # --no-proxy-server also overrides the desktop's settings.
    arguments = (spki_flag(ca), "--no-proxy-server", f"--host-resolver-rules={rules}")
    return Environment(variables, arguments)


def both_cases(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the variables in upper case and in lower case."""
    return (*names, *map(str.lower, names))


ALL_PROXY_VARIABLES: Final = (
    *both_cases(PROXY_VARIABLES + NO_PROXY_VARIABLES),
    *PROGRAM_PROXY_VARIABLES,
    *PROGRAM_NO_PROXY_VARIABLES,
)


def without_variables(base: Mapping[str, str], *names: str) -> dict[str, str]:
    """Return an environment without these variables; npm's also not in another case."""
    npm = {name for name in names if name.startswith("npm_")}
    return {k: v for k, v in base.items() if k not in names and k.lower() not in npm}


def java_options(base: Mapping[str, str], *options: str) -> str:
    """Return the user's ``JAVA_TOOL_OPTIONS`` followed by these options; the last one wins."""
    return " ".join(filter(None, (base.get(JAVA, "").strip(), *options)))


def _java(base: Mapping[str, str], proxy: str) -> str:
    parts = urlsplit(proxy)
    host = (parts.hostname or "").join("[]") if ":" in (parts.hostname or "") else parts.hostname
    named = (
        f"-D{scheme}.{key}={value}"
        for scheme in ("http", "https")
        for key, value in (("proxyHost", host), ("proxyPort", parts.port))
    )
    return java_options(base, *named, "-Dhttp.nonProxyHosts=localhost|127.*|[::1]")


def _git(base: Mapping[str, str], proxy: str) -> dict[str, str]:
    """Return an ``http.proxy`` entry after the user's own; it overrides ~/.gitconfig."""
    value = base.get(GIT, "")
    count = int(value) if value.isdecimal() else 0
    return {
        GIT: str(count + 1),
        f"GIT_CONFIG_KEY_{count}": "http.proxy",
        f"GIT_CONFIG_VALUE_{count}": proxy,
    }
