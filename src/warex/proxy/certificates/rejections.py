"""Which hosts' clients refuse our certificate for good.

Most clients that refuse it would refuse it for ever, and their host is best passed through at once.
A Chromium that was told to ignore certificate errors (Playwright's ``ignore_https_errors``) refuses
too, and comes back a moment later to accept; passing its hosts through would leave no fault a way
in. Chromium is known by the GREASE in its ClientHello (RFC 8701), and gets a second chance.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

_MAX_ROUNDS: Final = 2
"""Rounds of refusals after which even Chromium means it."""


def is_greased(cipher_suites: Iterable[int]) -> bool:
    """Whether a ClientHello's cipher suites hold a reserved value, as Chromium's do."""
    return any(suite & 0x0F0F == 0x0A0A and suite >> 8 == suite & 0xFF for suite in cipher_suites)


class CertificateRejections:
    """Counts each host's refusals; those of connections begun side by side are one round."""

    def __init__(self) -> None:
        self._began: dict[str, tuple[float, bool]] = {}
        self._rounds: Counter[str] = Counter()
        self._last: dict[str, float] = {}

    def begin(self, connection: str, now: float, cipher_suites: Iterable[int]) -> None:
        """Note that a connection says hello at second ``now`` of the trial."""
        self._began[connection] = (now, is_greased(cipher_suites))

    def accepted(self, connection: str, host: str) -> None:
        """Note that a client took our certificate."""
        self._began.pop(connection, None)
        self._rounds.pop(host, None)

    def closed(self, connection: str) -> None:
        """Forget a connection that is over; it may have taken no certificate at all."""
        self._began.pop(connection, None)

    def rejected(self, connection: str, host: str, now: float) -> bool:
        """Note that a client refused our certificate; return whether the host is lost for good."""
        began, patient = self._began.pop(connection, (now, False))
        if began >= self._last.get(host, began):
            self._rounds[host] += 1
        self._last[host] = now
        return not patient or self._rounds[host] >= _MAX_ROUNDS
