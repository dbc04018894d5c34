"""What an exchange carries. The base class is a site's traffic, of which nothing is read."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from warex.engine.http.heads import RequestHead, ResponseHead
from warex.exchange import Exchange
from warex.lane.traffic.mcp_tap import Amendment
from warex.lane.whole_response import WholeResponse
from warex.llm.stream import LlmStream
from warex.scenarios import PlannedInjection


class Ending(Struct, frozen=True, kw_only=True):
    """How an exchange has ended, for what it carried."""

    head: ResponseHead | None = None
    """Of the response that the client got or was to get; None without a response."""
    body: bytes = b""
    """The response's body, unless it was streamed."""
    error: str | None = None
    """Why it is not complete."""
    began: bool = False
    """Whether the client has the response's head."""
    client_left: bool = False
    """Whether it is not complete since the client wanted no more."""
    by_warex: bool = False
    """Whether WAREX made the response, delayed or cut it."""
    in_part: bool = False
    """Whether it is nevertheless the site's own answer: paced, or its first part."""


class Traffic:
    """What one exchange carries; it is asked at each step of the exchange."""

    may_be_form: bool = True
    """Whether the request's body may be a form, whose secrets the redactor learns."""

    reads_messages: bool = False
    """Whether the content of WebSocket messages is read."""

    is_asked_by_server: bool = False
    """Whether the server's last WebSocket message begins an LLM call, of which it was not asked."""

    unread_llm: str | None = None
    """Why a request that looks like an LLM call could not be read."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        """The exchange as rules see it."""

    def prepare_head(self, head: RequestHead) -> RequestHead:
        """Return the head that the site gets."""
        return head

    def prepare(self, head: RequestHead, body: bytes) -> bytes:
        """Return the body that the site gets; raise TrialVoid if it must not be asked."""
        return body

    def replay(self, head: RequestHead, body: bytes) -> WholeResponse | None:
        """Return a kept answer to the request; None asks the site."""
        return None

    def answered(self, head: ResponseHead) -> None:
        """Read the head of the response."""

    @property
    def needs_whole_response(self) -> bool:
        """Whether the response must be read to its end, to be changed."""
        return False

    @property
    def changes_length(self) -> bool:
        """Whether ``feed`` may return more or fewer bytes than the response has."""
        return False

    def as_asked(self, response: WholeResponse) -> WholeResponse:
        """Return a complete response without what only WAREX asked for."""
        return response

    def read_buffered(self, response: WholeResponse) -> None:
        """Read a complete response, which a fault may replace for the client."""

    def stream(
        self, response: WholeResponse, events: Sequence[bytes] | None = None
    ) -> LlmStream | None:
        """Return a complete response of a model as a stream; None for any other.

        ``events``: its body in pieces, if it is divided already.
        """
        return None

    def feed(self, piece: bytes) -> bytes:
        """Read a piece of the response, empty at its end; return what the client receives."""
        return piece

    @property
    def reads_on(self) -> bool:
        """Whether ``feed`` leaves work for ``read_on``."""
        return False

    def read_on(self) -> bool:
        """Work for some milliseconds on what was fed; return whether more is left."""
        return False

    def reset(self) -> None:
        """Forget what was read of the response, since a fault sends another one or paces it."""

    def can_apply(self, injection: PlannedInjection) -> bool:
        """Whether the response can be changed as an injection needs."""
        return True

    def apply(
        self, injection: PlannedInjection, settle: Callable[[bool], None]
    ) -> Amendment | None:
        """Apply an injection's effects on answers of tools.

        ``settle`` is called if the answer comes on another exchange, with whether the client
        received it.
        """
        return None

    @property
    def amendment_wait_s(self) -> float:
        """Seconds to wait before ``amend``."""
        return 0.0

    def amend(self, response: WholeResponse) -> WholeResponse:
        """Change a complete response, if ``needs_whole_response``."""
        return response

    def note_delivered(self, injection: PlannedInjection) -> None:
        """Note that an injection of this exchange has reached the client."""

    def client_message(self, message: bytes) -> bool:
        """Read a client's WebSocket message; return whether it is an LLM call."""
        return False

    def server_message(self, message: bytes) -> bool:
        """Read a server's WebSocket message; return whether it ends the agent's task."""
        return False

    def abandon(self, why: str, *, opaque: bool) -> None:
        """Note that a WebSocket is closed, or ``opaque`` from here on."""

    def keep_open(self, ending: Ending) -> None:
        """Keep the injections open whose answer may come by another exchange."""

    def end(self, ending: Ending) -> bool:
        """Record what ended with the exchange; return whether the agent's task ends."""
        return False
