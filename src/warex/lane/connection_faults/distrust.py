"""Decides whether clients that do not trust our certificate void the trial.

What such a client asks for fails, or passes unread: neither is the agent's doing. The trial is void
if it concerns one of its sites. Where no sites are named, that is each host, unless the trial was
read otherwise: then the host may be one whose certificate a program has pinned.

Node checks a certificate after its part of the handshake, and closes at once, without an alert.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from warex.extras import documentation
from warex.lane.config import ProxyConfig
from warex.llm.recognition.hosts import host_matches, is_known_llm_host
from warex.scenarios.matching.url_patterns import any_of, normalise, on_sites

_ALERT: Final = re.compile(r"alert ([a-z ]+)")
_CLOSES_WITHIN: Final = 1.0
"""Seconds within which a client closes a connection whose certificate it does not trust."""


class Authority(Protocol):
    """How messages name WAREX's certificate authority."""

    @property
    def certificate(self) -> Path:
        """The file that clients may trust."""

    @property
    def spki(self) -> str:
        """The hash of its public key, by which a Chromium may trust it."""


class Distrust:
    """Collects the evidence of one trial."""

    def __init__(
        self, config: ProxyConfig, authority: Authority, is_mapped: Callable[[str, int], bool]
    ) -> None:
        """``is_mapped``: whether requests for a host and port go to a site named by the user."""
        self._config, self._authority, self._is_mapped = config, authority, is_mapped
        self._on_sites, self._on_never = on_sites(config.sites), any_of(config.never)
        self._unread: dict[str, tuple[int, str, bool]] = {}
        """Hosts whose clients distrust us: port, reason, and whether a browser gave it."""
        self._unused: dict[str, tuple[str, int, float]] = {}
        """Open connections without a request: host, port, and when they were established."""
        self._closed: dict[str, int] = {}
        """Hosts whose clients closed a connection at once, with the port."""
        self._read: set[str] = set()
        self._trusted: set[tuple[str, bool]] = set()
        """Hosts for which a client trusts us, and whether that was a browser."""

    def established(self, connection: str, host: str, port: int, now: float) -> None:
        """Note a complete handshake of a program; browsers connect in advance, and send alerts."""
        self._unused[connection] = (host.lower(), port, now)

    def requested(self, connection: str, host: str) -> None:
        """Note a request that is read."""
        self._unused.pop(connection, None)
        host = host.lower()
        if host not in self._read and not self._is_model(host):
            self._read.add(host)

    def closed(self, connection: str, now: float) -> None:
        """Note the end of a connection."""
        host, port, since = self._unused.pop(connection, ("", 0, 0.0))
        if host and now - since < _CLOSES_WITHIN:
            self._closed[host] = port

    def left(self, host: str, port: int) -> None:
        """Note that a program closed a connection during the handshake, without an alert."""
        self._closed[host.lower()] = port

    def rejected(
        self, host: str, port: int, reason: str, *, by_browser: bool, final: bool = True
    ) -> str | None:
        """Note a rejection; return why the trial is void, if that is known by now.

        ``final``: whether the client will not accept the certificate when it connects again.
        """
        alert = _ALERT.search(reason)
        evidence = f"TLS alert: {alert[1].strip()}" if alert else reason
        if not final and (host.lower(), by_browser) in self._trusted:
            return None  # The connection may be older, or of another browser context.
        self._unread.setdefault(host.lower(), (port, evidence, by_browser))
        return self._void(host, evidence) if final and self._is_own(host, port) else None

    def accepted(self, host: str, *, by_browser: bool) -> None:
        """Note that a client trusts our certificate for a host after all."""
        self._trusted.add((host.lower(), by_browser))
        self._unread.pop(host.lower(), None)

    def at_the_end(self, *, page_was_read: bool) -> str | None:
        """Return why the trial is void after all, if it is."""
        for host, port in self._closed.items():
            if host not in self._read and (self._is_own(host, port) or not self._read):
                return self._void(host, "it closes each connection in the TLS handshake")
        for host, (port, evidence, by_browser) in self._unread.items():
            if self._is_own(host, port):
                return self._void(host, evidence)
            read = page_was_read if by_browser else bool(self._read)
            apart = self._is_model(host) or self._on_never(_origin(host, port))
            if not (self._config.sites or read or apart):
                return f"{self._void(host, evidence)}, or let the host pass: --pass-through {host}"
        return None

    def _is_own(self, host: str, port: int) -> bool:
        named = bool(self._config.sites) and self._on_sites(_origin(host, port))
        return named or self._is_mapped(host, port)

    def _is_model(self, host: str) -> bool:
        patterns = self._config.traffic.all_llm_hosts
        return is_known_llm_host(host) or any(host_matches(it, host) for it in patterns)

    def _void(self, host: str, alert: str) -> str:
        ca = self._authority
        return (
            f"a client does not trust WAREX's certificate for {host} ({alert}), so what it asked"
            " for failed or passed unread, which is not the agent's doing; start a browser with"
            f" --ignore-certificate-errors-spki-list={ca.spki}, or with ignore_https_errors=True"
            f" (Playwright), and let other programs trust {ca.certificate}"
            f" ({documentation('how-to/exec#a-client-does-not-trust-the-certificate')})"
        )


def _origin(host: str, port: int) -> str:
    literal = f"[{host}]" if ":" in host else host
    return normalise(f"https://{literal}:{port}/")
