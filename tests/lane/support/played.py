"""An engine without sockets: it asks a lane as the real one does, and plays clients and sites.

Time passes only where it is told to, so a hold takes no time and a client leaves exactly when it
is to.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.proxy.support.lanes import configured
from warex.clock import Clock
from warex.engine.handler import (
    Abort,
    AbortHow,
    Address,
    ClientHello,
    Connection,
    Exchange,
    ExchangeTimings,
    Forward,
    FrameStep,
    Outcome,
    Pace,
    Plan,
    ReadWhole,
    Relay,
    Respond,
)
from warex.engine.http.heads import Headers, RequestHead, ResponseHead
from warex.lane.config import ProxyConfig
from warex.lane.lane import Lane
from warex.lane.record.recorder import Recorder
from warex.lane.state import ExchangeState
from warex.scenarios import Injector, Scenario
from warex.traces import Event

CHROMIUM = "Mozilla/5.0 Chrome/150"


@dataclass(slots=True)
class Authority:
    certificate: Path = Path("ca.pem")
    spki: str = "c3BraQ=="


@dataclass(slots=True)
class PlayedTimer:
    due: float
    function: Callable[[], None]

    def cancel(self) -> None:
        self.function = lambda: None


@dataclass(slots=True)
class PlayedEngine:
    """What a lane may ask of an engine; it keeps what was asked."""

    now: float = 0.0
    timers: list[PlayedTimer] = field(default_factory=list)
    pushed: list[bytes] = field(default_factory=list)
    frames: list[FrameStep] = field(default_factory=list)
    aborted: list[tuple[Exchange, AbortHow]] = field(default_factory=list)
    closed: list[Connection] = field(default_factory=list)

    def push(self, exchange: Exchange, piece: bytes) -> bool:
        self.pushed.append(piece)
        return True

    def add_frames(
        self, exchange: Exchange, steps: Iterable[FrameStep], *, from_client: bool
    ) -> None:
        self.frames.extend(steps)

    def abort(self, exchange: Exchange, how: AbortHow) -> None:
        self.aborted.append((exchange, how))

    def close(self, connection: Connection) -> None:
        self.closed.append(connection)

    def call_later(self, seconds: float, function: Callable[[], None]) -> PlayedTimer:
        timer = PlayedTimer(self.now + seconds, function)
        self.timers.append(timer)
        return timer

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        due = [timer for timer in self.timers if timer.due <= self.now]
        self.timers = [timer for timer in self.timers if timer.due > self.now]
        for timer in due:
            timer.function()


def headers(**fields: Any) -> Headers:
    return Headers(
        (name.replace("_", "-").encode(), value.encode()) for name, value in fields.items()
    )


def answer(
    body: bytes = b"", status: int = 200, kind: str = "text/html", **fields: Any
) -> tuple[ResponseHead, bytes]:
    """Return what a site answers."""
    sent = headers(content_type=kind, content_length=str(len(body)), **fields)
    return ResponseHead(status, b"OK", "HTTP/1.1", sent), body


type Site = Callable[[RequestHead, bytes], tuple[ResponseHead, bytes] | None]
"""Answers a request; None breaks the connection off."""


@dataclass(slots=True)
class Client:
    """What a client of one exchange does, and what it gets."""

    leaves_after: float | None = None
    """Seconds of holds and pauses after which it leaves."""
    takes: bool = True
    """Whether what is sent to it arrives."""
    head: ResponseHead | Respond | None = None
    body: bytes = b""
    cut: AbortHow | None = None
    requests: list[tuple[RequestHead, bytes]] = field(default_factory=list)
    """What the site got."""


class Trial:
    """A lane with a played engine, and the events that it writes."""

    def __init__(self, config: ProxyConfig) -> None:
        self.engine = PlayedEngine()
        clock = Clock(monotonic=lambda: self.engine.now, wall=lambda: 1e9 + self.engine.now)
        self.recorder = Recorder(clock)
        self.events: list[Event] = []
        self.recorder.on_written = self.events.append
        self.notices: list[str] = []
        scenario = config.scenario or Scenario(name="clean")
        injector = Injector(scenario, config.seed, sites=config.sites, arm=config.traffic.arm)
        self.lane = Lane(config, injector, self.recorder, Authority())
        self.lane.engine.attach(self.engine)
        self.lane.on_notice = self.notices.append
        self._connections = 0

    def connect(self, host: str = "", **hello: Any) -> Connection:
        """Open a connection; over TLS if a host is given."""
        self._connections += 1
        connection = Connection(self._connections, Address("127.0.0.1", 50_000))
        self.lane.connected(connection)
        if host:
            connection.destination = Address(host, 443)
            connection.hello = ClientHello(host, **hello)
        return connection

    def ask(
        self,
        site: Site,
        url: str = "https://shop.test/",
        *,
        method: str = "GET",
        body: bytes = b"",
        connection: Connection | None = None,
        client: Client | None = None,
        **fields: Any,
    ) -> Client:
        """Play one exchange to its end."""
        exchange = self.exchange(url, method, connection, len(body), **fields)
        return _Played(self, exchange, client or Client(), site, body).play()

    def hold(
        self, site: Site, url: str = "https://shop.test/", *, seconds: float, **fields: Any
    ) -> ExchangeState:
        """Play an exchange into its first hold, and leave it there after some seconds."""
        exchange = self.exchange(url, "GET", None, 0, **fields)
        assert self.lane.request_head(exchange) == "whole"
        exchange.request_body = b""
        assert self.lane.request(exchange).hold_s
        self.engine.advance(seconds)
        assert isinstance(exchange.state, ExchangeState)
        return exchange.state

    def exchange(
        self, url: str, method: str, connection: Connection | None, size: int, **fields: Any
    ) -> Exchange:
        """Return an exchange of which the head of the request has come."""
        scheme, _, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        connection = connection or self.connect(host if scheme == "https" else "")
        sent = headers(**{"user_agent": CHROMIUM, **fields})
        assert scheme in ("http", "https")
        head = RequestHead(method, scheme, host, f"{slash}{path}" or "/", "HTTP/1.1", sent)  # type: ignore[arg-type]
        return Exchange(connection, head, request_bytes=size)

    def kinds(self) -> list[str]:
        """Return the names of the events, in order."""
        return [type(event).__name__ for event in self.events]

    def the[E](self, kind: type[E]) -> E:
        """Return the only event of a kind."""
        (event,) = self.all(kind)
        return event

    def all[E](self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]


class _Left(Exception):
    """The client has left."""


class _Played:
    def __init__(
        self, trial: Trial, exchange: Exchange, client: Client, site: Site, body: bytes
    ) -> None:
        self._trial, self._exchange, self._client = trial, exchange, client
        self._site, self._body = site, body
        self._lane, self._engine = trial.lane, trial.engine
        self._started = self._now
        self._hold_s = 0.0
        self._outcome: dict[str, Any] = {}

    @property
    def _now(self) -> float:
        return self._trial.recorder.clock.wall()

    def play(self) -> Client:
        exchange, client = self._exchange, self._client
        need = self._lane.request_head(exchange)
        if need == "whole":
            exchange.request_body = self._body
        try:
            self._perform(self._lane.request(exchange))
        except _Left:
            pending = bool(self._outcome.get("left_while_held"))
            self._end("client_left", error="Client disconnected.", left_while_held=pending)
        return client

    def _perform(self, plan: Plan[Any]) -> None:
        for seconds in plan.hold_s:
            self._wait(seconds)
        if plan.hold_s:
            self._lane.hold_ended(self._exchange)
        match plan.then:
            case Abort(how):
                self._client.cut = how
                self._end("aborted", arrived=True)
            case Respond() as respond:
                self._respond(respond)
            case Forward() as forward:
                self._forward(forward)
            case ReadWhole(limit):
                self._exchange.response_body = self._answered[1][: max(limit, 1)]
                self._exchange.response_complete = len(self._answered[1]) <= limit
                self._perform(self._lane.whole_response(self._exchange))
            case Relay() as relay:
                self._relay(relay)

    def _wait(self, seconds: float) -> None:
        leaves = self._client.leaves_after
        if leaves is not None and self._hold_s + seconds >= leaves:
            self._engine.advance(leaves - self._hold_s)
            self._hold_s = leaves
            self._outcome["left_while_held"] = True
            raise _Left
        self._engine.advance(seconds)
        self._hold_s += seconds

    def _forward(self, forward: Forward) -> None:
        head = forward.head or self._exchange.request
        body = self._body if forward.body is None else forward.body
        for _ in range(forward.copies + 1):
            self._client.requests.append((head, body))
            answered = self._site(head, body)
        if answered is None:
            self._end(
                "site_failed",
                error="the site closed the connection",
                unreachable="connection_refused",
            )
            return
        self._outcome["copies_sent"] = forward.copies
        self._answered = answered
        self._exchange.response = answered[0]
        self._perform(self._lane.response(self._exchange))

    def _relay(self, relay: Relay) -> None:
        head, body = self._answered
        self._client.head = relay.head or head
        pieces: Sequence[bytes] = (body,) if body else ()
        if relay.tap:
            pieces = tuple(self._tapped(pieces))
        self._send(pieces, relay.pace or Pace())

    def _tapped(self, pieces: Sequence[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            yield from self._lane.response_piece(self._exchange, piece, last=False)
        yield from self._lane.response_piece(self._exchange, b"", last=True)

    def _respond(self, respond: Respond) -> None:
        self._client.head = respond
        pieces = respond.pieces
        if respond.tap:
            pieces = tuple(
                b"".join(self._lane.response_piece(self._exchange, piece, last=False))
                for piece in pieces
            )
        self._send(pieces, respond.pace or Pace())

    def _send(self, pieces: Sequence[bytes], pace: Pace) -> None:
        """Send a body at its pace; its rates take no time."""
        body, client = b"".join(pieces), self._client
        if pace.piece:
            pieces = [body[at : at + pace.piece] for at in range(0, len(body), pace.piece)]
        at, reached, pauses = 0, 0, list[int]()
        for piece in pieces:
            at += len(piece)
            pauses.append(at)
        stops = [stop for stop in pace.stops if stop.at <= len(body)]
        places = sorted({*pauses[:-1], *(stop.at for stop in stops)})
        try:
            for place in places:
                client.body = body[:place]
                for stop in [it for it in stops if it.at == place]:
                    reached += 1
                    self._wait(stop.silence_s)
                    if stop.then != "go_on":
                        self._lane.stopped(self._exchange, stop)
                        client.cut = stop.then
                        self._outcome["stops"] = reached
                        self._end_sent(place, "aborted")
                        return
                if place in pauses and pace.pause_s:
                    self._wait(pace.pause_s)
        except _Left:
            self._outcome.update(head_sent=True, response_bytes=len(client.body), stops=reached)
            raise
        client.body = body
        self._outcome["stops"] = reached
        self._end_sent(len(body))

    def _end_sent(self, size: int, end: str = "complete") -> None:
        if self._client.takes:
            self._end(end, arrived=True, head_sent=True, response_bytes=size)
        else:
            error = "Client disconnected."
            self._end("client_left", error=error, head_sent=True, response_bytes=0)

    def _end(self, end: str, **facts: Any) -> None:
        timings = ExchangeTimings(started=self._started, ended=self._now)
        fields = self._outcome | {"held_s": self._hold_s} | facts
        outcome = Outcome(end=end, timings=timings, **fields)  # type: ignore[arg-type]
        self._lane.ended(self._exchange, outcome)


@contextmanager
def trial(**config: Any) -> Iterator[Trial]:
    """Begin a trial, and finish it."""
    began = Trial(configured(ca=Path("unused"), **config))
    yield began
    began.lane.finish()
