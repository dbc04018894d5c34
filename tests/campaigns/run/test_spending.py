"""What a trial has cost is read out of its trace, also out of one that was cut off."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from warex.campaigns.run.spending import Spending, attempt_spending
from warex.clock import Clock
from warex.llm.prices.table import Price, PriceTable
from warex.traces import LlmCall, TraceWriter

PRICES = PriceTable.model_validate(
    {
        "date": "2025-01-01",
        "models": {"m": Price(input=1.0, output=10.0).model_dump()},
    }
)


def call(**more: Any) -> LlmCall:
    fields = {
        "exchange": "x1",
        "family": "openai_chat",
        "url": "https://llm.example/v1/chat/completions",
        "model": "m",
        "step": 1,
        "began": 0.0,
        "messages": [{"role": "user", "content": '"llm_call"'}],
        "stream": False,
        "status": 200,
        "answer": "click",
        "input_tokens": 1_000_000,
        "output_tokens": 100_000,
        "usage": "reported",
        "latency_s": 1.0,
        "first_token_s": 0.5,
        "complete": True,
    }
    return msgspec.convert(fields | more, LlmCall)


def trace(folder: Path, *calls: LlmCall) -> Path:
    with TraceWriter(folder / "events.jsonl", Clock()) as writer:
        for each in calls:
            writer.write(each)
    return folder


def test_money_and_tokens_of_all_calls_are_summed(tmp_path: Path) -> None:
    assert attempt_spending(trace(tmp_path, call(), call()), PRICES) == Spending(4.0, 2_200_000)


def test_a_call_that_generated_nothing_cost_nothing(tmp_path: Path) -> None:
    nothing = call(input_tokens=None, output_tokens=None, status=500, usage="none", model="other")

    assert attempt_spending(trace(tmp_path, nothing), PRICES) == Spending()


def test_an_answer_out_of_the_cache_costs_nothing_again(tmp_path: Path) -> None:
    again = call(replayed=True, original_latency_s=1.0)

    assert attempt_spending(trace(tmp_path, call(), again), PRICES) == Spending(2.0, 1_100_000)


def test_a_model_without_a_price_is_named(tmp_path: Path) -> None:
    spent = attempt_spending(trace(tmp_path, call(model="mine")), PRICES)

    assert spent == Spending(0.0, 1_100_000, frozenset({"mine"}))


@pytest.mark.parametrize("tail", [b'{"event": "llm_call", "mod', b'"llm_call"\n[1]\n', b"\xff\n"])
def test_a_cut_trace_counts_what_it_has(tmp_path: Path, tail: bytes) -> None:
    trace(tmp_path, call())
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(tail)

    assert attempt_spending(tmp_path, PRICES) == Spending(2.0, 1_100_000)


def test_without_a_trace_nothing_is_known(tmp_path: Path) -> None:
    assert attempt_spending(tmp_path, PRICES) == Spending()


def test_tokens_out_of_a_cache_and_into_one_cost_their_own_prices(tmp_path: Path) -> None:
    price = Price(input=1.0, output=10.0, cache_read=0.1, cache_write=1.5)
    prices = PriceTable.model_validate({"date": "2025-01-01", "models": {"m": price.model_dump()}})
    folder = trace(tmp_path, call(cached_tokens=500_000, cache_write_tokens=200_000))

    assert attempt_spending(folder, prices).usd == pytest.approx(0.3 + 0.05 + 0.3 + 1.0)
