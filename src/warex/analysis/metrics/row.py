"""The rows of the campaign's table: a metric is an attribute of ``ConditionRow``.

Terminal, HTML, CSV, LaTeX, Markdown, ``summary.json``, frames, ``--fail-under`` and the tables of
the reference are made from ``METRICS``, in its order.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from warex.analysis.metrics.delivery import DeliveryMetrics
from warex.analysis.metrics.effort import EffortMetrics
from warex.analysis.metrics.metric import Metric
from warex.analysis.metrics.recovery import RecoveryMetrics
from warex.analysis.metrics.success import SuccessMetrics
from warex.analysis.stats.dose_response import Dose


@dataclass(frozen=True)
class ConditionRow(SuccessMetrics, EffortMetrics, RecoveryMetrics, DeliveryMetrics):
    """One agent under one condition: what the campaign says of it, and its figures.

    A figure is None where it is not known. What traces tell is not known if one of the trials was
    not watched: a part is not the whole.
    """

    agent: str
    condition: str
    figures: Mapping[str, object]
    """By the keys of their metrics."""
    scenario: str | None = None
    """As the campaign names it; None for conditions without faults."""
    defence: str | None = None
    control: bool = False
    """``clean`` once more."""
    dose: Dose | None = None
    scheduled: int = 0
    """Trials of the run, with those that do not count."""


METRICS: Final[tuple[Metric[Any], ...]] = tuple(
    metric
    for group in ConditionRow.__bases__
    for metric in vars(group).values()
    if isinstance(metric, Metric)
)
"""In the order of reading."""
