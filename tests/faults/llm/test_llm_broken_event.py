from tests.faults.calls import CALLS
from warex.effects import BreakEvent
from warex.faults.llm.llm_broken_event import LlmBrokenEvent
from warex.llm.base import StreamPoint
from warex.seeds import KeyedRng


def test_one_event_of_the_models_own_stream_is_broken() -> None:
    effects, _ = LlmBrokenEvent(after_events=2).effects(CALLS[0], {}, KeyedRng(1, "r"))

    assert effects == (BreakEvent(StreamPoint(events=2)),)


def test_the_fault_is_about_streams_only() -> None:
    assert LlmBrokenEvent().needs_stream
    assert LlmBrokenEvent().stage == "response"
