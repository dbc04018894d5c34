"""A handler that changes nothing, for tests of the engine alone."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from warex.engine.handler import (
    BodyStep,
    Connection,
    ConnectionPlan,
    Exchange,
    Forward,
    Frame,
    FrameStep,
    FrameUse,
    Handshake,
    Intercept,
    Need,
    Outcome,
    Plan,
    Rejection,
    Relay,
    RequestPlan,
    ResponsePlan,
    Site,
    SiteFailure,
    Stop,
    WholeResponsePlan,
)


@dataclass(slots=True)
class PassThrough:
    """A handler that changes nothing and keeps the outcomes."""

    outcomes: list[Outcome] = field(default_factory=list)
    broken: list[Exception] = field(default_factory=list)

    def connected(self, connection: Connection) -> None: ...

    def hello(self, connection: Connection) -> ConnectionPlan:
        return Intercept()

    def handshake(self, connection: Connection, ended: Handshake, reason: str) -> None: ...

    def connect(self, connection: Connection) -> Site | None: ...

    def unreachable(self, connection: Connection, failure: SiteFailure, error: str) -> None: ...

    def not_http(self, connection: Connection) -> bool:
        return True

    def rejected(self, connection: Connection, rejection: Rejection) -> None: ...

    def closed(self, connection: Connection) -> None: ...

    def request_head(self, exchange: Exchange) -> Need:
        return "stream"

    def request(self, exchange: Exchange) -> RequestPlan:
        return Plan(Forward())

    def hold_ended(self, exchange: Exchange) -> None: ...

    def stopped(self, exchange: Exchange, stop: Stop) -> None: ...

    def response(self, exchange: Exchange) -> ResponsePlan:
        return Plan(Relay())

    def whole_response(self, exchange: Exchange) -> WholeResponsePlan:
        return Plan(Relay())

    def response_piece(self, exchange: Exchange, piece: bytes, *, last: bool) -> Iterable[bytes]:
        return (piece,)

    def read_on(self, exchange: Exchange) -> bool:
        return False

    def body_steps(self, exchange: Exchange, piece: bytes, *, last: bool) -> Iterable[BodyStep]:
        return (piece,)

    def frame(self, exchange: Exchange, frame: Frame, *, from_client: bool) -> Iterable[FrameStep]:
        return (frame,)

    def frames_end(self, exchange: Exchange, *, from_client: bool) -> Iterable[FrameStep]:
        return ()

    def steps_done(self, exchange: Exchange, note: Any, *, arrived: bool) -> None: ...

    def wants_frames(self, exchange: Exchange) -> FrameUse | None:
        return None

    def ended(self, exchange: Exchange, outcome: Outcome) -> None:
        self.outcomes.append(outcome)

    def upgrade_closed(self, exchange: Exchange, *, by_client: bool) -> None: ...

    def broke(self, error: Exception) -> None:
        self.broken.append(error)
