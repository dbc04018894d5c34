"""Metrics of success, and of its difference from ``clean``."""

from warex.analysis.metrics.metric import KnownMetric, Metric, PassK, TrialMetric
from warex.analysis.metrics.sample import Sample, share
from warex.analysis.stats.estimates import Mean, Rate, hits_by_task, mean_over
from warex.analysis.stats.paired import Delta, ScoredPairs, retained_share
from warex.analysis.stats.proportions import pass_k
from warex.analysis.trial.record import TrialRecord
from warex.traces.outcome import Counted


def _score(trial: TrialRecord) -> float | None:
    return trial.outcome.score if isinstance(trial.outcome, Counted) else None


def _mean_score(of: Sample) -> Mean | None:
    scores = [(trial.task, score) for trial in of.trials if (score := _score(trial)) is not None]
    return mean_over(scores) if any(0 < score < 1 for _, score in scores) else None


def _pass_k(scored: ScoredPairs) -> PassK | None:
    tasks = hits_by_task((pair[:2], hit) for pair, hit in scored.items())
    most = max((n for _, n in tasks), default=0)
    by_k = [(k, pass_k(tasks, k)) for k in range(1, most + 1)]
    known = tuple((k, value) for k, value in by_k if value is not None)
    shares = tuple(share for task in tasks if (share := pass_k([task], most)) is not None)
    return PassK(known, shares) if most > 1 else None


class SuccessMetrics:
    """Success under a condition."""

    n = KnownMetric(
        kind=int,
        compute=lambda of: len(of.trials),
        unit="count",
        section="success",
        screen="success",
        definition="Trials counted.",
    )
    success = KnownMetric(
        kind=Rate,
        compute=lambda of: share(of.trials, lambda trial: trial.solved),
        unit="share",
        better="higher",
        section="success",
        screen="success",
        shows_interval=True,
        definition="Trials with a score of 1, with the 95 % interval.",
        trial=TrialMetric(bool, lambda trial: trial.solved, "Whether the score is 1.", "solved"),
    )
    score = Metric(
        kind=Mean,
        compute=_mean_score,
        unit="ratio",
        better="higher",
        section="success",
        optional=True,
        shows_interval=True,
        definition="Mean score, 0 to 1, where a trial was done in part: a partial score is not"
        " success.",
        trial=TrialMetric(float, _score, "0 to 1."),
    )
    delta = Metric(
        kind=Delta,
        compute=lambda of: of.delta,
        needs="clean",
        label="Δ clean",
        unit="points",
        better="higher",
        section="success",
        screen="success",
        shows_interval=True,
        definition="Success minus that of clean, in points, with the 95 % interval, over pairs: the"
        " same task and repeat, scored on both sides.",
    )
    delta_p_holm = Metric(
        kind=float,
        compute=lambda of: of.delta.p_holm if of.delta else None,
        needs="clean",
        label="adj. p",
        unit="p",
        section="success",
        screen="success",
        definition="How often chance alone gives as great a Δ on tasks like these, adjusted for all"
        " agents and conditions of the table (Holm).",
    )
    delta_exposed = Metric(
        kind=Delta,
        compute=lambda of: of.delta_exposed,
        needs="clean",
        label="Δ exposed",
        unit="points",
        better="higher",
        section="success",
        optional=True,
        shows_interval=True,
        definition="Δ clean over the pairs that a fault really reached.",
    )
    r_fault = Metric(
        kind=Mean,
        compute=lambda of: retained_share(of.solved, of.solved_clean) if of.faulted else None,
        needs="clean",
        label="R_fault",
        unit="ratio",
        better="higher",
        section="success",
        optional=True,
        shows_interval=True,
        definition="Success under the fault divided by success of clean: 1 if all of it remains, 0"
        " if none does.",
    )
    pass_k = Metric(
        kind=PassK,
        compute=lambda of: _pass_k(of.solved),
        label="pass^k",
        unit="share",
        better="higher",
        section="success",
        optional=True,
        definition="Unbiased estimate of the probability that k trials of one task are all solved,"
        " for the largest k.",
    )
