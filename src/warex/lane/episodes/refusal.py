"""Refuses clients that name an episode which does not run: their traffic belongs to no trial."""

from collections.abc import Iterable
from typing import Any, Final

from warex.engine.handler import (
    AbortConnection,
    Connection,
    ConnectionPlan,
    Exchange,
    Frame,
    Handshake,
    Need,
    Outcome,
    Plan,
    Rejection,
    Relay,
    RequestPlan,
    Respond,
    ResponsePlan,
    SiteFailure,
    Stop,
    WholeResponsePlan,
)
from warex.engine.http.heads import Headers
from warex.lane.lane import Lane

_MOST_NOTED: Final = 100
"""Refused requests in the trace; the first ones stand for those that follow."""
_REASON: Final = "it names an episode that is not running"
_TEXT: Final = "no episode of this name is running; begin it first: POST /task/begin"


class Refusal:
    """The handler of connections and requests that belong to no running episode.

    The trace of the process's own trial has them.
    """

    def __init__(self, own: Lane) -> None:
        self._own = own
        self._noted = 0

    def connected(self, connection: Connection) -> None:
        """Number the connection."""
        self._own.connected(connection)

    def hello(self, connection: Connection) -> ConnectionPlan:
        """Cut the connection before its handshake."""
        self._refuse_connection(connection)
        return AbortConnection("reset")

    def handshake(self, connection: Connection, ended: Handshake, reason: str) -> None:
        """Ignore the end of a handshake that was cut."""

    def connect(self, connection: Connection) -> None:
        """No site is asked."""

    def unreachable(self, connection: Connection, failure: SiteFailure, error: str) -> None:
        """No site is asked."""

    def not_http(self, connection: Connection) -> bool:
        """Close the connection."""
        self._refuse_connection(connection)
        return False

    def rejected(self, connection: Connection, rejection: Rejection) -> None:
        """Do nothing: the engine has refused the request."""

    def closed(self, connection: Connection) -> None:
        """Forget the connection."""
        self._own.closed(connection)

    def request_head(self, exchange: Exchange) -> Need:
        """Ask for no body."""
        return "stream"

    def request(self, exchange: Exchange) -> RequestPlan:
        """Answer in the site's place."""
        head = exchange.request
        self._note(exchange.connection, f"{head.method} {head.url}")
        fields = Headers(
            (
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", str(len(_TEXT) + 1).encode()),
                (b"cache-control", b"no-store"),
            )
        )
        body = b"" if head.method == "HEAD" else f"{_TEXT}\n".encode()
        return Plan(Respond(403, fields, (body,)))

    def hold_ended(self, exchange: Exchange) -> None:
        """Nothing is held."""

    def stopped(self, exchange: Exchange, stop: Stop) -> None:
        """No body is paced."""

    def response(self, exchange: Exchange) -> ResponsePlan:
        """No site is asked."""
        return Plan(Relay())

    def whole_response(self, exchange: Exchange) -> WholeResponsePlan:
        """No site is asked."""
        return Plan(Relay())

    def response_piece(self, exchange: Exchange, piece: bytes, *, last: bool) -> Iterable[bytes]:
        """Send it as it is."""
        return (piece,)

    def read_on(self, exchange: Exchange) -> bool:
        """Nothing is read."""
        return False

    def body_steps(self, exchange: Exchange, piece: bytes, *, last: bool) -> Iterable[bytes]:
        """Send it as it is."""
        return (piece,)

    def frame(self, exchange: Exchange, frame: Frame, *, from_client: bool) -> Iterable[Frame]:
        """Nothing is upgraded."""
        return ()

    def frames_end(self, exchange: Exchange, *, from_client: bool) -> Iterable[Frame]:
        """Nothing is upgraded."""
        return ()

    def steps_done(self, exchange: Exchange, note: Any, *, arrived: bool) -> None:
        """Nothing is upgraded."""

    def wants_frames(self, exchange: Exchange) -> None:
        """Nothing is upgraded."""

    def ended(self, exchange: Exchange, outcome: Outcome) -> None:
        """It is not an exchange of a trial."""

    def upgrade_closed(self, exchange: Exchange, *, by_client: bool) -> None:
        """Nothing is upgraded."""

    def broke(self, error: Exception) -> None:
        """Void the process's own trial, whose trace has what is refused."""
        self._own.broke(error)

    def _refuse_connection(self, connection: Connection) -> None:
        port = 0 if connection.destination is None else connection.destination.port
        self._note(connection, f"CONNECT {connection.host}:{port}")

    def _note(self, connection: Connection, line: str) -> None:
        self._noted += 1
        if self._noted <= _MOST_NOTED:
            name = connection.state.name
            self._own.connections.record_rejected(name, 403, line, _REASON)
