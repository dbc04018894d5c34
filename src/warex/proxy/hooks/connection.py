"""The hooks below HTTP: connections that are read, passed through or refused."""

from collections.abc import Callable
from urllib.parse import urlsplit

from mitmproxy import connection, http, tcp, tls
from mitmproxy.proxy import layer, server_hooks

from warex.engine.net.protocol_detection import PREFACE
from warex.engine.net.relay import proxy_authorization
from warex.lane.config import ProxyConfig
from warex.lane.connection_faults.distrust import Distrust
from warex.lane.connection_faults.rejections import CertificateRejections
from warex.lane.connection_faults.tries import ConnectionTries
from warex.lane.host_routing import HostRouting
from warex.lane.own_hosts import RESERVED_HOSTS, is_reserved
from warex.lane.record.ip_address import parse_ip
from warex.lane.record.recorder import Recorder
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.connection_faults.idle_connections import IdleConnections
from warex.proxy.connection_faults.tls_handshake import HandshakeFaults
from warex.proxy.exchange import flows
from warex.proxy.hooks.base import Hooks, fail_closed
from warex.proxy.hooks.tunnels import Tunnels
from warex.proxy.net.check import RejectedRequest, invalid_host_reason
from warex.scenarios import Injector
from warex.traces import RequestRefused, TlsRejected

_MAX_LINE = 200
"""Characters kept of an invalid request."""


class ConnectionHooks(Hooks):
    """Numbers the connections, and decides which of them are read."""

    idle_connections: IdleConnections
    """Set by a subclass, which knows the clients that wait for a response."""

    def __init__(self, config: ProxyConfig, injector: Injector, recorder: Recorder) -> None:
        super().__init__(recorder)
        self.host_routing = HostRouting(config, injector)
        self.on_notice: Callable[[str], None] = lambda sentence: None
        """Called with a notice to the user while the trial runs."""
        self.connection_tries = ConnectionTries(injector, recorder)
        self.tls_faults = HandshakeFaults(self.connection_tries)
        self.tunnels = Tunnels(recorder)
        self.certificate_rejections = CertificateRejections()
        self.distrust = Distrust(
            config,
            CertificateAuthority(config.ca),
            lambda host, port: self.host_routing.map_target(host, port) is not None,
        )
        self.connections: dict[str, str] = {}
        """The trial's names of the open client connections, by mitmproxy's ids."""
        self._numbered = 0
        self.upstream_auth = proxy_authorization(config.traffic.upstream)
        self.on_rules_changed: Callable[[], None] = lambda: None
        """Called when the rules in force may have changed: armed, disarmed, the next step."""

    @fail_closed
    def client_connected(self, client: connection.Client) -> None:
        """Number the connection."""
        self._numbered += 1
        self.connections[client.id] = f"c{self._numbered}"

    @fail_closed
    def warex_request_rejected(self, refused: RejectedRequest) -> None:
        """Record an invalid request."""
        name, line = self.connections.get(refused.client.id, ""), refused.line.decode("latin-1")
        self.record_rejected_request(name, refused.status, line, refused.reason)

    def record_rejected_request(self, name: str, status: int, line: str, reason: str) -> None:
        """Record a request that WAREX refuses, on one of the trial's connections."""
        self.recorder.write(
            RequestRefused(
                connection=name,
                status=status,
                line=self.recorder.redactor.url(line)[:_MAX_LINE],
                reason=reason[:_MAX_LINE],
            )
        )

    @fail_closed
    def server_connect(self, data: server_hooks.ServerConnectionHookData) -> None:
        """Refuse to connect to names that Python cannot look up, and to WAREX's own hosts."""
        host, port = data.server.address or ("", 0)
        flawed = invalid_host_reason(host) and parse_ip(host) is None
        if flawed or is_reserved(host) or not 0 < port < 65536:
            data.server.error = "there is no such host"

    @fail_closed
    def http_connected(self, flow: http.HTTPFlow) -> None:
        """Note where a CONNECT ends."""
        self.tunnels.connected(flow.client_conn)

    def is_passed_through(self, flow: http.HTTPFlow) -> bool:
        """Prepare a plain HTTP request; return whether its exchange is passed through."""
        request = flow.request
        flows.drop_hop_headers(request.headers)
        if self.upstream_auth and request.authority:
            request.headers["proxy-authorization"] = self.upstream_auth
        parts = urlsplit(flows.url_of(flow))
        why = self.host_routing.passthrough_reason(parts.hostname or "")
        if why is None or why == "tls_rejected":
            return False
        self.tunnels.begin_exchange(flow, parts.hostname or "", parts.port or 80, why)
        return True

    @fail_closed
    def http_connect_upstream(self, flow: http.HTTPFlow) -> None:
        """Authenticate to the upstream proxy."""
        if self.upstream_auth:
            flow.request.headers["proxy-authorization"] = self.upstream_auth

    @fail_closed
    def next_layer(self, data: layer.NextLayer) -> None:
        """Detect HTTP/2 without TLS (used by gRPC), which mitmproxy does not."""
        client, site = data.context.client, data.context.server
        in_tunnel = site.address is not None and site.via is None
        if in_tunnel and not client.tls and data.data_client().startswith(PREFACE):
            client.alpn = b"h2"

    @fail_closed
    def server_connected(self, data: server_hooks.ServerConnectionHookData) -> None:
        """Use HTTP/2 without TLS to the site if the client does; there is no ALPN."""
        client, site = data.client, data.server
        if client.alpn == b"h2" and not client.tls and not site.tls:
            site.alpn = b"h2"

    @fail_closed
    def tls_clienthello(self, data: tls.ClientHelloData) -> None:
        """Intercept the connection or pass it through; let the site choose the protocol."""
        client, server = data.context.client, data.context.server
        address = server.address or ("", 443)
        host, port = data.client_hello.sni or address[0], address[1]
        target = self.host_routing.map_target(host, port)
        why = self.host_routing.passthrough_reason(host)
        if why is not None and (target is None or target.target_scheme == "https"):
            data.ignore_connection = True
            if target is not None:
                server.address = (target.target_host, target.target_port)
            self.tunnels.begin(client, host, port, why)
            return
        if host not in RESERVED_HOSTS and self.tls_faults.client_hello(client, host, port):
            return  # A failed handshake does not need the site.
        now, suites = self.recorder.clock.now(), data.client_hello.cipher_suites
        self.certificate_rejections.begin(client.id, now, suites)
        if target is not None:
            # A plain HTTP site uses HTTP/1.1, so the client must not negotiate HTTP/2.
            if target.target_scheme == "http" and b"http/1.1" in data.client_hello.alpn_protocols:
                client.alpn = b"http/1.1"
        elif host not in RESERVED_HOSTS:
            # Otherwise the client's first offer is chosen, whatever the site supports.
            data.establish_server_tls_first = True

    @fail_closed
    def tls_start_client(self, data: tls.TlsData) -> None:
        """Send a bad certificate if a fault is applied."""
        self.tls_faults.start(data)

    @fail_closed
    def tls_established_client(self, data: tls.TlsData) -> None:
        """Note that the client trusts our certificate."""
        if self.tls_faults.handshake_ended(data.context.client):
            return  # The client accepts any certificate.
        client, site = data.context.client, data.context.server
        by_browser = self.certificate_rejections.is_browser(client.id)
        self.certificate_rejections.accepted(client.id, client.sni or "")
        self.distrust.accepted(client.sni or "", by_browser=by_browser)
        if site.address is not None:
            if client.sni and not by_browser and not is_reserved(client.sni):
                now = self.recorder.clock.now()
                self.distrust.established(client.id, client.sni, site.address[1], now)
            self.idle_connections.opened(client, client.sni or site.address[0], site.address[1])

    @fail_closed
    def tls_failed_client(self, data: tls.TlsData) -> None:
        """Pass a host through from now on if its client does not trust our certificate."""
        if self.tls_faults.handshake_ended(data.context.client):
            return  # The client refused a bad certificate.
        reason = data.conn.error or ""
        client, address = data.context.client, data.context.server.address
        host, port = client.sni or (address[0] if address else ""), address[1] if address else 443
        by_browser = self.certificate_rejections.is_browser(client.id)
        # It has our certificate; before that, it may have waited for the site's.
        judged = data.ssl_conn is not None and reason.startswith("The client disconnected")
        if judged and not (by_browser or is_reserved(host)):
            self.distrust.left(host, port)
        # Only with an alert: a client that just disconnects may have other reasons.
        if not reason.startswith("The client does not trust"):
            return
        now = self.recorder.clock.now()
        final = self.certificate_rejections.rejected(client.id, host, now)
        void = self.distrust.rejected(host, port, reason, by_browser=by_browser, final=final)
        if not final:
            return
        self.host_routing.note_rejected(host)
        self.recorder.write(TlsRejected(host=host, reason=reason))
        if void is not None:
            self.recorder.harness_broke(void)
            return
        self.on_notice(
            f"a client does not trust WAREX's certificate for {host}; from now on {host} is passed"
            " through unread, and no fault can reach it"
        )

    @fail_closed
    def tcp_start(self, flow: tcp.TCPFlow) -> None:
        """Record a connection that is not HTTP; it is relayed unchanged."""
        self.idle_connections.forget(flow.client_conn)
        address = flow.server_conn.address or ("", 0)
        self.tunnels.begin(flow.client_conn, address[0], address[1], "not_http")

    @fail_closed
    def tcp_message(self, flow: tcp.TCPFlow) -> None:
        """Discard the copies of relayed messages."""
        flow.messages.clear()
