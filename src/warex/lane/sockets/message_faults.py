"""The faults of one WebSocket: which messages are hit, and what is done for each frame.

Each message is hit by at most one rule, the first that fits. What is not hit passes in the frames
in which it came (``engine/http/websocket_stream.py`` says where it cannot).
"""

from collections.abc import Callable, Iterator, Sequence
from math import inf

from msgspec import Struct

from warex.engine.handler import EndSocket, FrameStep, Happened, HoldMessages
from warex.engine.http.heads import Headers
from warex.engine.http.websocket import CLOSE, DATA, Frame
from warex.engine.http.websocket_messages import agrees_on_deflate, keeps_context
from warex.engine.http.websocket_stream import ContextLost, MessageStream, WholeMessage
from warex.lane.outcome import GAVE_UP_AFTER
from warex.lane.sockets.graphql import graphql_operations
from warex.lane.sockets.hits import WAITS_FOR_NEXT_S, MessageHit, MessageRule, first_hit
from warex.rewriting.message_selection import SeenMessage

type Later = Callable[[float, Callable[[], None]], object]
"""Calls a function after some seconds."""
type Add = Callable[[Sequence[FrameStep], bool], None]
"""Does further steps for the client's side, if True, or the site's."""


class _Side(Struct):
    """The messages of one side."""

    stream: MessageStream
    released_at: float = -inf
    """Second of the trial at which its last delay ends."""
    postponed: tuple[WholeMessage, MessageHit] | None = None
    """The held message, which the next one is to overtake."""


class SocketFaults:
    """What is done for the frames of one WebSocket."""

    def __init__(
        self,
        rules: Sequence[MessageRule],
        answered: Headers,
        now: Callable[[], float],
        later: Later,
        add: Add,
    ) -> None:
        """``answered``: the fields of the site's response; ``now``: the second of the trial."""
        self.rules = rules
        self._now, self._later, self._add = now, later, add
        self._graphql = graphql_operations(answered.get("sec-websocket-protocol"))
        self._sides: dict[bool, _Side] = {}
        """The sides by whether the client sends; without a side whose messages no rule can hit."""
        extensions = answered.get("sec-websocket-extensions")
        try:
            deflates = agrees_on_deflate(extensions)
        except ValueError:
            return
        senders = {rule.effect.selection.sender for rule in rules}
        for from_client, name in ((True, "client"), (False, "server")):
            # Only the question tells which operation an answer belongs to.
            if self._graphql is not None or senders & {name, "both"}:
                keeps = deflates and keeps_context(extensions, from_client=from_client)
                stream = MessageStream(deflates=deflates, keeps_context=keeps)
                self._sides[from_client] = _Side(stream)

    def frame(self, frame: Frame, *, from_client: bool) -> Iterator[FrameStep]:
        """Yield what is done for a frame."""
        side = self._sides.get(from_client)
        if side is None:
            yield frame
            return
        try:
            for it in side.stream.receive(frame):
                if isinstance(it, WholeMessage):
                    yield from self._message(side, it, from_client=from_client)
                else:
                    if it.opcode in (*DATA, CLOSE):
                        yield from self._taken_up(side)
                    yield it
        except ContextLost:
            yield EndSocket("reset")

    def end(self, *, from_client: bool) -> Iterator[FrameStep]:
        """Yield what is left to be sent when a side has ended."""
        side = self._sides.get(from_client)
        if side is not None:
            yield from self._taken_up(side)
            yield from side.stream.rest()

    # ----

    def _message(
        self, side: _Side, message: WholeMessage, *, from_client: bool
    ) -> Iterator[FrameStep]:
        name = ""
        if self._graphql is not None:
            name = self._graphql.name(message.content, from_client=from_client)
        seen = SeenMessage(message.content, from_client, operation=name)
        where = f"message {message.number} of the {'client' if from_client else 'server'}"
        shown = message.content.decode(errors="replace") if message.is_text else "binary"
        message_hit, text = first_hit(self.rules, seen, where, shown, self._now())
        if side.postponed is not None:
            first, hit = side.postponed
            side.postponed = None
            yield from side.stream.instead(first)
            yield from side.stream.unchanged(message)
            yield from (side.stream.copy(first), Happened(hit))
        elif message_hit is None:
            yield from side.stream.unchanged(message)
        else:
            yield from self._done(side, message, message_hit, text, from_client=from_client)

    def _done(
        self,
        side: _Side,
        message: WholeMessage,
        hit: MessageHit,
        text: str | None,
        *,
        from_client: bool,
    ) -> Iterator[FrameStep]:
        """Yield what is done for a message that is hit."""
        effect, stream = hit.rule.effect, side.stream
        match effect.action:
            case "close" | "reset":
                yield EndSocket(effect.action, effect.code, effect.reason, hit)
            case "drop":
                yield from stream.instead(message)
                yield Happened(hit)
            case "duplicate":
                yield from stream.unchanged(message)
                yield stream.copy(message)
                yield Happened(hit)
            case "corrupt":
                content = message.content if text is None else text.encode()
                yield from stream.instead(message, content)
                yield Happened(hit)
            case "reorder":
                side.postponed = message, hit
                self._later(WAITS_FOR_NEXT_S, lambda: self._give_up(side, message, from_client))
            case "delay":
                # Behind an earlier delay, which it waits for anyway.
                released, side.released_at = side.released_at, hit.began + effect.seconds
                wait = side.released_at - max(hit.began, released)
                hit.hold()
                yield HoldMessages(wait)
                yield from stream.unchanged(message)
                yield Happened(hit)
            case "stall":
                hit.hold()
                first = min(GAVE_UP_AFTER, effect.seconds)
                yield HoldMessages(first)
                yield Happened(hit)
                yield HoldMessages(effect.seconds - first)
                yield from stream.unchanged(message)

    def _taken_up(self, side: _Side) -> Sequence[FrameStep]:
        """Return the frames of a message that nothing overtakes: it is not hit."""
        if side.postponed is None:
            return ()
        message, _ = side.postponed
        side.postponed = None
        return side.stream.unchanged(message)

    def _give_up(self, side: _Side, message: WholeMessage, from_client: bool) -> None:
        if side.postponed is not None and side.postponed[0] is message:
            self._add(self._taken_up(side), from_client)
