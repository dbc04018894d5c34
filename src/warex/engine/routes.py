"""Where the requests of one client's connection go, and its connections to sites."""

import asyncio
import ssl
from collections.abc import Callable
from functools import partial
from typing import Final

from msgspec import Struct

from warex.clock import Clock
from warex.engine.ends import End
from warex.engine.handler import Address, Site, SiteFailure
from warex.engine.http.heads import HttpVersion
from warex.engine.http.http1.client import Http1Client
from warex.engine.net.connector import Connector, SiteUnreachable
from warex.engine.sites import SiteSide
from warex.engine.sockets.turns import Turns
from warex.engine.tls.layer import TlsLayer, ssl_reason
from warex.engine.tls.site_contexts import SiteContexts
from warex.engine.tls.site_sessions import SecuredSite, SiteSessions

H2, H1 = b"h2", b"http/1.1"
_VERSIONS: Final[dict[str | None, HttpVersion]] = {"h2": "HTTP/2.0"}
_MOST_SITES: Final = 8
"""Sites to which one client's connection keeps a connection."""


class OpenedSite(Struct):
    """A new connection to a site, and when its steps were done, in Unix time."""

    side: SiteSide
    protocol: str | None
    """What the site has chosen by ALPN."""
    started: float
    connected: float
    secured: float | None


class Route:
    """The connections to sites that one client's connection uses."""

    def __init__(
        self,
        connector: Connector,
        contexts: SiteContexts,
        clock: Clock,
        turns: Turns,
        sessions: SiteSessions,
        *,
        broke: Callable[[Exception], None],
        site: Site | None,
        sni: str = "",
        protocols: tuple[bytes, ...] = (H1,),
        prior_knowledge: bool = False,
    ) -> None:
        """``broke`` is called when our own code fails on what a site sends.

        ``site``: where requests go that name none; ``protocols``: what is offered by ALPN.

        ``prior_knowledge``: sites without TLS speak HTTP/2 (RFC 9113 §3.3).
        """
        self._connector, self._contexts, self._clock = connector, contexts, clock
        self._turns, self._sessions = turns, sessions
        self.site, self._sni, self._protocols = site, sni, protocols
        self._prior_knowledge = prior_knowledge
        self._broke = broke
        self._sides: dict[Site, SiteSide] = {}
        self._main: SiteSide | None = None
        """The connection to ``site``: found without hashing it."""
        self._retired: list[SiteSide] = []
        """Connections that take no further request, and may have open exchanges."""
        self._opening: dict[Site, asyncio.Lock] = {}
        self._failures: dict[Site, SiteUnreachable] = {}

    def another(self, broke: Callable[[Exception], None], sessions: SiteSessions) -> "Route":
        """Return another handler's route to the same sites, which has no connections yet."""
        return Route(
            self._connector,
            self._contexts,
            self._clock,
            self._turns,
            sessions,
            broke=broke,
            site=self.site,
            sni=self._sni,
            protocols=self._protocols,
            prior_knowledge=self._prior_knowledge,
        )

    async def open(self, site: Site) -> OpenedSite:
        """Open a connection to a site; raise SiteUnreachable."""
        started = self._clock.wall()
        if self._asks_proxy(site):
            end = await self._connector.connect_to_proxy()
        else:
            end = await self._connector.connect(site.address, direct=site.direct)
        connected, secured = self._clock.wall(), None
        protocol, tls, secured_site = None, None, None
        if site.scheme == "https":
            secured_site = self._secured(site)
            try:
                tls = await self._secure(end, secured_site)
            except BaseException:
                end.reset()
                raise
            protocol, secured = tls.selected_alpn_protocol(), self._clock.wall()
        version = _VERSIONS.get(protocol, "HTTP/1.1")
        if site.scheme == "http" and self._prior_knowledge:
            version = "HTTP/2.0"
        side = self._side(end, version, site)
        if secured_site is not None and tls is not None and not tls.session_reused:
            side.on_served = partial(self._sessions.keep, secured_site, tls)
        return OpenedSite(side, protocol, started, connected, secured)

    async def ready(self, site: Site) -> tuple[SiteSide, OpenedSite | None]:
        """Return a usable connection to a site, and what was opened for it. Raises as ``open``."""
        side = self._main if site is self.site else self._sides.get(site)
        if side is not None and side.is_usable:
            return side, None
        lock = self._opening.setdefault(site, asyncio.Lock())
        async with lock:
            side = self._sides.get(site)
            if side is not None and side.is_usable:
                return side, None
            if (failure := self._failures.pop(site, None)) is not None:
                raise failure
            opened = await self.open(site)
            self.keep(site, opened.side)
            return opened.side, opened

    def remember(self, site: Site, failure: SiteUnreachable) -> None:
        """Let the next request to a site meet a failure that has happened."""
        self._failures[site] = failure

    def keep(self, site: Site, side: SiteSide) -> None:
        """Use a connection for the next requests to its site."""
        former = self._sides.pop(site, None)
        if former is not None:
            self._retire(former)
        if len(self._sides) >= _MOST_SITES:
            oldest = next(iter(self._sides))
            self._retire(self._sides.pop(oldest))
        self._sides[site] = side
        if site == self.site:
            self._main = side

    def close(self) -> None:
        """Close every connection."""
        for side in (*self._sides.values(), *self._retired):
            side.close()
        self._sides.clear()
        self._retired.clear()

    def abort(self) -> None:
        """Close every connection at once."""
        for side in (*self._sides.values(), *self._retired):
            side.end.abort()

    def _retire(self, side: SiteSide) -> None:
        if side.is_busy:
            self._retired = [it for it in self._retired if not it.end.is_closed]
            self._retired.append(side)
        else:
            side.close()

    def _secured(self, site: Site) -> SecuredSite:
        name = self._sni if site == self.site and self._sni else site.address.host
        return SecuredSite(name.rstrip("."), site.address, self._protocols)

    async def _secure(self, end: End, site: SecuredSite) -> ssl.SSLObject:
        name, resumes = site.name, self._sessions.of(site)
        context = self._contexts.context(site.protocols)
        try:
            layer = TlsLayer(context, server_hostname=name or None, resumes=resumes)
            await end.start_tls(layer)
        except ssl.SSLCertVerificationError as error:
            raise SiteUnreachable(
                "tls_certificate_error",
                f"the certificate of {name} is not trusted: {error.verify_message}",
            ) from None
        except (OSError, ValueError) as error:
            reason = ssl_reason(error) if isinstance(error, ssl.SSLError) else str(error)
            is_tls = isinstance(error, ssl.SSLError | ValueError)
            failure: SiteFailure = "tls_protocol_error" if is_tls else "connection_terminated"
            raise SiteUnreachable(failure, f"TLS with {name} failed: {reason}") from None
        finally:
            if resumes is not None and not (end.tls is not None and end.tls.session_reused):
                self._sessions.forget(site)
        return layer.session

    def _asks_proxy(self, site: Site) -> bool:
        """Whether an upstream proxy gets the whole URL, as the client gave it to us."""
        if site.direct or site.scheme != "http" or self.site is not None:
            return False
        return self._connector.takes_urls

    def _side(self, end: End, version: HttpVersion, site: Site) -> SiteSide:
        if version == "HTTP/2.0":
            # Imported here, so that a first answer over HTTP/1.1 does not wait for it.
            from warex.engine.http.http2.client import Http2Client

            http2 = Http2Client(self._clock.now)
            return SiteSide(end, http2, version, self._broke, self._turns)
        default = 443 if site.scheme == "https" else 80
        http = Http1Client(
            secure=site.scheme == "https",
            default_port=site.address.port == default,
            through_proxy=self._asks_proxy(site),
            proxy_authorization=self._connector.authorization,
            proxy_is_clients=self._connector.is_clients,
        )
        return SiteSide(end, http, version, self._broke, self._turns)


def site_of(scheme: str, authority: str) -> Site:
    """Return the site of an authority: a host with or without a port."""
    host, port = split_authority(authority, 443 if scheme == "https" else 80)
    return Site("https" if scheme == "https" else "http", Address(host, port), direct=False)


def split_authority(authority: str, default: int) -> tuple[str, int]:
    """Return host and port of an authority; IPv6 without its brackets."""
    host, colon, port = authority.rpartition(":")
    if not colon or not port.isdecimal() or (":" in host and not host.startswith("[")):
        host, port = authority.removesuffix(":"), ""
    return host.removeprefix("[").removesuffix("]"), int(port or default)
