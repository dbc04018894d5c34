"""The WebSockets of a trial: their messages are recorded, and changed where a rule says so."""

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from msgspec import Struct

from warex.effects import ChangeMessages
from warex.engine.handler import Control, FrameStep, FrameUse
from warex.engine.handler import Exchange as WireExchange
from warex.engine.http.heads import Headers
from warex.engine.http.websocket import Frame
from warex.lane.attribution import Attribution
from warex.lane.record.fault_events import missed
from warex.lane.record.recorder import Recorder
from warex.lane.response_faults.page_change import MAX_CHANGES, changed_value
from warex.lane.settlement import Settlement
from warex.lane.sockets.hits import MessageHit, MessageRule
from warex.lane.sockets.message_faults import SocketFaults
from warex.lane.sockets.message_pace import LimitedMessage, MessagePace
from warex.lane.sockets.record import WebSocketRecord
from warex.lane.state import AppliedInjection, ExchangeState, MessageHits, changes_socket
from warex.traces import Witness

_CHANGED: Final = "changed"
"""The kind of event for a further message that a fault has changed."""


class OpenSocket(Struct, eq=False):
    """An open WebSocket."""

    state: ExchangeState
    record: WebSocketRecord
    faults: SocketFaults | None = None
    pace: MessagePace | None = None


class Sockets:
    """The WebSockets of a trial."""

    def __init__(
        self,
        recorder: Recorder,
        attribution: Attribution,
        settlement: Settlement,
        control: Control,
    ) -> None:
        self._recorder = recorder
        self._attribution = attribution
        self._settlement = settlement
        self._control = control
        self._open: dict[str, OpenSocket] = {}
        """By their exchanges."""

    @property
    def open(self) -> list[ExchangeState]:
        """The exchanges of the open WebSockets."""
        return [socket.state for socket in self._open.values()]

    def begin(self, state: ExchangeState) -> None:
        """Apply the injections that change messages to a WebSocket that the site has accepted."""
        rules: list[MessageRule] = []
        for injection in [it for it in state.pending if changes_socket(it)]:
            state.pending.remove(injection)
            applied = AppliedInjection(injection, messages=MessageHits())
            state.applied.append(applied)
            about = f"{state.request.method} {state.request.url}"
            effects = (it for it in injection.effects if isinstance(it, ChangeMessages))
            rules += [MessageRule(applied, effect, about) for effect in effects]
        if limits := state.draft.message_limits:
            for limit in limits:
                limit.applied.messages = MessageHits()
            self._of(state).pace = MessagePace(limits, self._recorder.clock.now)
        if rules:
            socket = self._of(state)
            socket.faults = SocketFaults(
                rules,
                _answer(state),
                self._recorder.clock.now,
                self._control.call_later,
                partial(self._add, state.wire),
            )

    def opened(self, state: ExchangeState) -> None:
        """Note that a WebSocket is open; its end will be reported."""
        self._of(state)

    def _add(self, wire: WireExchange, steps: Iterable[FrameStep], from_client: bool) -> None:
        if (pace := self._of(wire.state).pace) is not None:
            steps = list(pace.steps(steps, from_client=from_client))
        self._control.add_frames(wire, steps, from_client=from_client)

    def use(self, state: ExchangeState) -> FrameUse:
        """Say what is done with the frames of a WebSocket."""
        socket = self._of(state)
        return "read" if socket.faults is None and socket.pace is None else "change"

    def frame(self, wire: WireExchange, frame: Frame, *, from_client: bool) -> Iterable[FrameStep]:
        """Record a frame as it came; return what is done for it."""
        socket = self._of(wire.state)
        socket.record.add(frame, from_client=from_client)
        steps: Iterable[FrameStep] = (frame,)
        if socket.faults is not None:
            steps = list(socket.faults.frame(frame, from_client=from_client))
        if socket.pace is not None:
            steps = list(socket.pace.steps(steps, from_client=from_client))
        return steps

    def frames_end(self, wire: WireExchange, *, from_client: bool) -> Iterable[FrameStep]:
        """Return what is left to be done when a side has ended."""
        socket = self._of(wire.state)
        if socket.faults is None:
            return ()
        steps = list(socket.faults.end(from_client=from_client))
        return (
            steps
            if socket.pace is None
            else list(socket.pace.steps(steps, from_client=from_client))
        )

    def steps_done(self, wire: WireExchange, note: Any, *, arrived: bool) -> None:
        """Record that a message or an event was hit, if its receiver was there."""
        state: ExchangeState = wire.state
        if isinstance(note, LimitedMessage) and arrived:
            for applied in note.applied:
                self._settle_limited(state, applied)
        if not isinstance(note, MessageHit):
            return
        applied, effect = note.rule.applied, note.rule.effect
        if effect.action == "close" and effect.carrier == "websocket":
            self._of(state).record.close(by_client=False, code=effect.code)
        if not arrived or applied.messages is None:
            return
        hits = applied.messages
        hits.count += 1
        changes = [changed_value(it) for it in note.changes]
        if hits.count > 1:
            recorded, left_out = changes[:MAX_CHANGES], max(0, len(changes) - MAX_CHANGES)
            self._recorder.write(
                Witness(
                    exchange=state.id,
                    injection=applied.injection.id,
                    what=_CHANGED,
                    changes=recorded,
                    left_out=left_out,
                )
            )
            return
        hits.changes = changes
        if hits.held_since is not None:
            applied.waited_s = self._recorder.clock.now() - hits.held_since
        self._settlement.settle(state, applied, arrived=True)

    def _settle_limited(self, state: ExchangeState, applied: AppliedInjection) -> None:
        """Record that a message has come at a limited rate, once."""
        hits = applied.messages
        if hits is None or hits.held_since is None or hits.count:
            return
        hits.count = 1
        applied.waited_s += self._recorder.clock.now() - hits.held_since
        self._settlement.settle(state, applied, arrived=True)

    def closed(self, wire: WireExchange, *, by_client: bool) -> None:
        """Record the end of a WebSocket, and settle what has hit no message of it."""
        state: ExchangeState = wire.state
        self._of(state).record.close(by_client=by_client)
        del self._open[state.id]
        for applied in _of_socket(state):
            self._settlement.settle_left(state, applied)

    def finish(self) -> None:
        """Settle what is open at the end of the trial."""
        for socket in self._open.values():
            for applied in _of_socket(socket.state):
                self._recorder.write(missed(applied.injection, "trial_over", applied.waited_s))
                socket.state.applied.remove(applied)

    def _of(self, state: ExchangeState) -> OpenSocket:
        if (socket := self._open.get(state.id)) is None:
            record = WebSocketRecord(
                state.traffic,
                self._recorder,
                _answer(state),
                on_llm_call=partial(self._attribution.model_asked, state.task),
                on_task_ended=partial(self._attribution.task_ended, state.task),
            )
            socket = self._open[state.id] = OpenSocket(state, record)
        return socket


def _answer(state: ExchangeState) -> Headers:
    assert state.wire.response is not None
    return state.wire.response.headers


def _of_socket(state: ExchangeState) -> list[AppliedInjection]:
    return [it for it in state.applied if it.is_of_socket]
