"""A WebSocket is refused, ended, or loses, delays and changes messages."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, override

from pydantic import Field, field_validator

from warex.exchange import Resource
from warex.faults.streams.base import Glob, MessageFault
from warex.rewriting.message_selection import MessageSelection, Sender

_CODES: Final = (*range(1000, 1004), *range(1007, 1015))
"""Codes of RFC 6455 §7.4.1 and its registry that a Close frame can have."""
_LONGEST_REASON: Final = 123
"""Bytes of a reason: a control frame has at most 125 (RFC 6455 §5.5)."""


class WebsocketFault(MessageFault, frozen=True):
    """Refuse or end a WebSocket, or change its messages."""

    summary: ClassVar = "Refuse or end a WebSocket, or lose, delay and change its messages."

    of_websockets: ClassVar = True
    default_resource: ClassVar[tuple[Resource, ...]] = ("websocket",)
    carrier: ClassVar = "websocket"
    one: ClassVar = "message"

    kind: Literal["websocket_fault"] = "websocket_fault"
    stage: Literal["request"] = "request"
    sender: Sender = Field(default="server", description="Whose messages.")
    operation: Glob | None = Field(
        default=None, description="A glob over the operation of a GraphQL message."
    )
    code: Annotated[int, Field(strict=True)] = Field(
        default=1011, description="The code of the Close frame."
    )
    reason: str = Field(default="", description="The reason in the Close frame.")

    @field_validator("code")
    @classmethod
    def _exists(cls, code: int) -> int:
        if code not in _CODES and not 3000 <= code < 5000:
            raise ValueError(
                f"{code} is not a code that a Close frame can have (RFC 6455, section 7.4); allowed"
                " are 1000 to 1003, 1007 to 1014 and 3000 to 4999. Action reset ends a WebSocket"
                " without a code, which pages see as 1006"
            )
        return code

    @field_validator("reason")
    @classmethod
    def _is_short(cls, reason: str) -> str:
        if len(reason.encode()) > _LONGEST_REASON:
            raise ValueError(
                f"a Close frame has room for {_LONGEST_REASON} bytes of reason, and it has"
                f" {len(reason.encode())}"
            )
        return reason

    @override
    def selection(self) -> MessageSelection:
        return MessageSelection(
            sender=self.sender,
            text=self.text,
            text_regex=self.text_regex,
            members=self.members,
            operation=self.operation,
            first=self.first,
            nth=self.nth,
            every=self.every,
        )

    @property
    @override
    def close_code(self) -> int:
        return self.code

    @property
    @override
    def close_reason(self) -> str:
        return self.reason

    @override
    def outcome(self) -> str:
        sentence = super().outcome()
        return f"{sentence}, with code {self.code}" if self.action == "close" else sentence

    @override
    def _more_picks(self) -> Mapping[str, str | None]:
        sender = None if self.sender == "server" else self.sender
        return {"sender": sender, "operation": self.operation}
