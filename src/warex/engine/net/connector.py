"""Connects to sites, directly or through an upstream proxy."""

import errno
from base64 import b64encode
from collections.abc import Callable, Mapping
from copy import copy
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from warex.engine.ends import SITE_READ, End
from warex.engine.handler import Address, SiteFailure
from warex.engine.http.error_page import phrase
from warex.engine.http.heads import Headers, RequestHead, ResponseHead, parse_fields
from warex.engine.net import socks5
from warex.engine.net.dialling import Dialler
from warex.engine.sockets.buffers import Buffers
from warex.engine.tls.layer import TlsLayer
from warex.engine.tls.site_contexts import SiteContexts

_CHALLENGE: Final = b"proxy-authenticate"
_SHOWN: Final = 200
"""Bytes of a refusal that the user is shown."""
_HEAD: Final = 64 * 1024
"""Maximum bytes of an upstream proxy's response to CONNECT."""


_FAILURES: Final[Mapping[int | None, SiteFailure]] = {
    errno.ECONNREFUSED: "connection_refused",
    errno.ETIMEDOUT: "connection_timeout",
    errno.ECONNRESET: "connection_terminated",
    errno.EHOSTUNREACH: "destination_ip_unroutable",
    errno.ENETUNREACH: "destination_ip_unroutable",
}


class SiteUnreachable(OSError):
    """A site cannot be reached; the message is a sentence."""

    def __init__(self, failure: SiteFailure, message: str) -> None:
        super().__init__(message)
        self.failure: SiteFailure = failure
        self.challenge: ResponseHead | None = None
        """What an upstream proxy says that wants other credentials."""


class Connector:
    """Connects to sites."""

    def __init__(
        self,
        upstream: str | None,
        contexts: SiteContexts,
        is_refused: Callable[[str], bool] = lambda host: False,
        *,
        is_clients: bool = False,
        buffers: Buffers | None = None,
    ) -> None:
        """``upstream``: the URL of a proxy (http, https or socks5), perhaps with credentials.

        ``is_refused``: whether a host is never connected to. ``is_clients``: the proxy is of the
        client's own choice, and gets what the client says to it. ``buffers``: the engine's.
        """
        self._buffers = Buffers() if buffers is None else buffers
        self.upstream = upstream
        self.is_clients = is_clients
        self.authorization = proxy_authorization(upstream)
        """The credentials for the upstream proxy (RFC 7617), if there are any."""
        self._is_refused = is_refused
        self.own: set[tuple[str, int]] = set()
        """Hosts and ports where this proxy listens: to connect to itself would never end."""
        self._contexts = contexts
        self._dialler = Dialler()
        self._connected: tuple[Address, bool, End] | None = None
        """A connection that is made already: to where, whether directly, and its end."""

    def with_connected(self, address: Address, end: End, *, direct: bool) -> Self:
        """Return a connector that has one connection already, for the first that asks."""
        other = copy(self)
        other._connected = address, direct, end
        return other

    def for_client(self, connect: RequestHead) -> Self:
        """Return a connector with the credentials that a client has given to its own proxy."""
        other = copy(self)
        other.authorization = connect.headers.get("proxy-authorization") or None
        return other

    def close(self) -> None:
        """Close the connection that was not asked for."""
        if self._connected is not None:
            self._connected[2].close()

    @property
    def takes_urls(self) -> bool:
        """Whether the upstream proxy takes plain requests by their whole URL."""
        return (self.upstream or "").startswith(("http://", "https://"))

    async def connect_to_proxy(self) -> End:
        """Return an end at the upstream proxy, which takes whole URLs; raise SiteUnreachable."""
        parts = urlsplit(self.upstream or "")
        default = {"https": 443, "socks5": 1080, "socks5h": 1080}.get(parts.scheme, 80)
        proxy = Address(parts.hostname or "", parts.port or default)
        try:
            end = await self._direct(proxy)
        except SiteUnreachable as error:
            raise SiteUnreachable("destination_unavailable", str(error)) from None
        if parts.scheme == "https":
            try:
                await end.start_tls(
                    TlsLayer(self._contexts.context(()), server_hostname=proxy.host)
                )
            except OSError as error:
                end.reset()
                raise _failed(proxy.host, error) from None
            except BaseException:
                end.reset()
                raise
        return end

    async def connect(self, address: Address, *, direct: bool = False) -> End:
        """Return an end at a site; raise SiteUnreachable.

        ``direct``: without the upstream proxy.
        """
        if self._is_refused(address.host):
            where = f"{address.host}:{address.port}"
            raise SiteUnreachable("dns_error", f"{where}: there is no such host")
        if self._connected is not None and self._connected[:2] == (address, direct):
            end, self._connected = self._connected[2], None
            if end.has_unread or not end.has_ended:
                return end
            end.close()
        if self.upstream is None or direct:
            end = await self._direct(address)
            if end.peer in self.own:
                end.abort()
                raise SiteUnreachable(
                    "proxy_loop_detected", f"{address.host}:{address.port} is this proxy itself"
                )
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
            raise _failed(parts.hostname, error) from None
        except BaseException:
            end.reset()
            raise
        return end

    async def _direct(self, address: Address) -> End:
        where = f"{address.host}:{address.port}"
        if not address.host or not 0 < address.port < 65536:
            raise SiteUnreachable("dns_error", "there is no such host")
        try:
            opened = await self._dialler.dial(address.host, address.port)
        except OSError as error:
            raise SiteUnreachable(
                failure_of(error.errno), f"{where} is unreachable: {_reason(error)}"
            ) from None
        return End(opened, SITE_READ, self._buffers)


def _failed(proxy: str | None, error: OSError) -> SiteUnreachable:
    message = f"the upstream proxy {proxy} failed: {_reason(error)}"
    failed = SiteUnreachable("destination_unavailable", message)
    if isinstance(error, _Refused) and error.challenge:
        failed.challenge = _challenge(error.challenge)
    return failed


def _challenge(answer: bytes) -> ResponseHead:
    """Return the answer to a client whose proxy wants credentials (RFC 9110 §15.5.8)."""
    fields = parse_fields(answer + b"\r\n\r\n", answer.find(b"\n") + 1) or Headers()
    wanted = Headers((name, value) for name, value in fields.fields if name.lower() == _CHALLENGE)
    closing = wanted.with_added("Content-Length", "0").with_added("Connection", "close")
    return ResponseHead(407, phrase(407), "HTTP/1.1", closing)


def failure_of(number: int | None) -> SiteFailure:
    """Return what an error of the system means; those of a look-up are negative."""
    if number is not None and number < 0:
        return "dns_error"
    return _FAILURES.get(number, "destination_unavailable")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


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
    if status.startswith(b"2"):
        return
    line = head.partition(b"\r\n")[0][:_SHOWN].decode("latin-1")
    raise _Refused(f"it refused: {line}", head if status[:3] == b"407" else b"")


class _Refused(OSError):
    """A proxy opens no tunnel."""

    def __init__(self, message: str, challenge: bytes) -> None:
        """``challenge``: the head of its answer, if it wants credentials."""
        super().__init__(message)
        self.challenge = challenge
