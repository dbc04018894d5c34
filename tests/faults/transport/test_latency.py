from statistics import fmean, median, pstdev
from typing import Any

import pytest
from pydantic import ValidationError

from warex.effects import Delay
from warex.exchange import Exchange, Request
from warex.faults.base import FaultState
from warex.faults.transport.latency import Latency
from warex.seeds import KeyedRng

RNG = KeyedRng(1, "rule")


def delays(fault: Latency, urls: list[str], rng: KeyedRng = RNG) -> list[float]:
    state: FaultState = {}
    drawn = []
    for url in urls:
        (effect,), state = fault.effects(Exchange("1", Request("GET", url)), state, rng)
        assert isinstance(effect, Delay)
        drawn.append(effect.seconds)
    return drawn


SAME = ["https://shop.test/"] * 4000


def test_each_distribution_has_the_middle_and_the_width_that_it_says() -> None:
    uniform = delays(Latency(distribution="uniform", delay=2, jitter=1), SAME)
    normal = delays(Latency(distribution="normal", delay=2, jitter=0.3), SAME)
    lognormal = delays(Latency(distribution="lognormal", delay=2, sigma=0.5), SAME)
    pareto = delays(Latency(distribution="pareto", delay=2, alpha=3), SAME)

    assert 1 <= min(uniform) < 1.02
    assert 2.98 < max(uniform) <= 3
    assert (fmean(normal), pstdev(normal)) == pytest.approx((2, 0.3), rel=0.03)
    assert median(lognormal) == pytest.approx(2, rel=0.05)
    assert 2 <= min(pareto) < 2.01
    assert fmean(pareto) == pytest.approx(3, rel=0.1)


def test_a_delay_depends_on_request_and_number_but_not_on_order() -> None:
    fault = Latency(distribution="lognormal")
    urls = [f"https://shop.test/{number % 10}" for number in range(30)]
    drawn = dict[str, list[float]]()
    for order in (urls, urls[::-1]):
        by_url = dict[str, list[float]]()
        for url, seconds in zip(order, delays(fault, order), strict=True):
            by_url.setdefault(url, []).append(seconds)
        assert drawn in ({}, by_url)
        drawn = by_url
    assert len({seconds for each in drawn.values() for seconds in each}) == 30
    assert delays(fault, urls, KeyedRng(2, "rule")) != delays(fault, urls)


def test_remembered_requests_are_bounded() -> None:
    fault = Latency(distribution="normal")
    state: FaultState = {}
    for number in range(1000):
        asked = Exchange("1", Request("GET", f"https://a.test/{number}"))
        _, state = fault.effects(asked, state, RNG)
    known = state["requests"]
    assert isinstance(known, dict)
    assert len(known) == 256


def test_no_delay_is_negative_or_longer_than_it_may_be() -> None:
    drawn = delays(Latency(distribution="normal", delay=0.1, jitter=5, at_most=3), SAME)
    assert (min(drawn), max(drawn)) == (0, 3)


def test_latency_per_connection_delays_only_the_first_exchange() -> None:
    page = Request("GET", "https://shop.test/")
    first, later = Exchange("1", page), Exchange("2", page, begins_connection=False)
    fault = Latency(scope="connection")
    assert (fault.spares(first, {}), fault.spares(later, {})) == (False, True)
    assert not Latency().spares(later, {})


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"jitter": 1}, "jitter means nothing with the distribution fixed; it goes with uniform"),
        ({"distribution": "pareto", "sigma": 1}, "it goes with lognormal"),
        ({"distribution": "gamma"}, "distribution"),
        ({"distribution": "pareto", "alpha": 0}, "alpha"),
        ({"at_most": 0}, "at_most"),
    ],
)
def test_a_parameter_of_another_distribution_is_refused(value: Any, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Latency.model_validate(value)
