"""The agent's LLM calls over one WebSocket: records each; none is changed or hit."""

from typing import Final, override

from msgspec.structs import replace

from warex.engine.http.heads import Headers
from warex.errors import TrialVoid
from warex.exchange import Exchange
from warex.lane.traffic.base import Traffic
from warex.lane.traffic.llm import LlmCalls
from warex.lane.traffic.llm_tap import LlmTap
from warex.lane.traffic.llm_websocket import LlmWebsocketCall, LlmWebsocketCalls
from warex.llm import LlmRequest
from warex.llm.exchange import LlmExchange
from warex.llm.recognition.unrecognised import NOT_UNDERSTOOD
from warex.llm.recognition.websocket import Dialect, SocketRequest

_AS_EVENTS: Final = Headers([(b"content-type", b"text/event-stream")])


class LlmSocketTraffic(Traffic):
    """A WebSocket to a model."""

    reads_messages = True

    def __init__(self, exchange: Exchange, calls: LlmCalls, dialect: Dialect) -> None:
        super().__init__(replace(exchange, server="llm"))
        self._dialect = dialect
        self._calls = calls
        self._open = LlmWebsocketCalls(exchange.id)

    @override
    def client_message(self, message: bytes) -> bool:
        """Track a message if it is an LLM call; return whether it is.

        Raises TrialVoid if the condition has a defence: messages are not changed.
        """
        sent = self._dialect.client(message)
        return sent is not None and self._track(sent)

    def _track(self, sent: SocketRequest) -> bool:
        tap = None
        if sent.request is not None:
            tap = self._begin(sent.request)
        elif sent.is_call:
            self._calls.unread(self.exchange, NOT_UNDERSTOOD)
        self._open.begin(sent.stream, tap)
        return tap is not None

    def _begin(self, request: LlmRequest) -> LlmTap:
        """Count a call as a step of the task."""
        calls, exchange = self._calls, self.exchange
        if calls.config.defence is not None:
            raise TrialVoid(
                f"the defence {calls.config.defence.name!r} cannot be added to a call over a"
                f" WebSocket, to {exchange.request.parts.hostname}"
            )
        calls.injector.llm_call(request.body_digest)
        now, step = calls.recorder.clock.now(), calls.injector.arming.steps
        call = LlmExchange(exchange.id, exchange.request, llm_request=request, step=step)
        calls.injector.skip_websocket_call(call, now)
        tokens = calls.token_capture(request, exchange.request)
        url = exchange.request.url
        return LlmTap(request, url, step, now, progress=calls.progress, tokens=tokens)

    @override
    def server_message(self, message: bytes) -> bool:
        """Read a server's message; return whether it ends the agent's task."""
        sent = self._dialect.begun_by_server(message)
        self.is_asked_by_server = sent is not None and self._track(sent)
        event = self._dialect.server(message)
        over = self._open.receive(event, self._calls.recorder.clock.now())
        return over is not None and self._end_call(over, None)

    @override
    def abandon(self, why: str, *, opaque: bool) -> None:
        """Record the open calls of a WebSocket that has closed or become ``opaque``."""
        if opaque:
            self._calls.unread(self.exchange, f"its WebSocket cannot be read: {why}")
        for call in self._open.abandon():
            self._end_call(call, why)

    def _end_call(self, call: LlmWebsocketCall, error: str | None) -> bool:
        if (tap := call.tap) is None:
            return False
        status = None if tap.first_byte is None else call.status
        return self._calls.record(tap, call.exchange, status, _AS_EVENTS, error).ends_task
