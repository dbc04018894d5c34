from math import inf

import pytest
from pydantic import ValidationError

from tests.faults.calls import CALLS
from warex.effects import CutStream, Delay, Effect, StallStream
from warex.faults.llm.llm_stall import LlmStall
from warex.llm.base import StreamPoint
from warex.seeds import KeyedRng


def of(fault: LlmStall) -> tuple[Effect, ...]:
    return fault.effects(CALLS[0], {}, KeyedRng(1, "r"))[0]


def test_a_stream_falls_silent_after_its_first_events_and_goes_on() -> None:
    assert of(LlmStall()) == (StallStream(StreamPoint(events=4), 60.0),)
    assert of(LlmStall(after_tokens=9, stall=2.0, delay=1.0)) == (
        Delay(1.0),
        StallStream(StreamPoint(tokens=9), 2.0),
    )


@pytest.mark.parametrize("then", ["close", "reset"])
def test_the_connection_may_end_after_the_silence(then: str) -> None:
    point = StreamPoint(events=2)
    fault = LlmStall.model_validate({"after_events": 2, "then": then})

    assert of(fault) == (CutStream(point, then, 60.0),)  # type: ignore[arg-type]


def test_a_silence_without_an_end_waits_for_the_client() -> None:
    fault = LlmStall(then="never")

    assert of(fault) == (CutStream(StreamPoint(events=4), "close", inf),)
    assert fault.is_endless
    assert not LlmStall().is_endless
    assert fault.explain().endswith("left silent for good")


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({"stall": 0}, "not silence"),
        ({"stall": float("inf")}, "stall"),
        ({"stall": 5, "then": "never"}, "do not go together"),
        ({"stall": None}, "do not go together"),
        ({"after_events": 0}, "after_events"),
        ({"after_tokens": 1.5}, "after_tokens"),
        ({"after_events": 1, "after_tokens": 1}, "two places; give one"),
        ({"stage": "request"}, "stage"),
    ],
)
def test_an_invalid_silence_or_place_is_refused(values: dict[str, object], where: str) -> None:
    with pytest.raises(ValidationError, match=where):
        LlmStall.model_validate(values)


def test_a_fault_from_a_trace_is_the_same_fault() -> None:
    for fault in (LlmStall(then="never"), LlmStall(after_tokens=3, stall=1)):
        assert LlmStall.model_validate(fault.model_dump(mode="json")) == fault
