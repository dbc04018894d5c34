"""HTTP/2 connections through a lane, and the lane's ledger."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.proxy.support.client import H2Client, secure
from tests.proxy.support.lanes import Lane, wait_until
from tests.proxy.support.origin import Origin
from warex.proxy.certificates.ca import CertificateAuthority


class Http2Lane:
    """A client's HTTP/2 connections through one lane."""

    def __init__(self, lane: Lane, ca: CertificateAuthority, origin: Origin) -> None:
        self.lane, self._ca, self._origin = lane, ca, origin

    @contextmanager
    def client(self, window: int | None = None) -> Iterator[H2Client]:
        port = self._origin.port
        with secure(self.lane.port, "localhost", port, self._ca.certificate, "h2") as connection:
            yield H2Client(connection, f"localhost:{port}", window)

    def settled(self, count: int = 1) -> list[tuple[str, str | None]]:
        """Wait until ``count`` injections are settled; return their last events and reasons."""
        wait_until(lambda: len(self.lane.proxy.call("GET", "/ledger")) == 2 * count)
        return [
            (it["event"], it.get("reason"))
            for it in self.lane.proxy.call("GET", "/ledger")
            if it["event"] != "fault_planned"
        ]
