"""Facts noted of an exchange while it lasts, and its outcome."""

from msgspec import Struct

from warex.clock import Clock
from warex.engine.handler import AbortHow, End, ExchangeTimings, Outcome, SiteFailure
from warex.engine.routes import OpenedSite


class Over(Exception):
    """The exchange ends here."""

    def __init__(self, end: End, error: str | None = None, code: int | None = None) -> None:
        """``code``: the peer's error code of HTTP/2, which is passed on."""
        super().__init__(error)
        self.end, self.error, self.code = end, error, code


class ExchangeRecord(Struct):
    """Facts of one exchange, as they happen."""

    clock: Clock
    started: float
    opened: OpenedSite | None = None
    """The connection to the site, if this exchange opened it."""
    response_started: float | None = None
    hints_sent: bool = False
    """Whether an informational response was sent."""
    head_sent: bool = False
    is_sent: bool = False
    """Whether all of the response was given to the client's connection."""
    is_complete: bool = False
    """Whether the client's connection needs no further end: it is sent, or cut as planned."""
    arrived: bool = False
    response_bytes: int = 0
    copies_sent: int = 0
    stops: int = 0
    refused_unprocessed: bool = False
    unreachable: SiteFailure | None = None
    _held_s: float = 0.0
    _held_since: float | None = None

    def begin_hold(self) -> None:
        """Note that a hold or a pause begins."""
        self._held_since = self.clock.now()

    def end_hold(self) -> None:
        """Note that it is over."""
        if self._held_since is not None:
            self._held_s += self.clock.now() - self._held_since
        self._held_since = None

    def response_begins(self) -> None:
        """Note when the first head of a response came, or was planned."""
        if self.response_started is None:
            self.response_started = self.clock.wall()

    def how_it_breaks(self, over: Over, *, refuses: bool, has_streams: bool) -> AbortHow:
        """Return how a client meets the end of an exchange that is not complete.

        ``refuses``: a client that knows no proxy would meet the refusal of a site itself.
        """
        if over.end == "site_failed" and self.unreachable and refuses:
            return "reset"
        if self.hints_sent and not (self.head_sent or has_streams):
            return "reset"  # Browsers take an end after 103 for a complete response.
        return "close"

    def outcome(self, over: Over, request_bytes: int, request_complete: float | None) -> Outcome:
        """Return how the exchange ended."""
        is_holding = self._held_since is not None
        if is_holding:
            self.end_hold()
        opened = self.opened
        return Outcome(
            end=over.end,
            error=over.error,
            held_s=self._held_s,
            left_while_held=is_holding and over.end == "client_left",
            head_sent=self.head_sent,
            request_bytes=request_bytes,
            response_bytes=self.response_bytes,
            arrived=self.arrived,
            copies_sent=self.copies_sent,
            stops=self.stops,
            refused_unprocessed=self.refused_unprocessed,
            unreachable=self.unreachable,
            timings=ExchangeTimings(
                started=self.started,
                request_complete=request_complete,
                connect_started=None if opened is None else opened.started,
                connected=None if opened is None else opened.connected,
                secured=None if opened is None else opened.secured,
                response_started=self.response_started,
                ended=self.clock.wall(),
            ),
        )
