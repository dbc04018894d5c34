"""A streamed answer of a model, event by event, as faults change it."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct
from pydantic import JsonValue

from warex.llm.base import LlmRequest, StreamErrorKind, StreamPoint
from warex.llm.body.lenient_json import as_dict
from warex.llm.content.token_estimate import estimate_output
from warex.llm.families import LlmApi, family_named


class LlmStream(Struct, frozen=True, dict=True):
    """The events of a streamed answer, in order: together they are its body."""

    request: LlmRequest
    content_type: str
    events: Sequence[bytes]

    @property
    def _family(self) -> LlmApi:
        return family_named(self.request.api)

    @cached_property
    def _frames(self) -> Sequence[Sequence[JsonValue]]:
        family, kind = self._family, self.content_type
        return [family.frames_of(self.request, event, kind) for event in self.events]

    def index_of(self, point: StreamPoint) -> int:
        """Return how many events come before a point: at least the first, never the last."""
        last = len(self.events) - 1
        if point.before is not None:
            return max(1, next(self._ends(point.before), last))
        if point.tokens is not None:
            number = 1 + bisect_left(range(1, last + 1), point.tokens, key=self._tokens_in)
        else:
            number = point.events or 0
        return max(1, min(number, last))

    def _ends(self, what: str) -> Iterator[int]:
        """Yield the numbers of the events with which the answer ends."""
        family, request = self._family, self.request
        is_end = family.is_finish if what == "finish" else family.is_end_marker
        for number, frames in enumerate(self._frames):
            marked = what == "end_marker" and family.has_end_marker(self.events[number])
            if marked or any(is_end(request, as_dict(frame)) for frame in frames):
                yield number

    def _tokens_in(self, events: int) -> int:
        """Return the tokens that have come with the first events."""
        body = b"".join(self.events[:events])
        answer = self._family.read_answer(self.request, 200, self.content_type, body)
        return estimate_output(answer.text + answer.reasoning, answer.tool_calls)

    def breakable(self, point: StreamPoint) -> int | None:
        """Return the number of the first event after a point that is JSON; None if none is.

        It is one before the model's end.
        """
        end = next(self._ends("finish"), len(self.events))
        objects = [number for number in range(end) if self._frames[number]]
        last = objects[-1] if objects else None
        return next((it for it in objects if it >= self.index_of(point)), last)

    def with_broken_event(self, number: int) -> "LlmStream":
        """Return the stream with the JSON of an event broken."""
        broken = self._family.break_event(self.request, self.events[number], self.content_type)
        events = [*self.events[:number], broken, *self.events[number + 1 :]]
        return LlmStream(self.request, self.content_type, events)

    def broken_off(self, point: StreamPoint, error: StreamErrorKind) -> Sequence[bytes]:
        """Return the events before a point, and the API's own event of an error."""
        number = self.index_of(point)
        before = [as_dict(frame) for frames in self._frames[:number] for frame in frames]
        event = self._family.write_error_event(self.request, error, before)
        return [*self.events[:number], event]


def read_stream(
    request: LlmRequest, content_type: str, body: bytes, events: Sequence[bytes] | None = None
) -> LlmStream | None:
    """Return the answer to a request as a stream; None for an answer that is not a stream.

    ``events``: the body in pieces, if it is divided already.
    """
    own = family_named(request.api).events_of(request, body, content_type)
    events = own if events is None else events
    # Another fault may have divided an answer that is not a stream.
    return LlmStream(request, content_type, events) if min(len(own), len(events)) > 1 else None
