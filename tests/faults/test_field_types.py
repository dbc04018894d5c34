from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from warex.faults.field_types import Count, OneOrMore

NUMBERS: TypeAdapter[Any] = TypeAdapter(OneOrMore[Count])


def test_one_value_is_a_list_of_one() -> None:
    assert NUMBERS.validate_python(3) == NUMBERS.validate_python([3]) == (3,)
    number, listed = NUMBERS.json_schema()["anyOf"]
    assert (number, listed["minItems"]) == (listed["items"], 1)


@pytest.mark.parametrize("value", [[], 0, True, "3", [1, 0], None])
def test_what_is_not_a_count_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        NUMBERS.validate_python(value)
