"""What must hold of every metric, however many there are."""

from tests.cases import every
from warex.analysis.metrics.metric import PARTS, Metric
from warex.analysis.metrics.row import METRICS
from warex.analysis.metrics.trial import TRIAL_METRICS
from warex.analysis.output.frames import CONDITIONS, TRIALS

each_metric = every("metric", METRICS)


def test_no_two_metrics_share_a_label_or_a_column() -> None:
    labels = [metric.label for metric in METRICS]
    columns = [name for metric in METRICS for name in metric.columns]
    of_trials = [metric.key for metric in TRIAL_METRICS]

    assert len(set(labels)) == len(labels)
    assert len(set(columns)) == len(columns)
    assert len(set(of_trials)) == len(of_trials)


@each_metric
def test_a_metric_says_what_it_means_in_a_sentence(metric: Metric[object]) -> None:
    assert metric.definition[0].isupper() or metric.definition[0] == "Δ"
    assert metric.definition.endswith(".")
    assert metric.kind in PARTS


@each_metric
def test_every_metric_is_in_the_report(metric: Metric[object]) -> None:
    assert metric.section or metric.screen or metric.beside
    assert not metric.beside or metric.beside in {other.key for other in METRICS}


@each_metric
def test_a_metric_has_its_columns_in_the_frames(metric: Metric[object]) -> None:
    assert metric.columns.keys() <= CONDITIONS.keys()
    assert metric.trial is None or metric.trial.key in TRIALS
