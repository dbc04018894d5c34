from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.llm.prices.sources import (
    A_GLOB,
    IMPOSSIBLE,
    LENGTHS,
    NO_TOKENS,
    NOTHING,
    OTHERWISE,
    merge_sources,
    read_source,
)
from warex.llm.prices.table import LongPrompt, Price, PriceTable, TierPrice

LISTED: dict[str, Any] = {
    "sample_spec": {"mode": "one of: chat", "input_cost_per_token": 0.0},
    "house-large": {
        "mode": "chat",
        "input_cost_per_token": 2e-06,
        "output_cost_per_token": 8e-06,
        "cache_read_input_token_cost": 2e-07,
        "cache_creation_input_token_cost": 2.5e-06,
        "cache_creation_input_token_cost_above_1hr": 4e-06,
        "input_cost_per_token_above_200k_tokens": 4e-06,
        "output_cost_per_token_above_200k_tokens": 1.2e-05,
        "input_cost_per_token_flex": 1e-06,
        "output_cost_per_token_flex": 4e-06,
        "input_cost_per_token_batches": 1e-06,
        "output_cost_per_token_batches": 4e-06,
        "input_cost_per_token_priority": 4e-06,
        "max_input_tokens": 400_000,
    },
    "house-ranges": {
        "mode": "chat",
        "tiered_pricing": [
            {"range": [0, 32_000.0], "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
            {
                "range": [32_000.0, 1e6],
                "input_cost_per_token": 3e-06,
                "output_cost_per_token": 6e-06,
            },
        ],
    },
    "house-embed": {"mode": "embedding", "input_cost_per_token": 1e-07},
    "house-unknown": {"mode": "chat", "input_cost_per_token": 0, "output_cost_per_token": 0},
    "house-*": {"mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06},
    "house-owing": {"mode": "chat", "input_cost_per_token": -1e-6, "output_cost_per_token": 1e-6},
    "house-gold": {"mode": "chat", "input_cost_per_token": 2.5, "output_cost_per_token": 10},
    "house-words": {"mode": "chat", "input_cost_per_token": "cheap", "output_cost_per_token": 1e-6},
    "house-seconds": {"mode": "chat", "input_cost_per_second": 1e-05},
    "house-night": {
        "mode": "chat",
        "input_cost_per_token": 1e-06,
        "output_cost_per_token": 1e-06,
        "off_peak_pricing": {},
    },
    "house-steps": {
        "mode": "chat",
        "input_cost_per_token": 1e-06,
        "output_cost_per_token": 1e-06,
        "input_cost_per_token_above_32k_tokens": 2e-06,
        "input_cost_per_token_above_128k_tokens": 4e-06,
    },
}
ROUTED: dict[str, Any] = {
    "data": [
        {
            "id": "anthropic/claude-house",
            "pricing": {
                "prompt": "0.000003",
                "completion": "0.000015",
                "input_cache_read": "0.0000003",
                "input_cache_write": "0.00000375",
                "input_cache_write_1h": "0.000006",
                "request": "0",
            },
        },
        {"id": "house/open", "pricing": {"prompt": "0.0000001", "completion": "0.0000002"}},
        {"id": "house/open:free", "pricing": {"prompt": "0", "completion": "0"}},
        {"id": "house/auto", "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "house/search", "pricing": {"prompt": "0", "completion": "0", "request": "0.005"}},
    ]
}
BASE = PriceTable.model_validate(
    {
        "date": "2025-01-31",
        "source": "WAREX",
        "models": {
            **{f"old-{n}": {"input": n, "output": 4 * n} for n in (1, 2, 3)},
            "scripted:*": {"as_if": "old-1"},
        },
    }
)
DAY = date(2026, 2, 3)


def test_litellms_prices_are_read_with_tiers_lengths_and_caches() -> None:
    read = read_source(LISTED)

    assert read.models == {
        "house-large": Price(
            input=2,
            output=8,
            cache_read=0.2,
            cache_write=2.5,
            cache_write_1h=4,
            above=LongPrompt(
                tokens=200_000, input=4, output=12, cache_read=0.2, cache_write=2.5,
                cache_write_1h=4,
            ),
            tiers={"flex": TierPrice(input=1, output=4), "batch": TierPrice(input=1, output=4)},
        ),
        "house-ranges": Price(
            input=1, output=2, above=LongPrompt(tokens=32_000, input=3, output=6)
        ),
    }  # fmt: skip


def test_impossible_prices_are_left_out_with_a_reason() -> None:
    assert read_source(LISTED).left_out == {
        "house-unknown": NOTHING,
        "house-*": A_GLOB,
        "house-owing": IMPOSSIBLE,
        "house-gold": IMPOSSIBLE,
        "house-words": IMPOSSIBLE,
        "house-seconds": NO_TOKENS,
        "house-night": OTHERWISE,
        "house-steps": LENGTHS,
    }


def test_openrouters_prices_are_read() -> None:
    read = read_source(ROUTED)

    assert read.models == {
        "anthropic/claude-house": Price(
            input=3, output=15, cache_read=0.3, cache_write=3.75, cache_write_1h=6
        ),
        "house/open": Price(input=0.1, output=0.2),
        "house/open:free": Price(input=0, output=0),
    }
    assert read.left_out == {"house/auto": IMPOSSIBLE, "house/search": OTHERWISE}


def test_the_first_collections_word_counts_and_what_none_knows_stays() -> None:
    listed: dict[str, Any] = {
        "house/open": {"input_cost_per_token": 9e-6, "output_cost_per_token": 9e-6}
    }

    table = merge_sources(BASE, [read_source(ROUTED), read_source(listed)], DAY, "two")

    assert (table.date, table.source) == (DAY, "two")
    assert table.models["house/open"] == Price(input=0.1, output=0.2)
    assert {"old-1", "old-2", "old-3", "scripted:*"} < table.models.keys()


def test_only_a_vendors_own_model_is_known_without_the_vendor() -> None:
    models = merge_sources(BASE, [read_source(ROUTED)], DAY, "one").models

    assert models["claude-house"] == models["anthropic/claude-house"]
    assert "open" not in models


@pytest.mark.parametrize("times", [1e-3, 1e3, 1e6])
def test_prices_in_another_unit_are_refused(times: float) -> None:
    listed: dict[str, Any] = {
        f"old-{n}": {"input_cost_per_token": n * times * 1e-6, "output_cost_per_token": 1e-9}
        for n in (1, 2, 3)
    }

    with pytest.raises(ValueError, match=r"another unit|no prices"):
        merge_sources(BASE, [read_source(listed)], DAY, "one")


def test_a_table_of_warexs_own_is_read() -> None:
    assert read_source(BASE.model_dump(mode="json")).models.keys() == {
        "old-1",
        "old-2",
        "old-3",
    }


@pytest.mark.parametrize(
    "data", [None, [], {}, {"data": []}, {"a": 1}, {"models": [], "date": "x"}, {"data": [1]}]
)
def test_what_is_not_a_collection_is_refused_in_words(data: Any) -> None:
    with pytest.raises(ValueError, match=r"it has no prices of models|it is not a price table"):
        read_source(data)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["data", "id", "pricing", "prompt", "completion", "m", "mode", "range",
                     "input_cost_per_token", "output_cost_per_token", "tiered_pricing",
                     "output_cost_per_token_flex", "models", "date"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=15,
    )
)  # fmt: skip
def test_every_source_is_read_or_refused(data: Any) -> None:
    try:
        read = read_source(data)
    except ValueError:
        return
    assert all(price.input >= 0 for price in read.models.values())
