"""Connects to sites, directly or through an upstream proxy."""

import asyncio
import os
import socket
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from warex.engine.ends import End
from warex.engine.handler import Address
from warex.engine.net import socks5
from warex.engine.tls.site_contexts import SiteContexts

_HEAD: Final = 64 * 1024
"""Maximum bytes of an upstream proxy's response to CONNECT."""
_EYEBALLS_S: Final = 0.25
"""Seconds before a site's next address is tried (RFC 8305)."""


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
        self._is_refused = is_refused
        self.own: set[tuple[str, int]] = set()
        """Hosts and ports where this proxy listens: to connect to itself would never end."""
        self._contexts = contexts

    @property
    def takes_urls(self) -> bool:
        """Whether the upstream proxy takes plain requests by their whole URL."""
        return (self.upstream or "").startswith(("http://", "https://"))

    async def connect_to_proxy(self) -> End:
        """Return an end at the upstream proxy, which takes whole URLs; raise SiteUnreachable."""
        parts = urlsplit(self.upstream or "")
        default = {"https": 443, "socks5": 1080, "socks5h": 1080}.get(parts.scheme, 80)
        proxy = Address(parts.hostname or "", parts.port or default)
        end = await _direct(proxy)
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
            end = await _direct(address)
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
                await _open_tunnel(end, address, proxy_authorization(self.upstream))
        except OSError as error:
            end.reset()
            raise SiteUnreachable(f"the upstream proxy {parts.hostname} failed: {error}") from None
        except BaseException:
            end.reset()
            raise
        return end


def proxy_authorization(upstream: str | None) -> str | None:
    """Return the Basic credentials (RFC 7617) for the upstream proxy, if its URL has any."""
    parts = urlsplit(upstream or "")
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


async def _direct(address: Address) -> End:
    if not address.host or not 0 < address.port < 65536:
        raise SiteUnreachable("there is no such host")
    try:
        address.host.encode("idna")
    except UnicodeError:
        raise SiteUnreachable(f"there is no host {address.host[:80]!r}") from None
    try:
        # typeshed does not know ``all_errors`` here.
        _, end = await asyncio.get_running_loop().create_connection(  # type: ignore[call-overload]
            End,
            address.host,
            address.port,
            happy_eyeballs_delay=_EYEBALLS_S,
            all_errors=True,
        )
    except ExceptionGroup as group:
        raise SiteUnreachable(_why(address, group.exceptions)) from None
    except OSError as error:
        raise SiteUnreachable(_why(address, [error])) from None
    assert isinstance(end, End)
    return end


def _why(address: Address, errors: Sequence[Exception]) -> str:
    """Return why a site was not reached, by the last of its addresses."""
    last = errors[-1]
    why = str(last)
    if isinstance(last, socket.gaierror):
        why = last.strerror or why
    elif isinstance(last, OSError) and last.errno is not None:
        # asyncio adds the address to the system's message.
        why = os.strerror(last.errno)
    return f"{address.host}:{address.port} is unreachable: {why}"


async def _open_tunnel(end: End, address: Address, credentials: str | None) -> None:
    """Ask an HTTP proxy for a tunnel (RFC 9110 §9.3.6)."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    target = f"{host}:{address.port}"
    field = "" if credentials is None else f"Proxy-Authorization: {credentials}\r\n"
    end.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{field}\r\n".encode("latin-1"))
    head = b""
    while b"\r\n\r\n" not in head:
        more = await end.read()
        head += more
        if not more or len(head) > _HEAD:
            raise OSError("it broke off")
    head, _, rest = head.partition(b"\r\n\r\n")
    end.unread(rest)
    status = head.split(b" ", 2)[1:2]
    if not status or not status[0].startswith(b"2"):
        raise OSError(f"it refused: {head.splitlines()[0].decode('latin-1')}")
