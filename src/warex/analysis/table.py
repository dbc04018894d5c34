"""The campaign's table: one row for each agent and condition.

A trial that stayed void says nothing about the agent. It is never a zero; its pair (task and
repeat) is left out of every condition of that agent, so that all rows are about the same tasks.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean

from warex.analysis.attacks.rates import Attacks, attack_rates
from warex.analysis.clustered import Task, mean_interval
from warex.analysis.conditions import Setup, setups
from warex.analysis.differences import (
    Contrast,
    DefenceEffect,
    Delta,
    NoiseFloor,
    Pair,
    Power,
    Scored,
    adjusted,
    contrasts,
    delta,
    kept_share,
    noise_floor,
    pair_of,
    paired_seconds,
    power_of,
    solved,
    task_of,
)
from warex.analysis.doses import Dose, DosePoint, DoseSeries, series
from warex.analysis.endings import Endings, endings
from warex.analysis.injections import Ledger, ledger, occurrences
from warex.analysis.intervals import Mean, Rate, rate_over
from warex.analysis.popups import Popups, popups
from warex.analysis.recovery import HEALED
from warex.analysis.regimes import Regime, effort, regime
from warex.analysis.run import Run
from warex.analysis.statistics import pass_k
from warex.analysis.trial import TrialRecord
from warex.traces import CLEAN, NO_PROXY
from warex.traces.outcome import Counted

__all__ = [
    "Contrast",
    "DefenceEffect",
    "Delta",
    "Dose",
    "DosePoint",
    "DoseSeries",
    "Intervals",
    "Mean",
    "NoiseFloor",
    "Pair",
    "Power",
    "Rate",
    "RecoveryPrice",
    "Regime",
    "Row",
    "Table",
    "tabulate",
]

type Interval = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Intervals:
    """The 95 % intervals of a row's means, each under the name of its mean.

    Over tasks; None where the mean is, and where there are fewer than two tasks.
    """

    latency_s: Interval = None
    llm_calls: Interval = None
    first_token_s: Interval = None
    tokens_per_s: Interval = None
    steps: Interval = None
    input_tokens: Interval = None
    cached_tokens: Interval = None
    cache_write_tokens: Interval = None
    output_tokens: Interval = None
    reasoning_tokens: Interval = None
    usd: Interval = None


@dataclass(frozen=True, slots=True)
class RecoveryPrice:
    """What a recovery costs from the fault to the right next request: means over recoveries."""

    seconds: float
    steps: float
    tokens: float
    """In and out."""
    n: int
    """Recoveries."""


@dataclass(frozen=True, slots=True)
class Row:
    """One agent under one condition. A mean is per trial, and None where nothing is known.

    So is what traces tell, if one of the trials was not watched: a part is not the whole.
    """

    agent: str
    condition: str
    n: int
    """Trials counted."""
    voids: int
    """Attempts that ended void."""
    success: Rate
    delta: Delta | None
    """Success minus that of ``clean``; None for ``clean`` itself, and where no pair exists."""
    latency_s: float | None
    """Client latency."""
    llm_calls: float | None
    first_token_s: float | None
    """Seconds until a streamed answer first said something."""
    tokens_per_s: float | None
    """Tokens a second of a streamed answer, from its first to its last."""
    steps: float | None
    input_tokens: float | None
    cached_tokens: float | None
    cache_write_tokens: float | None
    output_tokens: float | None
    reasoning_tokens: float | None
    usd: float | None
    """None also where one of the models has no price."""
    total_usd: float | None
    """What the condition's trials really cost: replayed answers were not paid twice."""
    recovery: Rate | None
    """Trials recovered among trials with a delivered fault; None where nothing is injected."""
    exposure: Rate | None
    """Trials with a delivered fault among all; None where nothing is injected."""
    healed: int | None
    """Exposed trials in which browser or page healed a fault by itself."""
    undecided: int | None
    """Exposed trials outside the recovery rate."""
    ledger: Ledger | None
    as_if: tuple[str, ...] = ()
    """Models whose prices ``usd`` and ``total_usd`` borrow, since nothing was paid: scripted ones
    have none of their own."""
    exposed_delta: Delta | None = None
    """``delta`` over the pairs whose trial here had a delivered fault."""
    score: Mean | None = None
    """The mean score, 0 to 1, where a trial of the condition was done in part."""
    r_fault: Mean | None = None
    """R_fault = Acc_fault / Acc_clean over pairs; None where clean solved nothing."""
    intervals: Intervals = Intervals()
    pass_k: tuple[tuple[int, float], ...] = ()
    """k and pass^k: how likely k trials of a task are all solved; empty with one repeat."""
    injections_recovered: Rate | None = None
    """Injections recovered among those that stand in the rate."""
    recovered_and_solved: Rate | None = None
    """Trials recovered and solved, among those that stand in the recovery rate."""
    detected: Rate | None = None
    """Exposed trials whose fault the agent noticed, of those where that can be told."""
    false_successes: Rate | None = None
    """Trials in which the agent claimed a success that the check denied, where that is known."""
    recovery_price: RecoveryPrice | None = None
    tries: Mean | None = None
    """Right requests after a fault, whoever made them, over the injections that stand in the rate,
    those not recovered from too; None where there are none."""
    reloads: int | None = None
    """Actions that ask for the open page again, over all trials (the paper's Figure 5)."""
    lies: tuple[tuple[str, int], ...] = ()
    """Delivered answers that were not true, by what became of them."""
    duplicated_writes: int | None = None
    """Writes that a site was sent again after a fault, though it had them."""
    premature_stops: Rate | None = None
    """Exposed trials that ended unsolved without one right try; None where nothing is injected."""
    fruitless: Rate | None = None
    """Exposed trials that went on at length after a fault and were not solved."""
    regime: Regime | None = None
    dose: Dose | None = None
    replayed_calls: int | None = None
    """LLM calls answered out of the replay cache."""
    scenario: str | None = None
    """As the campaign names it; None for conditions without faults."""
    defence: str | None = None
    control: bool = False
    """``clean`` once more."""
    scheduled: int = 0
    """Trials of the run, with those that do not count."""


@dataclass(frozen=True, slots=True)
class Table:
    """All rows, and what was left out of them."""

    rows: tuple[Row, ...]
    left_out: tuple[tuple[str, Pair], ...]
    """Agent and pair of trials that stayed void, so are left out of every condition."""
    unfinished: int
    """Trials without an outcome."""
    proxy_effect: tuple[tuple[str, Delta], ...]
    """By agent: clean minus no-proxy, what the proxy alone does."""
    proxy_latency: tuple[tuple[str, Mean], ...] = ()
    """By agent: clean minus no-proxy in seconds of client latency, over pairs."""
    noise_floor: tuple[tuple[str, NoiseFloor], ...] = ()
    """By agent; an agent without one is missing."""
    power: tuple[tuple[str, Power], ...] = ()
    """By agent."""
    contrasts: tuple[Contrast, ...] = ()
    defences: tuple[DefenceEffect, ...] = ()
    doses: tuple[DoseSeries, ...] = ()
    endings: tuple[Endings, ...] = ()
    popups: tuple[Popups, ...] = ()
    attacks: tuple[Attacks, ...] = ()

    def row(self, agent: str, condition: str) -> Row:
        """Return the row of an agent and condition; KeyError if there is none."""
        for row in self.rows:
            if (row.agent, row.condition) == (agent, condition):
                return row
        raise KeyError((agent, condition))

    def of(self, agent: str) -> tuple[Row, ...]:
        """Return an agent's rows in the order of the conditions."""
        return tuple(row for row in self.rows if row.agent == agent)

    @property
    def underexposed(self) -> tuple[Row, ...]:
        """Rows whose fault reached fewer than half of the trials: they hardly measure it."""
        return tuple(r for r in self.rows if r.exposure and (r.exposure.value or 0) < 0.5)


def tabulate(run: Run) -> Table:
    """Return the table of a run."""
    known = setups(run.manifest)
    agents = [_Agent(run, agent, known) for agent in run.agents]
    compared = [
        contrast
        for condition in run.conditions
        for figure in ("success", "recovery")
        for contrast in contrasts(
            condition, figure, {a.name: a.hits(condition, figure) for a in agents}
        )
    ]
    return Table(
        rows=tuple(row for agent in agents for row in agent.rows),
        left_out=tuple((agent.name, pair) for agent in agents for pair in sorted(agent.out)),
        unfinished=sum(trial.outcome is None for trial in run.trials),
        proxy_effect=tuple((a.name, e) for a in agents if (e := a.proxy_effect())),
        proxy_latency=tuple((a.name, s) for a in agents if (s := a.proxy_latency())),
        noise_floor=tuple((a.name, a.floor) for a in agents if a.floor),
        power=tuple((a.name, p) for a in agents if (p := a.power())),
        contrasts=tuple(compared),
        defences=tuple(found for agent in agents for found in agent.defences()),
        doses=tuple(found for agent in agents for found in agent.doses()),
        endings=endings(run),
        popups=popups(run),
        attacks=attack_rates(run),
    )


class _Agent:
    """One agent's trials by condition, and the rows they make."""

    def __init__(self, run: Run, name: str, known: Mapping[str, Setup]) -> None:
        self.name = name
        of_agent = [trial for trial in run.trials if trial.key.agent == name]
        self._scheduled = Counter(trial.key.condition for trial in of_agent)
        self.out = {pair_of(trial) for trial in of_agent if trial.void}
        kept = [t for t in of_agent if t.outcome is not None and pair_of(t) not in self.out]
        self._setups = {condition: known.get(condition, Setup()) for condition in run.conditions}
        self._trials = {c: [t for t in kept if t.key.condition == c] for c in run.conditions}
        self._solved = {c: solved(trials) for c, trials in self._trials.items()}
        self._clean = self._solved.get(CLEAN, {})
        controls = [c for c, setup in self._setups.items() if setup.control and self._solved[c]]
        self.floor = noise_floor(self._clean, self._solved[controls[0]] if controls else {})
        self.rows = self._rows(run)

    def hits(self, condition: str, figure: str) -> Scored:
        """Return which trials were solved or recovered."""
        if figure == "success":
            return self._solved.get(condition, {})
        found = self._trials.get(condition, ())
        return {pair_of(t): t.recovered for t in found if t.exposed and t.recovered is not None}

    def proxy_effect(self) -> Delta | None:
        return delta(self._clean, self._solved.get(NO_PROXY, {}))

    def proxy_latency(self) -> Mean | None:
        return paired_seconds(self._trials.get(CLEAN, ()), self._trials.get(NO_PROXY, ()))

    def power(self) -> Power | None:
        tested = sum(row.delta is not None for row in self.rows if self._is_tested(row.condition))
        return power_of(self._clean, self.floor, tested)

    def doses(self) -> list[DoseSeries]:
        standing = [
            (dose, DosePoint(dose.value, row.condition, row.success, row.delta))
            for row in self.rows
            if row.success.n
            for dose in self._setups[row.condition].doses
        ]
        return series(self.name, standing, self._solved)

    def defences(self) -> list[DefenceEffect]:
        bare = {setup: c for c, setup in self._setups.items() if setup.defence is None}
        compared = [
            (condition, setup.defence, against, delta(found, self._solved[against]))
            for condition, setup in self._setups.items()
            if setup.defence is not None
            and setup.scenario is not None
            and (against := bare.get(replace(setup, defence=None)))
            and (found := self._solved[condition])
        ]
        fixed = adjusted([effect for _, _, _, effect in compared])
        return [
            DefenceEffect(self.name, condition, against, defence, effect)
            for (condition, defence, against, _), effect in zip(compared, fixed, strict=True)
            if effect is not None
        ]

    def _is_tested(self, condition: str) -> bool:
        return condition not in (CLEAN, NO_PROXY) and not self._setups[condition].control

    def _rows(self, run: Run) -> list[Row]:
        against = {
            condition: delta(found, self._clean)
            for condition, found in self._solved.items()
            if condition != CLEAN
        }
        tested = [condition for condition in against if self._is_tested(condition)]
        fixed = adjusted([against[condition] for condition in tested])
        against.update(zip(tested, fixed, strict=True))
        return [
            self._row(condition, against.get(condition), run.void_attempts(self.name, condition))
            for condition in run.conditions
        ]

    def _row(self, condition: str, against_clean: Delta | None, voids: int) -> Row:
        trials, setup = self._trials[condition], self._setups[condition]
        faulted = [trial for trial in trials if trial.has_faults]
        exposed = [trial for trial in faulted if trial.exposed]
        judged = [trial for trial in exposed if trial.recovered is not None]
        exposure = _rate(faulted, lambda t: t.exposed) if faulted else None
        seen = bool(trials) and all(trial.watched for trial in trials)
        heard = seen and all(trial.llm is not None for trial in trials)
        clean = self._trials.get(CLEAN, ())
        means = {field.name: _mean(trials, _FIGURES[field.name]) for field in fields(Intervals)}
        row = Row(
            agent=self.name,
            condition=condition,
            n=len(trials),
            voids=voids,
            success=_rate([t for t in trials if t.solved is not None], lambda t: t.solved),
            delta=against_clean,
            latency_s=means["latency_s"],
            llm_calls=means["llm_calls"],
            first_token_s=means["first_token_s"],
            tokens_per_s=means["tokens_per_s"],
            steps=means["steps"],
            input_tokens=means["input_tokens"],
            cached_tokens=means["cached_tokens"],
            cache_write_tokens=means["cache_write_tokens"],
            output_tokens=means["output_tokens"],
            reasoning_tokens=means["reasoning_tokens"],
            usd=means["usd"],
            total_usd=_sum([t.llm.spent_usd if t.llm else None for t in trials]),
            as_if=tuple(sorted({m for t in trials if t.llm for m in t.llm.as_if.values()})),
            score=self._mean_of(_scores(trials)),
            recovery=_rate(judged, lambda t: t.recovered)
            if judged or (faulted and heard)
            else None,
            exposure=exposure,
            healed=sum(_has_healed(trial) for trial in exposed) if heard else None,
            undecided=len(exposed) - len(judged) if seen else None,
            ledger=_ledger(trials) if seen else None,
            intervals=self._intervals(trials, means),
            pass_k=_pass_k(self._solved[condition]),
            reloads=sum(t.behaviour.reloads for t in trials) if heard else None,
            lies=tuple(
                sorted(Counter(r.lie for t in trials for r in t.recoveries if r.lie).items())
            ),
            duplicated_writes=sum(t.behaviour.duplicated_writes for t in trials) if seen else None,
            false_successes=_rate(
                [t for t in trials if t.false_success is not None], lambda t: t.false_success
            )
            if heard
            else None,
            replayed_calls=sum(t.llm.replayed for t in trials if t.llm) if heard else None,
            dose=setup.dose,
            scenario=setup.scenario,
            defence=setup.defence,
            control=setup.control,
            scheduled=self._scheduled[condition],
        )
        if not faulted:
            return row
        found = [(task_of(t), r) for t in exposed for r in t.recoveries if r.counts]
        return replace(
            row,
            exposed_delta=delta(solved(exposed), self._clean),
            r_fault=kept_share(self._solved[condition], self._clean),
            injections_recovered=rate_over((task, r.verdict == "recovered") for task, r in found),
            recovered_and_solved=_rate(judged, lambda t: t.recovered and t.solved),
            detected=_rate([t for t in exposed if t.detected is not None], lambda t: t.detected),
            recovery_price=_price(trials),
            tries=self._mean_of([(task, float(r.tries)) for task, r in found]),
            premature_stops=_rate(exposed, lambda t: t.behaviour.premature_stop(t.outcome)),
            fruitless=_rate(exposed, lambda t: t.behaviour.fruitless(t.outcome)),
            regime=regime(against_clean, effort(trials, clean), exposure),
        )

    def _mean_of(self, figures: Sequence[tuple[Task, float]]) -> Mean | None:
        if not figures:
            return None
        return Mean(fmean(one for _, one in figures), mean_interval(figures), len(figures))

    def _intervals(
        self, trials: Sequence[TrialRecord], means: Mapping[str, float | None]
    ) -> Intervals:
        return Intervals(
            **{
                name: mean_interval([(task_of(t), _FIGURES[name](t) or 0.0) for t in trials])
                for name, mean in means.items()
                if mean is not None
            }
        )


_FIGURES: dict[str, Callable[[TrialRecord], float | None]] = {
    "latency_s": lambda t: t.latency_s,
    "llm_calls": lambda t: len(t.llm.calls) if t.llm else None,
    "first_token_s": lambda t: t.llm.first_token_s if t.llm else None,
    "tokens_per_s": lambda t: t.llm.tokens_per_s if t.llm else None,
    "steps": lambda t: t.llm.steps if t.llm else None,
    "input_tokens": lambda t: t.llm.input_tokens if t.llm else None,
    "cached_tokens": lambda t: t.llm.cached_tokens if t.llm else None,
    "cache_write_tokens": lambda t: t.llm.cache_write_tokens if t.llm else None,
    "output_tokens": lambda t: t.llm.output_tokens if t.llm else None,
    "reasoning_tokens": lambda t: t.llm.reasoning_tokens if t.llm else None,
    "usd": lambda t: t.llm.usd if t.llm else None,
}


def _rate(trials: Iterable[TrialRecord], hit: Callable[[TrialRecord], bool | None]) -> Rate:
    return rate_over((task_of(trial), bool(hit(trial))) for trial in trials)


def _pass_k(scored: Scored) -> tuple[tuple[int, float], ...]:
    tasks: dict[tuple[str, str], tuple[int, int]] = {}
    for pair, hit in scored.items():
        hits, n = tasks.get(pair[:2], (0, 0))
        tasks[pair[:2]] = hits + hit, n + 1
    most = max((n for _, n in tasks.values()), default=0)
    if most < 2:
        return ()
    found = [(k, pass_k(list(tasks.values()), k)) for k in range(1, most + 1)]
    return tuple((k, value) for k, value in found if value is not None)


def _price(trials: Iterable[TrialRecord]) -> RecoveryPrice | None:
    recovered = [r for t in trials for r in t.recoveries if r.verdict == "recovered"]
    if not recovered:
        return None
    return RecoveryPrice(
        seconds=fmean(r.seconds or 0.0 for r in recovered),
        steps=fmean(r.steps or 0 for r in recovered),
        tokens=fmean(r.tokens or 0 for r in recovered),
        n=len(recovered),
    )


def _mean(
    trials: Iterable[TrialRecord], figure: Callable[[TrialRecord], float | None]
) -> float | None:
    """Return the mean, or None if one trial's figure is unknown: a part is not the whole."""
    figures = [figure(trial) for trial in trials]
    total = _sum(figures)
    return None if total is None else total / len(figures)


def _sum(figures: Sequence[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known and len(known) == len(figures) else None


def _ledger(trials: Iterable[TrialRecord]) -> Ledger:
    told = [(occurrences(trial.injections), trial.left_alone) for trial in trials]
    return ledger(
        [i for planned, _ in told for i in planned], [p for _, alone in told for p in alone]
    )


def _scores(trials: Iterable[TrialRecord]) -> list[tuple[Task, float]]:
    """Return the scores of a condition's trials; none where each was done in full or not at all."""
    found = [(task_of(t), t.outcome.score) for t in trials if isinstance(t.outcome, Counted)]
    return found if any(0 < score < 1 for _, score in found) else []


def _has_healed(trial: TrialRecord) -> bool:
    return any(r.verdict in HEALED for r in trial.recoveries)
