from tests.report.builders import row
from warex.analysis.metrics.metric import Counts, Names, columns_of, values_of
from warex.analysis.metrics.regimes import Regime
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.stats.paired import Delta


def test_a_metrics_key_is_an_attribute_of_its_row() -> None:
    of = row("clean", 1, 2, latency_s=Mean(3.0, None, 2))

    assert (ConditionRow.latency_s.key, ConditionRow.success.key) == ("latency_s", "success")
    assert (of.success, of.latency_s, of.steps) == (Rate(1, 2), Mean(3.0, None, 2), None)
    assert ConditionRow.latency_s.values(of) == (3.0, *[None] * 5)
    assert ConditionRow.steps.values(of) == (None,) * 6


def test_a_rate_of_nothing_is_not_known() -> None:
    assert ConditionRow.recovery.values(row("down", recovery=Rate(0, 0))) == (None,) * 4


def test_each_part_of_a_figure_has_a_column_behind_its_key() -> None:
    assert columns_of("delta", Delta) == {
        "delta": float,
        "delta_low": float,
        "delta_high": float,
        "delta_pairs": int,
        "delta_p": float,
        "delta_method": str,
        "delta_p_these": float,
        "delta_p_these_holm": float,
    }
    delta = Delta(-0.5, 4, (-0.9, 0.1), p=0.2, p_these=0.1)
    assert values_of(delta, Delta) == (-0.5, -0.9, 0.1, 4, 0.2, None, 0.1, None)
    assert values_of(Regime("unclear", "Too few."), Regime) == ("unclear", "Too few.")
    assert values_of(None, Regime) == (None, None)


def test_what_is_counted_and_named_is_reported_in_words() -> None:
    assert values_of(Counts((("client_gone", 1), ("never", 3))), Counts) == (
        "client gone 1, never 3",
    )
    assert values_of(Names(("gpt-4o", "o3")), Names) == ("gpt-4o, o3",)
    assert values_of(Counts(()), Counts) == (None,)


def test_a_metric_of_trials_has_its_key_in_each_of_them() -> None:
    assert (ConditionRow.steps.trial.key, ConditionRow.reloads.trial.key) == ("steps", "reloads")
    assert ConditionRow.detection.trial is not None
    assert ConditionRow.detection.trial.key == "detected"
