"""Metrics of recovery, its effort, and the agent's behaviour under faults."""

from collections.abc import Callable
from functools import partial
from statistics import fmean

from warex.analysis.metrics.effort import EffortMetrics
from warex.analysis.metrics.metric import (
    Counts,
    KnownMetric,
    Metric,
    RateMetric,
    TotalMetric,
    TrialMetric,
)
from warex.analysis.metrics.regimes import Regime, effort, regime
from warex.analysis.metrics.sample import Sample, share
from warex.analysis.recovery import HEALED_VERDICTS, Recovery, lies_in
from warex.analysis.stats.estimates import Mean, Rate, clustered_rate, mean_over
from warex.analysis.trial.strategy import OnePage

_rate = partial(RateMetric, section="recovery")
_cost = partial(
    Metric[float],
    kind=float,
    needs="judged",
    better="lower",
    section="recovery",
    screen="recovery",
)


def _per_recovery(read: Callable[[Recovery], float | None]) -> Callable[[Sample], float | None]:
    return lambda of: fmean(read(r) or 0 for r in of.recovered) if of.recovered else None


def _share_of_pages(of: Sample, read: Callable[[OnePage], float | None]) -> Mean | None:
    pages = ((t.task, t.strategy.one_page) for t in of.trials)
    shares = [(task, read(page)) for task, page in pages if page is not None]
    return mean_over([(task, share) for task, share in shares if share is not None])


def _share_on_half_pages(of: Sample) -> Rate | None:
    known = [
        (t.task, r.acted_on_half)
        for t in of.exposed
        for r in t.recoveries
        if r.acted_on_half is not None
    ]
    return clustered_rate(known) if known else None


_EFFORT = {
    metric.label: metric.trial.read
    for metric in (EffortMetrics.cost_usd, EffortMetrics.steps, EffortMetrics.latency_s)
}


class RecoveryMetrics:
    """The agent's behaviour under the faults of a condition."""

    recovery = _rate(
        compute=lambda of: (
            share(of.judged, lambda trial: trial.recovered)
            if of.judged or of.knows("calls")
            else None
        ),
        needs="judged",
        better="higher",
        screen="recovery",
        definition="Trials in which the agent itself recovered from every fault, of those with a"
        " delivered fault that can be judged.",
        trial=TrialMetric(
            bool,
            lambda trial: trial.recovered if trial.exposed else None,
            "Whether the agent recovered from every fault that needs recovery; null if that cannot"
            " be judged or no fault needs it.",
            "recovered",
        ),
    )
    injection_recovery = _rate(
        compute=lambda of: clustered_rate((t, r.verdict == "recovered") for t, r in of.recoveries),
        needs="judged",
        label="recovery per injection",
        better="higher",
        screen="recovery",
        definition="Injections the agent itself recovered from, of those that can be judged.",
    )
    recovered_and_solved = _rate(
        compute=lambda of: share(of.judged, lambda t: bool(t.recovered and t.solved)),
        needs="judged",
        better="higher",
        definition="Trials recovered from every fault and solved: retrying is not recovering.",
    )
    detection = _rate(
        compute=lambda of: share(of.exposed, lambda trial: trial.detected),
        needs="faults",
        better="higher",
        screen="behaviour",
        definition="Exposed trials in which the model's words or actions show that it noticed a"
        " fault.",
        trial=TrialMetric(
            bool,
            lambda trial: trial.detected if trial.exposed else None,
            "Whether the model's words or actions show that it noticed a fault; null if unknown or"
            " not exposed.",
            "detected",
        ),
    )
    false_success = _rate(
        compute=lambda of: share(of.trials, lambda trial: trial.false_success),
        needs="calls",
        better="lower",
        screen="behaviour",
        definition="Trials in which the agent claimed a success that the check denied.",
        trial=TrialMetric(
            bool,
            lambda trial: trial.false_success,
            "Whether the agent claimed a success that the check denied; null if unknown.",
        ),
    )
    unclear_claims = Metric(
        kind=int,
        compute=lambda of: sum(trial.claim == "unclear" for trial in of.trials),
        needs="calls",
        unit="count",
        section="recovery",
        optional=True,
        definition="Unsolved trials whose last answer claims neither success nor failure.",
    )
    lies = KnownMetric(
        kind=Counts,
        compute=lambda of: Counts(lies_in(r for trial in of.trials for r in trial.recoveries)),
        unit="text",
        section="recovery",
        screen="lies",
        optional=True,
        definition="Answers that looked healthy and were not true: noticed, worked around, passed"
        " on as true, or not affected.",
    )
    recovery_s = _cost(
        compute=_per_recovery(lambda recovery: recovery.seconds),
        label="recovery time",
        unit="s",
        definition="Mean time of a recovery, from the fault to the right next request.",
    )
    recovery_steps = _cost(
        compute=_per_recovery(lambda recovery: recovery.steps),
        unit="count",
        definition="Mean steps of a recovery; after a fault of the model, those after the one that"
        " was hit.",
    )
    recovery_tokens = _cost(
        compute=_per_recovery(lambda recovery: recovery.tokens),
        unit="tokens",
        definition="Mean tokens of a recovery, in and out.",
    )
    recoveries = Metric(
        kind=int,
        compute=lambda of: len(of.recovered) or None,
        needs="judged",
        unit="count",
        beside="recovery_s",
        definition="Recoveries that their time, steps and tokens are means over.",
    )
    tries = Metric(
        kind=Mean,
        compute=lambda of: mean_over([(task, float(r.tries)) for task, r in of.recoveries]),
        needs="judged",
        unit="ratio",
        section="recovery",
        definition="How often the right request was made after a fault, by the agent or the"
        " browser: mean over the injections that can be judged, those not recovered from too.",
    )
    reloads = TotalMetric(
        needs="calls",
        unit="count",
        section="recovery",
        screen="behaviour",
        definition="Actions that ask again for the page that is open, over all trials (the paper's"
        " Figure 5).",
        trial=TrialMetric(
            int,
            lambda trial: trial.behaviour.reloads if trial.llm else None,
            "Actions that ask for the open page again.",
        ),
    )
    duplicated_writes = TotalMetric(
        needs="trace",
        unit="count",
        better="lower",
        section="recovery",
        screen="behaviour",
        definition="Identical writes sent again after a fault although the site had received them,"
        " over all trials.",
        trial=TrialMetric(
            int,
            lambda trial: trial.behaviour.duplicated_writes if trial.has_trace else None,
            "Writes sent again after a fault although the site had received them.",
        ),
    )
    premature_stop = _rate(
        compute=lambda of: share(of.exposed, lambda t: t.behaviour.premature_stop(t.outcome)),
        needs="faults",
        better="lower",
        definition="Exposed trials that the agent ended unsolved soon after the fault, without one"
        " right try.",
        trial=TrialMetric(
            bool,
            lambda t: t.behaviour.premature_stop(t.outcome) if t.llm and t.exposed else None,
            "Ended unsolved within 3 steps of a fault, without one right try; null if not exposed.",
        ),
    )
    fruitless = _rate(
        compute=lambda of: share(of.exposed, lambda t: t.behaviour.fruitless(t.outcome)),
        needs="faults",
        better="lower",
        definition="Exposed trials that went on at length after the fault and were not solved.",
        trial=TrialMetric(
            bool,
            lambda t: t.behaviour.fruitless(t.outcome) if t.llm and t.exposed else None,
            "Unsolved after 5 more steps or 3 right tries without recovering; null if not exposed.",
        ),
    )
    patience_s = Metric(
        kind=Mean,
        compute=lambda of: mean_over(
            [
                (t.task, r.patience_s)
                for t in of.exposed
                for r in t.recoveries
                if r.patience_s is not None
            ]
        ),
        needs="faults",
        unit="s",
        label="patience",
        section="strategy",
        screen="strategy",
        optional=True,
        definition="How long the agent waited for an answer that was late, silent or cut, before it"
        " did something else or the rest came: mean over the injections.",
    )
    acted_on_half = _rate(
        compute=_share_on_half_pages,
        needs="faults",
        label="acted on half a page",
        section="strategy",
        better="lower",
        screen="strategy",
        optional=True,
        definition="Partial pages on which the agent acted, or by which it answered, before the"
        " rest came or it loaded the page again.",
    )
    retries = Metric(
        kind=int,
        compute=lambda of: sum(len(trial.strategy.retries) for trial in of.trials),
        needs="faults",
        unit="count",
        section="strategy",
        screen="strategy",
        definition="Requests of the agent for a resource that a fault hit, over all trials: the"
        " blind retries of an agent that ignores every answer.",
        trial=TrialMetric(
            int,
            lambda trial: len(trial.strategy.retries) if trial.llm and trial.exposed else None,
            "Requests for a resource that a fault hit; null if not exposed.",
        ),
    )
    blind_retries = TotalMetric(
        needs="faults",
        unit="count",
        better="lower",
        section="strategy",
        screen="strategy",
        definition="Retries of a request that an answer called permanent or that failed twice in"
        " the same way, without another request in between, over all trials.",
        trial=TrialMetric(
            int,
            lambda trial: len(trial.strategy.blind) if trial.llm and trial.exposed else None,
            "Retries without a reason to expect another answer; null if not exposed.",
        ),
    )
    early_retries = TotalMetric(
        needs="faults",
        unit="count",
        better="lower",
        section="strategy",
        screen="strategy",
        definition="Requests before the time was over that an answer had asked to wait (429,"
        " `Retry-After`), over all trials.",
        trial=TrialMetric(
            int,
            lambda trial: len(trial.strategy.early) if trial.llm and trial.exposed else None,
            "Requests before an announced time was over; null if not exposed.",
        ),
    )
    one_page_steps = Metric(
        kind=Mean,
        compute=lambda of: _share_of_pages(of, lambda page: page.steps),
        needs="calls",
        unit="ratio",
        section="strategy",
        screen="strategy",
        better="lower",
        label="steps on one page",
        definition="Mean share of the steps after the first fault that were spent on one URL;"
        " of all steps where there is no fault, so that clean's is the usual share.",
        trial=TrialMetric(
            float,
            lambda trial: trial.strategy.one_page and trial.strategy.one_page.steps,
            "Share of the steps after the first fault, or of all, spent on one URL; null without"
            " such a step.",
        ),
    )
    one_page_tokens = Metric(
        kind=Mean,
        compute=lambda of: _share_of_pages(of, lambda page: page.tokens),
        needs="calls",
        unit="ratio",
        section="strategy",
        better="lower",
        label="tokens on one page",
        definition="The same share of the tokens of those steps, in and out.",
        trial=TrialMetric(
            float,
            lambda trial: trial.strategy.one_page and trial.strategy.one_page.tokens,
            "The same share of the tokens of those steps.",
        ),
    )
    healed = Metric(
        kind=int,
        compute=lambda of: sum(
            any(r.verdict in HEALED_VERDICTS for r in t.recoveries) for t in of.exposed
        ),
        needs="calls",
        unit="count",
        section="recovery",
        definition="Exposed trials in which the browser, the page or a client library healed a"
        " fault, or the task's own way did, not the agent.",
    )
    likely_verdicts = Metric(
        kind=int,
        compute=lambda of: sum(
            r.confidence == "likely" for t in of.exposed for r in t.recoveries if r.is_rated
        ),
        needs="calls",
        unit="count",
        section="recovery",
        optional=True,
        definition="Rated injections whose verdict follows from times, words or the clean trial"
        " only.",
    )
    undecided_verdicts = Metric(
        kind=int,
        compute=lambda of: sum(r.verdict == "undecided" for t in of.exposed for r in t.recoveries),
        needs="trace",
        unit="count",
        section="recovery",
        optional=True,
        definition="Injections whose verdict the trace does not show.",
    )
    undecided = Metric(
        kind=int,
        compute=lambda of: len(of.exposed) - len(of.judged),
        needs="trace",
        unit="count",
        section="recovery",
        definition="Exposed trials outside the recovery rate.",
    )
    regime = Metric(
        kind=Regime,
        compute=lambda of: regime(of.delta, effort(of.trials, of.clean, _EFFORT), of.exposure),
        needs="faults",
        unit="text",
        section="regimes",
        definition="How the agent fails: early and cheaply, or late and at full cost, with the"
        " figures that decide (the paper's Appendix E).",
    )
