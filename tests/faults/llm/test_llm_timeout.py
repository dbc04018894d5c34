from tests.faults.calls import CALLS
from warex.effects import Cut, Delay
from warex.faults.llm.llm_timeout import LlmTimeout
from warex.seeds import KeyedRng


def test_a_call_is_held_and_then_cut_off() -> None:
    effects, _ = LlmTimeout(delay=60.0).effects(CALLS[0], {}, KeyedRng(1, "r"))

    assert effects == (Delay(60.0), Cut("close"))
