import pytest
from pydantic import ValidationError

from warex.llm import Usage
from warex.llm.prices import Cost, Price, PriceTable, built_in_prices, cost

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


def test_prices_of_ones_own_go_before_those_of_the_table() -> None:
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
