"""Base classes and helpers of lies."""

import json
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, override

from pydantic import AfterValidator, Field, JsonValue

from warex.effects import Reply, Rewrite
from warex.exchange import Exchange, Request, Resource
from warex.faults.base import EffectsAndState, Fault, FaultState
from warex.rewriting.json_body.edit import JsonEdit
from warex.rewriting.json_body.spans import parse_pointer
from warex.rewriting.json_body.value_changes import ValueChangeKind
from warex.seeds import KeyedRng


def _is_pointer(pointer: str) -> str:
    parse_pointer(pointer)
    return pointer


type Pointer = Annotated[str, Field(max_length=1000), AfterValidator(_is_pointer)]
"""A JSON pointer (RFC 6901)."""


type Corruption = Literal[
    "off_by_one", "nulled", "other_type", "removed", "truncated", "swapped", "other_unit"
]
"""What becomes of a value in JSON."""
type CorruptedKind = Literal["price", "date", "name", "number", "text", "flag"]
"""What kind of value it is."""

CORRUPTED: Final[Mapping[Corruption, str]] = {
    "off_by_one": "one off",
    "nulled": "null",
    "other_type": "of another type",
    "removed": "missing",
    "truncated": "cut short",
    "swapped": "the value of another record",
    "other_unit": "in another currency or unit",
}
"""What becomes of a value, in words."""


class JsonLie(Fault, frozen=True):
    """A lie in the data that a page's scripts request."""

    category: ClassVar = "lie"
    default_resource: ClassVar[tuple[Resource, ...]] = ("xhr",)

    stage: Literal["response"] = "response"

    @override
    def explain(self) -> str:
        return f"is handled by the site, and answered with JSON in which {self.outcome()}"


class ListLie(JsonLie, frozen=True):
    """A JSON list without some items; counts beside it are changed to agree."""

    how: ClassVar[ValueChangeKind]
    """The change to the list."""
    list_phrase: ClassVar[str]
    """The change in words; ``{}`` stands for the list."""

    at: Pointer | None = Field(
        default=None,
        description="A JSON pointer (RFC 6901) to the list; left out, the longest outermost one.",
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Remove the items from the site's answer."""
        return (Rewrite(JsonEdit(self.how, rng, self.at)),), state

    @override
    def outcome(self) -> str:
        which = "the longest list" if self.at is None else f"the list at {self.at!r}"
        return self.list_phrase.format(which)


def json_reply(request: Request, status: int, value: JsonValue, *, echoes: bool = False) -> Reply:
    """Return a JSON reply that pages of other origins may read, too (CORS)."""
    headers = {"content-type": "application/json; charset=utf-8", "cache-control": "no-store"}
    if origin := request.headers.get("origin"):
        headers |= {
            "access-control-allow-origin": origin,
            "access-control-allow-credentials": "true",
            "vary": "Origin",
        }
    return Reply(status, headers, json.dumps(value).encode(), echo_json=echoes)
