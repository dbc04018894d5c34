"""What lies have in common."""

import json
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, JsonValue

from warex.effects import Reply
from warex.exchange import Request, Resource
from warex.faults.base import Fault
from warex.rewriting.json_values import steps_of


def _is_pointer(pointer: str) -> str:
    steps_of(pointer)
    return pointer


type Pointer = Annotated[str, Field(max_length=1000), AfterValidator(_is_pointer)]
"""A JSON pointer (RFC 6901)."""


class JsonLie(Fault, frozen=True):
    """A lie in the data that a page's scripts ask for."""

    default_resource: ClassVar[tuple[Resource, ...]] = ("xhr",)

    stage: Literal["response"] = "response"


def json_reply(request: Request, status: int, value: JsonValue, *, echoes: bool = False) -> Reply:
    """Return an answer in JSON that a page of another origin may read, too (CORS)."""
    headers = {"content-type": "application/json; charset=utf-8", "cache-control": "no-store"}
    if origin := request.headers.get("origin"):
        headers |= {
            "access-control-allow-origin": origin,
            "access-control-allow-credentials": "true",
            "vary": "Origin",
        }
    return Reply(status, headers, json.dumps(value).encode(), echoes=echoes)
