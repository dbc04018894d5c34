"""The environment of a command behind the proxy: variables for its programs, flags for its browser.

Each program reads its own variable, and one that is left over from elsewhere beats ours: so all are
set. Names as the programs document them; gathered in ``docs/reference/environment.md``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warex.proxy.ca import CertificateAuthority

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "WS_PROXY", "WSS_PROXY", "GRPC_PROXY")
"""Name the proxy; each is set in both cases, since programs differ in which they read."""

DIRECT = ("NO_PROXY",)
"""Name what goes past the proxy, in both cases: loopback alone."""

SWITCHES = {"NODE_USE_ENV_PROXY": "1"}
"""Make a program read the proxy variables at all: Node's own fetch does not otherwise."""

BUNDLES = (
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
)
"""Variables that replace a program's trust store: they get the system's certificates and ours."""

ADDITIONS = ("NODE_EXTRA_CA_CERTS", "DENO_CERT")
"""Variables that add to a trust store: they get ours alone."""

REMOVED = ("SSL_CERT_DIR",)
"""Would let a program look elsewhere first."""


_LOOPBACK = "localhost,127.0.0.1,::1"


@dataclass(frozen=True, slots=True)
class Environment:
    """What a command is started with."""

    variables: Mapping[str, str]
    browser_arguments: tuple[str, ...] = field(default=())
    """For a Chromium that reads no variables, or whose certificate store is its own."""


def behind_proxy(
    base: Mapping[str, str], proxy: str, ca: CertificateAuthority, bundle: Path
) -> Environment:
    """Return the environment in which programs use the proxy and trust the CA.

    ``bundle`` is a PEM file of the system's certificates and the CA's. Loopback stays direct, since
    drivers and debugging channels live there: sites on this machine are reached by a mapped name.
    """
    kept = {name: value for name, value in base.items() if name not in REMOVED}
    proxies = dict.fromkeys(_both_cases(PROXIES), proxy)
    direct = dict.fromkeys(_both_cases(DIRECT), _LOOPBACK)
    trust = dict.fromkeys(BUNDLES, str(bundle)) | dict.fromkeys(ADDITIONS, str(ca.certificate))
    # A Chromium on a desktop asks the desktop, not the variables.
    arguments = (f"--proxy-server={proxy}", _trusts(ca))
    return Environment({**kept, **proxies, **direct, **SWITCHES, **trust}, arguments)


def without_proxy(
    base: Mapping[str, str], ca: CertificateAuthority, hosts: Mapping[str, int]
) -> Environment:
    """Return the environment without any proxy, in which the browser finds hosts on this machine.

    ``hosts`` are names whose TLS is served on a port of loopback, with a certificate of the CA's.
    """
    dropped = _both_cases(PROXIES)
    kept = {name: value for name, value in base.items() if name not in dropped}
    rules = ",".join(f"MAP {host} 127.0.0.1:{port}" for host, port in sorted(hosts.items()))
    # With --no-proxy-server a proxy of the desktop's settings is left out, too.
    arguments = (_trusts(ca), "--no-proxy-server", f"--host-resolver-rules={rules}")
    return Environment(kept, arguments)


def _both_cases(names: tuple[str, ...]) -> tuple[str, ...]:
    return (*names, *map(str.lower, names))


def _trusts(ca: CertificateAuthority) -> str:
    # By the CA's public key, so that no certificate store of the user's is touched.
    return f"--ignore-certificate-errors-spki-list={ca.spki}"
