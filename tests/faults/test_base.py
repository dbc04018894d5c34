import math

import pytest
from pydantic import TypeAdapter, ValidationError

from warex.faults.base import Seconds

SECONDS: TypeAdapter[float] = TypeAdapter(Seconds)


@pytest.mark.parametrize("value", [-0.1, 3600.1, math.nan, math.inf, True, "10"])
def test_a_hold_is_a_finite_number_of_seconds_within_an_hour(value: object) -> None:
    with pytest.raises(ValidationError):
        SECONDS.validate_python(value)


@pytest.mark.parametrize("value", [0, 0.5, 3600])
def test_a_hold_may_be_anything_within_an_hour(value: float) -> None:
    assert SECONDS.validate_python(value) == value
