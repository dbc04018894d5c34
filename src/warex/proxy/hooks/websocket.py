"""The WebSocket hooks: record each message and close, and read LLM calls.

``warex_websocket`` comes from WAREX's own layer, the other hooks from stock mitmproxy's.
"""

from functools import partial
from typing import Final

from mitmproxy import http

from warex.engine.http.websocket_messages import Closed, Message, Opaque, SocketEvent
from warex.proxy.exchange.state import ExchangeState, state_of
from warex.proxy.hooks.base import fail_closed
from warex.proxy.hooks.task_attribution import TaskHooks
from warex.proxy.mitmproxy_patches.websocket_layer import WebsocketEvent
from warex.traces import WebSocketSeen

_CLOSED: Final = "the WebSocket was closed before the answer's end"


class WebSocketHooks(TaskHooks):
    """Records WebSocket messages, including LLM calls."""

    def _read_llm_message(self, state: ExchangeState, content: bytes, *, from_client: bool) -> None:
        if from_client and state.traffic.client_message(content):
            self.model_asked(state.task)
        elif not from_client and state.traffic.server_message(content):
            self.task_ended(state.task)

    @fail_closed
    def warex_websocket(self, sighting: WebsocketEvent) -> None:
        """Record an event of our own layer."""
        self._record_frame(sighting.flow, sighting.seen, from_client=sighting.from_client)

    def _record_frame(self, flow: http.HTTPFlow, seen: SocketEvent, *, from_client: bool) -> None:
        state = state_of(flow)
        if state is None:
            return
        event = partial(WebSocketSeen, exchange=state.exchange.id, from_client=from_client)
        match seen:
            case Message(size, text, content):
                self._read_llm_message(state, content, from_client=from_client)
                self.recorder.write(event(what="message", size=size, text=text))
            case Closed(code):
                state.traffic.abandon(_CLOSED, opaque=False)
                self.recorder.write(event(what="closed", close_code=code))
            case Opaque(reason):
                state.traffic.abandon(reason, opaque=True)
                self.recorder.write(event(what="opaque", reason=reason))

    @fail_closed
    def websocket_message(self, flow: http.HTTPFlow) -> None:
        """Record a message, and discard mitmproxy's copy."""
        if state_of(flow) is None or flow.websocket is None:
            return
        message = flow.websocket.messages[-1]
        seen = Message(len(message.content), message.is_text, message.content)
        self._record_frame(flow, seen, from_client=message.from_client)
        flow.websocket.messages.clear()

    @fail_closed
    def websocket_end(self, flow: http.HTTPFlow) -> None:
        """Record the end of a WebSocket."""
        if (channel := flow.websocket) is not None:
            seen = Closed(channel.close_code)
            self._record_frame(flow, seen, from_client=bool(channel.closed_by_client))
