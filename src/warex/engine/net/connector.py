"""Connects to sites, directly or through an upstream proxy."""

from base64 import b64encode
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote, urlsplit

from warex.engine.ends import SITE_READ, End
from warex.engine.handler import Address
from warex.engine.net import socks5
from warex.engine.net.dialling import Dialler
from warex.engine.tls.site_contexts import SiteContexts

_HEAD: Final = 64 * 1024
"""Maximum bytes of an upstream proxy's response to CONNECT."""


class SiteUnreachable(OSError):
    """A site cannot be reached; the message is a sentence."""


class Connector:
    """Connects to sites."""

    def __init__(
        self,
        upstream: str | None,
        contexts: SiteContexts,
        is_refused: Callable[[str], bool] = lambda host: False,
    ) -> None:
        """``upstream``: the URL of a proxy (http, https or socks5), perhaps with credentials.

        ``is_refused``: whether a host is never connected to.
        """
        self.upstream = upstream
        self.authorization = proxy_authorization(upstream)
        self._is_refused = is_refused
        self.own: set[tuple[str, int]] = set()
        """Hosts and ports where this proxy listens: to connect to itself would never end."""
        self._contexts = contexts
        self._dialler = Dialler()

    @property
    def takes_urls(self) -> bool:
        """Whether the upstream proxy takes plain requests by their whole URL."""
        return (self.upstream or "").startswith(("http://", "https://"))

    async def connect_to_proxy(self) -> End:
        """Return an end at the upstream proxy, which takes whole URLs; raise SiteUnreachable."""
        parts = urlsplit(self.upstream or "")
        default = {"https": 443, "socks5": 1080, "socks5h": 1080}.get(parts.scheme, 80)
        proxy = Address(parts.hostname or "", parts.port or default)
        end = await self._direct(proxy)
        if parts.scheme == "https":
            try:
                await end.start_tls(self._contexts.context(()), server_hostname=proxy.host)
            except OSError as error:
                end.reset()
                raise SiteUnreachable(f"the upstream proxy {proxy.host} failed: {error}") from None
            except BaseException:
                end.reset()
                raise
        return end

    async def connect(self, address: Address, *, direct: bool = False) -> End:
        """Return an end at a site; raise SiteUnreachable.

        ``direct``: without the upstream proxy.
        """
        if self._is_refused(address.host):
            raise SiteUnreachable(f"{address.host}:{address.port}: there is no such host")
        if self.upstream is None or direct:
            end = await self._direct(address)
            if end.peer in self.own:
                end.abort()
                raise SiteUnreachable(f"{address.host}:{address.port} is this proxy itself")
            return end
        parts = urlsplit(self.upstream)
        end = await self.connect_to_proxy()
        try:
            if parts.scheme in ("socks5", "socks5h"):
                user = None if parts.username is None else unquote(parts.username)
                await socks5.open_tunnel(end, address, user, unquote(parts.password or ""))
            else:
                await _open_tunnel(end, address, self.authorization)
        except OSError as error:
            end.reset()
            raise SiteUnreachable(f"the upstream proxy {parts.hostname} failed: {error}") from None
        except BaseException:
            end.reset()
            raise
        return end

    async def _direct(self, address: Address) -> End:
        where = f"{address.host}:{address.port}"
        if not address.host or not 0 < address.port < 65536:
            raise SiteUnreachable("there is no such host")
        try:
            opened = await self._dialler.dial(address.host, address.port)
        except OSError as error:
            raise SiteUnreachable(f"{where} is unreachable: {error}") from None
        return End(opened, SITE_READ)


def proxy_authorization(upstream: str | None) -> str | None:
    """Return the Basic credentials (RFC 7617) for the upstream proxy, if its URL has any."""
    parts = urlsplit(upstream or "")
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


async def _open_tunnel(end: End, address: Address, credentials: str | None) -> None:
    """Ask an HTTP proxy for a tunnel (RFC 9110 §9.3.6)."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    target = f"{host}:{address.port}"
    field = "" if credentials is None else f"Proxy-Authorization: {credentials}\r\n"
    end.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{field}\r\n".encode("latin-1"))
    received, rest = 0, b""
    status = b"1"
    while status.startswith(b"1"):  # An informational answer precedes the final one.
        while b"\r\n\r\n" not in rest:
            more = await end.read()
            rest += more
            received += len(more)
            if not more or received > _HEAD:
                raise OSError("it broke off")
        head, _, rest = rest.partition(b"\r\n\r\n")
        status = head.partition(b" ")[2]
    end.unread(rest)
    if not status.startswith(b"2"):
        raise OSError(f"it refused: {head.partition(b'\r\n')[0].decode('latin-1')}")
