"""The handler of one trial: what the engine asks, what WAREX's own hosts answer, the trial's end.

It fails closed: if WAREX itself breaks, the exchange is cut and the trial is void, since a fault
that was not applied would look like a healthy page.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, override

from warex.engine.handler import (
    Abort,
    AbortConnection,
    AbortHow,
    BodyStep,
    Connection,
    ConnectionPlan,
    Control,
    Exchange,
    Forward,
    Frame,
    FrameStep,
    FrameUse,
    Handshake,
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
    Timer,
    WholeResponsePlan,
)
from warex.engine.http.encoding import decode
from warex.errors import WarexError
from warex.lane.attribution import Attribution
from warex.lane.config import ProxyConfig
from warex.lane.connection_faults.distrust import Authority
from warex.lane.connection_faults.idle_connections import IdleConnections
from warex.lane.connection_faults.tries import ConnectionTries
from warex.lane.connections import Connections
from warex.lane.exchanges import Exchanges
from warex.lane.hosts.host_routing import CANARY_HEADERS, canary_page
from warex.lane.hosts.own_hosts import CANARY_HOST, FAULT_HOSTS, TASK_HOST
from warex.lane.record.beginning import begin_record
from warex.lane.record.fault_events import skipped
from warex.lane.record.page_canary import FirstPageCanary
from warex.lane.record.recorder import Recorder
from warex.lane.record.tunnels import OpenTunnel
from warex.lane.response_faults.fault_sites import FaultSites
from warex.lane.response_faults.previous_responses import PreviousResponses
from warex.lane.response_faults.rewritten_pages import RewrittenPages
from warex.lane.response_faults.site_looks import SiteLooks
from warex.lane.settlement import Settlement
from warex.lane.state import AppliedInjection, ExchangeState, read_head
from warex.lane.stdio.sessions import Call, StdioSessions
from warex.lane.tasks import Tasks
from warex.lane.traffic.kinds import Kinds
from warex.lane.traffic.llm import LlmCalls
from warex.lane.traffic.mcp import McpCalls
from warex.lane.whole_response import WholeResponse
from warex.plugins import describe, plugin_failure
from warex.scenarios import Injector
from warex.traces import Canary, ToldBy
from warex.version import VERSION

_CUT: Final = Plan(Abort("reset"))
"""What becomes of an exchange if WAREX itself breaks."""
_COUNTED: Final = object()
"""The state of an exchange that is only counted."""
_HANGS_FOR: Final = 3600.0
"""Seconds after which a request is answered that should never be."""


class Engine(Control):
    """What a lane asks of the engine that serves it; ``attach`` it before the first connection."""

    def __init__(self, broke: Callable[[Exception], None]) -> None:
        """``broke`` is called when a function that was scheduled fails."""
        self._control: Control | None = None
        self._broke = broke

    def attach(self, control: Control) -> None:
        """Set the engine."""
        self._control = control

    @property
    def control(self) -> Control:
        """The engine."""
        if self._control is None:
            raise RuntimeError("no engine is attached to the lane")
        return self._control

    @override
    def push(self, exchange: Exchange, piece: bytes) -> bool:
        return self.control.push(exchange, piece)

    @override
    def add_frames(
        self, exchange: Exchange, steps: Iterable[FrameStep], *, from_client: bool
    ) -> None:
        self.control.add_frames(exchange, steps, from_client=from_client)

    @override
    def abort(self, exchange: Exchange, how: AbortHow) -> None:
        self.control.abort(exchange, how)

    @override
    def close(self, connection: Connection) -> None:
        self.control.close(connection)

    @override
    def call_later(self, seconds: float, function: Callable[[], None]) -> Timer:
        def call() -> None:
            try:
                function()
            except Exception as error:  # noqa: BLE001 - fail closed, see the module docstring
                self._broke(error)

        return self.control.call_later(seconds, call)


_VERSIONS: Final = {"warex": VERSION}
"""Versions are read once: parsing the metadata files is slow."""


def begin_lane(config: ProxyConfig, authority: Authority) -> "Lane":
    """Begin a trial and its trace.

    Raises WarexError if a fault cannot be applied or the trace cannot be written.
    """
    injector, recorder = begin_record(config, _VERSIONS)
    lane = Lane(config, injector, recorder, authority)
    proof = FirstPageCanary(config, recorder)
    if config.own_proof:
        recorder.on_written = proof.handle_event
    lane.attribution.before_llm_call = proof.before_llm_call
    return lane


class Lane:
    """Decides for the connections and exchanges of one trial, and keeps its ledger."""

    def __init__(
        self, config: ProxyConfig, injector: Injector, recorder: Recorder, authority: Authority
    ) -> None:
        self.config = config
        self.injector = injector
        self.recorder = recorder
        self.engine = Engine(self.broke)
        self.idle_connections = IdleConnections(injector.connections, recorder.clock, self.engine)
        self.connections = Connections(config, injector, recorder, authority, self.idle_connections)
        self.attribution = Attribution(config, injector, recorder)
        self.attribution.on_task_began = self.idle_connections.reset
        self.attribution.on_rules_changed = self.rules_changed
        self.on_rules_changed: Callable[[], None] = lambda: None
        """Called when the rules in force may have changed: armed, added, the next step."""
        rules = injector.scenario.rules
        looks = SiteLooks.of_rules(rules)
        self._fault_sites = FaultSites(recorder, looks.of)
        self._rewritten = RewrittenPages(rules, recorder, self._fault_sites.note)
        self._mcp = McpCalls(recorder, self.engine.call_later)
        self.stdio = StdioSessions(self, lambda: recorder.broken, recorder.clock.wall)
        previous = PreviousResponses(rules)
        settlement = Settlement(
            recorder,
            previous,
            on_unreachable=self.connections.note_unreachable,
            on_task_ended=self.attribution.task_ended,
        )
        self._exchanges = Exchanges(
            config,
            injector,
            recorder,
            self.connections,
            self.attribution,
            Kinds(self._mcp, config.traffic.all_llm_hosts),
            previous=previous,
            looks=looks,
            rewritten=self._rewritten,
            answer=self._answer,
            settlement=settlement,
            control=self.engine,
        )

    @property
    def tasks(self) -> Tasks[LlmCalls]:
        """The running tasks."""
        return self.attribution.tasks

    @property
    def on_notice(self) -> Callable[[str], None]:
        """Called with a notice to the user while the trial runs."""
        return self.connections.on_notice

    @on_notice.setter
    def on_notice(self, listener: Callable[[str], None]) -> None:
        self.connections.on_notice = self.attribution.on_notice = listener

    def rules_changed(self) -> None:
        """Note that the rules in force may have changed."""
        self.idle_connections.check()
        self.on_rules_changed()

    @property
    def connection_tries(self) -> ConnectionTries:
        """The trial's tries to look a name up, to connect and to begin TLS."""
        return self.connections.tries

    def relayed(self, host: str, port: int, sent: int, received: int, began: float) -> None:
        """Record a connection that is not HTTP, relayed outside the engine."""
        OpenTunnel(host, port, "not_http", began).record(self.recorder, sent, received)

    def not_relayed(self, host: str, port: int, failure: SiteFailure, error: str) -> None:
        """Record a connection that is not HTTP whose site cannot be reached."""
        self.connections.record_unreachable("", host, port, failure, error)

    # ---- connections

    def connected(self, connection: Connection) -> None:
        """Number a connection."""
        self.connections.connected(connection)

    def hello(self, connection: Connection) -> ConnectionPlan:
        """Intercept a connection, pass it through, or apply a fault to it."""
        return self._closing(AbortConnection("reset"), self.connections.hello, connection)

    def handshake(self, connection: Connection, ended: Handshake, reason: str) -> None:
        """Note whether the client trusts our certificate."""
        self._closing(None, self.connections.handshake, connection, ended, reason)

    def connect(self, connection: Connection) -> Site | None:
        """Say which site comes before the answer to a CONNECT."""
        return self._closing(None, self.connections.connect, connection)

    def unreachable(self, connection: Connection, failure: SiteFailure, error: str) -> None:
        """Record that a site cannot be reached, and tell the user."""
        self._closing(None, self.connections.unreachable, connection, failure, error)

    def not_http(self, connection: Connection) -> bool:
        """Note a connection that is not HTTP, and pass it on."""
        return self._closing(False, self._pass_unread, connection)

    def _pass_unread(self, connection: Connection) -> bool:
        self.connections.not_http(connection)
        return True

    def rejected(self, connection: Connection, rejection: Rejection) -> None:
        """Record an invalid request; it is an exchange only if one has begun."""
        self._exchanges.refuse(connection)
        self._closing(None, self.connections.rejected, connection, rejection)

    def closed(self, connection: Connection) -> None:
        """Record what was passed through."""
        self._closing(None, self.connections.closed, connection)
        self._closing(None, self.stdio.disconnected, connection)

    # ---- exchanges

    def request_head(self, exchange: Exchange) -> Need:
        """Say how much of a request's body is needed."""
        need: Need = "whole"
        return self._closing(need, self._request_head, exchange)

    def _request_head(self, exchange: Exchange) -> Need:
        if exchange.is_given_up and self.connections.repeats.counts("request", "given up at once"):
            exchange.state = _COUNTED
            return "stream"
        asked, connection = read_head(exchange), exchange.connection
        exchange.state = self.connections.passes(connection, asked.request)
        if exchange.state is not None:
            return "stream"
        exchange.state = asked
        if not asked.is_reserved:
            self.connections.distrust.requested(str(connection.number), asked.request.host)
        elif (call := self.stdio.call_of(asked.request)) is not None:
            exchange.state = call
            return "whole"
        return self._exchanges.request_head(exchange)

    def request(self, exchange: Exchange) -> RequestPlan:
        """Decide before the site is asked."""
        if exchange.state is _COUNTED:
            return Plan(Abort("close"))
        if isinstance(exchange.state, OpenTunnel):
            return Plan(Forward(site=self.connections.site(read_head(exchange).request)))
        if isinstance(exchange.state, Call):
            return self._cutting(exchange, self.stdio.plan)
        return self._cutting(exchange, self._exchanges.request)

    def hold_ended(self, exchange: Exchange) -> None:
        """Settle the faults whose holds are over."""
        self._aborting(exchange, self._exchanges.hold_ended, exchange)

    def response(self, exchange: Exchange) -> ResponsePlan:
        """Decide by the head of the site's response."""
        if isinstance(exchange.state, OpenTunnel):
            return Plan(Relay())
        return self._cutting(exchange, self._exchanges.response)

    def whole_response(self, exchange: Exchange) -> WholeResponsePlan:
        """Apply the faults that need the response."""
        return self._cutting(exchange, self._exchanges.whole_response)

    def response_piece(self, exchange: Exchange, piece: bytes, *, last: bool) -> Iterable[bytes]:
        """Return what the client gets for a piece of the site's response."""
        try:
            return self._exchanges.response_piece(exchange, piece, last=last)
        except Exception as error:  # noqa: BLE001 - fail closed, see the module docstring
            self._broke(error, exchange)
            self.engine.abort(exchange, "reset")
            return ()

    def read_on(self, exchange: Exchange) -> bool:
        """Read more of the part of the site's response that has passed."""
        return self._aborting(exchange, self._exchanges.read_on, exchange) or False

    def stopped(self, exchange: Exchange, stop: Stop) -> None:
        """Take note that the body goes no further."""
        self._aborting(exchange, self._exchanges.stopped, exchange, stop)

    def body_steps(self, exchange: Exchange, piece: bytes, *, last: bool) -> Iterable[BodyStep]:
        """Return what is done for a piece of a stream of events."""
        read = partial(self._exchanges.body_steps, last=last)
        steps = self._aborting(exchange, read, exchange, piece)
        return () if steps is None else steps

    def wants_frames(self, exchange: Exchange) -> FrameUse | None:
        """Ask for the frames of a WebSocket, whose messages are recorded."""
        answered = exchange.response
        upgrade = "" if answered is None else answered.headers.get("upgrade")
        is_recorded = isinstance(exchange.state, ExchangeState)
        if not is_recorded or upgrade.lower() != "websocket":
            return None
        return self._exchanges.sockets.use(exchange.state)

    def frame(self, exchange: Exchange, frame: Frame, *, from_client: bool) -> Iterable[FrameStep]:
        """Record a frame; pass it on, or change what it carries."""
        read = partial(self._exchanges.sockets.frame, from_client=from_client)
        return self._aborting(exchange, read, exchange, frame) or ()

    def frames_end(self, exchange: Exchange, *, from_client: bool) -> Iterable[FrameStep]:
        """Send the frames that are held of a side that has ended."""
        read = partial(self._exchanges.sockets.frames_end, from_client=from_client)
        return self._aborting(exchange, read, exchange) or ()

    def steps_done(self, exchange: Exchange, note: Any, *, arrived: bool) -> None:
        """Record that a message was changed."""
        sent = partial(self._exchanges.sockets.steps_done, arrived=arrived)
        self._closing(None, sent, exchange, note)

    def ended(self, exchange: Exchange, outcome: Outcome) -> None:
        """Record what has become of an exchange."""
        if exchange.state is _COUNTED or isinstance(exchange.state, Call):
            return
        if isinstance(exchange.state, OpenTunnel):
            self._closing(None, self._record_passed, exchange.state, exchange, outcome)
        else:
            self._closing(None, self._exchanges.ended, exchange, outcome)

    def upgrade_closed(self, exchange: Exchange, *, by_client: bool) -> None:
        """Record the end of a WebSocket, or of a connection that has become something else."""
        if self.wants_frames(exchange) is not None:
            closed = partial(self._exchanges.sockets.closed, by_client=by_client)
            self._closing(None, closed, exchange)
        elif isinstance(state := exchange.state, ExchangeState):
            ended = self.connections.upgrade_closed
            self._closing(None, ended, exchange.connection, state.request, state.began)

    def _record_passed(self, tunnel: OpenTunnel, exchange: Exchange, outcome: Outcome) -> None:
        answer = exchange.response
        # As the site gets it: in origin form.
        head = exchange.request
        sent = len(f"{head.method} {head.path} {head.version}\r\n\r\n") + exchange.request_bytes
        sent += sum(len(name) + len(value) + len(": \r\n") for name, value in head.headers.fields)
        received = 0 if answer is None else len(answer.raw) + outcome.response_bytes
        tunnel.record(self.recorder, sent, received)

    # ---- WAREX's own hosts

    def _answer(self, state: ExchangeState) -> WholeResponse:
        wire, request = state.wire, state.request
        path = wire.request.path
        content = decode(
            wire.request_body or b"", wire.request.headers.get("content-encoding")
        ).body
        if (injection := self._rewritten.hanging(path)) is not None:
            state.draft.holds.append((AppliedInjection(injection), _HANGS_FOR))
            return WholeResponse.make(204)
        if self._rewritten.is_report(path):
            return self._rewritten.handle_report(request, path, content)
        host = request.host
        if host in FAULT_HOSTS:
            return self._fault_sites.respond(request, content, self._rewritten.redeem)
        if host == TASK_HOST:
            answer, is_marker = self.attribution.answer_marker(state.exchange)
            if not is_marker:
                status, text = answer.head.status, answer.body.decode().rstrip("\n")
                line = f"{request.method} {request.url}"
                self.connections.record_rejected(state.connection.name, status, line, text)
            return answer
        return self._answer_canary(state)

    def _answer_canary(self, state: ExchangeState) -> WholeResponse:
        """Answer with the requested nonce, which proves that the client uses the proxy."""
        request = state.request
        nonce = request.parts.path.strip("/")
        if nonce == self.config.agent_ended:
            self.attribution.disarm_task(self.attribution.main, "harness")
        elif state.resource in ("document", "other"):
            detail = f"{CANARY_HOST}/{nonce} was asked for"
            self.recorder.write(Canary(passed=True, detail=detail))
        page = canary_page(nonce).encode()
        return WholeResponse.make(200, CANARY_HEADERS, page, to=request.method)

    # ---- the control API, and the end

    def begin_task(self, name: str, seed: int, told_by: ToldBy) -> None:
        """Begin the main task: every rule starts again; unattributed exchanges belong to it."""
        self.attribution.begin_task(name, seed, told_by)

    def end_task(self) -> None:
        """End the main task: unattributed exchanges are not hit and belong to no task."""
        self.attribution.end_task()

    def arm(self) -> None:
        """Apply faults and count from here on, as the control API asks."""
        self.injector.arming.arm()
        self.attribution.record_arming(self.attribution.main, "control")

    def disarm(self) -> None:
        """Apply no faults from here on, as the control API asks."""
        self.attribution.disarm_task(self.attribution.main, "control")

    def finish(self) -> None:
        """Settle the open exchanges at the end of the trial."""
        self.connections.finish()
        self.connections.repeats.finish()
        self._exchanges.finish()
        self._mcp.finish()
        self._rewritten.finish()
        self.connections.tries.finish()
        for task in self.attribution.tasks.all():
            for event in skipped(task.injector):
                self.recorder.write(event)

    # ---- failures of WAREX itself

    def broke(self, error: Exception) -> None:
        """Void the trial, since the engine has failed."""
        self._broke(error, None)

    def _closing[**P, R](
        self, instead: R, method: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Call a method; if it raises, void the trial and return something else."""
        try:
            return method(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - fail closed, see the module docstring
            self._broke(error, None)
            return instead

    def _cutting[T](
        self, exchange: Exchange, method: Callable[[Exchange], Plan[T]]
    ) -> Plan[T] | Plan[Abort]:
        """Ask for a plan; if that raises, void the trial and cut the exchange."""
        try:
            return method(exchange)
        except Exception as error:  # noqa: BLE001 - fail closed, see the module docstring
            self._broke(error, exchange)
            return _CUT

    def _aborting[**P, R](
        self, exchange: Exchange, method: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R | None:
        """Call a method; if it raises, void the trial and end the exchange."""
        try:
            return method(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - fail closed, see the module docstring
            self._broke(error, exchange)
            self.engine.abort(exchange, "reset")
            return None

    def _broke(self, error: Exception, exchange: Exchange | None) -> None:
        reason = str(error)
        if not isinstance(error, WarexError):
            reason = plugin_failure(error) or describe(error)
        state = None if exchange is None else exchange.state
        name = None
        if isinstance(state, ExchangeState):
            state.draft.abort = Abort("reset")
            name = state.id
        self.recorder.harness_broke(reason, name)
