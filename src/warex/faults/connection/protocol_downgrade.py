"""HTTP/2 is not to be had."""

from typing import ClassVar, Literal, override

from warex.effects import Effect, RefuseHttp2
from warex.faults.base import Category, ConnectionFault, ConnectionPhase


class ProtocolDowngrade(ConnectionFault, frozen=True):
    """Refuse HTTP/2, so that a client and its site speak HTTP/1.1 (ALPN, RFC 7301)."""

    summary: ClassVar = "Refuse HTTP/2, so that requests come by HTTP/1.1."
    category: ClassVar[Category] = "variation"
    point: ClassVar[ConnectionPhase] = "tls"

    kind: Literal["protocol_downgrade"] = "protocol_downgrade"

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "chooses the protocol of a connection"

    @override
    def effect(self) -> Effect:
        return RefuseHttp2()

    @override
    def outcome(self) -> str:
        return "refused HTTP/2 and goes on by HTTP/1.1"
