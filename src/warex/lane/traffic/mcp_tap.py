"""Reads the response of an MCP exchange while it is streamed, and tracks its session."""

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from msgspec import Struct, field

from warex.engine.http.encoding import StreamDecoder, decode
from warex.mcp.changes import Change
from warex.mcp.event_stream import SseEvent, SseReader, with_data
from warex.mcp.exchange import Transport
from warex.mcp.messages import LONGEST, Key, McpRequest

_EVENTS: Final = "text/event-stream"
_TOO_LONG: Final = f"a message is longer than the {LONGEST:,} bytes that are read"


class Amendment(Struct):
    """A change of the answers to an exchange's requests, and what became of it."""

    change: Change | None
    after: float
    """Seconds that the answer is delayed."""
    settle: Callable[[bool], None]
    """Called if the answer comes on another exchange, with whether the client received it."""
    on_other_exchange: bool = False
    """Whether the answer comes on another exchange than its request."""
    awaits_answer: bool = True
    """Whether no answer was changed yet; it may never come."""
    waited_s: float = 0.0
    """Seconds that the answer was delayed on another exchange."""


class PendingRequest(Struct):
    """A request without an answer yet."""

    request: McpRequest
    exchange: str
    url: str
    began: float
    amendment: Amendment | None = None
    is_amended: bool = False

    @property
    def is_to_change(self) -> bool:
        """Whether its answer is to be changed, and has not come yet."""
        return self.amendment is not None and not self.is_amended


class McpSession(Struct):
    """An MCP session of a client and a server."""

    number: int = 0
    transport: Transport = "streamable_http"
    names: list[str] = field(default_factory=list)
    pending: dict[Key, PendingRequest] = field(default_factory=dict)
    stream: "McpTap | None" = None
    """The stream with the answers, in the older transport."""

    @property
    def amends(self) -> bool:
        """Whether an answer is to be changed."""
        return any(call.is_to_change for call in self.pending.values())


class McpMessageHandler(Protocol):
    """Handles the messages of a server."""

    def opened(self, tap: "McpTap", endpoint: str) -> None:
        """Note the endpoint for messages of a server in the older transport."""

    def handle_message(self, tap: "McpTap", data: bytes, now: float) -> bytes | None:
        """Handle a message; return its replacement, None for no change, empty to delay it."""


class McpTap:
    """Reads the response of one exchange; changes or delays it only if a fault is applied."""

    def __init__(
        self, listener: McpMessageHandler, session: McpSession, exchange: str, url: str
    ) -> None:
        self.session = session
        self.exchange, self.url = exchange, url
        self.without_id: list[PendingRequest] = []
        """Requests of this exchange without an id to match an answer."""
        self.was_read = False
        """Whether any of the response was read."""
        self.resumable = False
        """Whether the client may request the rest of a broken response."""
        self.unread: str | None = None
        """Why the response could not be read."""
        self.ends_session = False
        self.may_not_be_mcp = False
        """Whether only the first event shows if it is MCP."""
        self.is_over = False
        """Whether reading has stopped, since it is not MCP."""
        self.client_has_left: Callable[[], bool] = lambda: False
        self.on_queued: Callable[[], None] = lambda: None
        """Called when a message is queued between two events of the server."""
        self.can_be_changed = True
        """Whether the current message can be changed: the client has none of it yet."""
        self._outbox: list[bytes] = []
        self._listener = listener
        self._events: SseReader | None = None
        self._decoder: StreamDecoder | None = None
        self._compressed = self._sized = False
        self._body = bytearray()
        self._forwarded = 0
        """Bytes of the current event that were already sent."""

    def begin(self, headers: Mapping[str, str]) -> None:
        """Prepare to read a response with these headers, their names in lower case."""
        if headers.get("content-type", "").lower().startswith(_EVENTS):
            self._events = SseReader()
            self._decoder = StreamDecoder(headers.get("content-encoding", ""))
        self._compressed = headers.get("content-encoding", "identity") != "identity"
        self._sized = "content-length" in headers

    @property
    def pending(self) -> list[PendingRequest]:
        """The pending requests of this exchange."""
        return [it for it in self.session.pending.values() if it.exchange == self.exchange]

    @property
    def streams(self) -> bool:
        """Whether the response is an event stream."""
        return self._events is not None

    @property
    def can_change(self) -> bool:
        """Whether messages can be changed while they are streamed."""
        return self.streams and not self._compressed and not self._sized

    def feed(self, data: bytes, now: float) -> bytes:
        """Read a piece of the response, empty at its end; return what the client receives."""
        if self.is_over:
            return data
        if not data:
            remainder = b"" if self._events is None else self._events.rest()[self._forwarded :]
            # Nothing of a compressed response was delayed.
            return b"" if self._compressed else remainder
        self.was_read = True
        if self._events is None or self._decoder is None:
            if len(self._body) + len(data) <= LONGEST:
                self._body += data
            else:
                self.unread = _TOO_LONG
            return data
        output = b""
        for part in () if self._decoder.is_bomb else self._decoder.feed(data):
            if self._decoder.is_bomb:
                break
            output += b"".join(self._handle_event(it, now) for it in self._events.feed(part))
        if self._decoder.is_bomb:
            self.unread = "it is a decompression bomb"
        elif self._decoder.broken:
            self.unread = "its content coding is broken, or one that is not read"
        elif self._events.gave_up:
            self.unread = _TOO_LONG
        if self._compressed:
            return data
        if self.is_over or not self.session.amends:
            output += self._events.pending_from(self._forwarded)
            self._forwarded = self._events.pending
        return output + self.take_queued()

    def _handle_event(self, event: SseEvent, now: float) -> bytes:
        """Handle an event; return the part of it to send now."""
        raw, self._forwarded = event.raw[self._forwarded :], 0
        is_complete = len(raw) == len(event.raw)
        if self.is_over:
            return raw
        self.resumable |= event.has_id
        if event.name == "endpoint":
            self._listener.opened(self, event.data.decode(errors="replace"))
            return raw
        if self.may_not_be_mcp and event.data:
            self.is_over = True  # An event stream of a page.
            return raw
        self.can_be_changed = is_complete and not self._compressed
        instead = self._listener.handle_message(self, event.data, now)
        if instead is None:
            return raw
        return with_data(event, instead) if instead else b""

    def send(self, message: bytes) -> None:
        """Queue a message between two events of the server."""
        self._outbox.append(b"event: message\ndata: " + message + b"\n\n")
        # Call it once; it is set again when the queue is sent.
        notify, self.on_queued = self.on_queued, lambda: None
        notify()

    def take_queued(self) -> bytes:
        """Return the queued messages; nothing within an event of the server."""
        if self._forwarded or not self._outbox:
            return b""
        queued, self._outbox = b"".join(self._outbox), []
        return queued

    def decoded_body(self, content_encoding: str) -> bytes:
        """Return the decoded body of a response that is not an event stream."""
        content = decode(bytes(self._body), content_encoding)
        self.unread = self.unread or content.error
        return content.body
