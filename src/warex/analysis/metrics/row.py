"""The rows of the campaign's table. Metrics are attributes of ``ConditionRow``.

Terminal, HTML, CSV, LaTeX, Markdown, ``summary.json``, frames, ``--fail-under`` and the tables of
the reference are generated from ``METRICS``, in its order.
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
    """One agent under one condition: its configuration and its figures.

    A figure is None if it is unknown. Figures from traces are unknown if a trial has no trace.
    """

    agent: str
    condition: str
    figures: Mapping[str, object]
    """By the keys of the metrics."""
    scenario: str | None = None
    """As the campaign names it; None for conditions without faults."""
    defence: str | None = None
    control: bool = False
    """Whether it repeats ``clean``."""
    dose: Dose | None = None
    scheduled: int = 0
    """Trials of the run, including those that do not count."""


METRICS: Final[tuple[Metric[Any], ...]] = tuple(
    metric
    for group in ConditionRow.__bases__
    for metric in vars(group).values()
    if isinstance(metric, Metric)
)
"""In the order of the report."""
