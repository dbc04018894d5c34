"""Closes idle connections when a rule about connection tries comes into force.

A client with an open connection makes no connection try, so no such fault could be applied. When a
rule comes into force (arming, a step, a window, a one-shot), the idle connections to its sites are
closed, as by a server's timeout; the next request makes a connection try.
"""

from msgspec import Struct, field

from warex.clock import Clock
from warex.engine.handler import Connection, Control, Timer
from warex.exchange import Request
from warex.scenarios.injection.connection_tries import ConnectionTryRules
from warex.scenarios.origins import ConnectionTarget


class _ClientConnection(Struct):
    """A client's connection and the sites that it was used for."""

    connection: Connection
    sites: set[tuple[str, int]] = field(default_factory=set)


class IdleConnections:
    """The open client connections; closes those that a new rule affects."""

    def __init__(self, rules: ConnectionTryRules, clock: Clock, control: Control) -> None:
        self._rules, self._clock, self._control = rules, clock, control
        self._open: dict[int, _ClientConnection] = {}
        self._in_force: frozenset[str] = frozenset()
        self._timer: Timer | None = None

    def used(self, connection: Connection, request: Request) -> None:
        """Note the site that a connection is used for."""
        if request.resource == "websocket":
            self.forget(connection)  # The connection is in use until its request ends.
            return
        self.opened(connection, request.host, request.port)

    def opened(self, connection: Connection, host: str, port: int) -> None:
        """Note a connection to a site; browsers open some in advance."""
        known = self._open.get(connection.number)
        if known is None:
            self.check()  # The first one begins to wait for the next window.
            known = self._open[connection.number] = _ClientConnection(connection)
        known.sites.add((host.lower(), port))

    def forget(self, connection: Connection) -> None:
        """Forget a connection."""
        self._open.pop(connection.number, None)

    def reset(self) -> None:
        """Let every rule come into force again, when another task begins."""
        self._in_force = frozenset()
        self.check()

    def check(self) -> None:
        """Close the connections that rules affect which came into force since the last check."""
        if not (self._rules.has_rules or self._in_force):
            return
        now = self._clock.now()
        in_force, then = self._rules.active_rules(now)
        fresh, self._in_force = in_force - self._in_force, in_force
        if fresh:
            for known in [it for it in self._open.values() if self._is_affected(it, fresh)]:
                self.forget(known.connection)
                self._control.close(known.connection)
        if then is not None and self._timer is None:
            self._timer = self._control.call_later(then - now, self._on_timer)

    def stop(self) -> None:
        """Check no more: the trial is over."""
        if self._timer is not None:
            self._timer.cancel()

    def _on_timer(self) -> None:
        self._timer = None
        self.check()

    def _is_affected(self, known: _ClientConnection, rules: frozenset[str]) -> bool:
        return any(
            self._rules.concerns(ConnectionTarget.of(point, host, port), rules)
            for point in ("name", "connect", "tls")
            for host, port in known.sites
        )
