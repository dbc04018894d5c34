"""Metrics of planned, delivered and missed faults, and of void attempts."""

from warex.analysis.metrics.metric import Counts, KnownMetric, Metric, TotalMetric, TrialMetric
from warex.analysis.stats.estimates import Rate
from warex.analysis.trial.injections import occurrences


class DeliveryMetrics:
    """The fate of faults under a condition."""

    exposure = Metric(
        kind=Rate,
        compute=lambda of: of.exposure,
        needs="faults",
        unit="share",
        section="delivery",
        screen="delivery",
        definition="Trials that a fault really reached, of those in which a scenario was loaded.",
        trial=TrialMetric(
            bool,
            lambda trial: trial.exposed if trial.has_faults else None,
            "Whether at least one fault was delivered; null without a scenario.",
            "exposed",
        ),
    )
    planned = TotalMetric(
        needs="trace",
        unit="count",
        section="delivery",
        screen="delivery",
        definition="Faults that a rule decided on. What a browser tries again silently is the same"
        " one.",
        trial=TrialMetric(
            int,
            lambda trial: len(occurrences(trial.injections)),
            "Occurrences that a rule decided to hit.",
        ),
    )
    delivered = TotalMetric(
        needs="trace",
        unit="count",
        section="delivery",
        screen="delivery",
        definition="Planned faults that reached the client.",
        trial=TrialMetric(
            int,
            lambda t: sum(i.fate == "delivered" for i in occurrences(t.injections)),
            "Occurrences that the client got to feel.",
        ),
    )
    missed = Metric(
        kind=int,
        compute=lambda of: sum(number for _, number in of.missed),
        needs="trace",
        unit="count",
        better="lower",
        section="delivery",
        screen="delivery",
        definition="Faults planned and not delivered.",
    )
    missed_reasons = Metric(
        kind=Counts,
        compute=lambda of: Counts(of.missed),
        needs="trace",
        label="why missed",
        unit="text",
        section="delivery",
        definition="Why planned faults were not delivered, as in the trace.",
    )
    skipped = Metric(
        kind=Counts,
        compute=lambda of: Counts(of.skipped),
        needs="trace",
        unit="text",
        section="delivery",
        definition="Exchanges never planned for: not armed yet, or never to be touched.",
    )
    voids = KnownMetric(
        kind=int,
        compute=lambda of: of.void_attempts,
        unit="count",
        better="lower",
        screen="delivery",
        definition="Attempts in which the harness broke; no figure counts them. A trial has up to"
        " three.",
    )
