import pytest

from tests.faults.calls import CALLS
from warex.effects import Delay, Reply
from warex.exchange import Exchange, Request
from warex.faults.llm.llm_empty import LlmEmpty
from warex.seeds import KeyedRng


def test_a_call_may_be_held_first() -> None:
    effects, _ = LlmEmpty(delay=2.0).effects(CALLS[0], {}, KeyedRng(1, "r"))

    assert effects[0] == Delay(2.0)
    assert len(effects) == 2


def test_what_is_not_a_call_is_judged_as_an_example_of_one() -> None:
    page = Exchange("x1", Request("GET", "https://shop.test/"))

    (reply,), _ = LlmEmpty().effects(page, {}, KeyedRng(1, "r"))

    assert isinstance(reply, Reply)
    assert reply.headers["content-type"] == "application/json"


@pytest.mark.parametrize("stage", ["request", "response"])
def test_explanations_name_the_model_instead_of_the_site(stage: str) -> None:
    words = LlmEmpty.model_validate({"stage": stage}).explain()

    assert "the site" not in words
    assert ("handled by the model" in words) == (stage == "response")
