import pytest
from pydantic import ValidationError

from tests.faults.calls import CALLS
from warex.effects import EndStreamInError
from warex.faults.llm.llm_error_event import LlmErrorEvent
from warex.llm.base import StreamPoint
from warex.seeds import KeyedRng


def test_the_models_own_stream_ends_in_an_error() -> None:
    fault = LlmErrorEvent(after_tokens=5, error="rate_limited")

    effects, _ = fault.effects(CALLS[0], {}, KeyedRng(1, "r"))

    assert effects == (EndStreamInError(StreamPoint(tokens=5), "rate_limited"),)


def test_what_an_api_says_only_before_its_stream_is_refused() -> None:
    with pytest.raises(ValidationError, match="overloaded"):
        LlmErrorEvent.model_validate({"error": "invalid_key"})
