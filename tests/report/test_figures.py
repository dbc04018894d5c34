import pytest

from warex.analysis.differences import Delta
from warex.analysis.intervals import Rate
from warex.report import figures


def test_what_is_not_known_is_a_dash_and_never_a_zero() -> None:
    written = [
        figures.seconds(None),
        figures.mean(None),
        figures.tokens(None),
        figures.usd(None),
        figures.delta(None),
        figures.rate(None),
        figures.rate(Rate(0, 0)),
        figures.success(Rate(0, 0)),
    ]

    assert set(written) == {figures.UNKNOWN}


def test_a_rate_stands_with_its_interval() -> None:
    assert figures.success(Rate(5, 6)) == "5/6 83 % [44, 97]"


def test_a_difference_always_has_its_sign() -> None:
    assert figures.delta(Delta(0.5, 2)) == "+50"
    assert figures.delta(Delta(-1 / 3, 3)) == "-33"
    assert figures.delta(Delta(-0.001, 3)) == "+0"
    assert figures.delta(Delta(-0.42, 9, (-0.551, -0.3))) == "-42 [-55, -30]"


@pytest.mark.parametrize(
    ("value", "text"), [(0.00001, "< 0.001"), (0.0247, "0.025"), (0.5, "0.500"), (None, "—")]
)
def test_a_p_value_has_three_digits(value: float | None, text: str) -> None:
    assert figures.p(value) == text


@pytest.mark.parametrize(("amount", "text"), [(0, "$0.00"), (0.00263, "$0.0026"), (12.5, "$12.50")])
def test_cheap_trials_can_be_told_apart(amount: float, text: str) -> None:
    assert figures.usd(amount) == text
