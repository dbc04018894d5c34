"""What a connection fault can be about: scheme, host and port, since there is no URL yet.

A pattern is a glob over an origin. Where it names no port, its scheme decides: 443 for ``https``,
80 for ``http``, any for ``*``. A scheme says no more than that before TLS or HTTP is spoken.
"""

import ipaddress
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from warex.faults import ConnectionPhase
from warex.scenarios.globs import glob_to_regex
from warex.text.escaping import in_backticks
from warex.text.lazy_pattern import lazy_re

_SCHEMES: Final = {"http": "http", "https": "https", "ws": "http", "wss": "https"}
_PORTS: Final = {"http": 80, "https": 443}
_ORIGIN: Final = lazy_re(
    r"(?P<scheme>[a-z*]+)://(?P<host>\[[0-9a-f:.*]+\]|[^\s:/?#@\[\]]+)(?P<port>:(?:\d+|\*))?"
    r"(?P<path>/\*?)?",
    re.IGNORECASE,
)
_URL_ORIGIN: Final = lazy_re(r"([^:/?#]+://[^/?#]+)")

ALLOWED: Final = (
    "https://shop.example/*, https://shop.example:8443, *://*.example:8080/*, {sites} or *"
)
"""Examples of patterns, for messages."""


class ConnectionTarget(NamedTuple):
    """The target of a connection try."""

    point: ConnectionPhase
    host: str
    """In lower case, an IPv6 address without brackets."""
    port: int | None = None
    """None for a name, and for any port without a rule of its own."""

    @classmethod
    def of(cls, point: ConnectionPhase, host: str, port: int | None) -> "ConnectionTarget":
        """Return the target as rules compare it; a name has no port."""
        host = host.lower().strip("[]").rstrip(".")
        return cls(point, host, None if point == "name" else port)

    @property
    def place(self) -> str:
        """Host and port, as in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def scope(self) -> str:
        """What ``per: url`` numbers."""
        return f"CONNECT {self.place}"

    @property
    def url(self) -> str:
        """Its URL in the ledger; http for port 80 before TLS, else https."""
        return self.url_with("http" if self.port == 80 and self.point != "tls" else "https")

    def url_with(self, scheme: str) -> str:
        """Return the origin under a scheme."""
        return f"{scheme}://{self.place}/"


class OriginPattern(Struct, frozen=True):
    """A pattern over origins."""

    schemes: frozenset[str]
    host: str
    """A glob, in lower case."""
    port: int | None
    """None for any."""

    def names_host(self, host: str) -> bool:
        """Whether the pattern matches this host."""
        return _host_regex(self.host).fullmatch(host) is not None

    def matches(self, target: ConnectionTarget) -> bool:
        """Whether the pattern matches this target."""
        if not self.names_host(target.host):
            return False
        if target.point == "name":
            return True
        if target.point == "tls" and "https" not in self.schemes:
            return False
        return self.port is None or self.port == target.port


ANY_ORIGIN: Final = OriginPattern(frozenset(_PORTS), "*", None)


def parse_origin_pattern(pattern: str, *, exact: bool = False) -> OriginPattern:
    """Parse a pattern; raise ValueError if it is more than an origin."""
    if pattern == "*" and not exact:
        return ANY_ORIGIN
    origin = _ORIGIN.fullmatch(pattern)
    if origin is None or (exact and "*" in pattern):
        raise ValueError(
            f"{in_backticks(pattern)} is not a scheme, a host, perhaps a port, and no more"
        )
    scheme = origin["scheme"].lower()
    schemes = frozenset(it for name, it in _SCHEMES.items() if _host_regex(scheme).fullmatch(name))
    if not schemes:
        raise ValueError(
            f"{in_backticks(pattern)}: {in_backticks(scheme)} is not a scheme of the web; give"
            " http, https or *"
        )
    port = origin["port"]
    if port is not None and port != ":*":
        number = int(port[1:])
        if not 1 <= number <= 65535:
            raise ValueError(
                f"{in_backticks(pattern)}: {number} is not a port; give one from 1 to 65535"
            )
    elif port is None and len(schemes) == 1:
        number = _PORTS[next(iter(schemes))]
    else:
        number = None
    return OriginPattern(schemes, origin["host"].lower().strip("[]").rstrip("."), number)


def origins_of_sites(sites: Iterable[str]) -> tuple[OriginPattern, ...]:
    """Return the origins of the benchmark's sites; all origins if there are no sites.

    A site without a scheme, which has no origin, is left out.
    """
    sites = tuple(sites)
    return tuple(_readable(sites)) if sites else (ANY_ORIGIN,)


def _readable(sites: Iterable[str]) -> Iterable[OriginPattern]:
    for site in sites:
        if (origin := _URL_ORIGIN.match(site)) is not None:
            try:
                yield parse_origin_pattern(origin[1])
            except ValueError:
                continue


def is_loopback(host: str) -> bool:
    """Whether a host is a loopback name or address."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def matches_any(origins: Iterable[OriginPattern]) -> Callable[[ConnectionTarget], bool]:
    """Return a predicate: whether a target matches any of the patterns."""
    origins = tuple(origins)
    return lambda target: any(pattern.matches(target) for pattern in origins)


@lru_cache(maxsize=1024)
def _host_regex(glob: str) -> re.Pattern[str]:
    return re.compile(glob_to_regex(glob))
