from decimal import Decimal

import pytest

from warex.rewriting.json_body.money import read_money


@pytest.mark.parametrize(
    ("text", "value", "more"),
    [
        ("$24.00", "24.00", "$36.90"),
        ("1.234,50 \u20ac", "1234.50", "1.247,40 \u20ac"),
        ("1,234.50", "1234.50", "1,247.40"),
        ("1 234,50 z\u0142", "1234.50", "1 247,40 z\u0142"),
        ("CHF 1'234.50", "1234.50", "CHF 1'247.40"),
        ("12,90", "12.90", "25,80"),
        ("$995.00", "995.00", "$1,007.90"),
    ],
)
def test_an_amount_is_read_and_another_written_in_the_same_way(
    text: str, value: str, more: str
) -> None:
    money = read_money(text, is_text=True)

    assert money is not None
    assert money.value == Decimal(value)
    assert money.written(money.value) == text
    assert money.written(money.value + Decimal("12.90")) == more


def test_an_amount_without_decimals_is_in_whole_units() -> None:
    money = read_money("\u00a51,200", is_text=True)

    assert money is not None
    assert money.written(money.value + 1290) == "\u00a52,490"


@pytest.mark.parametrize("text", ["", "Kettle", "2 x $3.00", "2026-01-02", "x" * 50 + "1"])
def test_only_a_single_amount_is_money(text: str) -> None:
    assert read_money(text, is_text=True) is None


def test_a_number_has_as_many_places_as_it_needs() -> None:
    money = read_money("129.9", is_text=False)

    assert money is not None
    assert money.written(Decimal("12.90")) == "12.9"
    assert money.written(Decimal("12.95")) == "12.95"
