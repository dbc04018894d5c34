"""Types of fields that faults and rules share."""

from typing import Annotated

from msgspec import Struct
from pydantic import BeforeValidator, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


def _as_tuple(value: object) -> object:
    return (value,) if isinstance(value, str | int) and not isinstance(value, bool) else value


class _OrOne(Struct, frozen=True):
    """Says in the JSON Schema that one value may stand for a list of one."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core)
        return {"anyOf": [schema["items"], schema]}


type OneOrMore[T] = Annotated[
    tuple[T, ...], Field(min_length=1), BeforeValidator(_as_tuple), _OrOne()
]
type Count = Annotated[int, Field(ge=1, strict=True)]
