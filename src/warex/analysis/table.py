"""The campaign's table: one row for each agent and condition.

A trial that stayed void says nothing about the agent. It is never a zero; its pair (task and
repeat) is left out of every condition of that agent, so that all rows are about the same tasks.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from warex.analysis.differences import Contrast, Delta, NoiseFloor, Power
from warex.analysis.doses import Dose, DosePoint, DoseSeries
from warex.analysis.injections import Ledger, ledger
from warex.analysis.intervals import Mean, Rate
from warex.analysis.regimes import Regime
from warex.analysis.run import Run
from warex.analysis.trial import CLEAN, NO_PROXY, TrialRecord

__all__ = [
    "Contrast",
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

type Pair = tuple[str, str, int]
"""Benchmark, task and repeat: what conditions have in common."""


type Interval = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Intervals:
    """The 95 % intervals of a row's means, each under the name of its mean.

    Bootstrapped over tasks; None where the mean is, and where there are fewer than two tasks.
    """

    latency_s: Interval = None
    llm_calls: Interval = None
    steps: Interval = None
    input_tokens: Interval = None
    cached_tokens: Interval = None
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
    """One agent under one condition. A mean is per trial, and None where nothing is known."""

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
    steps: float | None
    input_tokens: float | None
    cached_tokens: float | None
    output_tokens: float | None
    reasoning_tokens: float | None
    usd: float | None
    """None also where one of the models has no price."""
    total_usd: float | None
    recovery: Rate | None
    """Trials recovered among trials with a delivered fault; None where nothing is injected."""
    exposure: Rate | None
    """Trials with a delivered fault among all; None where nothing is injected."""
    healed: int
    """Exposed trials in which browser or page healed a fault by itself."""
    undecided: int
    """Exposed trials outside the recovery rate."""
    ledger: Ledger
    exposed_delta: Delta | None = None
    """``delta`` over the pairs whose trial here had a delivered fault."""
    r_fault: Mean | None = None
    """R_fault = Acc_fault / Acc_clean over pairs; None where clean solved nothing."""
    intervals: Intervals = Intervals()
    pass_k: tuple[tuple[int, float], ...] = ()
    """k and pass^k: how likely k trials of a task are all solved; empty with one repeat."""
    injections_recovered: Rate | None = None
    """Injections recovered among those that stand in the rate."""
    recovered_and_solved: Rate | None = None
    """Trials recovered and solved, among those that stand in the recovery rate: retrying is not
    recovering."""
    recovery_price: RecoveryPrice | None = None
    reloads: int = 0
    """Actions that can bring back what a fault took away, over all trials (the paper's Fig. 5)."""
    duplicated_writes: int = 0
    """Writes that a site was sent again, whole and the same, after a fault, though it had them."""
    malicious_clicks: int = 0
    premature_stops: Rate | None = None
    """Exposed trials that ended unsolved without one right try; None where nothing is injected."""
    fruitless: Rate | None = None
    """Exposed trials that went on and on after the fault and were not solved."""
    regime: Regime | None = None
    dose: Dose | None = None
    replayed_calls: int = 0
    """LLM calls answered out of the replay cache."""
    scenario: str | None = None
    """As the campaign names it; None for conditions without faults."""
    defence: str | None = None
    control: bool = False
    """``clean`` once more."""


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
    doses: tuple[DoseSeries, ...] = ()

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
    rows: list[Row] = []
    left_out: list[tuple[str, Pair]] = []
    effects: list[tuple[str, Delta]] = []
    for agent in run.agents:
        of_agent = [trial for trial in run.trials if trial.key.agent == agent]
        out = {_pair(trial) for trial in of_agent if trial.void}
        left_out += [(agent, pair) for pair in sorted(out)]
        kept = [t for t in of_agent if t.outcome is not None and _pair(t) not in out]
        by_condition = {c: [t for t in kept if t.key.condition == c] for c in run.conditions}
        clean = by_condition.get(CLEAN, [])
        rows += [
            _row(agent, condition, trials, clean, run.void_attempts(agent, condition))
            for condition, trials in by_condition.items()
        ]
        if effect := _delta(clean, by_condition.get(NO_PROXY, [])):
            effects.append((agent, effect))
    return Table(
        rows=tuple(rows),
        left_out=tuple(left_out),
        unfinished=sum(trial.outcome is None for trial in run.trials),
        proxy_effect=tuple(effects),
    )


def _row(
    agent: str,
    condition: str,
    trials: Sequence[TrialRecord],
    clean: Sequence[TrialRecord],
    voids: int,
) -> Row:
    scored = [trial.solved for trial in trials if trial.solved is not None]
    faulted = [trial for trial in trials if trial.has_faults]
    exposed = [trial for trial in faulted if trial.exposed]
    recovered = [trial.recovered for trial in exposed if trial.recovered is not None]
    prices = [trial.llm.usd if trial.llm else None for trial in trials]
    return Row(
        agent=agent,
        condition=condition,
        n=len(trials),
        voids=voids,
        success=Rate(sum(scored), len(scored)),
        delta=None if condition == CLEAN else _delta(trials, clean),
        latency_s=_mean(trials, lambda t: t.latency_s),
        llm_calls=_mean(trials, lambda t: len(t.llm.calls) if t.llm else None),
        steps=_mean(trials, lambda t: t.llm.steps if t.llm else None),
        input_tokens=_mean(trials, lambda t: t.llm.input_tokens if t.llm else None),
        cached_tokens=_mean(trials, lambda t: t.llm.cached_tokens if t.llm else None),
        output_tokens=_mean(trials, lambda t: t.llm.output_tokens if t.llm else None),
        reasoning_tokens=_mean(trials, lambda t: t.llm.reasoning_tokens if t.llm else None),
        usd=_mean(trials, lambda t: t.llm.usd if t.llm else None),
        total_usd=_sum(prices),
        recovery=Rate(sum(recovered), len(recovered)) if faulted else None,
        exposure=Rate(len(exposed), len(faulted)) if faulted else None,
        healed=sum(_has_healed(trial) for trial in exposed),
        undecided=len(exposed) - len(recovered),
        ledger=ledger(
            [i for trial in trials for i in trial.injections],
            [pair for trial in trials for pair in trial.left_alone],
        ),
    )


def _delta(of: Iterable[TrialRecord], against: Iterable[TrialRecord]) -> Delta | None:
    base = {_pair(trial): trial.solved for trial in against}
    differences: list[int] = []
    for trial in of:
        other = base.get(_pair(trial))
        if trial.solved is not None and other is not None:
            differences.append(trial.solved - other)
    return Delta(fmean(differences), len(differences)) if differences else None


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


def _has_healed(trial: TrialRecord) -> bool:
    return any(r.verdict in ("healed_by_browser", "healed_by_page") for r in trial.recoveries)


def _pair(trial: TrialRecord) -> Pair:
    return trial.key.benchmark, trial.key.task, trial.key.repeat
