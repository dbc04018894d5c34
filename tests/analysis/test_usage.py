from pathlib import Path

import pytest

from tests.analysis.builders import Story
from warex.analysis.usage import LlmUse, llm_use
from warex.llm.prices import built_in_prices
from warex.traces.reader import read_trace


def _use(story: Story, tmp_path: Path) -> LlmUse:
    trace = read_trace(story.write(tmp_path / "events.jsonl"))
    return llm_use(trace.entries, built_in_prices())


def test_a_price_is_the_sum_of_its_arithmetic(tmp_path: Path) -> None:
    use = _use(Story().thinks(1, "goto", (1500, 20), cached=500), tmp_path)

    # gpt-4o: 2.5 in, 1.25 cached, 10 out, USD per million.
    assert use.usd == pytest.approx((1000 * 2.5 + 500 * 1.25 + 20 * 10) / 1e6)
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

    assert use.usd is None
    assert use.unpriced == ("house-model",)


def test_a_call_that_generated_nothing_costs_nothing(tmp_path: Path) -> None:
    use = _use(Story().thinks(1, None, tokens=None, model="house-model"), tmp_path)

    assert (use.usd, use.input_tokens) == (0.0, 0)
