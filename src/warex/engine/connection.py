"""One client's connection: finds its protocol and destination, then serves it."""

import asyncio
import ssl
from collections.abc import Awaitable
from typing import Final, Literal, assert_never

from warex.engine.clients import ClientSide, proxy_user
from warex.engine.ends import End
from warex.engine.exchanges import ExchangeRun
from warex.engine.handler import (
    AbortConnection,
    Address,
    ClientHello,
    Connection,
    Handshake,
    Intercept,
    Site,
    Stall,
    Tunnel,
)
from warex.engine.http.connection import ServerConnection
from warex.engine.http.heads import Headers, RequestHead, ResponseHead
from warex.engine.http.http1.server import Http1Server
from warex.engine.net.connector import Connector, SiteUnreachable
from warex.engine.net.protocol_detection import DetectedProtocol, detect_protocol
from warex.engine.net.tunnel import pass_on
from warex.engine.planned_messages import tunnel_refusal
from warex.engine.routes import H1, OpenedSite, Route, split_authority
from warex.engine.services import Services, Share
from warex.engine.tls.certificates import CertificateError
from warex.engine.tls.client_hello import NoClientHello, read_client_hello
from warex.engine.tls.layer import TlsLayer, ssl_reason

_SERVER_FIRST_DELAY: Final = 0.5
"""Seconds after which a silent client in a tunnel is assumed to wait for the server."""
_INCOMPLETE_TIMEOUT: Final = 1.0
"""Seconds after which an ambiguous beginning is assumed to be complete."""
_HANDSHAKES_S: Final = 0.001
"""Approximate seconds of the handshakes with a client and its site."""
_WELL_KNOWN_PORTS: Final = frozenset((80, 443))
"""Ports with HTTP only: a silent client is not connected to its site."""
_ESTABLISHED: Final = ResponseHead(200, b"Connection established", "HTTP/1.1", Headers())


class _ClientLeft(Exception):
    """The client has left before its site was reached."""


class ConnectionRun:
    """A client's connection while it lasts."""

    def __init__(
        self,
        services: Services,
        end: End,
        connection: Connection,
        connector: Connector,
        *,
        is_redirected: bool = False,
    ) -> None:
        self.services, self.end, self.connection = services, end, connection
        self.is_redirected = is_redirected
        self.client: ClientSide | None = None
        self.handler = services.handlers.of_connection(connection)
        self.task = asyncio.current_task()
        """Serves the connection."""
        self._connector = connector

    # ---- the first bytes

    async def serve_proxy(self) -> None:
        """Serve a client that knows of the proxy: whole URLs, and CONNECT."""
        route = self._route(None)
        http = Http1Server(scheme="http", authority=None)
        connect = await self._serve_http(http, route, tunnels=True)
        if connect is None:
            return
        head, stream = connect
        host, port = split_authority(head.authority or head.path, 443)
        self.connection.destination = Address(host, port)
        if not self._connector.is_clients:
            self.connection.proxy_user = proxy_user(head)
            self._hand_over()
        try:
            answer = await self._reach_site(head)
        except _ClientLeft:
            self.end.close()
            return
        http.send_response(stream, answer)
        if answer is not _ESTABLISHED:
            http.send_end(stream)
        self.end.write(http.data_to_send())
        if answer is not _ESTABLISHED:
            self.end.close()
            return
        for event in http.receive(b""):
            self.end.unread(getattr(event, "payload", b""))
        try:
            await self.serve_tunnel()
        finally:
            self._connector.close()

    async def _reach_site(self, connect: RequestHead) -> ResponseHead:
        """Connect to a tunnel's site, if that comes first; return what its CONNECT is answered."""
        site = first = self.handler.connect(self.connection)
        if self._connector.is_clients:
            self._connector = self._connector.for_client(connect)
            assert self.connection.destination is not None
            # The upstream proxy may want a password, which the client has to give.
            site = site or Site("https", self.connection.destination, direct=False)
        if site is None:
            return _ESTABLISHED
        opening = self._connector.connect(site.address, direct=site.direct)
        try:
            opened = await self._unless_left(opening)
        except SiteUnreachable as error:
            if error.challenge is not None:
                return error.challenge
            if first is None:
                return _ESTABLISHED
            self.handler.unreachable(self.connection, error.failure, str(error))
            return tunnel_refusal(error.failure)
        self._connector = self._connector.with_connected(site.address, opened, direct=site.direct)
        return _ESTABLISHED

    def _hand_over(self) -> None:
        """Give the connection to the handler that its proxy user names."""
        handler = self.services.handlers.of_connection(self.connection)
        if handler is not self.handler:
            self.handler.closed(self.connection)
            self.connection.state = None
            self.handler = handler
            handler.connected(self.connection)

    async def serve_tunnel(self, protocol: DetectedProtocol | None = None) -> None:
        """Serve a connection whose destination is known."""
        destination = self.connection.destination
        assert destination is not None
        patience = None if destination.port in _WELL_KNOWN_PORTS else _SERVER_FIRST_DELAY
        match protocol or await self._detect(patience):
            case "left":
                self.end.close()
            case "tls":
                await self._serve_tls(destination)
            case "http" | "proxied":
                site = Site("http", destination, direct=False)
                http = Http1Server(scheme="http", authority=_authority(destination, 80))
                await self._serve_http(http, self._route(site))
            case "h2c":
                await self._serve_http2(
                    self._route(Site("http", destination, direct=False), h2c=True)
                )
            case "silent":
                await self._serve_silent(destination)
            case "other":
                if self.handler.not_http(self.connection):
                    await self._pass_on(destination)
                else:
                    self.end.close()

    async def _serve_silent(self, destination: Address) -> None:
        """Connect to the site of a silent client: the side that sends first decides.

        In some protocols that is the site; a client of HTTP or TLS may only be slow.
        """
        site = await self._connect(destination)
        if site is None:
            return
        try:
            sides = [asyncio.ensure_future(side.peek()) for side in (site, self.end)]
            try:
                await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in sides:
                    each.cancel()
                await asyncio.wait(sides)
            protocol = "other" if site.has_unread or site.has_ended else await self._detect(None)
            if protocol == "other" and self.handler.not_http(self.connection):
                await pass_on(self.connection, self.end, site)
        finally:
            site.close()
        match protocol:
            case "left" | "silent" | "other":
                self.end.close()
            case _:
                await self.serve_tunnel(protocol)

    async def _detect(self, patience: float | None) -> DetectedProtocol | Literal["left", "silent"]:
        first = b""
        while True:
            wait = _INCOMPLETE_TIMEOUT if first else patience
            seen = await self.end.peek(len(first) + 1, wait)
            if not self.end.has_ended and len(seen) == len(first):
                return "other" if first else "silent"
            if not seen:
                return "left"
            protocol = detect_protocol(seen)
            if protocol == "other" and _seems_http(seen):
                protocol = "http"
            if protocol is not None:
                return protocol
            if len(seen) == len(first):
                return "other"  # The client has sent its last byte.
            first = seen

    async def _serve_http(
        self, http: ServerConnection, route: Route, *, tunnels: bool = False
    ) -> tuple[RequestHead, int] | None:
        self.client = ClientSide(
            self.services,
            Share(self.handler, self.connection, route),
            self.end,
            http,
            ExchangeRun,
            is_redirected=self.is_redirected,
        )
        try:
            connect = await self.client.serve(tunnels=tunnels)
        except asyncio.CancelledError:
            route.abort()
            raise
        finally:
            self.client = None
            route.close()
        return None if connect is None else (connect.head, connect.stream)

    def _route(
        self,
        site: Site | None,
        sni: str = "",
        offered: tuple[bytes, ...] = (H1,),
        *,
        h2c: bool = False,
    ) -> Route:
        return Route(
            self._connector,
            self.services.site_contexts,
            self.services.clock,
            self.services.turns,
            self.services.sessions_of(self.handler),
            broke=self.handler.broke,
            site=site,
            sni=sni,
            protocols=offered,
            prior_knowledge=h2c,
        )

    # ---- TLS

    async def _serve_tls(self, destination: Address) -> None:
        hello = await self._client_hello()
        if hello is None:
            self.end.close()
            return
        self.connection.hello = hello
        plan = self.handler.hello(self.connection)
        match plan:
            case Tunnel(address):
                await self._pass_on(address or destination)
            case AbortConnection(how, hold_s):
                left = await self._left_within(hold_s)
                ended: Handshake = "aborted"
                if left or not self.end.is_established():
                    ended = "left"
                if how == "reset":
                    self.end.reset()
                else:
                    self.end.close()
                self.handler.handshake(self.connection, ended, "")
            case Stall():
                await self._left_within(None)
                self.handler.handshake(self.connection, "left", "")
                self.end.close()
            case Intercept():
                await self._intercept(plan, hello, destination)
            case _:
                assert_never(plan)

    async def _client_hello(self) -> ClientHello | None:
        """Read the ClientHello, which stays for the handshake; None if there is none."""
        seen = b""
        while True:
            more = await self.end.peek(len(seen) + 1)
            try:
                hello = read_client_hello(more)
            except NoClientHello:
                return None
            if hello is not None or len(more) == len(seen):
                return hello
            seen = more

    async def _intercept(self, plan: Intercept, hello: ClientHello, destination: Address) -> None:
        if await self._left_within(plan.hold_s):
            self.handler.handshake(self.connection, "left", "")
            self.end.close()
            return
        await self.services.turns.turn(_HANDSHAKES_S)
        site = plan.site or Site("https", destination, direct=False)
        host = hello.sni or destination.host
        protocols = self.services.protocols if plan.http2 else (H1,)
        offered = tuple(it for it in hello.alpn if it in protocols)
        # A mapped host's site has another name than the client's.
        route = self._route(site, host if plan.site is None else "", offered)
        try:
            opened = await self._open_first(plan, route, site)
            protocol = _preferred(offered, site)
            if opened is not None:
                if site.scheme == "https":
                    protocol = opened.protocol
                route.keep(site, opened.side)
            if await self._shake_hands(plan, host, protocol):
                await self._serve_secured(host, destination, protocol, route)
        except SiteUnreachable as error:
            self.handler.unreachable(self.connection, error.failure, str(error))
            self.end.reset()
        except _ClientLeft:
            self.handler.handshake(self.connection, "left", "")
            self.end.close()
        finally:
            route.close()

    async def _open_first(self, plan: Intercept, route: Route, site: Site) -> OpenedSite | None:
        """Connect to the site before the client's handshake, if the plan says so."""
        if not plan.site_first:
            return None
        try:
            return await self._unless_left(route.open(site))
        except SiteUnreachable as error:
            if plan.needs_site:
                raise
            route.remember(site, error)
            return None

    async def _unless_left[T](self, opening: Awaitable[T]) -> T:
        """Wait for a connection to a site; raise _ClientLeft if the client leaves meanwhile."""
        task = asyncio.current_task()
        assert task is not None
        gives_up = False

        def give_up() -> None:
            nonlocal gives_up
            gives_up = True
            task.cancel()

        self.end.on_end = give_up
        try:
            return await opening
        except asyncio.CancelledError:
            if not gives_up or task.uncancel():
                raise  # The engine ends.
            raise _ClientLeft from None
        finally:
            self.end.on_end = None

    async def _shake_hands(self, plan: Intercept, host: str, protocol: str | None) -> bool:
        contexts = self.services.server_contexts
        try:
            if plan.defect is None:
                context = contexts.context(host, protocol)
            else:
                context = contexts.defective(host, protocol, plan.defect)
        except CertificateError:
            self.end.reset()
            return False
        self.connection.certificate_sent = self.end.is_established()
        ended: Handshake = "left"
        try:
            await self.end.start_tls(TlsLayer(context, server_side=True))
        except ssl.SSLError as error:
            reason = ssl_reason(error)
            ended = "rejected" if " alert " in reason else "left"
            self.handler.handshake(self.connection, ended, reason)
            self.end.close()
            return False
        except OSError as error:
            self.handler.handshake(self.connection, ended, str(error))
            self.end.close()
            return False
        self.handler.handshake(self.connection, "established", "")
        return True

    async def _serve_secured(
        self, host: str, destination: Address, protocol: str | None, route: Route
    ) -> None:
        if protocol == "h2":
            await self._serve_http2(route)
            return
        authority = _authority(Address(host, destination.port), 443)
        await self._serve_http(Http1Server(scheme="https", authority=authority), route)

    async def _serve_http2(self, route: Route) -> None:
        # Imported here, so that a first answer over HTTP/1.1 does not wait for it.
        from warex.engine.http.http2.server import Http2Server

        self.connection.version = "HTTP/2.0"
        await self._serve_http(Http2Server(self.services.clock.now), route)

    # ---- unread

    async def _pass_on(self, address: Address) -> None:
        site = await self._connect(address)
        if site is not None:
            await pass_on(self.connection, self.end, site)

    async def _connect(self, address: Address) -> End | None:
        """Connect to a site that is not read; if it cannot be reached, the client meets that."""
        try:
            return await self._connector.connect(address)
        except SiteUnreachable as error:
            self.handler.unreachable(self.connection, error.failure, str(error))
            self.end.reset()
            return None

    async def _left_within(self, seconds: float | None) -> bool:
        """Wait; return whether the client has left meanwhile."""
        if seconds is not None and seconds <= 0:
            return self.end.has_ended
        if self.end.has_ended:
            return True
        left: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def leave() -> None:
            if not left.done():
                left.set_result(None)

        self.end.on_end = leave
        try:
            async with asyncio.timeout(seconds):
                await left
        except TimeoutError:
            return False
        finally:
            self.end.on_end = None
        return True


def _authority(address: Address, default: int) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return host if address.port == default else f"{host}:{address.port}"


def _seems_http(first: bytes) -> bool:
    """Whether a tunnel's first bytes are to be answered as a request, even an invalid one."""
    return first[:3].isalpha() and not first.startswith(b"SSH")


def _preferred(offered: tuple[bytes, ...], site: Site) -> str | None:
    """Return the protocol of a client whose site has not chosen one: its first offer.

    Sites without TLS speak HTTP/1.1, so nothing is changed for a client that does, too.
    """
    if not offered:
        return None
    return (H1 if site.scheme == "http" and H1 in offered else offered[0]).decode()
