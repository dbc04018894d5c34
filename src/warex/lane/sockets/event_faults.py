"""The faults of one stream of events: which are hit, and what is done for each piece of it."""

from collections.abc import Callable, Iterator, Sequence

from warex.engine.handler import BodyStep, EndBody, Happened, Stop
from warex.engine.http.encoding import StreamDecoder
from warex.lane.outcome import GAVE_UP_AFTER
from warex.lane.sockets.hits import WAITS_FOR_NEXT_S, MessageHit, MessageRule, first_hit
from warex.rewriting.event_stream import EventSplitter, StreamEvent
from warex.rewriting.message_selection import SeenMessage


class EventFaults:
    """What is done for the pieces of one body."""

    def __init__(
        self,
        rules: Sequence[MessageRule],
        media_type: str,
        coding: str,
        now: Callable[[], float],
        later: Callable[[float, Callable[[], None]], object],
        push: Callable[[bytes], object],
    ) -> None:
        """``now``: the second of the trial; ``push`` inserts bytes into the body."""
        self._rules = rules
        self._splitter = EventSplitter(media_type)
        self._decoder = StreamDecoder(coding)
        self._now, self._later, self._push = now, later, push
        self._number = 0
        self._postponed: tuple[StreamEvent, MessageHit] | None = None
        """The held event, which the next one is to overtake."""

    def steps(self, data: bytes, *, last: bool) -> Iterator[BodyStep]:
        """Yield what is done for the next piece; ``last``: at the end of the body."""
        for part in self._decoder.feed(data):
            if self._decoder.is_bomb:  # The body passes.
                yield from self._rest()
                yield part
                continue
            for event in self._splitter.feed(part):
                yield from self._event(event)
        if last:
            yield from self._rest()

    def _rest(self) -> Iterator[BodyStep]:
        for event in self._splitter.close():
            yield from self._event(event)
        if self._postponed is not None:
            yield self._postponed[0].raw
            self._postponed = None

    def _event(self, event: StreamEvent) -> Iterator[BodyStep]:
        if event.content is None:
            yield event.raw
            return
        self._number += 1
        seen = SeenMessage(event.content, event=event.name)
        where = f"event {self._number}" if event.name else f"line {self._number}"
        hit, text = first_hit(self._rules, seen, where, seen.text, self._now())
        if self._postponed is not None:
            first, overtaken = self._postponed
            self._postponed = None
            yield event.raw
            yield first.raw
            yield Happened(overtaken)
        elif hit is None:
            yield event.raw
        else:
            yield from self._done(event, hit, text)

    def _done(self, event: StreamEvent, hit: MessageHit, text: str | None) -> Iterator[BodyStep]:
        """Yield what is done for an event that is hit."""
        effect = hit.rule.effect
        match effect.action:
            case "close":
                yield Happened(hit)
                yield EndBody()
            case "reset":
                yield Happened(hit)
                yield Stop(0, then="reset")
            case "drop":
                yield event.left_out()
                yield Happened(hit)
            case "duplicate":
                yield event.raw
                yield event.raw
                yield Happened(hit)
            case "corrupt":
                yield event.raw if text is None else event.with_content(text.encode())
                yield Happened(hit)
            case "reorder":
                self._postponed = event, hit
                self._later(WAITS_FOR_NEXT_S, lambda: self._give_up(event))
            case "delay":
                hit.hold()
                yield Stop(0, effect.seconds)
                yield event.raw
                yield Happened(hit)
            case "stall":
                hit.hold()
                first = min(GAVE_UP_AFTER, effect.seconds)
                yield Stop(0, first)
                yield Happened(hit)
                yield Stop(0, effect.seconds - first)
                yield event.raw

    def _give_up(self, event: StreamEvent) -> None:
        """Send an event that nothing has overtaken: it is not hit."""
        if self._postponed is not None and self._postponed[0] is event:
            self._postponed = None
            self._push(event.raw)
