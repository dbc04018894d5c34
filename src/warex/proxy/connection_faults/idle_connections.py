"""Closes idle connections where attempts may fail from now on.

A client that has a connection makes no attempt, so no fault could reach it. When a rule about
attempts comes into force (arming, a step, a window, a one-shot), the idle connections to the sites
that it is about are closed, as a server's own time limit would; the next request makes an attempt.
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
"""Seconds after which a busy connection is looked at again. At the end of an exchange itself the
last of its answer may not have been written yet."""


@dataclass(slots=True)
class _ClientConnection:
    """A client's connection, and the sites that it was used for: a proxy's may serve several."""

    client: connection.Client
    sites: set[tuple[str, int]] = field(default_factory=set)


class IdleConnections:
    """Knows which connections are open, and closes those that are in a new rule's way."""

    def __init__(self, injector: Injector, clock: Clock, is_busy: Callable[[str], bool]) -> None:
        """``is_busy``: whether the client of that identifier waits for an answer."""
        self._injector, self._clock, self._is_busy = injector, clock, is_busy
        self._open: dict[str, _ClientConnection] = {}
        self._in_force: frozenset[str] = frozenset()
        self._timer: asyncio.TimerHandle | None = None

    def used(self, flow: http.HTTPFlow) -> None:
        """Note what a connection is used for."""
        client, request = flow.client_conn, flow.request
        if request.headers.get("upgrade", "").lower() == "websocket":
            # It is in use until it ends, whether anything passes or not.
            self.forget(client)
            return
        known = self._open.setdefault(client.id, _ClientConnection(client))
        # As the client knows it: where the request really goes is no rule's matter.
        parts = urlsplit(flows.url_of(flow))
        port = parts.port or (443 if parts.scheme == "https" else 80)
        known.sites.add((parts.hostname or "", port))

    def opened(self, client: connection.Client, host: str, port: int) -> None:
        """Note a connection that nothing has been asked on: browsers open some ahead of need."""
        known = self._open.setdefault(client.id, _ClientConnection(client))
        known.sites.add((host.lower(), port))

    def forget(self, client: connection.Client) -> None:
        """Forget a connection."""
        self._open.pop(client.id, None)

    def reset(self) -> None:
        """Let every rule come into force anew: another task has begun."""
        self._in_force = frozenset()
        self.check()

    def check(self) -> None:
        """Close what is in the way of rules that have come into force since the last time."""
        now = self._clock.now()
        in_force, then = self._injector.in_force(now)
        fresh, self._in_force = in_force - self._in_force, in_force
        if fresh:
            self._close([it for it in self._open.values() if self._is_affected(it, fresh)])
        if then is not None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(then - now, self._on_timer)

    def _close(self, in_the_way: list[_ClientConnection]) -> None:
        """Close what is idle now; what is busy, when it has become idle."""
        busy: list[_ClientConnection] = []
        for known in in_the_way:
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
