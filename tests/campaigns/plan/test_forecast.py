"""What trials may take is what like ones took, and who says so is named."""

from typing import Any

from warex.campaigns.plan.forecast import OVERHEAD_S, PastTrial, forecast
from warex.traces import TrialKey

MODELS = {"mine": "gpt", "other": "qwen"}


def seen(condition: str, latency_s: float, usd: float | None = 0.1, **more: Any) -> PastTrial:
    fields = {"run": "r1", "at": "2025-01-01", "benchmark": "b", "model": "gpt"} | more
    return PastTrial(condition=condition, latency_s=latency_s, usd=usd, **fields)


def keys(condition: str, count: int = 4, agent: str = "mine") -> list[TrialKey]:
    return [TrialKey("b", agent, condition, f"t{n}") for n in range(count)]


def test_time_is_shared_by_the_lanes_and_money_is_not() -> None:
    trials = [seen("clean", 2.0), seen("clean", 4.0, 0.3)]

    expected = forecast(keys("clean"), MODELS, trials, lanes=2)

    assert expected.seconds == 4 * (3.0 + OVERHEAD_S) / 2
    assert round(expected.usd, 9) == 4 * 0.2
    (cell,) = expected.cells.values()
    assert cell is not None
    assert (cell.run, cell.trials) == ("r1", 2)


def test_a_forecast_uses_the_condition_itself_else_clean() -> None:
    trials = [seen("clean", 2.0), seen("slow", 20.0)]

    expected = forecast([*keys("slow", 1), *keys("new", 1)], MODELS, trials, 1)

    slow, new = expected.cells["mine", "slow"], expected.cells["mine", "new"]
    assert slow is not None
    assert new is not None
    assert (slow.seconds - OVERHEAD_S, slow.condition) == (20.0, "slow")
    assert (new.seconds - OVERHEAD_S, new.condition) == (2.0, "clean")


def test_a_forecast_uses_the_newest_run() -> None:
    trials = [seen("clean", 9.0, run="r2", at="2025-02-01"), seen("clean", 2.0)]

    cell = forecast(keys("clean", 1), MODELS, trials, 1).cells["mine", "clean"]

    assert cell is not None
    assert (cell.run, cell.seconds - OVERHEAD_S) == ("r2", 9.0)


def test_scripted_models_cost_nothing_in_a_forecast() -> None:
    models = {"mine": "scripted:patient", "other": "gpt"}
    trials = [seen("clean", 2.0, 0.3, model="scripted:patient")]

    expected = forecast([*keys("clean"), *keys("clean", 1, agent="other")], models, trials, 1)

    cell = expected.cells["mine", "clean"]
    assert cell is not None
    assert (cell.usd, expected.usd) == (0.0, 0.0)
    assert (expected.free, expected.unknown) == (4, 1)


def test_a_forecast_ignores_other_models_and_benchmarks() -> None:
    trials = [seen("clean", 2.0, model="qwen"), seen("clean", 2.0, benchmark="c")]

    expected = forecast(keys("clean"), MODELS, trials, 1)

    assert expected.cells == {("mine", "clean"): None}
    assert (expected.unknown, expected.unpriced, expected.seconds) == (4, 0, 0)


def test_a_forecast_uses_other_agents_of_the_same_model() -> None:
    expected = forecast(keys("clean", agent="other"), MODELS, [seen("clean", 2, model="qwen")], 1)

    assert expected.unknown == 0


def test_without_a_proxy_the_money_is_that_of_clean() -> None:
    trials = [seen("no-proxy", 1.0, None), seen("clean", 2.0, 0.5)]

    expected = forecast(keys("no-proxy", 1), MODELS, trials, 1)

    assert (expected.seconds, expected.usd) == (1.0 + OVERHEAD_S, 0.5)


def test_money_that_nobody_knows_is_reported_and_not_taken_for_nothing() -> None:
    expected = forecast(keys("clean"), MODELS, [seen("clean", 2.0, None)], 1)

    assert (expected.unknown, expected.unpriced, expected.usd) == (0, 4, 0)
