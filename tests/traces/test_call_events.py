"""What an event of a call says beside its fields."""

from typing import Any

import pytest

from warex.traces.call_events import LlmCall


def call(**changes: Any) -> LlmCall:
    fields: dict[str, Any] = {
        "exchange": "x5",
        "family": "openai_chat",
        "url": "https://model.test/v1/chat/completions",
        "model": "m",
        "step": 1,
        "began": 0.0,
        "messages": [],
        "stream": True,
        "status": 200,
        "answer": "Done",
        "input_tokens": 10,
        "output_tokens": 20,
        "usage": "reported",
        "latency_s": 3.0,
        "first_token_s": 1.0,
        "complete": True,
    }
    return LlmCall(**fields | changes)


def test_a_call_over_a_websocket_names_the_exchange_that_carried_it() -> None:
    assert (call().carrier, call(exchange="x5/2").carrier) == ("x5", "x5")


@pytest.mark.parametrize(
    ("changes", "speed"),
    [
        ({}, 10.0),
        ({"stream": False}, None),
        ({"complete": False}, None),
        ({"replayed": True}, None),
        ({"first_token_s": None}, None),
        ({"output_tokens": 0}, None),
    ],
)
def test_only_a_new_and_complete_stream_has_a_speed(
    changes: dict[str, Any], speed: float | None
) -> None:
    assert call(**changes).tokens_per_s == speed


def test_a_replayed_answer_saves_what_it_took_at_first() -> None:
    assert call().saved_s == 0
    assert call(replayed=True, original_latency_s=5.0).saved_s == 2


def test_a_call_that_generated_nothing_has_no_usage() -> None:
    assert call(input_tokens=None, output_tokens=None).tokens is None
    usage = call(cached_tokens=4, output_tokens=None).tokens
    assert usage is not None
    assert (usage.input_total, usage.cache_read, usage.output_total) == (10, 4, 0)
