"""Metrics of planned, delivered and missed faults, and of void attempts."""

from collections import Counter

from warex.analysis.metrics.metric import Counts, KnownMetric, Metric, TotalMetric, TrialMetric
from warex.analysis.metrics.sample import Sample
from warex.analysis.stats.estimates import Rate
from warex.analysis.trial.injections import occurrences


def _partings(of: Sample) -> Counts | None:
    counts = Counter[str](trial.parting for trial in of.trials if trial.parting)
    order = ("same", "before_faults", "at_fault", "after_fault")
    return Counts(tuple((place, counts[place]) for place in order if counts[place])) or None


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
            "Occurrences that reached the client.",
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
        definition="Exchanges that no rule considers: injection has not started, or they are"
        " excluded.",
    )
    parting = Metric(
        kind=Counts,
        compute=_partings,
        needs="trace",
        label="parts from clean",
        unit="text",
        section="delivery",
        screen="delivery",
        optional=True,
        definition="Where trials diverge from their clean twins: `same` not at all, `before_faults`"
        " by"
        " the agent's own variation, which is the noise floor of pairs, `at_fault`, `after_fault`.",
        trial=TrialMetric(
            str,
            lambda trial: trial.parting,
            "Where it diverges from its clean twin; null without a twin.",
        ),
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
