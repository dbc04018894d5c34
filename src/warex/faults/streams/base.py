"""The base class of faults that change single messages of a channel."""

from abc import abstractmethod
from collections.abc import Mapping
from math import inf
from typing import Annotated, ClassVar, Final, Literal, Self, override

from pydantic import (
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from warex.effects import ChangeMessages, Effect, Reply
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, ErrorStatus, Fault, FaultState
from warex.faults.field_types import Count, OneOrMore
from warex.faults.lies.base import CORRUPTED, CorruptedKind, Corruption, Pointer
from warex.rewriting.json_body.edit import JsonEdit
from warex.rewriting.message_selection import MessageSelection
from warex.seeds import KeyedRng
from warex.text.english import listing
from warex.text.regex import Regex

type Action = Literal[
    "refuse", "close", "reset", "delay", "drop", "duplicate", "reorder", "corrupt", "stall"
]
type Glob = Annotated[str, Field(min_length=1, max_length=1000)]

USUAL_DELAY: Final = 3.0
"""Seconds of a delay whose length is not given."""
_OF_ACTIONS: Final[Mapping[str, tuple[Action, ...]]] = {
    "status": ("refuse",),
    "code": ("close",),
    "reason": ("close",),
    "seconds": ("delay", "stall"),
    **dict.fromkeys(("how", "at", "value", "count"), ("corrupt",)),
}
"""The parameters that only some actions have."""
_OF_MESSAGES: Final = (
    *("sender", "text", "text_regex", "members", "event", "operation"),
    *("first", "nth", "every"),
)
"""The parameters that say which messages are hit."""
_NUMBERS: Final = ("first", "nth", "every")


class MessageFault(Fault, frozen=True):
    """A fault of single messages, by their content and their numbers among those that fit."""

    carrier: ClassVar[Literal["websocket", "events"]]
    one: ClassVar[str]
    """What a message is called."""

    action: Action = Field(default="close", description="What is done.")
    text: Glob | None = Field(default=None, description="A glob over the whole text.")
    text_regex: Glob | None = Field(
        default=None, description="A regular expression, searched in the text."
    )
    members: Mapping[Pointer, StrictStr | StrictBool | StrictInt | StrictFloat | None] = Field(
        default={},
        description="Values at JSON pointers (RFC 6901), as {/type: price}; a text is a glob.",
    )
    first: Count | None = Field(default=None, description="The first k that fit.")
    nth: OneOrMore[Count] | None = Field(
        default=None, description="Exactly these of those that fit, from 1."
    )
    every: Count | None = Field(default=None, description="Every k-th that fits.")
    seconds: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False, strict=True)] | None = (
        Field(
            default=None,
            description="How long a delay is, left out: 3; or a stall, left out: to the end.",
        )
    )
    how: Corruption = Field(default="off_by_one", description="What becomes of a value.")
    at: Pointer | None = Field(default=None, description="A JSON pointer to the value.")
    value: CorruptedKind | None = Field(
        default=None, description="What kind of value, wherever it stands; left out: price."
    )
    count: Annotated[int, Field(ge=1, le=1000, strict=True)] = Field(
        default=1, description="How many values of the kind."
    )
    status: ErrorStatus = Field(default=503, description="What a refusal answers.")

    @field_validator("text_regex")
    @classmethod
    def _regex_compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            Regex(pattern)
        return pattern

    @model_validator(mode="after")
    def _fits_action(self) -> Self:
        # A fault that was written down has all of them.
        fields = type(self).model_fields.items()
        non_default = [name for name, field in fields if getattr(self, name) != field.default]
        for name in non_default:
            actions = _OF_ACTIONS.get(name, (self.action,))
            if self.action not in actions:
                which = listing(actions, "or")
                raise ValueError(
                    f"{name} belongs to action {which}, and the action is {self.action}; leave"
                    " one of them out"
                )
            if self.action == "refuse" and name in _OF_MESSAGES:
                raise ValueError(
                    f"{name} says which {self.one}s are hit, and action refuse lets none come;"
                    " leave one of them out"
                )
        numbers = [name for name in non_default if name in _NUMBERS]
        if len(numbers) > 1:
            raise ValueError(f"{listing(numbers)} exclude each other; give one")
        if self.text is not None and self.text_regex is not None:
            raise ValueError("text and text_regex exclude each other; give one")
        if self.at is not None and self.value is not None:
            raise ValueError(
                f"the pointer {self.at!r} says which value it is; leave out at or value"
            )
        return self

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Refuse the channel, or change its messages once it is open."""
        return (self._refusal() if self.action == "refuse" else self._change(rng),), state

    def _refusal(self) -> Effect:
        return Reply(self.status, {"cache-control": "no-store"})

    def _change(self, rng: KeyedRng) -> Effect:
        assert self.action != "refuse"
        edit = None
        if self.action == "corrupt":
            kind = self.value or ("price" if self.at is None else None)
            edit = JsonEdit(self.how, rng, self.at, kind, self.count)
        return ChangeMessages(
            carrier=self.carrier,
            action=self.action,
            selection=self.selection(),
            seconds=self._seconds,
            edit=edit,
            code=self.close_code,
            reason=self.close_reason,
        )

    @abstractmethod
    def selection(self) -> MessageSelection:
        """Return which messages are hit."""

    @property
    def close_code(self) -> int:
        """The code of a WebSocket's Close frame."""
        return 0

    @property
    def close_reason(self) -> str:
        """The reason in a WebSocket's Close frame."""
        return ""

    @property
    def _seconds(self) -> float:
        if self.action == "delay":
            return USUAL_DELAY if self.seconds is None else self.seconds
        return inf if self.seconds is None else self.seconds

    @property
    @override
    def is_endless(self) -> bool:
        return self.action == "stall" and self.seconds is None

    @property
    @override
    def only_late(self) -> bool:
        is_late = self.action in ("delay", "duplicate", "reorder", "stall")
        return is_late and not self.is_endless

    @override
    def with_hold_at_most(self, seconds: float) -> Self:
        if self.action not in ("delay", "stall"):
            return self
        return self.model_copy(update={"seconds": min(self._seconds, seconds)})

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "" if self.action == "refuse" else f"changes single {self.one}s"

    @override
    def outcome(self) -> str:
        if self.action == "refuse":
            return f"refused with {self.status}"
        which = self._describe_selection()
        match self.action:
            case "close":
                return f"ended in good order in place of {which}"
            case "reset":
                return f"reset in place of {which}"
            case "delay":
                return f"slowed down: {which} comes {self._seconds:g} s late"
            case "drop":
                return f"robbed of {which}"
            case "duplicate":
                return f"made to repeat {which}"
            case "reorder":
                return f"put out of order: {which} comes after the next one"
            case "corrupt":
                value = f"the value at {self.at!r}" if self.at else f"a {self.value or 'price'}"
                return f"damaged: in {which} {value} is {CORRUPTED[self.how]}"
            case "stall":
                lasts = "" if self.seconds is None else f" for {self.seconds:g} s"
                return f"silent{lasts} from {which} on"

    def _describe_selection(self) -> str:
        picks = {
            "text": self.text,
            "text_regex": self.text_regex,
            "members": dict(self.members) or None,
            **self._more_picks(),
        }
        fit = [f"{name} {value!r}" for name, value in picks.items() if value is not None]
        such = f" with {listing(fit)}" if fit else ""
        if self.action in ("close", "reset", "stall"):
            number = self.every or (min(self.nth) if self.nth else 1)
            return f"{self.one} {number}{such}"
        if self.first is not None:
            return f"each of the first {self.first} {self.one}s{such}"
        if self.nth is not None:
            return f"{self.one} {listing(map(str, self.nth))}{such}"
        return (
            f"each {self.one}{such}"
            if self.every is None
            else (f"{self.one} {self.every} of every {self.every}{such}")
        )

    def _more_picks(self) -> Mapping[str, str | None]:
        return {}
