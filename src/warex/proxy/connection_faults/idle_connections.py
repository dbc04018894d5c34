"""Closes idle connections when a rule about connection tries comes into force.

A client with an open connection makes no connection try, so no such fault could be applied. When a
rule comes into force (arming, a step, a window, a one-shot), the idle connections to its sites are
closed, as by a server's timeout; the next request makes a connection try.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from mitmproxy import connection, http

from warex.clock import Clock
from warex.proxy.exchange import flows
from warex.proxy.net.client_socket import writer_of
from warex.scenarios import Injector

_RECHECK_SECONDS: Final = 0.02
"""Seconds after which a busy connection is checked again; when its exchange ends, the response may
not be written completely yet."""


@dataclass(slots=True)
class _ClientConnection:
    """A client's connection and the sites that it was used for."""

    client: connection.Client
    sites: set[tuple[str, int]] = field(default_factory=set)


class IdleConnections:
    """The open client connections; closes those that a new rule affects."""

    def __init__(self, injector: Injector, clock: Clock, is_busy: Callable[[str], bool]) -> None:
        """``is_busy``: whether the client with that identifier waits for a response."""
        self._injector, self._clock, self._is_busy = injector, clock, is_busy
        self._open: dict[str, _ClientConnection] = {}
        self._in_force: frozenset[str] = frozenset()
        self._timer: asyncio.TimerHandle | None = None

    def used(self, flow: http.HTTPFlow) -> None:
        """Note the site that a connection is used for."""
        client, request = flow.client_conn, flow.request
        if request.headers.get("upgrade", "").lower() == "websocket":
            self.forget(client)  # It is in use until it ends.
            return
        # Rules match the URL that the client knows, not the mapped one.
        parts = urlsplit(flows.url_of(flow))
        port = parts.port or (443 if parts.scheme == "https" else 80)
        self.opened(client, parts.hostname or "", port)

    def opened(self, client: connection.Client, host: str, port: int) -> None:
        """Note a connection to a site; browsers open some in advance."""
        known = self._open.setdefault(client.id, _ClientConnection(client))
        known.sites.add((host.lower(), port))

    def forget(self, client: connection.Client) -> None:
        """Forget a connection."""
        self._open.pop(client.id, None)

    def reset(self) -> None:
        """Let every rule come into force anew, when another task begins."""
        self._in_force = frozenset()
        self.check()

    def check(self) -> None:
        """Close the connections that rules affect which came into force since the last check."""
        now = self._clock.now()
        in_force, then = self._injector.in_force(now)
        fresh, self._in_force = in_force - self._in_force, in_force
        if fresh:
            self._close([it for it in self._open.values() if self._is_affected(it, fresh)])
        if then is not None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(then - now, self._on_timer)

    def _close(self, affected: list[_ClientConnection]) -> None:
        """Close idle connections now, and busy ones when they become idle."""
        busy: list[_ClientConnection] = []
        for known in affected:
            if self._open.get(known.client.id) is not known:
                continue
            if self._is_busy(known.client.id):
                busy.append(known)
                continue
            self.forget(known.client)
            writer = writer_of(known.client)
            if writer is not None:
                writer.close()
        if busy:
            asyncio.get_running_loop().call_later(_RECHECK_SECONDS, self._close, busy)

    def _on_timer(self) -> None:
        self._timer = None
        self.check()

    def _is_affected(self, known: _ClientConnection, rules: frozenset[str]) -> bool:
        return any(
            self._injector.concerns(point, host, port, rules)
            for point in ("name", "connect", "tls")
            for host, port in known.sites
        )
