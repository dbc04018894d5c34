import pytest
from pydantic import ValidationError

from warex.llm import Usage
from warex.llm.prices.table import Cost, Price, PriceTable, built_in_prices, cost

TABLE = PriceTable.model_validate(
    {
        "date": "2025-01-31",
        "models": {
            "gpt-4o": {"input": 2.5, "output": 10, "cache_read": 1.25},
            "gpt-4o-2024-05-13": {"input": 5, "output": 15},
            "claude": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75},
            "llama*": {"input": 0, "output": 0},
            "scripted:*": {"as_if": "gpt-4o"},
        },
    }
)
MILLION = Usage(input_total=1_000_000, output_total=1_000_000)


def test_cached_tokens_cost_their_own_price_and_are_not_counted_twice() -> None:
    usage = Usage(input_total=1_000_000, output_total=0, cache_read=400_000)
    assert cost("gpt-4o", usage, TABLE) == Cost(0.6 * 2.5 + 0.4 * 1.25)


def test_writing_to_a_cache_costs_its_own_price() -> None:
    usage = Usage(input_total=1_000_000, output_total=0, cache_write=1_000_000)
    assert cost("claude", usage, TABLE) == Cost(3.75)


@pytest.mark.parametrize(
    ("model", "usd"),
    [
        ("gpt-4o", 12.5),
        ("openai/gpt-4o", 12.5),
        ("gpt-4o-2024-08-06", 12.5),
        ("openai/gpt-4o-latest", 12.5),
        ("gpt-4o-2024-05-13", 20),
        ("meta/llama-3.3-70b", 0),
    ],
)
def test_names_with_provider_and_date_are_found(model: str, usd: float) -> None:
    assert cost(model, MILLION, TABLE) == Cost(usd)


@pytest.mark.parametrize("model", ["", "gpt-4o-mini", "gpt", "my-gpt-4o-finetune"])
def test_an_unknown_model_has_no_cost_rather_than_none_to_pay(model: str) -> None:
    assert cost(model, MILLION, TABLE) is None


def test_a_borrowed_price_says_whose_it_is() -> None:
    assert cost("scripted:patient", MILLION, TABLE) == Cost(12.5, as_if="gpt-4o")


def test_the_table_warex_comes_with_prices_the_scripted_model() -> None:
    priced = cost("scripted:giveup", MILLION, built_in_prices())
    assert priced is not None
    assert priced.as_if == "gpt-4o"


@pytest.mark.parametrize(
    "entry",
    [
        {"input": -1, "output": 2},
        {"input": 1},
        {"input": 1, "output": 2, "cached": 1},
        {"as_if": "nobody"},
        3,
    ],
)
def test_a_table_that_prices_wrongly_is_refused(entry: object) -> None:
    with pytest.raises(ValidationError):
        PriceTable.model_validate({"date": "2025-01-31", "models": {"m": entry}})


def test_your_own_prices_override_the_table() -> None:
    own = {
        "mine": Price(input=1, output=2),
        "gpt-4o": Price(input=0, output=1),
        "ll*": Price(input=7, output=0),
    }
    table = TABLE.with_own(own)
    costs = {
        model: cost(model, MILLION, table) for model in ("mine", "gpt-4o", "llama-3", "scripted:x")
    }
    assert costs == {
        "mine": Cost(3),
        "gpt-4o": Cost(1),
        "llama-3": Cost(7),
        "scripted:x": Cost(1, as_if="gpt-4o"),
    }
    assert cost("claude", MILLION, table) == cost("claude", MILLION, TABLE)
    assert table.date == TABLE.date


@pytest.mark.parametrize(
    ("model", "usd"),
    [
        ("gpt-4-1106-preview", 40),
        ("gpt-3.5-turbo-1106", 3),
        ("gpt-3.5-turbo-0125", 2),
        ("gpt-4-0613", 90),
        ("claude-opus-4-20250514", 90),
        ("anthropic/claude-opus-4-5-20251101", 30),
        ("gemini/gemini-2.0-flash-001", 0.5),
    ],
)
def test_a_version_is_priced_as_itself_and_not_as_its_neighbour(model: str, usd: float) -> None:
    priced = cost(model, MILLION, built_in_prices())
    assert priced is not None
    assert priced.usd == pytest.approx(usd)


@pytest.mark.parametrize(
    ("model", "prompt", "usd"),
    [
        ("gemini-2.5-pro", Usage(200_000, 1_000_000), 0.25 + 10),
        ("gemini-2.5-pro", Usage(400_000, 1_000_000, cache_read=200_000), 0.5 + 0.05 + 15),
        ("claude-sonnet-4-5", Usage(400_000, 0, cache_write=400_000), 3),
        ("gemini-2.5-flash", Usage(400_000, 0), 0.12),
    ],
)
def test_all_tokens_of_a_call_with_a_long_prompt_cost_more(
    model: str, prompt: Usage, usd: float
) -> None:
    priced = cost(model, prompt, built_in_prices())

    assert priced is not None
    assert priced.usd == pytest.approx(usd)


@pytest.mark.parametrize("tokens", [0, -1, "many"])
def test_a_limit_of_a_prompt_is_a_number_of_tokens(tokens: object) -> None:
    with pytest.raises(ValidationError):
        Price.model_validate(
            {"input": 1, "output": 1, "above": {"tokens": tokens, "input": 2, "output": 2}}
        )


TIERED = PriceTable.model_validate(
    {
        "date": "2025-01-31",
        "models": {
            "gpt-5": {
                "input": 2,
                "output": 8,
                "above": {"tokens": 200_000, "input": 4, "output": 12},
                "tiers": {
                    "flex": {"input": 1, "output": 4},
                    "priority": {
                        "input": 4,
                        "output": 16,
                        "above": {"tokens": 200_000, "input": 8, "output": 24},
                    },
                },
            }
        },
    }
)


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(100_000, 0), 0.2),
        (Usage(100_000, 0, tier="flex"), 0.1),
        (Usage(100_000, 0, tier="priority"), 0.4),
        (Usage(300_000, 0, tier="priority"), 2.4),
    ],
)
def test_a_service_tier_costs_its_own_price(usage: Usage, usd: float) -> None:
    priced = cost("gpt-5", usage, TIERED)
    assert priced is not None
    assert priced.usd == pytest.approx(usd)


@pytest.mark.parametrize("usage", [Usage(1, 1, tier="scale"), Usage(300_000, 1, tier="flex")])
def test_a_tier_whose_price_is_not_known_has_no_cost(usage: Usage) -> None:
    assert cost("gpt-5", usage, TIERED) is None


@pytest.mark.parametrize(
    ("rates", "usd"),
    [
        ({"cache_write": 3.75, "cache_write_1h": 6}, 0.6 * 3.75 + 0.4 * 6),
        ({"cache_write": 3.75}, 3.75),
        ({}, 3),
    ],
)
def test_what_is_cached_for_an_hour_costs_its_own_price(
    rates: dict[str, float], usd: float
) -> None:
    usage = Usage(1_000_000, 0, cache_write=1_000_000, cache_write_1h=400_000)
    table = PriceTable.model_validate(
        {"date": "2025-01-31", "models": {"m": {"input": 3, "output": 15, **rates}}}
    )
    priced = cost("m", usage, table)
    assert priced is not None
    assert priced.usd == pytest.approx(usd)


def test_claude_writes_to_a_cache_for_an_hour_at_twice_the_input() -> None:
    claude = {
        name: entry
        for name, entry in built_in_prices().models.items()
        if name.startswith("claude") and isinstance(entry, Price)
    }
    assert {name: price.cache_write_1h for name, price in claude.items()} == {
        name: 2 * price.input for name, price in claude.items()
    }


def test_tables_that_price_alike_have_one_digest() -> None:
    other = TABLE.model_copy(update={"source": "elsewhere"})
    dearer = TABLE.with_own({"gpt-4o": Price(input=3, output=10)})

    assert other.digest == TABLE.digest != dearer.digest
    assert PriceTable.model_validate_json(TABLE.json_bytes()) == TABLE
