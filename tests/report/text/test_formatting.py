import pytest

from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.paired import Delta
from warex.report.text import formatting


def test_what_is_not_known_is_a_dash_and_never_a_zero() -> None:
    written = [
        formatting.usd(None),
        formatting.delta(None),
        formatting.fraction(None),
        formatting.fraction(Rate(0, 0)),
        formatting.rate_percent(Rate(0, 0)),
    ]

    assert set(written) == {formatting.UNKNOWN}


def test_a_rate_is_shown_with_its_interval() -> None:
    assert formatting.rate_percent(Rate(5, 6)) == "5/6 83 % [36, 100]"


def test_a_difference_always_has_its_sign() -> None:
    assert formatting.delta(Delta(0.5, 2)) == "+50"
    assert formatting.delta(Delta(-1 / 3, 3)) == "-33"
    assert formatting.delta(Delta(-0.001, 3)) == "+0"
    assert formatting.delta(Delta(-0.42, 9, (-0.551, -0.3))) == "-42 [-55, -30]"


@pytest.mark.parametrize(
    ("value", "text"), [(0.00001, "< 0.001"), (0.0247, "0.025"), (0.5, "0.500"), (None, "—")]
)
def test_a_p_value_has_three_digits(value: float | None, text: str) -> None:
    assert formatting.p(value) == text


@pytest.mark.parametrize(("amount", "text"), [(0, "$0.00"), (0.00263, "$0.0026"), (12.5, "$12.50")])
def test_cheap_trials_can_be_distinguished(amount: float, text: str) -> None:
    assert formatting.usd(amount) == text
