"""A stream of events is refused, ended, or loses, delays and changes events."""

from collections.abc import Mapping
from typing import ClassVar, Literal, override

from pydantic import Field

from warex.faults.streams.base import Glob, MessageFault
from warex.rewriting.event_stream import MEDIA_TYPES
from warex.rewriting.message_selection import MessageSelection


class SseFault(MessageFault, frozen=True):
    """Refuse or end a stream of events, or change its events."""

    summary: ClassVar = "Refuse or end a stream of events, or lose, delay and change its events."

    media_types: ClassVar[tuple[str, ...]] = MEDIA_TYPES
    carrier: ClassVar = "events"
    one: ClassVar = "event"

    kind: Literal["sse_fault"] = "sse_fault"
    stage: Literal["response"] = "response"
    event: Glob | None = Field(
        default=None, description="A glob over the type of a server-sent event."
    )

    @override
    def selection(self) -> MessageSelection:
        return MessageSelection(
            text=self.text,
            text_regex=self.text_regex,
            members=self.members,
            event=self.event,
            first=self.first,
            nth=self.nth,
            every=self.every,
        )

    @override
    def _more_picks(self) -> Mapping[str, str | None]:
        return {"event": self.event}
