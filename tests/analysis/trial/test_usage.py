from pathlib import Path

import pytest

from tests.analysis.builders import Story
from warex.analysis.trial.usage import LlmUsage, llm_usage
from warex.llm.prices.table import built_in_prices
from warex.traces.reader import read_trace


def _use(story: Story, tmp_path: Path) -> LlmUsage:
    trace = read_trace(story.write(tmp_path / "events.jsonl"))
    return llm_usage(trace.entries, built_in_prices())


def test_a_price_is_the_sum_of_its_arithmetic(tmp_path: Path) -> None:
    use = _use(Story().thinks(1, "goto", (1500, 20), cached=500), tmp_path)

    # gpt-4o: 2.5 in, 1.25 cached, 10 out, USD per million.
    assert use.cost_usd == pytest.approx((1000 * 2.5 + 500 * 1.25 + 20 * 10) / 1e6)
    assert use.calls[0].arithmetic == (
        "(1000 in at $2.5 + 500 cached at $1.25 + 20 out at $10) / 1,000,000 = $0.003325,"
        " as if gpt-4o"
    )
    assert use.as_if == {"scripted:patient": "gpt-4o"}


def test_a_repeated_call_is_a_call_but_no_step(tmp_path: Path) -> None:
    use = _use(Story().thinks(1, None).thinks(1, "goto").thinks(2, "click"), tmp_path)

    assert (len(use.calls), use.steps) == (3, 2)


def test_one_model_without_a_price_leaves_the_whole_cost_open(tmp_path: Path) -> None:
    use = _use(Story().thinks(1, "goto").thinks(2, "goto", model="house-model"), tmp_path)

    assert use.cost_usd is None
    assert use.unpriced == ("house-model",)


def test_a_call_that_generated_nothing_costs_nothing(tmp_path: Path) -> None:
    use = _use(Story().thinks(1, None, tokens=None, model="house-model"), tmp_path)

    assert (use.cost_usd, use.input_tokens) == (0.0, 0)


def test_a_replayed_answer_is_reported_at_its_price_but_not_paid_again(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto", (1000, 10), original=3.0).thinks(2, "click", (2000, 30))
    use = _use(story, tmp_path)

    first, second = (1000 * 2.5 + 10 * 10) / 1e6, (2000 * 2.5 + 30 * 10) / 1e6
    assert use.cost_usd == pytest.approx(first + second)
    assert use.paid_usd == pytest.approx(second)
    assert use.replayed == 1
    # It took half a second here, and three when the model gave it.
    assert use.saved_s == pytest.approx(2.5)
    assert [call.original_latency_s for call in use.calls] == [3.0, None]


def test_token_speed_counts_only_streamed_answers_that_are_not_replayed(
    tmp_path: Path,
) -> None:
    full = Story().thinks(1, "goto", (1000, 90)).thinks(2, "goto", original=3.0, stream=True)
    both = Story().thinks(1, "goto", (1000, 90)).thinks(2, "click", (1000, 20), stream=True)

    silent, use = _use(full, tmp_path / "silent"), _use(both, tmp_path)

    assert (silent.first_token_s, silent.tokens_per_s) == (None, None)
    # Twenty tokens between 0.4 and 0.5 s.
    assert use.first_token_s == pytest.approx(0.4)
    assert use.tokens_per_s == pytest.approx(200)
    assert [call.first_token_s for call in use.calls] == [None, 0.4]


def test_only_calls_that_were_not_replayed_need_a_price_for_paid_cost(
    tmp_path: Path,
) -> None:
    replayed = Story().thinks(1, "goto", model="house-model", original=3.0).thinks(2, "goto")
    use = _use(replayed, tmp_path)

    assert use.cost_usd is None
    assert use.paid_usd == pytest.approx((1000 * 2.5 + 10 * 10) / 1e6)
    asked = _use(Story().thinks(1, "goto", model="house-model"), tmp_path / "asked")
    assert asked.paid_usd is None


def test_what_was_put_into_a_cache_costs_its_own_price(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto", (1500, 20), model="claude-opus-4-5", cached=500, put=900)
    use = _use(story, tmp_path)

    assert use.cache_write_tokens == 900
    assert use.cost_usd == pytest.approx((100 * 5 + 500 * 0.5 + 900 * 6.25 + 20 * 25) / 1e6)
    assert use.calls[0].arithmetic == (
        "(100 in at $5 + 500 cached at $0.5 + 900 written to the cache at $6.25 + 20 out at $25)"
        " / 1,000,000 = $0.006875"
    )
