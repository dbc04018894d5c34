import pytest
from pydantic import ValidationError

from tests.faults.calls import CALLS
from warex.effects import Delay, Trickle
from warex.faults.llm.llm_slow import LlmSlow
from warex.seeds import KeyedRng


def test_the_first_piece_is_late_and_the_others_are_apart() -> None:
    effects, _ = LlmSlow(delay=2.0, pause=0.5).effects(CALLS[0], {}, KeyedRng(1, "r"))

    assert effects == (Delay(2.0), Trickle(0.5))


def test_a_fault_without_effect_is_refused() -> None:
    with pytest.raises(ValidationError, match="do nothing"):
        LlmSlow(delay=0.0)
