"""Two agents, or two versions of one, over the same trials: better, worse, or nobody can tell.

Pairs are what two runs share: benchmark, task, repeat and condition, under one seed and one
scenario, so that both sides met the same faults. What does not pair is left out and said; so is a
task and repeat that stayed void on either side, under every condition, as in a run's own table.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from pydantic import JsonValue

from warex.analysis.metrics.metric import MeanMetric
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.output.json_values import to_json
from warex.analysis.run.load import Run
from warex.analysis.stats.clustered import PairKey, TaskId, mean_interval
from warex.analysis.stats.estimates import Mean, Rate, clustered_rate
from warex.analysis.stats.paired import (
    Delta,
    describe_required_tasks,
    holm_adjusted,
    paired_difference,
    required_tasks,
)
from warex.analysis.stats.proportions import ALPHA
from warex.analysis.trial.record import TrialRecord
from warex.errors import InputError
from warex.text.english import count_noun
from warex.traces import CLEAN, NO_PROXY

type ComparisonVerdict = Literal["better", "worse", "cannot tell"]


@dataclass(frozen=True, slots=True)
class ComparedAgent:
    """One of the two: an agent of a run."""

    run: Run
    agent: str

    def __str__(self) -> str:
        return f"{self.agent} of {self.run.path}"


@dataclass(frozen=True, slots=True)
class ConditionChange:
    """What became of one condition."""

    condition: str
    before: Rate
    """Success over the shared pairs."""
    after: Rate
    success: Delta | None
    """After minus before; adjusted (Holm) over the conditions with faults. What the two do without
    faults is no question of theirs, and is not adjusted."""
    recovery: Delta | None
    """The same over pairs in which both sides met a fault that stands in the recovery rate;
    adjusted over the conditions."""
    latency_s: Mean | None
    """After minus before, a mean over pairs; the next two likewise."""
    llm_calls: Mean | None
    cost_usd: Mean | None
    as_if: tuple[str, ...] = ()
    """The models whose prices stand in, where a model of one of the two has none, or is scripted.
    """

    @property
    def verdict(self) -> ComparisonVerdict:
        """What the success says."""
        return _verdict(self.success)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two agents side by side."""

    before: ComparedAgent
    after: ComparedAgent
    changes: tuple[ConditionChange, ...]
    """By condition, in the order of the runs."""
    faulted: Delta | None
    """Success over all conditions with faults together, over tasks: what the verdict rests on.
    Adjusted for two tests, with ``recovered``; None for fewer than two conditions, where the one
    there is decides."""
    recovered: Delta | None
    """Recovery over the same."""
    verdict: ComparisonVerdict
    why: str
    """One sentence."""
    left_out: tuple[str, ...]
    """What does not pair or cannot be compared, a sentence each."""


def agents_to_compare(
    first: Run, second: Run, agents: tuple[str | None, str | None]
) -> list[tuple[str, str]]:
    """Return which agents are compared: those named, else those both have, else the only ones.

    Raises InputError where that does not say.
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

    Raises InputError where they share none.
    """
    left_out = list(_other_setups(before.run, after.run))
    barred = {condition for condition, _ in left_out}
    void = _stayed_void(before) | _stayed_void(after)
    pairs, apart = _pairs(before, after, barred, void)
    if not pairs:
        raise InputError(
            f"{before} and {after} share no trial: the same benchmark, task, repeat, condition and"
            " seed on both sides"
        )
    hit = [each for found in pairs.values() for each in found if each[1].has_faults]
    with_faults = [name for name, found in pairs.items() if found[0][1].has_faults]
    asked = with_faults or [CLEAN if CLEAN in pairs else next(iter(pairs))]
    successes = {name: paired_difference(_solved(found)) for name, found in pairs.items()}
    successes |= zip(
        with_faults, holm_adjusted([successes[name] for name in with_faults]), strict=True
    )
    # The verdict rests on two questions, so that chance gets its 5 % once.
    main, recovered = holm_adjusted(
        [paired_difference(_solved(hit or pairs[asked[0]])), paired_difference(_recovered(hit))]
    )
    priced_apart = _priced_apart(before.run, after.run)
    priced_alike = priced_apart is None
    changes = _changes(pairs, list(successes.values()), priced_alike=priced_alike)
    verdict, why = _conclude(changes, asked, main, recovered)
    faulted = main if len(with_faults) > 1 else None
    return Comparison(
        before,
        after,
        changes,
        faulted,
        recovered,
        verdict,
        why,
        (
            *(sentence for _, sentence in left_out),
            *(() if priced_apart is None else (priced_apart,)),
            *_said_of(apart),
            *_said_of_void(len(void)),
        ),
    )


def _priced_apart(before: Run, after: Run) -> str | None:
    """Say why dollars of two runs are not the same dollars; None where they are.

    Tables may differ in what neither run has asked.
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


type _TrialPair = tuple[PairKey, TrialRecord, TrialRecord]


def _pairs(
    before: ComparedAgent, after: ComparedAgent, barred: set[str], void: set[PairKey]
) -> tuple[dict[str, list[_TrialPair]], dict[str, int]]:
    """Return the shared trials by condition, and how many do not pair, by why."""
    mine = {(t.key.condition, t.pair): t for t in _scored(before, void)}
    theirs = {(t.key.condition, t.pair): t for t in _scored(after, void)}
    shared = [place for place in mine if place in theirs and place[0] not in barred]
    same = [p for p in shared if mine[p].seed == theirs[p].seed or p[0] == NO_PROXY]
    apart = {
        "met other faults: their seeds differ": len(shared) - len(same),
        "one side lacks": len([p for p in mine.keys() ^ theirs.keys() if p[0] not in barred]),
    }
    order = [*before.run.conditions, *after.run.conditions]
    found: dict[str, list[_TrialPair]] = {}
    for condition in dict.fromkeys(order):
        here = [(p[1], mine[p], theirs[p]) for p in sorted(same) if p[0] == condition]
        if here:
            found[condition] = here
    return found, apart


def _of_agent(side: ComparedAgent) -> Iterable[TrialRecord]:
    return (trial for trial in side.run.trials if trial.key.agent == side.agent)


def _stayed_void(side: ComparedAgent) -> set[PairKey]:
    return {trial.pair for trial in _of_agent(side) if trial.void}


def _scored(side: ComparedAgent, void: set[PairKey]) -> list[TrialRecord]:
    return [t for t in _of_agent(side) if t.solved is not None and t.pair not in void]


def _said_of(apart: dict[str, int]) -> tuple[str, ...]:
    return tuple(
        f"{count_noun(count, 'trial is', 'trials are')} left out that {why}."
        for why, count in apart.items()
        if count
    )


def _said_of_void(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    what = count_noun(count, "task and repeat", "tasks and repeats")
    return (f"{what} stayed void on either side, so left out of every condition.",)


def _other_setups(first: Run, second: Run) -> Iterable[tuple[str, str]]:
    """Yield the conditions of one name that are not one condition, each with a sentence."""
    for condition in first.conditions:
        if condition in second.conditions:
            one, other = _frozen(first, condition), _frozen(second, condition)
            if one != other:
                yield (
                    condition,
                    f"{condition} is left out: its scenario, defence or dose is another one in"
                    f" {second.path}.",
                )


def _frozen(run: Run, condition: str) -> JsonValue:
    """Return what a run's manifest keeps of a condition, but for where its scenario was found."""
    if run.manifest is None or condition in (CLEAN, NO_PROXY):
        return None
    campaign = run.manifest.campaign
    scenarios, listed = campaign.get("scenarios"), campaign.get("conditions")
    scenario = scenarios.get(condition) if isinstance(scenarios, dict) else None
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict) and item.get("name") == condition:
            rest = {key: value for key, value in item.items() if key != "scenario"}
            return {**rest, "scenario": scenario}
    return scenario


def _changes(
    pairs: dict[str, list[_TrialPair]],
    successes: Sequence[Delta | None],
    *,
    priced_alike: bool,
) -> tuple[ConditionChange, ...]:
    recoveries = holm_adjusted([paired_difference(_recovered(found)) for found in pairs.values()])
    return tuple(
        ConditionChange(
            condition,
            clustered_rate((pair[:2], bool(one.solved)) for pair, one, _ in found),
            clustered_rate((pair[:2], bool(other.solved)) for pair, _, other in found),
            success,
            recovery,
            _mean(found, ConditionRow.latency_s),
            _mean(found, ConditionRow.llm_calls),
            _mean(found, ConditionRow.cost_usd) if priced_alike else None,
            _as_if(found),
        )
        for (condition, found), success, recovery in zip(
            pairs.items(), successes, recoveries, strict=True
        )
    )


def _solved(found: Sequence[_TrialPair]) -> list[tuple[TaskId, bool, bool]]:
    return [(pair[:2], bool(other.solved), bool(one.solved)) for pair, one, other in found]


def _recovered(found: Sequence[_TrialPair]) -> list[tuple[TaskId, bool, bool]]:
    return [
        (pair[:2], other.recovered, one.recovered)
        for pair, one, other in found
        if one.recovered is not None and other.recovered is not None
    ]


def _as_if(found: Sequence[_TrialPair]) -> tuple[str, ...]:
    uses = (trial.llm for _, *both in found for trial in both if trial.llm)
    return tuple(sorted({model for use in uses for model in use.as_if.values()}))


def _mean(found: Sequence[_TrialPair], metric: MeanMetric) -> Mean | None:
    differences: list[tuple[TaskId, float]] = []
    for pair, one, other in found:
        before, after = metric.trial.read(one), metric.trial.read(other)
        if before is not None and after is not None:
            differences.append((pair[:2], after - before))
    if not differences:
        return None
    value = fmean(difference for _, difference in differences)
    return Mean(value, mean_interval(differences), len(differences))


def _verdict(delta: Delta | None) -> ComparisonVerdict:
    if delta is None or not delta.significant:
        return "cannot tell"
    return "better" if delta.value > 0 else "worse"


def _conclude(
    changes: Sequence[ConditionChange],
    asked: Sequence[str],
    main: Delta | None,
    recovered: Delta | None,
) -> tuple[ComparisonVerdict, str]:
    """Return what the whole says: success first; recovery where success does not tell.

    ``asked``: the conditions that ``main`` is about.
    """
    said = {change.condition: change.verdict for change in changes}
    better = [name for name, verdict in said.items() if verdict == "better"]
    worse = [name for name, verdict in said.items() if verdict == "worse"]
    if better and worse:
        both = f"better under {', '.join(better)}, worse under {', '.join(worse)}"
        return "cannot tell", f"it solves tasks {both}"
    verdict = _verdict(main)
    if verdict != "cannot tell":
        how = "more" if verdict == "better" else "fewer"
        where = [name for name in asked if said[name] == verdict]
        if not where and len(asked) == 1:
            where = list(asked)
        return verdict, f"it solves {how} tasks under {_places(where)}"
    by_recovery = _verdict(recovered)
    if recovered is not None and by_recovery != "cannot tell":
        how = "more" if by_recovery == "better" else "less"
        return by_recovery, f"it recovers {how} often, though success does not tell them apart"
    return "cannot tell", _what_it_would_take(main)


def _places(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "all faults together"


def _what_it_would_take(main: Delta | None) -> str:
    if main is None or main.lost == main.won:
        return "no difference in success was seen"
    return (
        f"{100 * main.value:+.0f} points over {count_noun(main.pairs, 'pair')} may be chance;"
        f" {describe_required_tasks(required_tasks(main, ALPHA / 2))}"
    )


def comparison_data(comparison: Comparison) -> dict[str, JsonValue]:
    """Return a comparison as plain JSON; differences are after minus before."""
    return {
        "schema_version": 2,
        "before": {"run": str(comparison.before.run.path), "agent": comparison.before.agent},
        "after": {"run": str(comparison.after.run.path), "agent": comparison.after.agent},
        "verdict": comparison.verdict,
        "why": comparison.why,
        "faulted": to_json(comparison.faulted),
        "recovered": to_json(comparison.recovered),
        "conditions": [
            {
                "condition": change.condition,
                "verdict": change.verdict,
                "before": to_json(change.before),
                "after": to_json(change.after),
                "success": to_json(change.success),
                "recovery": to_json(change.recovery),
                "latency_s": to_json(change.latency_s),
                "llm_calls": to_json(change.llm_calls),
                "cost_usd": to_json(change.cost_usd),
                "as_if": list(change.as_if),
            }
            for change in comparison.changes
        ],
        "left_out": list(comparison.left_out),
    }
