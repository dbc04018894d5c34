"""mitmproxy's hooks on connections: the handler decides which are read, and how TLS begins."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from mitmproxy import connection, ctx, http, tcp, tls
from mitmproxy.addons import tlsconfig
from mitmproxy.proxy import mode_specs, server_hooks
from OpenSSL import SSL

from warex.engine.clients import proxy_user
from warex.engine.handler import (
    AbortConnection,
    Address,
    CertificateDefect,
    ClientHello,
    Connection,
    Handshake,
    Intercept,
    SiteFailure,
    Stall,
    Tunnel,
)
from warex.engine.net.connector import failure_of
from warex.engine.tls.certificates import defective_leaf
from warex.lane.hosts.own_hosts import is_reserved
from warex.lane.lane import Lane
from warex.mitmproxy_addon import messages
from warex.mitmproxy_addon.client_end import ClientEnd
from warex.mitmproxy_addon.hooks import Hooks, fail_closed

_ALERT: Final = re.compile(r"(?:tlsv\d+|sslv3) alert [a-z ]+")
_NUMBER: Final = re.compile(r"\[Errno (-?\d+)\]")
_LOOKS_AGAIN_S: Final = 0.02
"""Seconds after which a held connection is looked at again."""


@dataclass(slots=True, eq=False)
class ClientConnection:
    """A client's connection, as mitmproxy and the handler know it."""

    wire: Connection
    end: ClientEnd
    plan: Intercept | None = None
    """How its TLS begins."""
    is_shaking_hands: bool = False
    open_exchanges: int = 0
    closes_when_idle: bool = False
    has_left: bool = False
    site_errors: dict[str, SiteFailure] = field(default_factory=dict)
    """Why connections to its sites could not be made, by mitmproxy's words."""


class ConnectionHooks(Hooks):
    """Tells the handler of connections, and does what it plans for them."""

    def __init__(self, lane: Lane) -> None:
        super().__init__(lane)
        self._connections: dict[str, ClientConnection] = {}
        """By mitmproxy's identifiers."""
        self._numbered = 0

    def connection_of(self, client: connection.Client) -> ClientConnection:
        """Return a client's connection; one that began before the trial is new."""
        known = self._connections.get(client.id)
        if known is None:
            self._numbered += 1
            wire = Connection(self._numbered, address_of(client.peername))
            known = self._connections[client.id] = ClientConnection(wire, ClientEnd(client))
            self.lane.connected(wire)
        return known

    @fail_closed
    def client_connected(self, client: connection.Client) -> None:
        """Number a connection."""
        self.connection_of(client)

    @fail_closed
    def client_disconnected(self, client: connection.Client) -> None:
        """End a connection, once its exchanges have ended."""
        known = self._connections.get(client.id)
        if known is None:
            return
        known.has_left = True
        if known.is_shaking_hands:
            self._shaken(known, "left")
        self.end_if_idle(known)

    def end_if_idle(self, known: ClientConnection) -> None:
        """Close or forget a connection, if that is due and no exchange is open."""
        if known.open_exchanges:
            return
        if known.has_left:
            for name in [it for it, other in self._connections.items() if other is known]:
                del self._connections[name]
                self.lane.closed(known.wire)
        elif known.closes_when_idle:
            known.end.close()

    @fail_closed
    def http_connect(self, flow: http.HTTPFlow) -> None:
        """Note where a CONNECT goes, and for whom."""
        wire = self.connection_of(flow.client_conn).wire
        wire.destination = Address(flow.request.host, flow.request.port)
        wire.proxy_user = proxy_user(messages.request_head(flow.request))

    # ---- to sites

    @fail_closed
    def server_connect(self, data: server_hooks.ServerConnectionHookData) -> None:
        """Refuse to connect to WAREX's own hosts, which do not exist."""
        host, _ = data.server.address or ("", 0)
        if is_reserved(host):
            data.server.error = "there is no such host"

    @fail_closed
    def server_connect_error(self, data: server_hooks.ServerConnectionHookData) -> None:
        """Note that a site cannot be reached."""
        error = data.server.error or "it cannot be reached"
        number = _NUMBER.search(error)
        failure = failure_of(None if number is None else int(number[1]))
        self._site_failed(data.client, failure, error)

    @fail_closed
    def tls_failed_server(self, data: tls.TlsData) -> None:
        """Note that a site shows no valid certificate."""
        error = data.conn.error or "TLS failed"
        is_distrusted = error.startswith("Certificate verify failed")
        failure: SiteFailure = "tls_certificate_error" if is_distrusted else "tls_protocol_error"
        self._site_failed(data.context.client, failure, error)

    def _site_failed(self, client: connection.Client, failure: SiteFailure, error: str) -> None:
        known = self.connection_of(client)
        known.site_errors[error] = failure
        if known.is_shaking_hands and known.plan is not None and known.plan.needs_site:
            self.lane.unreachable(known.wire, failure, error)
            known.end.reset()

    # ---- TLS

    @fail_closed
    async def client_hello(self, data: tls.ClientHelloData) -> None:
        """Decide what happens to a connection that begins TLS, after mitmproxy's own addons."""
        client, hello = data.context.client, data.client_hello
        known = self.connection_of(client)
        wire = known.wire
        suites = tuple(hello.cipher_suites)
        wire.hello = ClientHello(hello.sni or "", tuple(hello.alpn_protocols), suites)
        if wire.destination is None and data.context.server.address is not None:
            wire.destination = address_of(data.context.server.address)
        plan = self.lane.hello(wire)
        match plan:
            case Tunnel():
                data.ignore_connection = True
            case AbortConnection(how, hold_s):
                is_connected = await _hold(known.end, hold_s)
                known.end.reset() if how == "reset" else known.end.close()
                self._shaken(known, "aborted" if is_connected else "left")
            case Stall():
                known.is_shaking_hands = True
                await _hold(known.end, float("inf"))
            case Intercept():
                known.plan, known.is_shaking_hands = plan, True
                if await _hold(known.end, plan.hold_s):
                    # Otherwise the client's first offer is chosen, whatever the site supports.
                    data.establish_server_tls_first = plan.site_first

    @fail_closed
    def tls_start_client(self, data: tls.TlsData) -> None:
        """Show the certificate, or one with a defect."""
        known = self.connection_of(data.context.client)
        known.wire.certificate_sent = known.end.is_connected()
        if known.plan is not None and known.plan.defect is not None:
            # mitmproxy makes none of its own then.
            client = data.context.client
            data.ssl_conn = _defective(known.wire.host, known.plan.defect, client)

    @fail_closed
    def tls_established_client(self, data: tls.TlsData) -> None:
        """Note that the client trusts our certificate."""
        known = self.connection_of(data.context.client)
        if known.is_shaking_hands:
            self._shaken(known, "established")

    @fail_closed
    def tls_failed_client(self, data: tls.TlsData) -> None:
        """Note that the client has refused our certificate, or left."""
        known = self.connection_of(data.context.client)
        if not known.is_shaking_hands:
            return
        reason = data.conn.error or ""
        alert = _ALERT.search(reason)
        if alert is None:
            self._shaken(known, "left", reason)
        else:
            self._shaken(known, "rejected", alert[0].strip())

    def _shaken(self, known: ClientConnection, ended: Handshake, reason: str = "") -> None:
        known.is_shaking_hands = False
        self.lane.handshake(known.wire, ended, reason)

    # ---- what is neither TLS nor HTTP

    def begin_other(self, flow: tcp.TCPFlow) -> None:
        """Note a connection that is not HTTP."""
        wire = self.connection_of(flow.client_conn).wire
        if wire.destination is None and flow.server_conn.address is not None:
            wire.destination = address_of(flow.server_conn.address)
        if not self.lane.not_http(wire):
            ClientEnd(flow.client_conn).close()

    @fail_closed
    def tcp_message(self, flow: tcp.TCPFlow) -> None:
        """Count what passes."""
        wire, message = self.connection_of(flow.client_conn).wire, flow.messages[-1]
        if message.from_client:
            wire.sent_to_site += len(message.content)
        else:
            wire.sent_to_client += len(message.content)


def address_of(address: tuple[str, int] | tuple[str, int, int, int] | None) -> Address:
    """Return an address of mitmproxy's."""
    return Address("", 0) if address is None else Address(address[0], address[1])


def is_forward_proxy(client: connection.Client) -> bool:
    """Whether a client knows its proxy, and sends it whole URLs."""
    return isinstance(client.proxy_mode, mode_specs.RegularMode | mode_specs.UpstreamMode)


async def hold(is_connected: Callable[[], bool], seconds: float) -> bool:
    """Wait; return whether the client is still there. It ends early if the client leaves."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while is_connected() and (left := until - loop.time()) > 0:
        await asyncio.sleep(min(left, _LOOKS_AGAIN_S))
    return is_connected()


async def _hold(end: ClientEnd, seconds: float) -> bool:
    return await hold(end.is_connected, seconds)


def _defective(host: str, defect: CertificateDefect, client: connection.Client) -> SSL.Connection:
    """Return a TLS session whose certificate has one defect."""
    store = ctx.master.addons.get("tlsconfig").certstore
    authority, authority_key = store.default_ca.to_cryptography(), store.default_privatekey
    certificate, key = defective_leaf(defect, host, authority, authority_key)
    # A context of its own: a resumed session (RFC 8446 §2.2) sends no certificate.
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    context.use_certificate(certificate)
    context.use_privatekey(key)
    context.set_alpn_select_callback(tlsconfig.alpn_select_callback)
    session = SSL.Connection(context)
    session.set_app_data(
        tlsconfig.AppData(client_alpn=client.alpn, server_alpn=None, http2=ctx.options.http2)
    )
    session.set_accept_state()
    return session
