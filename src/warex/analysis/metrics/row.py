"""The rows of the campaign's table. Metrics are attributes of ``ConditionRow``.

Terminal, HTML, CSV, LaTeX, Markdown, ``summary.json``, frames, ``--fail-under`` and the tables of
the reference are generated from ``METRICS``, in its order. Other distributions add metrics by entry
points of the group ``warex.metrics``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from warex.analysis.metrics.delivery import DeliveryMetrics
from warex.analysis.metrics.effort import EffortMetrics
from warex.analysis.metrics.metric import PARTS, Metric
from warex.analysis.metrics.recovery import RecoveryMetrics
from warex.analysis.metrics.success import SuccessMetrics
from warex.analysis.stats.dose_response import Dose
from warex.plugins import PluginGroup


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


_OWN: Final[tuple[Metric[Any], ...]] = tuple(
    metric
    for group in ConditionRow.__bases__
    for metric in vars(group).values()
    if isinstance(metric, Metric)
)
_TAKEN: Final = frozenset(
    (
        *ConditionRow.__dataclass_fields__,
        *(column for metric in _OWN for column in metric.columns),
        *(metric.trial.key for metric in _OWN if metric.trial),
    )
)
"""The columns and keys of a row and its trials."""


def _accept(name: str, value: object) -> Metric[Any]:
    """Return a metric of another distribution; raise ValueError if it is invalid."""
    if not isinstance(value, Metric):
        raise ValueError(f"is not a {Metric.__module__}.{Metric.__name__}")
    if value.kind not in PARTS:
        kinds = ", ".join(kind.__name__ for kind in PARTS)
        raise ValueError(f"has the kind {value.kind.__name__}, which is not one of {kinds}")
    value.__set_name__(ConditionRow, name)
    keys = {*value.columns, *((value.trial.key,) if value.trial else ())}
    if taken := sorted(keys & _TAKEN):
        raise ValueError(f"has the column {taken[0]!r}, which exists already")
    value.compute = _PLUGINS.guard(name, value.compute)
    if value.trial is not None:
        value.trial = replace(value.trial, read=_PLUGINS.guard(name, value.trial.read))
    return value


_PLUGINS: Final = PluginGroup("warex.metrics", lambda: [metric.key for metric in _OWN], _accept)

METRICS: Final[tuple[Metric[Any], ...]] = (*_OWN, *_PLUGINS.load_all())
"""In the order of the report; those of other distributions last."""
