"""Compares two agents, or two versions of one, over the same trials.

Trials pair by benchmark, task, repeat and condition, with the same seed and scenario, so that both
sides had the same faults. Other trials are left out and reported. A trial that stayed void costs
its own pair only.

The verdict is about the very tasks that both sides ran: did they go better or worse? Another one
is about tasks like these, of which those are a sample. Without repeats both have the same test.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.metrics.sample import mean_difference, price_models, share
from warex.analysis.output.json_values import fields_to_json, to_json
from warex.analysis.run.conditions import campaign_tables
from warex.analysis.run.load import Run
from warex.analysis.stats.clustered import TaskId
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.stats.paired import (
    Delta,
    describe_p,
    holm_adjusted,
    paired_difference,
)
from warex.analysis.trial.record import TrialRecord
from warex.errors import InputError
from warex.text.english import count_noun
from warex.traces import CLEAN, NO_PROXY

type ComparisonVerdict = Literal["better", "worse", "cannot tell"]


@dataclass(frozen=True, slots=True)
class ComparedAgent:
    """An agent of a run."""

    run: Run
    agent: str

    @property
    def trials(self) -> list[TrialRecord]:
        """The agent's trials."""
        return [trial for trial in self.run.trials if trial.key.agent == self.agent]

    def __str__(self) -> str:
        return f"{self.agent} of {self.run.path}"


@dataclass(frozen=True, slots=True)
class ConditionChange:
    """The changes under one condition."""

    condition: str
    before: Rate
    """Success over the shared pairs."""
    after: Rate
    success: Delta | None
    """After minus before; adjusted (Holm) over the conditions with faults, and not adjusted for
    others."""
    recovery: Delta | None
    """The same for recovery, over pairs that both count in the recovery rate; adjusted over the
    conditions."""
    latency_s: Mean | None
    """After minus before, a mean over pairs; the same for the next two."""
    llm_calls: Mean | None
    cost_usd: Mean | None
    as_if: tuple[str, ...] = ()
    """The models whose prices are used for a model that has none, or is scripted."""
    faulted: bool = False
    """Whether it injects faults."""

    @property
    def verdict(self) -> ComparisonVerdict:
        """The verdict on success on these very tasks."""
        return _verdict(self.success)

    @property
    def verdict_like_these(self) -> ComparisonVerdict:
        """The verdict on success on tasks like these."""
        return _verdict_like_these(self.success)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two agents side by side."""

    before: ComparedAgent
    after: ComparedAgent
    changes: tuple[ConditionChange, ...]
    """By condition, in the order of the runs."""
    faulted: Delta | None
    """Success over all conditions with faults together, on which the verdict is based. Adjusted for
    two tests, with ``recovered``. None for fewer than two conditions."""
    recovered: Delta | None
    """Recovery over the same."""
    verdict: ComparisonVerdict
    """On these very tasks."""
    why: str
    """One sentence."""
    verdict_like_these: ComparisonVerdict
    """On tasks like these."""
    why_like_these: str
    left_out: tuple[str, ...]
    """What does not pair or cannot be compared, one sentence each."""


def agents_to_compare(
    first: Run, second: Run, agents: tuple[str | None, str | None]
) -> list[tuple[str, str]]:
    """Return the agents to compare: the named ones, or else the shared ones, or else the only ones.

    Raises InputError if they are ambiguous.
    """
    for run, agent in zip((first, second), agents, strict=True):
        if agent is not None and agent not in run.agents:
            raise InputError(
                f"{run.path} has no agent {agent!r}; there are: {', '.join(run.agents)}"
            )
    shared = [agent for agent in first.agents if agent in second.agents]
    if agents == (None, None) and shared and first.path.resolve() != second.path.resolve():
        return [(agent, agent) for agent in shared]
    named = [
        agent or (run.agents[0] if len(run.agents) == 1 else None)
        for run, agent in zip((first, second), agents, strict=True)
    ]
    one, other = named
    if one is None or other is None:
        raise InputError(
            f"say which agents are compared: {first.path} has {', '.join(first.agents)};"
            f" {second.path} has {', '.join(second.agents)}. Write RUN:AGENT"
        )
    return [(one, other)]


def compare(before: ComparedAgent, after: ComparedAgent) -> Comparison:
    """Compare two agents over the trials that they share.

    Raises InputError if they share none.
    """
    left_out = list(_other_setups(before.run, after.run))
    barred = {condition for condition, _ in left_out}
    pairs, apart = _pairs(before, after, barred)
    if not pairs:
        raise InputError(
            f"{before} and {after} share no trial: the same benchmark, task, repeat, condition and"
            " seed on both sides"
        )
    hit = [pair for of_condition in pairs.values() for pair in of_condition if pair[0].has_faults]
    with_faults = [name for name, of_condition in pairs.items() if of_condition[0][0].has_faults]
    asked = with_faults or [CLEAN if CLEAN in pairs else next(iter(pairs))]
    successes = {
        name: paired_difference(_solved(of_condition)) for name, of_condition in pairs.items()
    }
    successes |= zip(
        with_faults, holm_adjusted([successes[name] for name in with_faults]), strict=True
    )
    # The verdict is based on two tests, so they are adjusted together.
    main, recovered = holm_adjusted(
        [paired_difference(_solved(hit or pairs[asked[0]])), paired_difference(_recovered(hit))]
    )
    priced_apart = _priced_apart(before.run, after.run)
    changes = _changes(pairs, list(successes.values()), priced_alike=priced_apart is None)
    verdict, why = _conclude(changes, asked, main, recovered)
    like_these, why_like_these = _generalise(main, recovered)
    faulted = main if len(with_faults) > 1 else None
    notes = [*(sentence for _, sentence in left_out), *filter(None, (priced_apart,))]
    notes += [
        f"{count_noun(count, 'trial is', 'trials are')} left out that {reason}."
        for reason, count in apart.items()
        if count
    ]
    return Comparison(
        before,
        after,
        changes,
        faulted,
        recovered,
        verdict,
        why,
        like_these,
        why_like_these,
        tuple(notes),
    )


def _priced_apart(before: Run, after: Run) -> str | None:
    """Say why the costs of two runs cannot be compared; None if they can.

    Only prices of models that either run used matter.
    """
    asked = {
        call.model
        for run in (before, after)
        for trial in run.trials
        if trial.llm
        for call in trial.llm.calls
    }
    if _own_prices(before) != _own_prices(after):
        return "US dollars are left out: the campaigns name other prices."
    apart = sorted(m for m in asked if before.prices.price(m) != after.prices.price(m))
    if not apart:
        return None
    return (
        f"US dollars are left out: the runs' price tables, of {before.prices.date} and"
        f" {after.prices.date}, differ on {', '.join(apart)}."
    )


def _own_prices(run: Run) -> JsonValue:
    return run.manifest.campaign.get("prices") or None if run.manifest else None


type _TrialPair = tuple[TrialRecord, TrialRecord]


def _pairs(
    before: ComparedAgent, after: ComparedAgent, barred: set[str]
) -> tuple[dict[str, list[_TrialPair]], dict[str, int]]:
    """Return the shared trials by condition, and how many do not pair, by reason."""
    mine, theirs = (
        {(t.key.condition, t.pair): t for t in side.trials if t.solved is not None}
        for side in (before, after)
    )
    void = {(t.key.condition, t.pair) for side in (before, after) for t in side.trials if t.void}
    shared = [place for place in mine if place in theirs and place[0] not in barred]
    same = [p for p in shared if mine[p].seed == theirs[p].seed or p[0] == NO_PROXY]
    alone = [p for p in mine.keys() ^ theirs.keys() if p[0] not in barred]
    apart = {
        "met other faults: their seeds differ": len(shared) - len(same),
        "one side lacks": len([place for place in alone if place not in void]),
        "stayed void on either side": len([place for place in void if place[0] not in barred]),
    }
    pairs: dict[str, list[_TrialPair]] = {}
    for condition in dict.fromkeys((*before.run.conditions, *after.run.conditions)):
        if here := [(mine[p], theirs[p]) for p in sorted(same) if p[0] == condition]:
            pairs[condition] = here
    return pairs, apart


def _other_setups(first: Run, second: Run) -> Iterable[tuple[str, str]]:
    """Yield the conditions that have the same name but differ, each with a sentence."""
    for condition in first.conditions:
        same = _frozen(first, condition) == _frozen(second, condition)
        if condition in second.conditions and not same:
            why = f"its scenario, defence or dose is another one in {second.path}"
            yield condition, f"{condition} is left out: {why}."


def _frozen(run: Run, condition: str) -> JsonValue:
    """Return a condition's recorded configuration, with its scenario instead of the path."""
    if run.manifest is None or condition in (CLEAN, NO_PROXY):
        return None
    scenarios = run.manifest.campaign.get("scenarios")
    scenario = scenarios.get(condition) if isinstance(scenarios, dict) else None
    for table in campaign_tables(run.manifest, "conditions"):
        if table.get("name") == condition:
            return {**table, "scenario": scenario}
    return scenario


def _changes(
    pairs: dict[str, list[_TrialPair]], successes: Sequence[Delta | None], *, priced_alike: bool
) -> tuple[ConditionChange, ...]:
    recoveries = holm_adjusted(
        [paired_difference(_recovered(of_condition)) for of_condition in pairs.values()]
    )
    return tuple(
        ConditionChange(
            condition,
            share((one for one, _ in of_condition), lambda trial: trial.solved),
            share((other for _, other in of_condition), lambda trial: trial.solved),
            success,
            recovery,
            mean_difference(of_condition, ConditionRow.latency_s.trial.read),
            mean_difference(of_condition, ConditionRow.llm_calls.trial.read),
            mean_difference(of_condition, ConditionRow.cost_usd.trial.read)
            if priced_alike
            else None,
            price_models(trial for pair in of_condition for trial in pair),
            of_condition[0][0].has_faults,
        )
        for (condition, of_condition), success, recovery in zip(
            pairs.items(), successes, recoveries, strict=True
        )
    )


def _solved(pairs: Sequence[_TrialPair]) -> list[tuple[TaskId, bool, bool]]:
    return [(one.task, bool(other.solved), bool(one.solved)) for one, other in pairs]


def _recovered(pairs: Sequence[_TrialPair]) -> list[tuple[TaskId, bool, bool]]:
    return [
        (one.task, other.recovered, one.recovered)
        for one, other in pairs
        if one.recovered is not None and other.recovered is not None
    ]


def _verdict(delta: Delta | None) -> ComparisonVerdict:
    if delta is None or not delta.significant_these:
        return "cannot tell"
    return "better" if delta.value > 0 else "worse"


def _verdict_like_these(delta: Delta | None) -> ComparisonVerdict:
    if delta is None or not delta.significant:
        return "cannot tell"
    return "better" if delta.value > 0 else "worse"


def _conclude(
    changes: Sequence[ConditionChange],
    asked: Sequence[str],
    main: Delta | None,
    recovered: Delta | None,
) -> tuple[ComparisonVerdict, str]:
    """Return the overall verdict: by success, or by recovery if success does not decide.

    ``asked`` are the conditions of ``main``.
    """
    verdicts = {change.condition: change.verdict for change in changes}
    better = [name for name, verdict in verdicts.items() if verdict == "better"]
    worse = [name for name, verdict in verdicts.items() if verdict == "worse"]
    these = "these tasks" if main is None else _describe_scope(main)
    if better and worse:
        both = f"better under {', '.join(better)}, worse under {', '.join(worse)}"
        return "cannot tell", f"it solves {these} {both}"
    verdict = _verdict(main)
    if verdict != "cannot tell":
        how = "more" if verdict == "better" else "fewer"
        where = [name for name in asked if verdicts[name] == verdict or len(asked) == 1]
        under = ", ".join(where) or "all faults together"
        return verdict, f"it solves {how} of {these} under {under}"
    by_recovery = _verdict(recovered)
    if recovered is not None and by_recovery != "cannot tell":
        how = "more" if by_recovery == "better" else "less"
        return by_recovery, (
            f"on {_describe_scope(recovered)} it recovers {how} often, though success does"
            " not tell them apart"
        )
    if main is None or main.lost == main.won:
        return "cannot tell", f"no difference in success was seen on {these}"
    return "cannot tell", f"{_points(main)} on {these} may be chance"


def _generalise(main: Delta | None, recovered: Delta | None) -> tuple[ComparisonVerdict, str]:
    """Return the verdict on tasks like these, by success or else by recovery."""
    for what, delta in (("solves", main), ("recovers from the faults of", recovered)):
        verdict = _verdict_like_these(delta)
        if delta is not None and verdict != "cannot tell":
            how = "more" if verdict == "better" else "fewer"
            return verdict, f"it {what} {how} tasks like these"
    if main is None:
        return "cannot tell", "there is no pair with a score"
    p = "no test" if main.adjusted_p is None else f"adjusted {describe_p(main.adjusted_p)}"
    return "cannot tell", f"{_points(main)} over {count_noun(main.tasks, 'task')} ({p})"


def _describe_scope(delta: Delta) -> str:
    return "this task" if delta.tasks == 1 else f"these {delta.tasks:,} tasks"


def _points(delta: Delta) -> str:
    return f"{100 * delta.value:+.0f} points over {count_noun(delta.pairs, 'pair')}"


def comparison_data(comparison: Comparison) -> dict[str, JsonValue]:
    """Return a comparison as plain JSON; differences are after minus before."""
    return {
        "schema_version": 2,
        "before": {"run": str(comparison.before.run.path), "agent": comparison.before.agent},
        "after": {"run": str(comparison.after.run.path), "agent": comparison.after.agent},
        "verdict": comparison.verdict,
        "why": comparison.why,
        "verdict_like_these": comparison.verdict_like_these,
        "why_like_these": comparison.why_like_these,
        "faulted": to_json(comparison.faulted),
        "recovered": to_json(comparison.recovered),
        "conditions": [
            {
                "condition": change.condition,
                "verdict": change.verdict,
                "verdict_like_these": change.verdict_like_these,
                **fields_to_json(change),
            }
            for change in comparison.changes
        ],
        "left_out": list(comparison.left_out),
    }
