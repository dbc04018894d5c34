"""The proxy that the caller's environment names, as a company's network needs.

WAREX replaces its variables for the command and itself connects through that proxy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

_VARIABLES = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
_DEFAULT_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "[::1]", "127.0.0.0/8", "0.0.0.0"})


@dataclass(frozen=True, slots=True)
class UpstreamProxy:
    """The proxy of the caller's environment."""

    upstream: str | None
    """As ``--upstream`` takes it; None if WAREX does not support it."""
    sentence: str
    """Notice for the user."""


def upstream_from_environment(environment: Mapping[str, str]) -> UpstreamProxy | None:
    """Return the proxy that programs would use in this environment, or None."""
    name = next((name for name in _VARIABLES if environment.get(name, "").strip()), None)
    if name is None:
        return None
    text = environment[name].strip()
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or not port:
        return UpstreamProxy(
            None,
            f"{name} names a proxy that WAREX cannot go through (http://, https:// and"
            " socks5:// are possible); sites are asked directly",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    shown = f"{parts.scheme}://{host}:{port}"
    sentence = f"WAREX goes on through {shown}, as {name} says (--upstream names another)"
    if direct := _no_proxy_hosts(environment):
        sentence += (
            f"; {', '.join(direct)} (NO_PROXY) cannot be excepted from that: if one of them is not"
            " found, give --map ORIGIN=ORIGIN, which is asked directly"
        )
    return UpstreamProxy(f"{parts.scheme}://{user}{host}:{port}", sentence)


def _no_proxy_hosts(environment: Mapping[str, str]) -> list[str]:
    """Return the NO_PROXY hosts other than loopback."""
    value = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    hosts = (host.strip() for host in value.split(","))
    return [host for host in hosts if host and host.lower() not in _LOOPBACK]
