"""Reads the answer of one exchange of MCP as it passes, and knows what its session waits for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from mitmproxy import http

from warex.mcp.changes import Change
from warex.mcp.event_stream import SseEvent, SseReader, with_data
from warex.mcp.exchange import Transport
from warex.mcp.messages import LONGEST, Key, McpRequest
from warex.proxy.exchange.apply import AppliedInjection
from warex.proxy.net.encoding import StreamDecoder, decode

_EVENTS: Final = "text/event-stream"
_TOO_LONG: Final = f"a message is longer than the {LONGEST:,} bytes that are read"


@dataclass(slots=True)
class Amendment:
    """What is to be done to the answer to a request."""

    change: Change | None
    after: float
    applied: AppliedInjection
    settle: Callable[[bool], None]
    """Called where the answer comes on another exchange; with whether the client was given it."""
    done: bool = False


@dataclass(slots=True)
class PendingRequest:
    """A request that is not answered yet."""

    request: McpRequest
    exchange: str
    url: str
    began: float
    amendment: Amendment | None = None


@dataclass(slots=True)
class McpSession:
    """What a client and a server have to do with each other."""

    number: int = 0
    transport: Transport = "streamable_http"
    names: list[str] = field(default_factory=list)
    pending: dict[Key, PendingRequest] = field(default_factory=dict)
    stream: "McpTap | None" = None
    """Of the older transport: where the answers come."""

    @property
    def amends(self) -> bool:
        """Whether an answer is to be changed."""
        return any(call.amendment and not call.amendment.done for call in self.pending.values())


class McpMessageHandler(Protocol):
    """Whoever wants to know what a server says."""

    def opened(self, tap: "McpTap", endpoint: str) -> None:
        """Take in where a server of the older transport wants its messages."""

    def handle_message(self, tap: "McpTap", data: bytes, now: float) -> bytes | None:
        """Take in what a server says; return what is said instead, None for the same.

        Nothing at all, where it is to be said later.
        """


class McpTap:
    """Reads the answer of one exchange as it passes.

    No byte of it is changed or held back, unless a fault wants an answer changed.
    """

    def __init__(
        self, listener: McpMessageHandler, session: McpSession, exchange: str, url: str
    ) -> None:
        self.session = session
        self.exchange, self.url = exchange, url
        self.without_id: list[PendingRequest] = []
        """Requests of this exchange by whose id no answer can be found."""
        self.was_read = False
        """Whether anything of the answer was read."""
        self.resumable = False
        """Whether a client may ask for the rest of it, should it break."""
        self.unread: str | None = None
        """Why the answer could not be read."""
        self.ends_session = False
        self.may_not_be_mcp = False
        """Whether only its first event will tell if it is MCP at all."""
        self.is_over = False
        """Whether nothing is read any more: it is no MCP."""
        self.client_has_left: Callable[[], bool] = lambda: False
        """Tells whether the client has gone."""
        self.on_queued: Callable[[], None] = lambda: None
        """Called when there is something to be said between two events of the server's."""
        self.can_be_changed = True
        """Whether what is heard now can be changed: the client has nothing of it yet."""
        self._outbox: list[bytes] = []
        self._listener = listener
        self._events: SseReader | None = None
        self._decoder: StreamDecoder | None = None
        self._compressed = self._sized = False
        self._body = bytearray()
        self._forwarded = 0
        """Bytes of the event under way that the client has already."""

    def begin(self, headers: http.Headers) -> None:
        """Prepare to read an answer with this head."""
        if headers.get("content-type", "").lower().startswith(_EVENTS):
            self._events = SseReader()
            self._decoder = StreamDecoder(headers.get("content-encoding", ""))
        self._compressed = headers.get("content-encoding", "identity") != "identity"
        self._sized = "content-length" in headers

    @property
    def streams(self) -> bool:
        """Whether the answer comes event by event."""
        return self._events is not None

    @property
    def carries_answers(self) -> bool:
        """Whether it is the stream of a session in the older transport."""
        return self.session.stream is self

    @property
    def can_change(self) -> bool:
        """Whether a message can be changed as it passes."""
        return self.streams and not self._compressed and not self._sized

    def feed(self, data: bytes, now: float) -> bytes:
        """Take in a piece of the answer, empty at its end; return what the client is given."""
        if self.is_over:
            return data
        if not data:
            kept = b"" if self._events is None else self._events.rest()[self._forwarded :]
            # Of what is compressed nothing was kept back; this is it as it was read.
            return b"" if self._compressed else kept
        self.was_read = True
        if self._events is None or self._decoder is None:
            if len(self._body) + len(data) <= LONGEST:
                self._body += data
            else:
                self.unread = _TOO_LONG
            return data
        given = b"".join(
            self._handle_event(it, now) for it in self._events.feed(self._decoder.feed(data))
        )
        if self._decoder.broken:
            self.unread = "its content coding is broken, or one that is not read"
        elif self._events.gave_up:
            self.unread = _TOO_LONG
        if self._compressed:
            return data
        if self.is_over or not self.session.amends:
            given += self._events.pending_from(self._forwarded)
            self._forwarded = self._events.pending
        return given + self.take_queued()

    def _handle_event(self, event: SseEvent, now: float) -> bytes:
        """Take in an event; return what of it is still to be given."""
        raw, self._forwarded = event.raw[self._forwarded :], 0
        whole = len(raw) == len(event.raw)
        if self.is_over:
            return raw
        self.resumable |= event.has_id
        if event.name == "endpoint":
            self._listener.opened(self, event.data.decode(errors="replace"))
            return raw
        if self.may_not_be_mcp and event.data:
            # A page's own stream of events.
            self.is_over = True
            return raw
        self.can_be_changed = whole and not self._compressed
        instead = self._listener.handle_message(self, event.data, now)
        if instead is None:
            return raw
        return with_data(event, instead) if instead else b""

    def send(self, message: bytes) -> None:
        """Say something between two events of the server's."""
        self._outbox.append(b"event: message\ndata: " + message + b"\n\n")
        # Once: it is set again when the client is given what is there by then.
        ring, self.on_queued = self.on_queued, lambda: None
        ring()

    def take_queued(self) -> bytes:
        """Return what is to be said now; it is kept where an event is under way."""
        if self._forwarded or not self._outbox:
            return b""
        said, self._outbox = b"".join(self._outbox), []
        return said

    def decoded_body(self, content_encoding: str) -> bytes:
        """Return the answer that came in one piece."""
        content = decode(bytes(self._body), content_encoding)
        self.unread = self.unread or content.error
        return content.body
