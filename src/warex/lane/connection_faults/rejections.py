"""Detects the hosts whose clients reject our certificate permanently.

Most clients that reject it once always do, so their host is passed through at once. A Chromium
that ignores certificate errors (Playwright's ``ignore_https_errors``) rejects it first and accepts
it on the next connection, so a client with GREASE in its ClientHello (RFC 8701) gets a second
chance.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

_MAX_ROUNDS: Final = 2
"""Rounds of rejections after which a host is passed through even for Chromium."""


_GREASE: Final = frozenset(range(0x0A0A, 0x10000, 0x1010))
"""RFC 8701."""


def is_greased(cipher_suites: Iterable[int]) -> bool:
    """Whether a ClientHello's cipher suites contain a GREASE value, as Chromium's do."""
    return not _GREASE.isdisjoint(cipher_suites)


class CertificateRejections:
    """Counts each host's rejections; those of concurrent connections are one round."""

    def __init__(self) -> None:
        self._began: dict[str, tuple[float, bool]] = {}
        self._rounds: Counter[str] = Counter()
        self._last: dict[str, float] = {}
        self._trusted: set[str] = set()
        """Hosts for which a Chromium has accepted our certificate."""

    def begin(self, connection: str, now: float, cipher_suites: Iterable[int]) -> None:
        """Note a ClientHello at second ``now`` of the trial."""
        self._began[connection] = (now, is_greased(cipher_suites))

    def is_browser(self, connection: str) -> bool:
        """Whether the ClientHello of an open handshake is Chromium's."""
        return self._began.get(connection, (0.0, False))[1]

    def accepted(self, connection: str, host: str) -> None:
        """Note that a client accepted our certificate.

        A Chromium that accepted it for a host goes on to reject it for what no page asks for, and
        on connections that it had begun before.
        """
        _, by_browser = self._began.pop(connection, (0.0, False))
        if by_browser:
            self._trusted.add(host)
        self._rounds.pop(host, None)

    def closed(self, connection: str) -> None:
        """Forget a closed connection."""
        self._began.pop(connection, None)

    def rejected(self, connection: str, host: str, now: float) -> bool:
        """Note that a client rejected our certificate; return whether to pass the host through."""
        began, patient = self._began.pop(connection, (now, False))
        if began >= self._last.get(host, began):
            self._rounds[host] += 1
        self._last[host] = now
        return not patient or (host not in self._trusted and self._rounds[host] >= _MAX_ROUNDS)
