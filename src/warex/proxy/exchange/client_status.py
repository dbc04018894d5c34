"""Whether the client of an exchange is still there, and whether its response is sent."""

import asyncio
from dataclasses import dataclass, field

from mitmproxy import http

_KEY = "warex_client_status"


def _set_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass(slots=True, weakref_slot=True)
class ClientStatus:
    """The state of one exchange's client."""

    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client has given up the exchange or disconnected."""
    has_reset: bool = False
    """Whether the client has reset the exchange's HTTP/2 stream."""
    is_sent: bool = False
    """Whether the last byte has passed flow control to the transport (RFC 9113 §5.2)."""
    unqueued: asyncio.Event = field(default_factory=_set_event)
    """Set unless a part of the response waits for flow control."""
    _settled: asyncio.Event = field(default_factory=asyncio.Event)

    def mark_left(self) -> None:
        """Note that the client has given up the exchange."""
        self.left.set()
        self.unqueued.set()
        self._settled.set()

    def mark_reset(self) -> None:
        """Note that the client has reset the exchange's stream."""
        self.has_reset = True
        self.mark_left()

    def mark_sent(self) -> None:
        """Note that the response's last byte is sent."""
        self.is_sent = True
        self._settled.set()

    async def wait_sent(self) -> bool:
        """Wait until the last byte is sent; return False if the client left first."""
        await self._settled.wait()
        return self.is_sent


def attach_client_status(flow: http.HTTPFlow, status: ClientStatus) -> None:
    """Store a client's status with its flow."""
    vars(flow)[_KEY] = status


def client_status_of(flow: http.HTTPFlow) -> ClientStatus:
    """Return the status of a flow's client; a new one if no stream of ours has set it."""
    found: ClientStatus | None = vars(flow).get(_KEY)
    return ClientStatus() if found is None else found
