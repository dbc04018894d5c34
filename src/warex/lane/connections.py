"""Decides which connections are read, and records those that are not."""

from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit

from warex.engine.handler import Address as WireAddress
from warex.engine.handler import (
    Connection,
    ConnectionPlan,
    Handshake,
    Intercept,
    Rejection,
    Site,
    SiteFailure,
    Tunnel,
)
from warex.exchange import Request
from warex.lane.config import ProxyConfig
from warex.lane.connection_faults.distrust import Authority, Distrust
from warex.lane.connection_faults.handshakes import HandshakeFaults
from warex.lane.connection_faults.idle_connections import IdleConnections
from warex.lane.connection_faults.rejections import CertificateRejections
from warex.lane.connection_faults.tries import ConnectionTries
from warex.lane.ending import unreachable_message
from warex.lane.hosts.host_routing import HostRouting
from warex.lane.hosts.own_hosts import RESERVED_HOSTS, is_reserved
from warex.lane.record.ip_address import parse_ip
from warex.lane.record.recorder import Recorder
from warex.lane.record.repeats import Repeats
from warex.lane.record.tunnels import OpenTunnel, TunnelReason
from warex.lane.state import ConnectionState
from warex.scenarios import Injector
from warex.scenarios.origins import origins_of_sites
from warex.traces import RequestRefused, SiteUnreachable, TlsRejected
from warex.traffic import BACKGROUND_HOSTS, SHARED_HOSTS, HostMap

_MAX_LINE = 4096
"""Bytes of a line that are redacted; less is recorded."""
"""Characters kept of an invalid request."""


class Connections:
    """The client connections of a trial."""

    def __init__(
        self,
        config: ProxyConfig,
        injector: Injector,
        recorder: Recorder,
        authority: Authority,
        idle: IdleConnections,
    ) -> None:
        self._recorder = recorder
        self.repeats = Repeats(recorder)
        self._upstream = config.traffic.upstream
        self._sites = origins_of_sites(config.sites) if config.sites else ()
        self._maps = bool(config.traffic.maps)
        self.host_routing = HostRouting(config, injector)
        self.on_notice: Callable[[str], None] = lambda sentence: None
        """Called with a notice to the user while the trial runs."""
        self.tries = ConnectionTries(injector.connections, recorder)
        self._faults = HandshakeFaults(self.tries)
        self._rejections = CertificateRejections()
        self.distrust = Distrust(
            config,
            authority,
            lambda host, port: self.host_routing.map_target(host, port) is not None,
        )
        self.idle = idle
        self.may_serve_others = False
        """Whether requests of other episodes may come on a connection of this trial."""
        self._tunnels: dict[int, OpenTunnel] = {}
        """By the number of the connection."""
        self._numbered = 0

    def connected(self, connection: Connection) -> None:
        """Number a connection."""
        self._numbered += 1
        connection.state = ConnectionState(f"c{self._numbered}")

    def hello(self, connection: Connection) -> ConnectionPlan:
        """Intercept a connection or pass it through; let the site choose the protocol."""
        host, port = connection.host, _port(connection)
        target = self.host_routing.map_target(host, port)
        why = self.host_routing.passthrough_reason(host)
        if why is not None and (target is None or target.target_scheme == "https"):
            self._begin_tunnel(connection, host, port, why)
            return Tunnel(None if target is None else _address(target))
        if (
            host not in RESERVED_HOSTS
            and (plan := self._faults.plan(connection, host, port)) is not None
        ):
            return plan
        suites = () if connection.hello is None else connection.hello.cipher_suites
        self._rejections.begin(_key(connection), self._recorder.clock.now(), suites)
        needs_site, http2 = self._needs_site(host), self._faults.allows_http2(connection)
        if target is not None:
            # Without TLS, a site chooses no protocol.
            first = needs_site or target.target_scheme == "https"
            return Intercept(site_of(target), site_first=first, needs_site=needs_site, http2=http2)
        return Intercept(site_first=not is_reserved(host), needs_site=needs_site, http2=http2)

    def connect(self, connection: Connection) -> Site | None:
        """Connect to the site first, unless a rule answers in its place."""
        host, port, destination = connection.host, _port(connection), connection.destination
        if is_reserved(host) or destination is None:
            return None
        if self.host_routing.passthrough_reason(host) is None:
            is_address = parse_ip(host) is not None  # The ClientHello may name its host.
            is_faulty = self._faults.may_concern(host, port)
            if is_faulty or not self._needs_site("" if is_address else host):
                return None
        target = self.host_routing.map_target(host, port)
        return Site("https", destination, direct=False) if target is None else site_of(target)

    def _needs_site(self, host: str) -> bool:
        """Whether a dead site fails its client before the first request.

        Otherwise the handshake completes, and the first request fails or gets a rule's answer.
        """
        return not (
            self.may_serve_others or is_reserved(host) or self.host_routing.works_without_site(host)
        )

    def handshake(self, connection: Connection, ended: Handshake, reason: str) -> None:
        """Note whether the client trusts our certificate."""
        if self._faults.ended(connection, ended):
            return  # The client accepts any certificate, or has refused a bad one.
        key, host, port = _key(connection), connection.host, _port(connection)
        by_browser = self._rejections.is_browser(key)
        match ended:
            case "established":
                self._established(connection, key, by_browser=by_browser)
            case "left":
                # The client has WAREX's certificate; before, it may have waited for the site's.
                if connection.certificate_sent and not (by_browser or is_reserved(host)):
                    self.distrust.left(host, port)
            case "rejected":
                sentence = f"The client does not trust the proxy's certificate for {host}"
                self._rejected(connection, f"{sentence} ({reason})", by_browser=by_browser)
            case "aborted":
                pass

    def _established(self, connection: Connection, key: str, *, by_browser: bool) -> None:
        sni = "" if connection.hello is None else connection.hello.sni
        port = _port(connection)
        self._rejections.accepted(key, sni)
        self.distrust.accepted(sni, by_browser=by_browser)
        if sni and not by_browser and not is_reserved(sni):
            self.distrust.established(key, sni, port, self._recorder.clock.now())
        self.idle.opened(connection, connection.host, port)

    def _rejected(self, connection: Connection, reason: str, *, by_browser: bool) -> None:
        """Pass a host through from now on if its client will not trust our certificate."""
        key, host, port = _key(connection), connection.host, _port(connection)
        final = self._rejections.rejected(key, host, self._recorder.clock.now())
        void = self.distrust.rejected(host, port, reason, by_browser=by_browser, final=final)
        if not final:
            return
        self.host_routing.note_rejected(host)
        self._recorder.write(TlsRejected(host=host, reason=reason))
        if void is not None:
            self._recorder.harness_broke(void)
            return
        self.on_notice(
            f"a client does not trust WAREX's certificate for {host}; from now on {host} is passed"
            " through unread, and no fault can reach it"
        )

    def unreachable(self, connection: Connection, failure: SiteFailure, error: str) -> None:
        """Record that a site cannot be reached, and tell the user."""
        state: ConnectionState = connection.state
        self.record_unreachable(state.name, connection.host, _port(connection), failure, error)

    def record_unreachable(
        self, name: str, host: str, port: int, failure: SiteFailure, error: str
    ) -> None:
        """Record that a site cannot be reached before there is a request, and tell the user."""
        literal = f"[{host}]" if ":" in host else host
        site = urlsplit(f"https://{literal}" + ("" if port == 443 else f":{port}"))
        self.note_unreachable(
            SiteUnreachable(connection=name, host=host, port=port, failure=failure, error=error),
            site,
        )

    def note_unreachable(self, event: SiteUnreachable, site: SplitResult) -> None:
        """Record that a site cannot be reached; tell the user if it is not a browser's own."""
        if not self.repeats.counts("site_unreachable", event.failure):
            self._recorder.write(event)
        host = event.host.lower()
        by_itself = host in SHARED_HOSTS and not any(it.names_host(host) for it in self._sites)
        if host not in BACKGROUND_HOSTS and not by_itself:
            self.on_notice(unreachable_message(site, self._upstream, event.error))

    def not_http(self, connection: Connection) -> None:
        """Begin to count a connection that is not HTTP."""
        self.idle.forget(connection)
        address = connection.destination or WireAddress("", 0)
        self._begin_tunnel(connection, address.host, address.port, "not_http")

    def rejected(self, connection: Connection, rejection: Rejection) -> None:
        """Record a request that the engine has refused."""
        if self.repeats.counts("request_refused", str(rejection.status)):
            return
        state: ConnectionState = connection.state
        line = rejection.line.decode("latin-1")
        self.record_rejected(state.name, rejection.status, line, rejection.reason)

    def record_rejected(self, name: str, status: int, line: str, reason: str) -> None:
        """Record a request that WAREX refuses, on one of the trial's connections."""
        self._recorder.write(
            RequestRefused(
                connection=name,
                status=status,
                line=line[:_MAX_LINE],
                reason=reason,
            )
        )

    def closed(self, connection: Connection) -> None:
        """Record a connection that was passed through, and forget it."""
        # A handshake to which a fault was applied may have no end of its own.
        self._faults.ended(connection, "left")
        self.idle.forget(connection)
        key = _key(connection)
        self._rejections.closed(key)
        self.distrust.closed(key, self._recorder.clock.now())
        tunnel = self._tunnels.pop(connection.number, None)
        if tunnel is not None:
            tunnel.record(self._recorder, connection.sent_to_site, connection.sent_to_client)

    # ---- requests

    def site(self, request: Request) -> Site | None:
        """Return where a request goes instead, if its origin is mapped."""
        target = self._maps and self.host_routing.map_target(request.host, request.port)
        return site_of(target) if target else None

    def passes(self, connection: Connection, request: Request) -> OpenTunnel | None:
        """Return the record of a plain HTTP request that is passed through; None if it is read."""
        if connection.hello is not None:
            return None
        why = self.host_routing.passthrough_reason(request.host)
        if why is None or why == "tls_rejected":
            return None
        return OpenTunnel(request.host, request.port, why, self._recorder.clock.now())

    def upgrade_closed(self, connection: Connection, request: Request, began: float) -> None:
        """Record a connection that was upgraded to what is not read, at second ``began``."""
        tunnel = OpenTunnel(request.host, request.port, "not_http", began)
        tunnel.record(self._recorder, connection.sent_to_site, connection.sent_to_client)

    def finish(self) -> None:
        """Judge at the end of the trial whether clients have trusted WAREX."""
        self.idle.stop()
        page_was_read = self._recorder.traffic.browser
        distrusted = self.distrust.at_the_end(page_was_read=page_was_read)
        if distrusted is not None and self._recorder.broken is None:
            self._recorder.harness_broke(distrusted)

    def _begin_tunnel(
        self, connection: Connection, host: str, port: int, why: TunnelReason
    ) -> None:
        began = self._recorder.clock.now()
        self._tunnels[connection.number] = OpenTunnel(host, port, why, began)


def site_of(target: HostMap) -> Site:
    """Return where the requests of a mapped host go."""
    return Site(target.target_scheme, _address(target))


def _address(target: HostMap) -> WireAddress:
    return WireAddress(target.target_host, target.target_port)


def _port(connection: Connection) -> int:
    return 443 if connection.destination is None else connection.destination.port


def _key(connection: Connection) -> str:
    return str(connection.number)
