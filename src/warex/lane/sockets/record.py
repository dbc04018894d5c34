"""The record of a WebSocket: its messages, its end, and the calls to a model among them."""

from collections.abc import Callable
from functools import partial
from typing import Final

from warex.engine.http.heads import Headers
from warex.engine.http.websocket import Frame
from warex.engine.http.websocket_messages import (
    ABNORMAL,
    Closed,
    Message,
    MessageReader,
    Opaque,
    SocketEvent,
    agrees_on_deflate,
)
from warex.lane.record.recorder import Recorder
from warex.lane.sockets.graphql import LONGEST, graphql_operations
from warex.lane.traffic.base import Traffic
from warex.llm.body.framing import MAX_BODY
from warex.traces import WebSocketSeen

_CLOSED: Final = "the WebSocket was closed before the answer's end"


class WebSocketRecord:
    """Records the messages of one WebSocket as they come, before a fault changes them."""

    def __init__(
        self,
        traffic: Traffic,
        recorder: Recorder,
        answered: Headers,
        *,
        on_llm_call: Callable[[], None],
        on_task_ended: Callable[[], None],
    ) -> None:
        """``answered``: the fields of the site's response.

        ``on_llm_call`` is called before a call to a model passes, and may raise to prevent it.
        """
        self._traffic = traffic
        self._recorder = recorder
        self._on_llm_call = on_llm_call
        self._on_task_ended = on_task_ended
        self._closed = False
        self._readers: dict[bool, MessageReader] = {}
        """By whether the client is the sender; empty if frames cannot be read."""
        self._graphql = graphql_operations(answered.get("sec-websocket-protocol"))
        try:
            deflates = agrees_on_deflate(answered.get("sec-websocket-extensions"))
        except ValueError as error:
            self._record(Opaque(str(error)), from_client=False)
        else:
            keep = MAX_BODY if traffic.reads_messages else LONGEST + 1 if self._graphql else 0
            self._readers = {
                sender: MessageReader(deflates=deflates, keep=keep) for sender in (True, False)
            }

    def add(self, frame: Frame, *, from_client: bool) -> None:
        """Record what a frame ends."""
        if not self._readers:
            return
        event = self._readers[from_client].read(frame)
        if event is not None:
            self._record(event, from_client=from_client)

    def close(self, *, by_client: bool, code: int = ABNORMAL) -> None:
        """Note the end of the connection, or a Close frame of a fault."""
        self._record(Closed(code), from_client=by_client)

    def _record(self, event: SocketEvent, *, from_client: bool) -> None:
        exchange = self._traffic.exchange.id
        seen = partial(WebSocketSeen, exchange=exchange, from_client=from_client)
        match event:
            case Message(size, text, content):
                self._read_call(content, from_client=from_client)
                name = ""
                if self._graphql is not None:
                    name = self._graphql.name(content, from_client=from_client)
                self._recorder.write(seen(what="message", size=size, text=text, operation=name))
            case Closed(code) if not self._closed:
                self._closed = True
                self._traffic.abandon(_CLOSED, opaque=False)
                self._recorder.write(seen(what="closed", close_code=code))
            case Closed():
                pass
            case Opaque(reason):
                self._readers = {}
                self._traffic.abandon(reason, opaque=True)
                self._recorder.write(seen(what="opaque", reason=reason))

    def _read_call(self, content: bytes, *, from_client: bool) -> None:
        if from_client:
            if self._traffic.client_message(content):
                self._on_llm_call()
            return
        ends_task = self._traffic.server_message(content)
        if self._traffic.is_asked_by_server:
            self._on_llm_call()
        if ends_task:
            self._on_task_ended()
