"""The campaign's table: one row for each agent and condition.

A trial that stays void counts nowhere, never as a failure. It costs its own pairs only: the same
task and repeat under other conditions, and other repeats, count. Differences are over pairs, so
that both of their sides cover the same tasks.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.metrics.sample import Sample, mean_difference, solved
from warex.analysis.run.conditions import RecordedCondition, recorded_conditions
from warex.analysis.run.load import Run
from warex.analysis.stats.clustered import PairKey
from warex.analysis.stats.dose_response import DosePoint, DoseSeries, adjusted_series, dose_series
from warex.analysis.stats.estimates import Mean
from warex.analysis.stats.paired import (
    Contrast,
    DefenceEffect,
    Delta,
    NoiseFloor,
    Power,
    ScoredPairs,
    adjusted_contrasts,
    contrasts,
    delta,
    detectable_drop,
    holm_adjusted,
    noise_floor,
    rate_of,
)
from warex.analysis.table.attacks import AttackRates, attack_rates
from warex.analysis.table.endings import Endings, endings
from warex.analysis.table.popups import PopupRates, popup_rates
from warex.traces import CLEAN, NO_PROXY


@dataclass(frozen=True, slots=True)
class Table:
    """All rows and statistics of a run."""

    rows: tuple[ConditionRow, ...]
    left_out: tuple[tuple[str, str, PairKey], ...]
    """Agent, condition and pair of trials that stayed void."""
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
    deltas, exposed = _adjusted(agents, "deltas"), _adjusted(agents, "exposed_deltas")
    tested = sum(len(agent.tested) for agent in agents)
    compared = [
        contrast
        for condition in run.conditions
        for figure in ("success", "recovery")
        for contrast in contrasts(
            condition, figure, {a.name: a.hits(condition, figure) for a in agents}
        )
    ]
    return Table(
        rows=tuple(row for agent in agents for row in agent.rows(run, deltas, exposed)),
        left_out=tuple(item for agent in agents for item in agent.left_out),
        unfinished=sum(trial.outcome is None for trial in run.trials),
        proxy_effect=tuple((a.name, e) for a in agents if (e := a.proxy_effect())),
        proxy_latency=tuple((a.name, s) for a in agents if (s := a.proxy_latency())),
        noise_floor=tuple((a.name, a.floor) for a in agents if a.floor),
        power=tuple((a.name, p) for a in agents if (p := a.power(tested))),
        contrasts=tuple(adjusted_contrasts(compared)),
        defences=_adjusted_defences([item for agent in agents for item in agent.defences()]),
        doses=tuple(adjusted_series([it for agent in agents for it in agent.doses(deltas)])),
        endings=endings(run),
        popups=popup_rates(run),
        attacks=attack_rates(run),
    )


type _Deltas = Mapping[tuple[str, str], Delta | None]
"""By agent and condition."""


def _adjusted(agents: Sequence["_Agent"], name: Literal["deltas", "exposed_deltas"]) -> _Deltas:
    """Return the agents' differences, those under faults with p adjusted for all of them."""
    deltas = {(a.name, c): delta for a in agents for c, delta in getattr(a, name).items()}
    tested = [place for a in agents for c in a.tested if (place := (a.name, c)) in deltas]
    fixed = holm_adjusted([deltas[place] for place in tested])
    return deltas | dict(zip(tested, fixed, strict=True))


def _adjusted_defences(effects: Sequence[DefenceEffect]) -> tuple[DefenceEffect, ...]:
    fixed = holm_adjusted([effect.delta for effect in effects])
    return tuple(
        replace(effect, delta=delta)
        for effect, delta in zip(effects, fixed, strict=True)
        if delta is not None
    )


class _Agent:
    """One agent's trials by condition, and the rows they make."""

    def __init__(self, run: Run, name: str, known: Mapping[str, RecordedCondition]) -> None:
        self.name = name
        of_agent = [trial for trial in run.trials if trial.key.agent == name]
        self._scheduled = Counter(trial.key.condition for trial in of_agent)
        self.left_out = [
            (name, condition, trial.pair)
            for condition in run.conditions
            for trial in sorted(of_agent, key=lambda trial: trial.pair)
            if trial.void and trial.key.condition == condition
        ]
        counted = [t for t in of_agent if t.outcome is not None and not t.void]
        self._setups = {
            condition: known.get(condition, RecordedCondition()) for condition in run.conditions
        }
        self._trials = {c: [t for t in counted if t.key.condition == c] for c in run.conditions}
        self._solved = {c: solved(trials) for c, trials in self._trials.items()}
        self._clean = self._solved.get(CLEAN, {})
        controls = [c for c, setup in self._setups.items() if setup.control and self._solved[c]]
        self.floor = noise_floor(self._clean, self._solved[controls[0]] if controls else {})
        self.deltas = {
            condition: delta(pairs, self._clean)
            for condition, pairs in self._solved.items()
            if condition != CLEAN
        }
        self.exposed_deltas = {
            condition: delta(solved(t for t in trials if t.exposed and t.has_faults), self._clean)
            for condition, trials in self._trials.items()
            if condition != CLEAN and any(trial.has_faults for trial in trials)
        }

    @property
    def tested(self) -> list[str]:
        """The conditions that have a difference from ``clean`` and are meant to change success."""
        return [c for c, delta in self.deltas.items() if delta and self._is_tested(c)]

    def hits(self, condition: str, figure: str) -> ScoredPairs:
        """Return which trials were solved or recovered."""
        if figure == "success":
            return self._solved.get(condition, {})
        trials = self._trials.get(condition, ())
        return {t.pair: t.recovered for t in trials if t.exposed and t.recovered is not None}

    def proxy_effect(self) -> Delta | None:
        return delta(self._clean, self._solved.get(NO_PROXY, {}))

    def proxy_latency(self) -> Mean | None:
        without = {trial.pair: trial for trial in self._trials.get(NO_PROXY, ())}
        pairs = [(without[t.pair], t) for t in self._trials.get(CLEAN, ()) if t.pair in without]
        return mean_difference(pairs, lambda trial: trial.latency_s)

    def power(self, tested: int) -> Power | None:
        return detectable_drop(self._clean, self.floor, tested)

    def doses(self, deltas: _Deltas) -> list[DoseSeries]:
        doses = [
            (dose, DosePoint(dose.value, name, rate_of(solved), deltas.get((self.name, name))))
            for name, solved in self._solved.items()
            if solved
            for dose in self._setups[name].doses
        ]
        return dose_series(self.name, doses, self._solved)

    def defences(self) -> list[DefenceEffect]:
        bare = {setup: c for c, setup in self._setups.items() if setup.defence is None}
        compared = [
            (condition, setup.defence, against, delta(solved, self._solved[against]))
            for condition, setup in self._setups.items()
            if setup.defence is not None
            and setup.scenario is not None
            and (against := bare.get(replace(setup, defence=None)))
            and (solved := self._solved[condition])
        ]
        return [
            DefenceEffect(self.name, condition, against, defence, effect)
            for condition, defence, against, effect in compared
            if effect is not None
        ]

    def _is_tested(self, condition: str) -> bool:
        return condition not in (CLEAN, NO_PROXY) and not self._setups[condition].control

    def rows(self, run: Run, deltas: _Deltas, exposed: _Deltas) -> list[ConditionRow]:
        """Return the rows of the table; the differences are those of all agents."""
        rows, clean = [], self._trials.get(CLEAN, ())
        for condition, setup in self._setups.items():
            voids = run.void_attempts(self.name, condition)
            place = (self.name, condition)
            sample = Sample(
                self._trials[condition], clean, deltas.get(place), exposed.get(place), voids
            )
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
