"""What the lies in JSON have in common."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from warex.exchange import Resource
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
