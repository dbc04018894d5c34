"""What an intensity makes of a scenario's faults."""

from typing import Any

import pytest

from warex.errors import ScenarioError
from warex.scenarios import Scenario
from warex.scenarios.intensity import scaled


def with_fault(**fault: Any) -> Scenario:
    rule = {"name": "r", "trigger": {"first": 1}, "fault": fault}
    return Scenario.model_validate({"name": "s", "rules": [rule]})


@pytest.mark.parametrize(
    ("fault", "size", "expected"),
    [
        ({"kind": "network_error"}, "delay", 25.0),
        ({"kind": "javascript_failure", "delay": 2}, "delay", 5.0),
        ({"kind": "http_error", "status": 503, "delay": 4}, "delay", 10.0),
        ({"kind": "connection_cut", "delay": 1}, "delay", 2.5),
        ({"kind": "dns_failure"}, "hold", 7.5),
    ],
)
def test_intensity_multiplies_the_size_and_nothing_else(
    fault: dict[str, Any], size: str, expected: float
) -> None:
    scenario = with_fault(**fault)

    harder = scaled(scenario, 2.5)

    assert getattr(harder.rules[0].fault, size) == expected
    assert scaled(harder, 0.4) == scenario


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (
            {"kind": "http_error"},
            "its rule 'r' cannot hit 2 times as hard: the size of http_error is its delay, which"
            " is 0",
        ),
        (
            {"kind": "network_error", "delay": 3000},
            "its delay would be 6000: Input should be less than or equal to 3600",
        ),
    ],
)
def test_what_cannot_be_larger_is_a_sentence(fault: dict[str, Any], says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scaled(with_fault(**fault), 2)

    assert says in str(caught.value)


def test_a_fault_without_size_may_have_intensity_one() -> None:
    assert scaled(with_fault(kind="http_error"), 1) == with_fault(kind="http_error")
