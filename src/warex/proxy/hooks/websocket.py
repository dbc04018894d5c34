"""The WebSocket hooks: record each message and close, and read LLM calls.

``warex_websocket`` comes from WAREX's own layer, the other hooks from stock mitmproxy's.
"""

from abc import ABC, abstractmethod
from typing import Final

from mitmproxy import http

from warex.proxy.exchange.state import ExchangeState, state_of
from warex.proxy.exchange.tasks import Task
from warex.proxy.hooks.base import Hooks, fail_closed
from warex.proxy.mitmproxy_patches.websocket_layer import WebsocketEvent
from warex.proxy.net.websocket_frames import Closed, Message, Opaque
from warex.traces import WebSocketSeen

_CLOSED: Final = "the WebSocket was closed before the answer's end"


class WebSocketHooks(Hooks, ABC):
    """Records WebSocket messages, including LLM calls."""

    @abstractmethod
    def model_asked(self, task: Task) -> None:
        """Note that a task's LLM call is forwarded; raise to prevent it."""

    @abstractmethod
    def task_ended(self, task: Task) -> None:
        """Note that the agent has ended a task."""

    def _read_llm_message(self, state: ExchangeState, content: bytes, *, from_client: bool) -> None:
        if from_client and state.task.llm_calls.websocket_request(state, content):
            self.model_asked(state.task)
        elif not from_client and state.task.llm_calls.websocket_response(state, content):
            self.task_ended(state.task)

    @fail_closed
    def warex_websocket(self, sighting: WebsocketEvent) -> None:
        """Record an event of our own layer."""
        state = state_of(sighting.flow)
        if state is None:
            return
        exchange, from_client = state.exchange.id, sighting.from_client
        match sighting.seen:
            case Message(size, text, content):
                self._read_llm_message(state, content, from_client=from_client)
                event = WebSocketSeen(
                    exchange=exchange, what="message", from_client=from_client, size=size, text=text
                )
            case Closed(code):
                state.task.llm_calls.abandon_websocket(state, _CLOSED, opaque=False)
                event = WebSocketSeen(
                    exchange=exchange, what="closed", from_client=from_client, close_code=code
                )
            case Opaque(reason):
                state.task.llm_calls.abandon_websocket(state, reason, opaque=True)
                event = WebSocketSeen(
                    exchange=exchange, what="opaque", from_client=from_client, reason=reason
                )
        self.recorder.write(event)

    @fail_closed
    def websocket_message(self, flow: http.HTTPFlow) -> None:
        """Record a message, and discard mitmproxy's copy."""
        state, channel = state_of(flow), flow.websocket
        if state is None or channel is None:
            return
        message = channel.messages[-1]
        self._read_llm_message(state, message.content, from_client=message.from_client)
        self.recorder.write(
            WebSocketSeen(
                exchange=state.exchange.id,
                what="message",
                from_client=message.from_client,
                size=len(message.content),
                text=message.is_text,
            )
        )
        channel.messages.clear()

    @fail_closed
    def websocket_end(self, flow: http.HTTPFlow) -> None:
        """Record the end of a WebSocket."""
        state, channel = state_of(flow), flow.websocket
        if state is None or channel is None:
            return
        state.task.llm_calls.abandon_websocket(state, _CLOSED, opaque=False)
        self.recorder.write(
            WebSocketSeen(
                exchange=state.exchange.id,
                what="closed",
                from_client=bool(channel.closed_by_client),
                close_code=channel.close_code,
            )
        )
