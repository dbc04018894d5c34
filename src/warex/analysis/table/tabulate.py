"""The campaign's table: one row for each agent and condition.

If a trial stays void, its pair (task and repeat) is left out of every condition of that agent, so
that all rows cover the same tasks. It never counts as a failure.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.metrics.sample import Sample, mean_difference, solved
from warex.analysis.run.conditions import RecordedCondition, recorded_conditions
from warex.analysis.run.load import Run
from warex.analysis.stats.clustered import PairKey
from warex.analysis.stats.dose_response import DosePoint, DoseSeries, dose_series
from warex.analysis.stats.estimates import Mean
from warex.analysis.stats.paired import (
    Contrast,
    DefenceEffect,
    Delta,
    NoiseFloor,
    Power,
    ScoredPairs,
    contrasts,
    delta,
    detectable_drop,
    holm_adjusted,
    noise_floor,
)
from warex.analysis.table.attacks import AttackRates, attack_rates
from warex.analysis.table.endings import Endings, endings
from warex.analysis.table.popups import PopupRates, popup_rates
from warex.traces import CLEAN, NO_PROXY


@dataclass(frozen=True, slots=True)
class Table:
    """All rows and statistics of a run."""

    rows: tuple[ConditionRow, ...]
    left_out: tuple[tuple[str, PairKey], ...]
    """Agent and pair of trials that stayed void; they are left out of every condition."""
    unfinished: int
    """Trials without an outcome."""
    proxy_effect: tuple[tuple[str, Delta], ...]
    """By agent: clean minus no-proxy, the effect of the proxy alone."""
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
    popups: tuple[PopupRates, ...] = ()
    attacks: tuple[AttackRates, ...] = ()

    def row(self, agent: str, condition: str) -> ConditionRow:
        """Return the row of an agent and condition; KeyError if there is none."""
        return {(row.agent, row.condition): row for row in self.rows}[agent, condition]

    def of(self, agent: str) -> tuple[ConditionRow, ...]:
        """Return an agent's rows in the order of the conditions."""
        return tuple(row for row in self.rows if row.agent == agent)

    @property
    def underexposed(self) -> tuple[ConditionRow, ...]:
        """Rows whose fault reached fewer than half of the trials."""
        return tuple(r for r in self.rows if r.exposure and (r.exposure.value or 0) < 0.5)


type TabulatedRun = tuple[Run, Table]
"""A run with its table."""


def tabulate(run: Run) -> Table:
    """Return the table of a run."""
    known = recorded_conditions(run.manifest)
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
        left_out=tuple((agent.name, pair) for agent in agents for pair in sorted(agent.excluded)),
        unfinished=sum(trial.outcome is None for trial in run.trials),
        proxy_effect=tuple((a.name, e) for a in agents if (e := a.proxy_effect())),
        proxy_latency=tuple((a.name, s) for a in agents if (s := a.proxy_latency())),
        noise_floor=tuple((a.name, a.floor) for a in agents if a.floor),
        power=tuple((a.name, p) for a in agents if (p := a.power())),
        contrasts=tuple(compared),
        defences=tuple(found for agent in agents for found in agent.defences()),
        doses=tuple(found for agent in agents for found in agent.doses()),
        endings=endings(run),
        popups=popup_rates(run),
        attacks=attack_rates(run),
    )


class _Agent:
    """One agent's trials by condition, and the rows they make."""

    def __init__(self, run: Run, name: str, known: Mapping[str, RecordedCondition]) -> None:
        self.name = name
        of_agent = [trial for trial in run.trials if trial.key.agent == name]
        self._scheduled = Counter(trial.key.condition for trial in of_agent)
        self.excluded = {trial.pair for trial in of_agent if trial.void}
        kept = [t for t in of_agent if t.outcome is not None and t.pair not in self.excluded]
        self._setups = {
            condition: known.get(condition, RecordedCondition()) for condition in run.conditions
        }
        self._trials = {c: [t for t in kept if t.key.condition == c] for c in run.conditions}
        self._solved = {c: solved(trials) for c, trials in self._trials.items()}
        self._clean = self._solved.get(CLEAN, {})
        controls = [c for c, setup in self._setups.items() if setup.control and self._solved[c]]
        self.floor = noise_floor(self._clean, self._solved[controls[0]] if controls else {})
        self.rows = self._rows(run)

    def hits(self, condition: str, figure: str) -> ScoredPairs:
        """Return which trials were solved or recovered."""
        if figure == "success":
            return self._solved.get(condition, {})
        found = self._trials.get(condition, ())
        return {t.pair: t.recovered for t in found if t.exposed and t.recovered is not None}

    def proxy_effect(self) -> Delta | None:
        return delta(self._clean, self._solved.get(NO_PROXY, {}))

    def proxy_latency(self) -> Mean | None:
        without = {trial.pair: trial for trial in self._trials.get(NO_PROXY, ())}
        pairs = [(without[t.pair], t) for t in self._trials.get(CLEAN, ()) if t.pair in without]
        return mean_difference(pairs, lambda trial: trial.latency_s)

    def power(self) -> Power | None:
        tested = sum(row.delta is not None for row in self.rows if self._is_tested(row.condition))
        return detectable_drop(self._clean, self.floor, tested)

    def doses(self) -> list[DoseSeries]:
        doses = [
            (dose, DosePoint(dose.value, row.condition, row.success, row.delta))
            for row in self.rows
            if row.success.n
            for dose in self._setups[row.condition].doses
        ]
        return dose_series(self.name, doses, self._solved)

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
        fixed = holm_adjusted([effect for _, _, _, effect in compared])
        return [
            DefenceEffect(self.name, condition, against, defence, effect)
            for (condition, defence, against, _), effect in zip(compared, fixed, strict=True)
            if effect is not None
        ]

    def _is_tested(self, condition: str) -> bool:
        return condition not in (CLEAN, NO_PROXY) and not self._setups[condition].control

    def _rows(self, run: Run) -> list[ConditionRow]:
        against = {
            condition: delta(found, self._clean)
            for condition, found in self._solved.items()
            if condition != CLEAN
        }
        tested = [condition for condition in against if self._is_tested(condition)]
        fixed = holm_adjusted([against[condition] for condition in tested])
        against.update(zip(tested, fixed, strict=True))
        rows, clean = [], self._trials.get(CLEAN, ())
        for condition, setup in self._setups.items():
            voids = run.void_attempts(self.name, condition)
            sample = Sample(self._trials[condition], clean, against.get(condition), voids)
            rows.append(
                ConditionRow(
                    agent=self.name,
                    condition=condition,
                    figures={metric.key: metric.measure(sample) for metric in METRICS},
                    scenario=setup.scenario,
                    defence=setup.defence,
                    control=setup.control,
                    dose=setup.dose,
                    scheduled=self._scheduled[condition],
                )
            )
        return rows
